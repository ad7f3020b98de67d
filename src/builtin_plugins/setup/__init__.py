"""`setup <tool>`: desktop applications.

`builtin_plugins.setup:main` is what a command.json names as its entrypoint. It answers
`--help` itself, and naming it here is what has it passed on.
"""

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Do what the options say and return 0; raises HostError when it cannot be done."""
    from builtin_plugins.setup.command import main as run

    return run(arguments)
