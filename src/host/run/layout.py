"""Find an installation and its files from the executable and the caller's environment."""

import posix

from host.errors import InstallationError
from host.run.caller import RUN, xdg_home
from host.run.files import basename, dirname, join, realpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


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
            from host.run.nested import set_by_caller

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
