"""`setup <tool>`: desktop applications.

`builtin_plugins.setup:main` is what a command.json names as its entrypoint. It answers
`--help` itself, and naming it here is what has it passed on.
"""

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Do what the options say and return 0; raises HostError when it cannot be done."""
    from builtin_plugins.io.files.undo import cleanup_on_signal
    from builtin_plugins.setup.command import run

    return cleanup_on_signal(lambda: run(arguments, os.environ, sys.platform))
