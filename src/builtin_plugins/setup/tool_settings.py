"""The variables of one `setup` command → checked settings (SPEC 4.3, its variables)."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from builtin_plugins.fetch.addresses import fetchable
from builtin_plugins.setup.places import Places, variable
from host import OperationError
from host.run.installation import home

DEFAULTS = {"TIMEOUT": "3600", "CATEGORIES": "Utility;"}
_CASK = r"[A-Za-z0-9][A-Za-z0-9@._+-]*(/[A-Za-z0-9][A-Za-z0-9@._+-]*)*"
_CATEGORIES = r"([A-Za-z0-9-]+;)*[A-Za-z0-9-]+;?|"
_INSIDE = r"(?!/|(.*/)?\.\.(/|\Z))[^\0]*"
_SECONDS = r"(?=.*[1-9])[0-9]{1,6}(\.[0-9]{1,6})?|"
_SYSTEM_PARENTS = frozenset(["/", "/usr", "/var", "/etc", "/dev", "/proc", "/sys"])
_SYSTEM = frozenset(
    f"/usr/local/{name}"
    for name in ("bin", "etc", "games", "include", "lib", "libexec", "man", "sbin", "share", "src")
)

# Suffix of the variable → what it means; the order is that of the help page.
MEANINGS = {
    "DOWNLOAD_URL": "where the Linux archive comes from (https)",
    "INSTALL_DIR": "directory that holds the application",
    "BIN_DIR": "directory of the command that starts it",
    "DESKTOP_FILE": "menu entry",
    "ICON_URL": "picture for the menu entry; the archive's own when it fails",
    "HOMEBREW_CASK": "name of the Homebrew cask (macOS)",
    "SHA256": "checksum that the archive must have",
    "TIMEOUT": "seconds to download and unpack it",
    "LAUNCHER": "path in the archive of the program to start",
    "ICON": "path in the archive of its own picture",
    "CATEGORIES": "menu categories, separated by ;",
}


@dataclass(frozen=True)
class Settings:
    """What the variables say, checked. Paths are absolute; "" means not given.

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
        value = environ.get(variable(tool, suffix), usual.get(suffix, ""))
        if not re.fullmatch(pattern, value, re.DOTALL):
            shown = value or "an empty text"
            raise OperationError(f"{variable(tool, suffix)}: {shown} {expected}")
        return value

    usual = {"HOMEBREW_CASK": tool.lower(), **DEFAULTS}
    return Settings(
        environ=environ,
        places=Places.read(tool, environ),
        name=name,
        address=read("DOWNLOAD_URL"),
        icon_address=read("ICON_URL"),
        cask=read("HOMEBREW_CASK", _CASK),
        sha256=read("SHA256", "[0-9A-Fa-f]{64}|"),
        seconds=float(read("TIMEOUT", _SECONDS, "is not a number of seconds") or usual["TIMEOUT"]),
        launcher=read("LAUNCHER", _INSIDE, "is not a path in the archive").strip("/"),
        icon=read("ICON", _INSIDE, "is not a path in the archive").strip("/"),
        categories=read("CATEGORIES", _CATEGORIES),
    )


def check_places(settings: Settings) -> None:
    """Raise OperationError unless the Linux paths are ones that setup may use."""
    places = settings.places
    for suffix, path in (
        ("INSTALL_DIR", places.install_dir),
        ("BIN_DIR", places.bin_dir),
        ("DESKTOP_FILE", places.desktop_file),
    ):
        _check_path(variable(places.tool, suffix), path)
    if not os.path.basename(places.desktop_file).endswith(".desktop"):
        name = variable(places.tool, "DESKTOP_FILE")
        raise OperationError(f"{name}: {places.desktop_file} does not end in .desktop")
    _check_install_dir(settings)


def check_address(settings: Settings) -> None:
    """Raise OperationError unless the archive's address may be fetched."""
    try:
        fetchable(settings.address)
    except OperationError as refusal:
        name = variable(settings.places.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None


def user_directories(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the directories that hold the user's own things and are never touched."""
    base = home(environ)
    return os.path.join(base, name), os.path.join(base, ".config", name)


def _check_path(name: str, path: str) -> None:
    if not path:
        raise OperationError(f"{name} is empty", "give an absolute path")
    if not path.startswith("/"):
        raise OperationError(f"{name}: {path} is not an absolute path")
    if ".." in path.split("/"):
        raise OperationError(f"{name}: {path} must not contain ..")
    if "\0" in path or any("\ud800" <= character <= "\udfff" for character in path):
        raise OperationError(f"{name}: {path} is not UTF-8")


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
    for path in (
        home(settings.environ),
        *kept,
        places.bin_dir,
        os.path.dirname(places.desktop_file),
    ):
        if _holds(real, os.path.realpath(path)):
            raise OperationError(f"{name}: {chosen} would hold {path}")
    for path in kept:
        if _holds(os.path.realpath(path), real):
            raise OperationError(f"{name}: {chosen} is a place for your own data")


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")
