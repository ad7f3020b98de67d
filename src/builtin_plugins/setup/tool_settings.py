"""The settings of one `setup` command, from its variables (SPEC 4.3)."""

import os

from host import OperationError, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_CASK = r"[A-Za-z0-9][A-Za-z0-9@._+-]*(/[A-Za-z0-9][A-Za-z0-9@._+-]*)*"
_CATEGORIES = r"([A-Za-z0-9-]+;)*"
_INSIDE = r"(?!/|(.*/)?\.\.(/|\Z))[^\0]*"
_PATH = r"/[^\0\ud800-\udfff]*"
_SECONDS = r"(?=.*[1-9])[0-9]{1,6}(\.[0-9]{1,6})?|"

# The suffixes of the variables with paths, which have an effect on Linux only.
PATHS = ("INSTALL_DIR", "BIN_DIR", "DESKTOP_FILE")

# Suffix of the variable → default ({0}: the tool, {1}: the tool in lower case), pattern, meaning
_VARIABLES = {
    "DOWNLOAD_URL": ("", ".*", "an address"),
    "INSTALL_DIR": ("/opt/{0}", _PATH, "an absolute path"),
    "BIN_DIR": ("/usr/local/bin", _PATH, "an absolute path"),
    "DESKTOP_FILE": (
        "/usr/share/applications/{0}.desktop",
        _PATH + r"(?<!/)\.desktop",
        "an absolute path that ends in .desktop",
    ),
    "ICON_URL": ("", ".*", "an address"),
    "HOMEBREW_CASK": ("{1}", _CASK, "the name of a cask"),
    "SHA256": ("", "[0-9A-Fa-f]{64}|", "a SHA-256 checksum"),
    "TIMEOUT": ("3600", _SECONDS, "a number of seconds"),
    "LAUNCHER": ("", _INSIDE, "a path in the archive"),
    "ICON": ("", _INSIDE, "a path in the archive"),
    "CATEGORIES": ("Utility;", _CATEGORIES, "a list of menu categories"),
}


def variable(tool: str, suffix: str) -> str:
    """Return the name of a tool's variable: `api-kit`, `SHA256` → `API_KIT_SHA256`."""
    return f"{tool.upper().replace('-', '_').replace('.', '_')}_{suffix}"


class ToolPaths(Record):
    """The Linux paths of one tool, without a trailing slash."""

    tool: str
    install_dir: str
    bin_dir: str
    desktop_file: str

    @property
    def link(self) -> str:
        """The symlink that puts the tool on PATH."""
        return os.path.join(self.bin_dir, self.tool)


class ToolSettings(Record):
    """The names of a tool and the values of its variables.

    `variables` maps each suffix, such as SHA256, to the variable's value, or to "" if it is unset.
    `environ` is passed to the programs that setup starts.
    """

    tool: str
    name: str
    environ: "Mapping[str, str]"
    variables: "Mapping[str, str]"

    @classmethod
    def read(cls, tool: str, name: str, environ: "Mapping[str, str]") -> "ToolSettings":
        """Return the settings in `environ`, with defaults for missing ones; do not check them."""
        values = {}
        for suffix, (default, _, _) in _VARIABLES.items():
            default_value = default.format(tool, tool.lower())
            key = variable(tool, suffix)
            values[suffix] = environ.get(key, default_value)
        return cls(tool, name, environ, values)

    def check(self) -> None:
        """Raise OperationError if the value of a variable is invalid."""
        import re  # a listing, which only asks for paths, does not need it

        for suffix, (_, pattern, meaning) in _VARIABLES.items():
            value = self.variables[suffix]
            if not re.fullmatch(pattern, value, re.DOTALL):
                name = variable(self.tool, suffix)
                raise OperationError(f'{name}="{value}" is not {meaning}')

    @property
    def paths(self) -> ToolPaths:
        """The paths on Linux."""
        paths = [os.path.normpath(self.variables[suffix]) for suffix in PATHS]
        return ToolPaths(self.tool, *paths)
