"""What a run gets from its caller: environment, words and switches.

Where a variable is missing, the system has a value for some names: `from_system`.
"""

import posix
import sys

from host.files.paths import join
from host.text import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


# exported by each run for the runs inside it: see `host.variables.chain_entry`
RUN = "CLI_RUN"
RUN_PARTS = 6  # of an entry of CLI_RUN, ROOT to ID
NEEDED_RUN_PARTS = 4  # ROOT to the hashes
RECORD = "CLI_RECORD"  # if the caller sets it to 1, any run is recorded
# ID:ORIGIN:CLIENT, if the caller records this run: see `recorded_variable`
RECORDED = "CLI_RECORDED"
REPORT = "CLI_REPORT_FD"  # names a descriptor to which a run writes its variables
SHELL_FILE = "CLI_SHELL_FILE"  # the file for lines that the calling shell evaluates
FRAMEWORK_NAMES = (  # variables that describe a run: see `OpenInstallation.run_variables`
    *("CLI_DIR", "CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "GLOBAL_CONFIG_FILE"),
    *("COMMAND_NAME", "COMMAND_CATEGORY"),
)
_XDG_DEFAULTS = {"DATA": ".local/share", "STATE": ".local/state", "CACHE": ".cache"}


def caller_environment() -> dict[bytes, bytes]:
    """Return the caller's environment, unchanged by Python.

    PEP 538: in the C locale Python adds LC_CTYPE to its environment. /proc/self/environ has the
    original.
    """
    environ = dict(posix.environ)
    environ.pop(b"", None)  # an entry "=value" has an empty name, which execve refuses

    if environ.get(b"LC_CTYPE") in (b"C.UTF-8", b"C.utf8", b"UTF-8"):
        del environ[b"LC_CTYPE"]
        environ.update(_given_lc_ctype())
    return environ


def _given_lc_ctype() -> dict[bytes, bytes]:
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return {}
    for entry in entries:
        name, _, value = entry.partition(b"=")
        if name == b"LC_CTYPE":
            return {name: value}
    return {}


def caller_words() -> list[str]:
    """Return `sys.argv`, decoded as UTF-8 and not with the locale's encoding."""
    encoding = sys.getfilesystemencoding()
    errors = sys.getfilesystemencodeerrors()
    words = []
    for word in sys.argv:
        words.append(decode(word.encode(encoding, errors)))
    return words


def is_on(value: str | None) -> bool:
    """Return whether a switch such as DEBUG is on: `true`, `1` or `on` in any case (SPEC 2.9)."""
    return value is not None and value.lower() in ("true", "1", "on")


def is_ci(environ: "Mapping[str, str]") -> bool:
    """Return whether CI is set, to anything but nothing, 0, false, no or off (any case)."""
    return environ.get("CI", "").lower() not in ("", "0", "false", "no", "off")


def allows_questions(environ: "Mapping[str, str]", *, no_input: bool = False) -> bool:
    """Return whether nothing forbids questions: `--no-input`, CLI_NO_INPUT, CI, a coding agent.

    `no_input` says whether `--no-input` was given. A terminal is needed as well: see `can_ask` in
    host.asking.terminal.
    """
    if no_input or is_on(environ.get("CLI_NO_INPUT")) or is_ci(environ):
        return False
    from host.agents import agent_of

    return not agent_of(environ)


def from_system(name: str) -> str | None:
    """Return the system's value of HOME, USER, PWD or HOSTNAME (SPEC 2.5), or None if unknown."""
    try:
        if name == "PWD":
            return posix.getcwd()
        if name == "HOSTNAME":
            return posix.uname().nodename
        if name in ("HOME", "USER"):
            import pwd

            account = pwd.getpwuid(posix.getuid())
            return account.pw_dir if name == "HOME" else account.pw_name
    except (OSError, KeyError):
        pass  # a deleted current directory, or an account that the database lacks
    return None


def home(environ: "Mapping[str, str]") -> str:
    """Return the caller's home directory, from HOME or the user database, or `/`.

    The program's own files are below it. So a relative HOME, which would make files of the current
    directory count, is ignored.
    """
    chosen = environ.get("HOME", "")
    if chosen.startswith("/"):
        return chosen
    return from_system("HOME") or "/"


def xdg_home(environ: "Mapping[str, str]", kind: str) -> str:
    """Return the value of XDG_DATA_HOME, XDG_STATE_HOME or XDG_CACHE_HOME, or its default.

    `kind` is "DATA", "STATE" or "CACHE". A relative path in the variable is ignored.
    """
    chosen = environ.get(f"XDG_{kind}_HOME", "")
    if chosen.startswith("/"):
        return chosen
    return join(home(environ), _XDG_DEFAULTS[kind])


def working_directory(pwd: str) -> str:
    """Return the current directory: `pwd`, if it names that, or else its real path.

    POSIX shells follow this rule, too: programs such as `env -C`, `make -C` and `find -execdir`
    change the directory, but not PWD. In a deleted directory, `pwd` is returned.
    """
    try:
        here = posix.stat(".")
        real = posix.getcwd()
    except OSError:
        return pwd
    if not pwd.startswith("/"):
        return real

    try:
        named = posix.stat(pwd)
    except (OSError, ValueError):  # ValueError: an invalid path, for example with a NUL
        return real
    names_it = (named.st_dev, named.st_ino) == (here.st_dev, here.st_ino)
    return pwd if names_it else real
