"""The variables of one `setup` command → places and checked settings (SPEC 4.3, its variables)."""

import os
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass

from host import OperationError

_CASK = r"[A-Za-z0-9][A-Za-z0-9@._+-]*(/[A-Za-z0-9][A-Za-z0-9@._+-]*)*"
_CATEGORIES = r"([A-Za-z0-9-]+;)*[A-Za-z0-9-]+;?|"
_INSIDE = r"(?!/|(.*/)?\.\.(/|\Z))[^\0]*"
_SECONDS = r"(?=.*[1-9])[0-9]{1,6}(\.[0-9]{1,6})?|"
_SYSTEM_PARENTS = frozenset(["/", "/usr", "/var", "/etc", "/dev", "/proc", "/sys"])
_SYSTEM = frozenset(
    f"/usr/local/{name}"
    for name in ("bin", "etc", "games", "include", "lib", "libexec", "man", "sbin", "share", "src")
)

# Suffix of the variable → what it means, and its value for the tool {0} ({1} in lower case)
# where nothing sets it; the order is that of the help page.
VARIABLES = {
    "DOWNLOAD_URL": ("where the Linux archive comes from (https)", ""),
    "INSTALL_DIR": ("directory that holds the application", "/opt/{0}"),
    "BIN_DIR": ("directory of the command that starts it", "/usr/local/bin"),
    "DESKTOP_FILE": ("menu entry", "/usr/share/applications/{0}.desktop"),
    "ICON_URL": ("picture for the menu entry; the archive's own when it fails", ""),
    "HOMEBREW_CASK": ("name of the Homebrew cask (macOS)", "{1}"),
    "SHA256": ("checksum that the archive must have", ""),
    "TIMEOUT": ("seconds to download and unpack it", "3600"),
    "LAUNCHER": ("path in the archive of the program to start", ""),
    "ICON": ("path in the archive of its own picture", ""),
    "CATEGORIES": ("menu categories, separated by ;", "Utility;"),
}
PATHS = ("INSTALL_DIR", "BIN_DIR", "DESKTOP_FILE")  # the variables that are paths on Linux


def variable(tool: str, suffix: str) -> str:
    """Return the name of a tool's variable: `api-kit`, `SHA256` → `API_KIT_SHA256`."""
    return f"{tool.upper().replace('-', '_').replace('.', '_')}_{suffix}"


def usual(tool: str, suffix: str) -> str:
    """Return the value of a tool's variable where nothing sets it."""
    return VARIABLES[suffix][1].format(tool, tool.lower())


@dataclass(frozen=True)
class Places:
    """The Linux paths of one tool: as given, without a slash at the end."""

    tool: str
    install_dir: str
    bin_dir: str
    desktop_file: str

    @classmethod
    def read(cls, tool: str, environ: Mapping[str, str]) -> "Places":
        """Return the places that `environ` names, else the usual ones; checks nothing."""
        given = [environ.get(variable(tool, suffix), usual(tool, suffix)) for suffix in PATHS]
        return cls(tool, *(os.path.normpath(one) if one[:1] == "/" else one for one in given))

    @property
    def link(self) -> str:
        """The symlink that makes the tool a command."""
        return os.path.join(self.bin_dir, self.tool)

    @property
    def stage(self) -> str:
        """The hidden directory beside the install directory where changes are prepared."""
        parent, name = os.path.split(self.install_dir)
        return os.path.join(parent, f".{name}.setup")


@dataclass(frozen=True)
class Settings:
    """What the variables say, checked, but for `places` and addresses; "" means not given.

    `environ` is for what is started.
    """

    environ: Mapping[str, str]
    places: Places
    name: str
    address: str
    icon_address: str
    cask: str
    sha256: str
    seconds: float
    launcher: str
    icon: str
    categories: str


def read_settings(tool: str, name: str, environ: Mapping[str, str]) -> Settings:
    """Return the settings of `tool`, shown as `name`; raises OperationError naming the variable."""

    def read(suffix: str, pattern: str = ".*", expected: str = "cannot be used") -> str:
        value = environ.get(variable(tool, suffix), usual(tool, suffix))
        if not re.fullmatch(pattern, value, re.DOTALL):
            shown = value or "an empty text"
            raise OperationError(f"{variable(tool, suffix)}: {shown} {expected}")
        return value

    seconds = read("TIMEOUT", _SECONDS, "is not a number of seconds") or usual(tool, "TIMEOUT")
    return Settings(
        environ=environ,
        places=Places.read(tool, environ),
        name=name,
        address=read("DOWNLOAD_URL"),
        icon_address=read("ICON_URL"),
        cask=read("HOMEBREW_CASK", _CASK),
        sha256=read("SHA256", "[0-9A-Fa-f]{64}|"),
        seconds=float(seconds),
        launcher=read("LAUNCHER", _INSIDE, "is not a path in the archive").strip("/"),
        icon=read("ICON", _INSIDE, "is not a path in the archive").strip("/"),
        categories=read("CATEGORIES", _CATEGORIES),
    )


def check_places(settings: Settings) -> None:
    """Raise OperationError unless the Linux paths are ones that setup may use."""
    places = settings.places
    for suffix, path in zip(PATHS, astuple(places)[1:], strict=True):
        name = variable(places.tool, suffix)
        if not path:
            raise OperationError(f"{name} is empty", "give an absolute path")
        if not path.startswith("/"):
            raise OperationError(f"{name}: {path} is not an absolute path")
        if any("\ud800" <= character <= "\udfff" for character in path):
            raise OperationError(f"{name}: {path} is not UTF-8")
    if not os.path.basename(places.desktop_file).endswith(".desktop"):
        raise OperationError(f"{name}: {places.desktop_file} does not end in .desktop")
    _check_install_dir(settings)


def home(environ: Mapping[str, str]) -> str:
    """Return the caller's home directory: HOME, else what the system knows."""
    return environ.get("HOME") or os.path.expanduser("~")


def user_directories(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the directories that hold the user's own things and are never touched."""
    base = home(environ)
    return os.path.join(base, name), os.path.join(base, ".config", name)


def _check_install_dir(settings: Settings) -> None:
    """Keep the install directory away from the system's and the user's own directories."""
    places = settings.places
    name = variable(places.tool, "INSTALL_DIR")
    chosen = places.install_dir
    if os.path.islink(chosen):
        raise OperationError(f"{name}: {chosen} is a symbolic link", "name its target")
    real = os.path.join(os.path.realpath(os.path.dirname(chosen)), os.path.basename(chosen))
    for path in (chosen, real):
        if path in _SYSTEM or os.path.dirname(path) in _SYSTEM_PARENTS:
            raise OperationError(
                f"{name}: {chosen} is a system directory",
                f"choose one of its own, such as /opt/{places.tool}",
            )
    kept = user_directories(settings.name, settings.environ)
    menu = os.path.dirname(places.desktop_file)
    for path in (home(settings.environ), *kept, places.bin_dir, menu):
        if _holds(real, os.path.realpath(path)):
            raise OperationError(f"{name}: {chosen} would hold {path}")
    for path in kept:
        if _holds(os.path.realpath(path), real):
            raise OperationError(f"{name}: {chosen} is a place for your own data")


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")
