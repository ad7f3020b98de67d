"""Find an installation and its files from the executable and the caller's environment."""

import posix
import sys

from host.errors import DefinitionError, InstallationError, Problem
from host.run import basename, dirname, from_system, is_directory, is_there, join, realpath
from host.run.definition import SUPERVISION_KEYS
from host.run.json_file import Fields, read_json
from host.run.process import RECORDED, RUN
from host.run.text import value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from host.run.projects import Project
    from host.run.supervision import Supervision

HISTORY_RUNS = 10_000
HISTORY_DAYS = 90

_XDG_DEFAULTS = {"DATA": ".local/share", "STATE": ".local/state", "CACHE": ".cache"}


class Config:
    """The content of cli.json: name, description, version, min_version and directories.

    `follow` and `catalogues` come from the key "team". `supervision` says how all runs are recorded
    and limited, or is None. The history keeps `history_runs` runs, and none that is older than
    `history_days` days. `warnings` has a `Problem` for each unknown key that resembles a known one.
    """

    def __init__(self, fields: Fields) -> None:
        self.name: str = fields.filled("name", required=True)
        self.version: str = fields.filled("version", required=True)
        self.description: str = fields.text("description")
        self.min_version: str = fields.filled("min_version")  # checked in `planning.discovery`
        self.commands_dir: str = fields.text("commands_dir") or "commands"
        self.plugins_dir: str = fields.text("plugins_dir") or "plugins"
        self.projects: bool = fields.flag("projects") or fields.value("projects") is None
        team = fields.inner("team")
        self.follow: str = team.one_of("follow", ("notice", "never"))
        self.catalogues: tuple[str, ...] = team.texts("catalogue")
        self.supervision: Supervision | None = None
        if not SUPERVISION_KEYS.isdisjoint(fields.values):
            from host.run.supervision import read_supervision

            self.supervision = read_supervision(fields)
        history = fields.inner("history")
        self.history_runs: int = _count(history, "runs", HISTORY_RUNS)
        self.history_days: int = _count(history, "days", HISTORY_DAYS)
        warnings = [*team.misspelt("team"), *history.misspelt("history"), *fields.misspelt("cli")]
        self.warnings: tuple[Problem, ...] = tuple(warnings)


def _count(fields: Fields, key: str, usual: int) -> int:
    """Return a whole number of at least 1. Raises DefinitionError."""
    value = fields.typed(key, int, "a whole number")
    if value is None:
        return usual
    if value < 1:
        raise fields.refused(key, "expected a whole number of at least 1")
    return int(value)


def read_config(path: str, remedy: str = "") -> Config:
    """Return the checked cli.json. Raises InstallationError, with `remedy` for a missing file."""
    try:
        return Config(Fields(path, read_json(path)))
    except FileNotFoundError:
        raise InstallationError(f"configuration file not found: {path}", remedy) from None
    except DefinitionError as error:
        raise InstallationError(error.problem) from None


class Layout:
    """The paths of one installation, all absolute.

    `program` is the base name of the executable as invoked, `root` is the installation's directory,
    and `config_file` is its cli.json. `launcher` identifies the executable in CLI_RUN: it is the
    directory of the installation that contains the executable, or else the executable's base name.
    `default` is true if `root` is the default directory of the program.
    """

    def __init__(
        self, program: str, root: str, config_file: str, launcher: str = "", default: bool = False
    ) -> None:
        self.program = program
        self.root = root
        self.config_file = config_file
        self.launcher = launcher
        self.default = default
        self.core_dir = join(root, "core")
        self.lib_dir = join(root, "core/lib")
        self.config_dir = join(root, "config")
        self.settings_file = join(root, "config/settings.conf")
        self.lock_file = join(root, "cli.lock")


def find_layout(executable: str, environ: "Mapping[str, str]") -> Layout:
    """Return the layout for `executable` (argv[0]) started with `environ`.

    The root is CLI_DIR if the caller set it. Otherwise, it is `<root>` if the executable's real
    path is `<root>/core/<name>`, or else `${XDG_DATA_HOME:-~/.local/share}/<name>`.
    GLOBAL_CONFIG_FILE replaces only the path of cli.json. No file is read. Raises InstallationError
    for a relative path in a deleted current directory.
    """
    program = program_name(executable)
    try:
        directory = dirname(realpath(executable))
        default = basename(directory) != "core"
        own = realpath(join(xdg_home(environ, "DATA"), program)) if default else dirname(directory)
        launcher = program if default else own
        named, chosen = environ.get("CLI_DIR", ""), environ.get("GLOBAL_CONFIG_FILE", "")
        if RUN in environ:
            from host.run.nested import set_by_caller

            named, chosen, launcher = set_by_caller(own, launcher, environ)
        root = realpath(named) if named else own
        config_file = join(root, "core/cli.json")
        if chosen:  # not resolved: errors show the path that the caller gave
            config_file = chosen if chosen.startswith("/") else join(posix.getcwd(), chosen)
    except FileNotFoundError:
        what = "the current directory was deleted, so relative paths cannot be used"
        raise InstallationError(what, "use absolute paths") from None
    return Layout(program, root, config_file, launcher, default and not named)


def program_name(executable: str) -> str:
    """Return the program's name for usage lines: the base name, or `cli` for `python -m host`."""
    name = basename(executable)
    return "cli" if name in ("", "__main__.py", "-c", "-m") else name


