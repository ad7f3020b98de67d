"""Find an installation and its files, by the executable and the caller's environment."""

import posix
import sys

from host.errors import InstallationError, Problem
from host.run import basename, dirname, is_directory, is_file, is_there, join, realpath
from host.run.command import Config, read_config
from host.run.environment import FRAMEWORK_NAMES, RUN, value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from host.run.projects import Project


class Layout:
    """The paths of one installation, all absolute.

    `program` is the base name of the executable as invoked, `root` the installation's directory,
    `config_file` its cli.json. `started` is the value for `Entry.program` in CLI_RUN. `default`
    is true if `root` is the default directory of the program.
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

    The root is CLI_DIR if the caller set it, else `<root>` if the executable's real path is
    `<root>/core/<name>`, else `${XDG_DATA_HOME:-~/.local/share}/<name>`. GLOBAL_CONFIG_FILE
    replaces only the path of cli.json. No file is read. Raises InstallationError for a relative
    path in a deleted current directory.
    """
    program = program_name(executable)
    try:
        directory = dirname(realpath(executable))
        default = basename(directory) != "core"
        own = realpath(join(data_home(environ), program)) if default else dirname(directory)
        named, chosen, started = _set_by_caller(own, program if default else own, environ)
        root = realpath(named) if named else own
        config_file = join(root, "core/cli.json")
        if chosen:  # not resolved: errors show the path that the caller gave
            config_file = chosen if chosen.startswith("/") else join(posix.getcwd(), chosen)
    except FileNotFoundError:
        what = "a relative path leads nowhere from a deleted current directory"
        raise InstallationError(Problem("", what, "give its full path")) from None
    return Layout(program, root, config_file, started, default and not named)


def program_name(executable: str) -> str:
    """Return the program's name for usage lines: the base name, `cli` for `python -m host`."""
    name = basename(executable)
    return "cli" if name in ("", "__main__.py", "-c", "-m") else name


def data_home(environ: "Mapping[str, str]") -> str:
    """Return `${XDG_DATA_HOME:-~/.local/share}`; a relative XDG_DATA_HOME is ignored."""
    return _xdg_home(environ, "XDG_DATA_HOME", ".local/share")


def project_roots(program: str, home: str) -> "Iterator[str]":
    """Yield the directories with `.<program>/commands` from the current directory upward.

    The search ends at the root of a git work tree, the home directory or the root of the file
    system.
    """
    try:
        at = posix.getcwd()
        device = posix.stat(at).st_dev
        last = ("/", realpath(home))
        while posix.stat(at).st_dev == device:
            if is_directory(join(at, f".{program}/commands")):
                yield at
            if at in last or is_there(join(at, ".git")):
                return
            at = dirname(at)
    except OSError:
        return  # the current directory is deleted or unreadable


def state_home(environ: "Mapping[str, str]") -> str:
    """Return `${XDG_STATE_HOME:-~/.local/state}`."""
    return _xdg_home(environ, "XDG_STATE_HOME", ".local/state")


def _xdg_home(environ: "Mapping[str, str]", variable: str, usual: str) -> str:
    chosen = environ.get(variable, "")
    return chosen if chosen.startswith("/") else join(home(environ), usual)


def home(environ: "Mapping[str, str]") -> str:
    """Return the caller's home directory: HOME, else from the user database, else `/`."""
    found = environ.get("HOME")
    if found:
        return found
    import pwd

    try:
        return pwd.getpwuid(posix.getuid()).pw_dir
    except KeyError:
        return "/"


def _set_by_caller(own: str, started: str, environ: "Mapping[str, str]") -> tuple[str, str, str]:
    """Return CLI_DIR and GLOBAL_CONFIG_FILE as the caller set them, "" if only a run did.

    A run exports both for its commands. A value that differs from the innermost run's was set
    inside that run. Otherwise the value is that of the outer run that was started by the same
    program (`started`) or else belongs to the installation `own`, "" if there is none. The third
    value is the program for `Layout.started`.
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


def library_file(lib_dir: str) -> str:
    """Return the installation's init.sh of the core library, else the shipped one, "" for none."""
    package = dirname(dirname(__file__))
    shipped = [f"{package}/skeleton/core/lib", f"{dirname(dirname(package))}/core/lib"]
    paths = [join(place, "init.sh") for place in (lib_dir, *shipped)]  # in a wheel or a checkout
    return next(filter(is_file, paths), "")


def lock_places(lock_file: str, cache_home: str) -> tuple[str, str]:
    """Return the places of a lock: in the installation, else in the user's cache."""
    flat = lock_file.replace("%", "%25").replace("/", "%2F")
    return lock_file, join(cache_home, f"cli-host/{flat[-200:]}")


class OpenInstallation:
    """A layout with its cli.json and the caller's environment; a lock is valid for one `key`."""

    def __init__(self, layout: Layout, config: Config, environ: "Mapping[str, str]") -> None:
        cache_home = _xdg_home(environ, "XDG_CACHE_HOME", ".cache")
        python_path = "" if sys.flags.ignore_environment else environ.get("PYTHONPATH", "")
        self.layout = layout
        self.environ = environ
        self.config = config
        self.commands_dir = join(layout.root, config.commands_dir)
        self.plugins_dir = join(layout.root, config.plugins_dir)
        self.locks = lock_places(layout.lock_file, cache_home)
        interpreter = dirname(sys.executable)  # the same for python and python3 of one environment
        directories = (layout.root, self.commands_dir, self.plugins_dir)
        code = (__file__, sys.version, interpreter, python_path)
        self.key = "\n".join([*directories, config.min_version, *code])

    @property
    def indexes(self) -> tuple[str, ...]:
        """The places of the index of definitions, beside the lock."""
        return tuple([f"{place}.index" for place in self.locks])

    def around(self) -> "tuple[list[Project], list[Problem]]":
        """Return the projects around the current directory, and the problems found."""
        program, environ = self.layout.program, self.environ
        if RUN in environ:
            from host.run.nested import without_outer_run

            environ = without_outer_run(environ, self.layout.root)
        roots = [*project_roots(program, home(environ))] if self.config.projects else ()
        if not roots:
            return [], []
        from host.run.projects import usable_projects

        return usable_projects(roots, program, self.commands_dir, environ)

    def cached(self, kind: str) -> str:
        """Return the path of this installation's cache file with the extension `kind`."""
        return f"{self.locks[1]}.{kind}"

    @property
    def versions_file(self) -> str:
        """The path of the cache of programs' versions."""
        return join(dirname(self.locks[-1]), "versions")

    def run_variables(self, words: "Sequence[str]") -> dict[str, str]:
        """Return the variables that describe a run of the command `words` (SPEC 2.9)."""
        layout = self.layout
        paths = (layout.root, layout.core_dir, layout.lib_dir, self.plugins_dir)
        values = (*paths, layout.config_file, words[-1], "/".join(words[:-1]))
        return dict(zip(FRAMEWORK_NAMES, values, strict=True))

    def run_entry(self, environ: "Mapping[str, str]", values: "Mapping[str, str]") -> str:
        """Return CLI_RUN for a command whose run sets `values`; `environ` is the caller's."""
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
    """Return the installation at `layout`; raises InstallationError if there is none."""
    is_usual = layout.default and layout.config_file == join(layout.root, "core/cli.json")
    remedy = f"to make an installation run: {layout.program} self init" if is_usual else ""
    return OpenInstallation(layout, read_config(layout.config_file, remedy), environ)


def _escaped(path: str) -> str:
    return path.replace("%", "%25").replace(":", "%3A").replace(" ", "%20")
