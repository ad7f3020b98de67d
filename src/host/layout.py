"""Where an installation keeps its files, from the executable and the caller's environment."""

import os

from host.errors import InstallationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Says which program a caller has pointed at another program's installation.
# Exported only then; see `_stays`.
ADOPTED_BY = "CLI_DIR_PROGRAM"


class Layout:
    """The paths of one installation; all absolute.

    `program` is the base name of the executable as invoked, `root` the installation,
    `config_file` its cli.json. `adopted` is true when the caller's CLI_DIR named an
    installation in which only other programs live.
    """

    __slots__ = ("adopted", "config_file", "core_dir", "default", "lib_dir", "program", "root")

    def __init__(
        self,
        program: str,
        root: str,
        config_file: str,
        adopted: bool = False,
        default: bool = False,
    ) -> None:
        self.program = program
        self.root = root
        self.config_file = config_file
        self.adopted = adopted
        self.default = default
        self.core_dir = os.path.join(root, "core")
        self.lib_dir = os.path.join(self.core_dir, "lib")

    @property
    def settings_file(self) -> str:
        return os.path.join(self.root, "config", "settings.conf")

    @property
    def lock_file(self) -> str:
        return os.path.join(self.root, "cli.lock")


def find_layout(executable: str, environ: "Mapping[str, str]") -> Layout:
    """Return the layout for `executable` (argv[0]) started with `environ`.

    The root is CLI_DIR when the caller set it, else `<root>` when the executable's
    real path is `<root>/core/<name>`, else `${XDG_DATA_HOME:-~/.local/share}/<name>`.
    GLOBAL_CONFIG_FILE replaces the path of cli.json only. Nothing is read but the
    names in one directory. Raises InstallationError when a relative path meets a
    deleted current directory.
    """
    program = program_name(executable)
    root, default = _own_root(executable, program, environ)
    named = environ.get("CLI_DIR")
    adopted = False
    if named and _stays(named, program, environ):
        named = _absolute(named)
        adopted = named != root and _others_live_in(named, program)
        root, default = named, False
    config_file = os.path.join(root, "core", "cli.json")
    chosen = environ.get("GLOBAL_CONFIG_FILE")
    if chosen and not _exported_config(chosen, environ):
        config_file = _absolute(chosen)
    return Layout(program, root, config_file, adopted, default)


def program_name(executable: str) -> str:
    """Return the base name that usage lines show; `cli` under `python -m host`."""
    name = os.path.basename(executable)
    return "cli" if name in ("", "__main__.py", "-c", "-m") else name


def data_home(environ: "Mapping[str, str]") -> str:
    """Return `${XDG_DATA_HOME:-~/.local/share}`; a relative XDG_DATA_HOME does not count."""
    chosen = environ.get("XDG_DATA_HOME", "")
    return chosen if chosen.startswith("/") else os.path.join(home(environ), ".local", "share")


def home(environ: "Mapping[str, str]") -> str:
    """Return the caller's home directory: HOME, else what the system knows, else `/`."""
    found = environ.get("HOME")
    if found:
        return found
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


def _own_root(executable: str, program: str, environ: "Mapping[str, str]") -> tuple[str, bool]:
    directory = os.path.dirname(os.path.realpath(executable))
    if os.path.basename(directory) == "core":
        return os.path.dirname(directory), False
    return os.path.join(data_home(environ), program), True


def _stays(named: str, program: str, environ: "Mapping[str, str]") -> bool:
    """Tell whether CLI_DIR is the caller's word, not what a running command inherited.

    A run exports CLI_DIR together with a CORE_DIR inside it. So a CLI_DIR that does
    not fit CORE_DIR was set since. One that fits was exported by a run of some
    program; it keeps its meaning for the program that was started with it, and for
    all when no program lives there: then only a caller can have named it.
    """
    if not _was_exported(named, environ):
        return True
    return environ.get(ADOPTED_BY) == program or not _others_live_in(named, program)


def _was_exported(named: str, environ: "Mapping[str, str]") -> bool:
    return environ.get("CORE_DIR") == os.path.join(named, "core") and "COMMAND_NAME" in environ


def _others_live_in(root: str, program: str) -> bool:
    """Tell whether `root` has launchers, and none of them is `program`."""
    core = os.path.join(root, "core")
    try:
        names = [name for name in os.listdir(core) if _is_launcher(os.path.join(core, name))]
    except OSError:
        return False
    return bool(names) and program not in names


def _is_launcher(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _exported_config(chosen: str, environ: "Mapping[str, str]") -> bool:
    named = environ.get("CLI_DIR", "")
    return _was_exported(named, environ) and chosen == os.path.join(named, "core", "cli.json")


def _absolute(path: str) -> str:
    if path.startswith("/"):
        return os.path.normpath(path) if path != "/" else path
    try:
        return os.path.abspath(path)
    except OSError:
        raise InstallationError(
            f"{path}: cannot be found from a deleted current directory; give its full path"
        ) from None
