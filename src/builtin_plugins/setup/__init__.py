"""The commands `setup <tool>` for desktop applications; each runs `builtin_plugins.setup:main`."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: "Sequence[str]") -> int:
    """Install, upgrade or uninstall a tool as the options request; return 0. Raises HostError."""
    from builtin_plugins.library.files.undo import cleanup_on_signal
    from builtin_plugins.setup.command import run

    return cleanup_on_signal(lambda: run(arguments, os.environ, sys.platform))