def project_roots(program: str, home: str) -> "Iterator[str]":
    """Yield the directories that contain `.<program>/commands`, from the current one upward.

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


def xdg_home(environ: "Mapping[str, str]", kind: str) -> str:
    """Return the value of XDG_DATA_HOME, XDG_STATE_HOME or XDG_CACHE_HOME, or its default.

    `kind` is "DATA", "STATE" or "CACHE". A relative path in the variable is ignored.
    """
    chosen = environ.get(f"XDG_{kind}_HOME", "")
    return chosen if chosen.startswith("/") else join(home(environ), _XDG_DEFAULTS[kind])


def home(environ: "Mapping[str, str]") -> str:
    """Return the caller's home directory, from HOME or the user database, or `/`.

    The program's own files are below it. So a relative HOME, which would make files of the current
    directory count, is ignored.
    """
    chosen = environ.get("HOME", "")
    return chosen if chosen.startswith("/") else from_system("HOME") or "/"


class OpenInstallation:
    """An installation: `layout`, cli.json, the caller's environment, and the `key` of its lock."""

    def __init__(self, layout: Layout, config: Config, environ: "Mapping[str, str]") -> None:
        flat = layout.lock_file.replace("%", "%25").replace("/", "%2F")
        cached = join(xdg_home(environ, "CACHE"), f"cli-host/{flat[-200:]}")
        python_path = "" if sys.flags.ignore_environment else environ.get("PYTHONPATH", "")
        self.layout = layout
        self.environ = environ
        self.config = config
        self.commands_dir = join(layout.root, config.commands_dir)
        self.plugins_dir = join(layout.root, config.plugins_dir)
        self.locks = (layout.lock_file, cached)
        self.indexes = tuple([f"{place}.index" for place in self.locks])  # indexes of definitions
        interpreter = dirname(sys.executable)  # one for python and python3 of an environment
        directories = (layout.root, self.commands_dir, self.plugins_dir)
        code = (__file__, sys.version, interpreter, python_path)
        self.key = "\n".join([*directories, config.min_version, *code])

    @property
    def caller(self) -> "Mapping[str, str]":
        """The caller's environment, without what an outer run of this installation has set."""
        if RUN not in self.environ:
            return self.environ
        from host.run.nested import without_outer_run

        return without_outer_run(self.environ, self.layout.root)

    def around(self) -> "tuple[list[Project], list[Problem]]":
        """Return the projects around the current directory, and their problems."""
        program, environ = self.layout.program, self.caller
        roots = [*project_roots(program, home(environ))] if self.config.projects else ()
        if not roots:
            return [], []
        from host.run.projects import usable_projects

        return usable_projects(roots, program, self.commands_dir, environ)

    def cache_path(self, kind: str) -> str:
        """Return the path of this installation's cache file with the extension `kind`."""
        return f"{self.locks[1]}.{kind}"

    def run_variables(self, words: "Sequence[str]") -> dict[str, str]:
        """Return the variables that describe a run of the command `words` (SPEC 2.9)."""
        return {
            "CLI_DIR": self.layout.root,
            "CORE_DIR": self.layout.core_dir,
            "LIB_DIR": self.layout.lib_dir,
            "PLUGINS_DIR": self.plugins_dir,
            "GLOBAL_CONFIG_FILE": self.layout.config_file,
            "COMMAND_NAME": words[-1],
            "COMMAND_CATEGORY": "/".join(words[:-1]),
        }

    def run_chain(
        self,
        environ: "Mapping[str, str]",
        values: "Mapping[str, str]",
        secret: "Collection[str]" = (),
        added: "Sequence[str]" = (),
    ) -> str:
        """Return the value of CLI_RUN for a run that sets the variables `values`.

        Of the names in `secret`, it has no hash, because a short secret can be found by its hash.
        `added` has the folders that the run appends to PATH. `environ` is the environment of the
        run's caller.
        """
        layout = self.layout
        launcher = "" if layout.launcher == layout.root else layout.launcher
        usual = layout.config_file == join(layout.root, "core/cli.json")
        paths = (layout.root, launcher, "" if usual else layout.config_file)
        hashes = [
            name if name in secret else f"{name}={value_hash(text)}"
            for name, text in values.items()
        ]
        folders = [_escaped(folder) for folder in added]
        recorded = environ.get(RECORDED, "").partition(":")[0]
        if RUN in environ and not recorded:
            from host.run.nested import outer_id

            recorded = outer_id(environ)
        parts = [*map(_escaped, paths), ",".join(hashes)]
        if folders or recorded:
            parts.append(",".join(folders))
        if recorded:
            parts.append(recorded)
        chain = ":".join(parts)
        if RUN in environ:
            from host.run.nested import chained

            chain = chained(environ, chain)
        return chain


def open_installation(layout: Layout, environ: "Mapping[str, str]") -> OpenInstallation:
    """Return the installation at `layout`. Raises InstallationError if there is none."""
    is_usual = layout.default and layout.config_file == join(layout.root, "core/cli.json")
    remedy = f"to make an installation, run: {layout.program} self init" if is_usual else ""
    return OpenInstallation(layout, read_config(layout.config_file, remedy), environ)


def _escaped(path: str) -> str:
    return path.replace("%", "%25").replace(":", "%3A").replace(" ", "%20").replace(",", "%2C")
