"""An installation: where it is, and what its cli.json says.

`find_layout` finds it without reading a file. `open_installation` reads cli.json.
"""

import posix
import sys

from host.caller import RUN, home, xdg_home
from host.catalog.definition import SUPERVISION_KEYS
from host.errors import DefinitionError, InstallationError, Problem
from host.files.json_file import Fields, read_json
from host.files.paths import basename, dirname, is_there, join, realpath
from host.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.catalog.definition import Definition
    from host.catalog.run_keys import Supervision
    from host.projects.projects import Project

HISTORY_RUNS = 10_000
HISTORY_DAYS = 90
_LONGEST_NAME = 200  # bytes of a file name in the cache; file systems allow 255
_MOST = 1_000_000  # runs, and days, that a history may keep


class Layout:
    """The paths of one installation, all absolute.

    `program` is the base name of the executable as invoked, `root` is the installation's directory,
    and `config_file` is its cli.json. `launcher` identifies the executable in CLI_RUN: it is the
    directory of the installation that contains the executable, or else the executable's base name.
    `default` is true if `root` is the default directory of the program.
    """

    def __init__(
        self,
        program: str,
        root: str,
        config_file: str,
        launcher: str = "",
        default: bool = False,
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
        is_in_core = basename(directory) == "core"
        if is_in_core:
            root = dirname(directory)
            launcher = root
        else:
            root = realpath(join(xdg_home(environ, "DATA"), program))
            launcher = program

        chosen_root = environ.get("CLI_DIR", "")
        chosen_config = environ.get("GLOBAL_CONFIG_FILE", "")
        if RUN in environ:
            from host.variables.nested import set_by_caller

            chosen_root, chosen_config, launcher = set_by_caller(
                root, launcher, environ
            )
        if chosen_root:
            root = realpath(chosen_root)
        config_file = join(root, "core/cli.json")
        if chosen_config:  # not resolved: errors show the path that the caller gave
            config_file = chosen_config
            if not config_file.startswith("/"):
                config_file = join(posix.getcwd(), config_file)
    except FileNotFoundError:
        what = "the current directory was deleted, so relative paths cannot be used"
        raise InstallationError(what, "use absolute paths") from None

    is_default = not (is_in_core or chosen_root)
    return Layout(program, root, config_file, launcher, is_default)


def program_name(executable: str) -> str:
    """Return the program's name for usage lines: the base name, or `cli` for `python -m host`."""
    name = basename(executable)
    return "cli" if name in ("", "__main__.py", "-c", "-m") else name


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
        # checked in `planning.discovery`
        self.min_version: str = fields.filled("min_version")
        self.commands_dir: str = fields.text("commands_dir") or "commands"
        self.plugins_dir: str = fields.text("plugins_dir") or "plugins"
        is_default = fields.value("projects") is None
        self.projects: bool = is_default or fields.flag("projects")

        team = fields.inner("team")
        self.follow: str = team.one_of("follow", ("notice", "never"))
        self.catalogues: tuple[str, ...] = team.texts("catalogue")

        self.supervision: Supervision | None = None
        if not SUPERVISION_KEYS.isdisjoint(fields.values):
            from host.catalog.run_keys import read_supervision

            self.supervision = read_supervision(fields)

        history = fields.inner("history")
        self.history_runs: int = _count(history, "runs", HISTORY_RUNS)
        self.history_days: int = _count(history, "days", HISTORY_DAYS)

        # last, because a key that was not read is unknown
        self.warnings: tuple[Problem, ...] = (
            *team.misspelt("cli", "team"),
            *history.misspelt("cli", "history"),
            *fields.misspelt("cli"),
        )

    def supervision_levels(
        self, definition: "Definition"
    ) -> "list[tuple[Definition | None, Supervision]]":
        """Return what each file says about the runs of a command, the farthest file first.

        That is cli.json, whose definition is None, and then the definition and those above it.
        """
        levels: list[tuple[Definition | None, Supervision]] = []
        if self.supervision is not None:
            levels.append((None, self.supervision))
        for level in definition.chain:
            for supervision in level.own_supervisions:
                levels.append((level, supervision))
        return levels

    def supervision_of(self, definition: "Definition") -> "Supervision":
        """Return how a command's runs are recorded and limited: the nearest value of each key."""
        from host.catalog.run_keys import nearest

        levels = self.supervision_levels(definition)
        return nearest([supervision for _, supervision in levels])


def _count(fields: Fields, key: str, usual: int) -> int:
    """Return a whole number from 1 to a million. Raises DefinitionError."""
    value = fields.typed(key, int, "a whole number")
    if value is None:
        return usual
    if not 1 <= value <= _MOST:
        raise fields.refused(key, f"expected a whole number from 1 to {_MOST}")
    return int(value)


def _flat_name(path: str) -> str:
    """Return a file name for a path; its end is enough, because names have a largest length."""
    flat = path.replace("%", "%25").replace("/", "%2F")
    content = encode(flat)
    if len(content) <= _LONGEST_NAME:
        return flat
    return content[-_LONGEST_NAME:].decode("utf-8", "ignore")  # no half character


def read_config(path: str) -> Config:
    """Return the checked cli.json. Raises InstallationError."""
    try:
        return Config(Fields(path, read_json(path)))
    except FileNotFoundError:
        raise InstallationError(f"configuration file not found: {path}") from None
    except DefinitionError as error:
        raise InstallationError(error.problem) from None


class OpenInstallation:
    """An installation: `layout`, cli.json, the caller's environment, and the `key` of its lock.

    `locks` and `indexes` have the places of the lock and of the index of definitions: the first
    is in the installation; the second is for users who cannot write there.
    """

    def __init__(
        self, layout: Layout, config: Config, environ: "Mapping[str, str]"
    ) -> None:
        self.layout = layout
        self.environ = environ
        self.config = config
        self.commands_dir = join(layout.root, config.commands_dir)
        self.plugins_dir = join(layout.root, config.plugins_dir)

        cached = f"cli-host/{_flat_name(layout.lock_file)}"
        self.locks = (layout.lock_file, join(xdg_home(environ, "CACHE"), cached))
        self.indexes = tuple([f"{path}.index" for path in self.locks])
        self.key = self._lock_key()

    def _lock_key(self) -> str:
        """Return what the lock was made for: these directories and this code."""
        python_path = ""
        if not sys.flags.ignore_environment:
            python_path = self.environ.get("PYTHONPATH", "")
        facts = [
            self.layout.root,
            self.commands_dir,
            self.plugins_dir,
            self.config.min_version,
            __file__,
            sys.version,
            # the directory, because an environment has both python and python3
            dirname(sys.executable),
            python_path,
        ]
        return "\n".join(facts)

    def run_environ(self) -> "Mapping[str, str]":
        """Return the environment that a run starts from.

        It is `environ` without what an outer run of this installation has set. CLI_RUN itself
        stays, for the run that starts now.
        """
        if RUN not in self.environ:
            return self.environ
        from host.variables.nested import without_outer_run

        return without_outer_run(self.environ, self.layout.root)

    def around(self) -> "tuple[list[Project], list[Problem]]":
        """Return the projects around the current directory, and their problems."""
        if not self.config.projects:
            return [], []
        from host.projects.project_roots import project_roots

        program = self.layout.program
        environ = self.run_environ()
        roots = list(project_roots(program, home(environ)))
        if not roots:
            return [], []
        from host.catalog.usable_projects import usable_projects

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


def open_installation(layout: Layout, environ: "Mapping[str, str]") -> OpenInstallation:
    """Return the installation at `layout`. Raises InstallationError if there is none."""
    try:
        config = read_config(layout.config_file)
    except InstallationError as error:
        remedy = _remedy(layout)
        if remedy:
            raise InstallationError(error.what, remedy) from None
        raise
    return OpenInstallation(layout, config, environ)


def _remedy(layout: Layout) -> str:
    """Return how to get a cli.json that is lost: it is missing, or as empty as git may leave it."""
    usual = "core/cli.json"
    if layout.config_file != join(layout.root, usual):
        return ""
    try:
        if posix.stat(layout.config_file).st_size:
            return ""
    except OSError:
        pass  # it is missing

    if is_there(join(layout.root, ".git")):
        import shlex

        return f"to restore it: git -C {shlex.quote(layout.root)} checkout -- {usual}"
    if layout.default:
        return f"to make an installation, run: {layout.program} self init"
    return ""
