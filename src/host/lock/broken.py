"""Why a plugin is broken: each reason, in the words that users see.

A broken plugin stops nothing: what it declares is left out, one warning names it
(`Lock.warnings`), and `self plugin list` and `self doctor` show the reason. The lock has it in
`Plugin.broken`.

The reasons are in the order in which they are found: in the plugin's files (by the hook
`find_plugins`), its name (`host.lock.collected`), its code (`host.lock.loading`, in a child process
of `host.lock.plugin_worker`) and its records (`host.lock.checked_records`). The functions only word
a reason; each is called where the fact is known.
"""

import os
import sys

from host.caller import is_on
from host.lock.plugin import Plugin

_LONGEST_REASON = 1000  # characters

# Its files.
FILES_MISSING = "its files are missing"


def files_missing(sync: str) -> str:
    """The version that the registry records is not in `plugins/`; `sync` is the command for it."""
    return f"{FILES_MISSING}; to restore them, run: {sync}"


def linked_directory_missing(directory: str, remove: str) -> str:
    """The user has moved or removed the linked directory; `remove` is the command for the entry."""
    return f"{FILES_MISSING}; restore {directory}, or run: {remove}"


def no_command_directory(path: str) -> str:
    """The plugin's `directory` is not there."""
    return f"there is no directory {path}"


def project_moved(directory: str) -> str:
    """A linked project has modules in this directory, which is not there."""
    return f"its directory {directory} is missing"


def compiled_for(python: str) -> str:
    """The package has compiled code that only this version of Python can load."""
    return f"built for Python {python}"


def to_install_again(reason: str, sync: str) -> str:
    """The command `sync` makes a package usable here."""
    return f"{reason}; to install it again: {sync}"


# Its name.
NAME_TAKEN = "another plugin has this name"

# Its code.
HAS_WRAPPER = "hook wrappers are not supported"


def exception(failure: BaseException) -> str:
    """An import or a hook raised this; if DEBUG is on, the traceback is printed to stderr."""
    if is_on(os.environ.get("DEBUG")):
        import traceback  # imported here to keep `self plugin list` fast

        traceback.print_exception(failure, file=sys.stderr)

    kind = type(failure).__name__
    text = str(failure)[:_LONGEST_REASON]
    line = " ".join(text.split())
    if not line:
        return kind
    return f"{kind}: {line}"


def hook_raised(hook: str, failure: BaseException) -> str:
    return f"{hook} raised {exception(failure)}"


def too_slow(seconds: float) -> str:
    """The plugin's import and its hooks have a time limit."""
    return (
        f"importing the plugin and calling its hooks took more than {seconds:g} seconds"
    )


def entrypoint_in_hooks_file(words: str, entrypoint: str, program: str) -> str:
    """Only the child process that builds the lock imports a hooks file, and no run does."""
    what = f"{words}: its entrypoint {entrypoint} is in the hooks file"
    package = f"put it into a package (see: {program} self new plugin --help)"
    return f"{what}, which a run cannot import; {package}, or make the command a script"


def click_command_fails(words: str, failure: Exception) -> str:
    """The click command cannot be imported, or raises an exception when it is read."""
    return f"{words}: {failure}"


def subcommand_fails(words: str, failure: Exception) -> str:
    """A click group cannot load the subcommand."""
    return f"{words}: cannot be loaded: {failure}"


def wrong_result(hook: str, expected: type, result: object) -> str:
    """A hook of a listing returned another type than `expected`."""
    found = type(result).__name__
    return f"{hook}: expected {expected.__name__} or None, not {found}"


# Its records.
def wrong_record(hook: str, error: Exception) -> str:
    """A hook yielded something that is not a valid record."""
    return f"{hook}: {error}"


def with_distribution(plugin: Plugin, reason: str) -> str:
    """Return the reason with the distribution, or the directory, that the plugin comes from."""
    return f"{plugin.distribution}: {reason}"
