"""The variables of one `setup` command (SPEC 4.3) → places and checked settings."""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from host import OperationError, Program

_CASK = r"[A-Za-z0-9][A-Za-z0-9@._+-]*(/[A-Za-z0-9][A-Za-z0-9@._+-]*)*"
_CATEGORIES = r"([A-Za-z0-9-]+;)*[A-Za-z0-9-]+;?|"
_INSIDE = r"(?!/|(.*/)?\.\.(/|\Z))[^\0]*"
_SECONDS = r"(?=.*[1-9])[0-9]{1,6}(\.[0-9]{1,6})?|"
_SYSTEM_PARENTS = frozenset(["/", "/usr", "/var", "/etc", "/dev", "/proc", "/sys"])

# Suffix of the variable → its value for the tool {0} ({1} in lower case) if nothing sets it
_DEFAULTS = {
    "DOWNLOAD_URL": "",
    "INSTALL_DIR": "/opt/{0}",
    "BIN_DIR": "/usr/local/bin",
    "DESKTOP_FILE": "/usr/share/applications/{0}.desktop",
    "ICON_URL": "",
    "HOMEBREW_CASK": "{1}",
    "SHA256": "",
    "TIMEOUT": "3600",
    "LAUNCHER": "",
    "ICON": "",
    "CATEGORIES": "Utility;",
}
PATHS = ("INSTALL_DIR", "BIN_DIR", "DESKTOP_FILE")  # those that are paths on Linux


def variable(tool: str, suffix: str) -> str:
    """Return the name of a tool's variable: `api-kit`, `SHA256` → `API_KIT_SHA256`."""
    return f"{tool.upper().replace('-', '_').replace('.', '_')}_{suffix}"


def _read(tool: str, suffix: str, environ: Mapping[str, str]) -> str:
    default = _DEFAULTS[suffix].format(tool, tool.lower())
    return environ.get(variable(tool, suffix), default)


class Places(NamedTuple):
    """The Linux paths of one tool: as given, without a slash at the end."""

    tool: str
    install_dir: str
    bin_dir: str
    desktop_file: str

    @classmethod
    def read(cls, tool: str, environ: Mapping[str, str]) -> "Places":
        """Return the places that `environ` names, else the default ones; checks nothing."""
        given = [_read(tool, suffix, environ) for suffix in PATHS]
        return cls(tool, *(os.path.normpath(one) if one[:1] == "/" else one for one in given))

    @property
    def link(self) -> str:
        """The symlink that makes the tool a command."""
        return os.path.join(self.bin_dir, self.tool)


class Settings(NamedTuple):
    """The checked values of the variables, except `places` and addresses; "" means not given.

    `environ` is for the programs that setup starts.
    """

    program: Program
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

    def callers_path(self) -> dict[str, str]:
        """Return the caller's PATH as an environment; without one that a source chose."""
        path = self.program.environment(self.program.words).get("PATH")
        is_callers = path is None or path.rank <= 1
        return {"PATH": self.environ["PATH"]} if is_callers and "PATH" in self.environ else {}


def read_settings(program: Program, environ: Mapping[str, str]) -> Settings:
    """Return the settings of the running command; raises OperationError naming the variable."""
    tool = program.words[-1]

    def read(suffix: str, pattern: str = ".*", expected: str = "cannot be used") -> str:
        value = _read(tool, suffix, environ)
        if not re.fullmatch(pattern, value, re.DOTALL):
            raise OperationError(f"{variable(tool, suffix)}: {value or 'an empty text'} {expected}")
        return value

    return Settings(
        program=program,
        environ=environ,
        places=Places.read(tool, environ),
        name=program.find(program.words).definition.name,
        address=read("DOWNLOAD_URL"),
        icon_address=read("ICON_URL"),
        cask=read("HOMEBREW_CASK", _CASK),
        sha256=read("SHA256", "[0-9A-Fa-f]{64}|"),
        seconds=float(read("TIMEOUT", _SECONDS, "is not a number of seconds") or 3600),
        launcher=read("LAUNCHER", _INSIDE, "is not a path in the archive").strip("/"),
        icon=read("ICON", _INSIDE, "is not a path in the archive").strip("/"),
        categories=read("CATEGORIES", _CATEGORIES),
    )


def check_places(settings: Settings) -> None:
    """Raise OperationError unless the Linux paths are ones that setup may use."""
    places = settings.places
    for suffix, path in zip(PATHS, places[1:], strict=True):
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
    """Return the caller's home directory: HOME, else the one that the system has."""
    return environ.get("HOME") or os.path.expanduser("~")


def user_directories(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the directories of the user's own data, which setup never touches."""
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
        if os.path.dirname(path) in _SYSTEM_PARENTS:
            raise OperationError(
                f"{name}: {chosen} is a system directory",
                f"choose one of its own, such as /opt/{places.tool}",
            )
    kept = user_directories(settings.name, settings.environ)
    menu = os.path.dirname(places.desktop_file)
    for path in (home(settings.environ), *kept, places.bin_dir, menu):
        if _holds(real, os.path.realpath(path)):
            raise OperationError(
                f"{name}={chosen} contains {path}", "choose a directory that nothing else uses"
            )
    for path in kept:
        if _holds(os.path.realpath(path), real):
            raise OperationError(f"{name}: {chosen} is a place for your own data")


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")
