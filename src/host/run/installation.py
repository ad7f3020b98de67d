"""Where an installation keeps its files, from the executable and the caller's environment."""

import posix
import sys

from host.errors import InstallationError, Problem
from host.run import basename, dirname, is_there, join, realpath
from host.run.command import Config, read_config
from host.run.environment import FRAMEWORK_NAMES, RUN, value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Layout:
    """The paths of one installation; all absolute.

    `program` is the base name of the executable as invoked, `root` the installation,
    `config_file` its cli.json. `started` is the program as an `Entry` of CLI_RUN has it.
    """

    def __init__(
        self, program: str, root: str, config_file: str, started: str = "", default: bool = False
    ) -> None:
        self.program = program
        self.root = root
        self.config_file = config_file
        self.started = started
        self.default = default
        self.core_dir = join(root, "core")
        self.lib_dir = join(root, "core/lib")
        self.config_dir = join(root, "config")
        self.settings_file = join(root, "config/settings.conf")
        self.lock_file = join(root, "cli.lock")


def find_layout(executable: str, environ: "Mapping[str, str]") -> Layout:
    """Return the layout for `executable` (argv[0]) started with `environ`.

    The root is CLI_DIR when the caller set it, else `<root>` when the executable's
    real path is `<root>/core/<name>`, else `${XDG_DATA_HOME:-~/.local/share}/<name>`.
    GLOBAL_CONFIG_FILE replaces the path of cli.json only. No file is read, only its
    presence looked at. Raises InstallationError when a relative path meets a deleted
    current directory.
    """
    program = program_name(executable)
    try:
        directory = dirname(realpath(executable))
        default = basename(directory) != "core"
        own = realpath(join(data_home(environ), program)) if default else dirname(directory)
        named, chosen, started = _set_by_caller(own, program if default else own, environ)
        root = realpath(named) if named else own
        config_file = realpath(chosen) if chosen else join(root, "core/cli.json")
    except FileNotFoundError:
        what = "a relative path leads nowhere from a deleted current directory"
        raise InstallationError(Problem("", what, "give its full path")) from None
    return Layout(program, root, config_file, started, default and not named)


def program_name(executable: str) -> str:
    """Return the base name that usage lines show; `cli` under `python -m host`."""
    name = basename(executable)
    return "cli" if name in ("", "__main__.py", "-c", "-m") else name


def data_home(environ: "Mapping[str, str]") -> str:
    """Return `${XDG_DATA_HOME:-~/.local/share}`; a relative XDG_DATA_HOME does not count."""
    return _xdg_home(environ, "XDG_DATA_HOME", ".local/share")


def cache_directory(environ: "Mapping[str, str]") -> str:
    """Return `${XDG_CACHE_HOME:-~/.cache}`."""
    return _xdg_home(environ, "XDG_CACHE_HOME", ".cache")


def _xdg_home(environ: "Mapping[str, str]", variable: str, usual: str) -> str:
    chosen = environ.get(variable, "")
    return chosen if chosen.startswith("/") else join(home(environ), usual)


def home(environ: "Mapping[str, str]") -> str:
    """Return the caller's home directory: HOME, else what the system knows, else `/`."""
    found = environ.get("HOME")
    if found:
        return found
    import pwd

    try:
        return pwd.getpwuid(posix.getuid()).pw_dir
    except KeyError:
        return "/"


def _set_by_caller(own: str, started: str, environ: "Mapping[str, str]") -> tuple[str, str, str]:
    """Return CLI_DIR and GLOBAL_CONFIG_FILE as the caller set them, "" where only a run did.

    A run exports both for its commands; a value that is not the innermost run's was set since.
    An inherited value counts as the caller of this program gave it: the program that was
    `started` is the one of an outer run, or is in that run's installation. The third value is
    that program.
    """
    root, config_file = environ.get("CLI_DIR", ""), environ.get("GLOBAL_CONFIG_FILE", "")
    if RUN not in environ:
        return root, config_file, started
    from host.run.nested import entry_of, outer_runs

    runs = outer_runs(environ)
    if not runs:
        return root, config_file, started
    last = runs[-1]
    mine = next((one for one in reversed(runs) if one.program == started), entry_of(own, runs))
    if config_file == last.exported_config_file:
        config_file = mine.config_file if mine else ""
    if root != last.root:
        return root, config_file, started
    return (mine.root, config_file, mine.program) if mine else ("", config_file, started)


def lock_places(lock_file: str, cache_home: str) -> tuple[str, str]:
    """Return where a lock may be: beside the installation, else in the user's cache."""
    flat = lock_file.replace("%", "%25").replace("/", "%2F")
    return lock_file, join(cache_home, f"cli-host/{flat[-200:]}")


class OpenInstallation:
    """A layout together with what its cli.json says; `key` names it in its lock."""

    __slots__ = ("commands_dir", "config", "key", "layout", "locks", "plugins_dir")

    def __init__(self, layout: Layout, config: Config, cache_home: str, python_path: str) -> None:
        self.layout = layout
        self.config = config
        self.commands_dir = join(layout.root, config.commands_dir)
        self.plugins_dir = join(layout.root, config.plugins_dir)
        self.locks = lock_places(layout.lock_file, cache_home)
        interpreter = dirname(sys.executable)  # python and python3 of one environment
        directories = f"{layout.root}\n{self.commands_dir}\n{self.plugins_dir}"
        self.key = f"{directories}\n{__file__}\n{sys.version}\n{interpreter}\n{python_path}"

    @property
    def indexes(self) -> tuple[str, ...]:
        """Where an index of definitions may be: beside the lock."""
        return tuple([f"{place}.index" for place in self.locks])

    def run_variables(self, words: "Sequence[str]") -> dict[str, str]:
        """Return the variables that describe a run of the command `words` (SPEC 2.9)."""
        layout = self.layout
        paths = (layout.root, layout.core_dir, layout.lib_dir, self.plugins_dir)
        values = (*paths, layout.config_file, words[-1], "/".join(words[:-1]))
        return dict(zip(FRAMEWORK_NAMES, values, strict=True))

    def run_entry(self, environ: "Mapping[str, str]", values: "Mapping[str, str]") -> str:
        """Return CLI_RUN for the command of a run that sets `values`; `environ` is its caller's."""
        layout = self.layout
        program = "" if layout.started == layout.root else layout.started
        usual = layout.config_file == join(layout.root, "core/cli.json")
        paths = (layout.root, program, "" if usual else layout.config_file)
        hashes = [f"{name}={value_hash(text)}" for name, text in values.items()]
        entry = ":".join([*map(_escaped, paths), ",".join(hashes)])
        if RUN in environ:
            from host.run.nested import chained

            entry = chained(environ, layout.root, entry)
        return entry


def open_installation(layout: Layout, environ: "Mapping[str, str]") -> OpenInstallation:
    """Return the installation at `layout`; raises InstallationError when it is none."""
    try:
        config = read_config(layout.config_file)
    except InstallationError as error:
        usual = join(layout.root, "core/cli.json")
        if layout.default and layout.config_file == usual and not is_there(usual):
            raise InstallationError(
                error.what, f"to make an installation run: {layout.program} self init"
            ) from None
        raise
    cache_home = cache_directory(environ)
    python_path = "" if sys.flags.ignore_environment else environ.get("PYTHONPATH", "")
    return OpenInstallation(layout, config, cache_home, python_path)


def _escaped(path: str) -> str:
    return path.replace("%", "%25").replace(":", "%3A").replace(" ", "%20")
