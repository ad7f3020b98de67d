"""The help page of a `setup` command: options, variables as they stand, files touched."""

import os
from collections.abc import Mapping

from builtin_plugins.addresses import shown
from builtin_plugins.setup_definition import Tool
from builtin_plugins.setup_settings import MEANINGS, user_directories
from builtin_plugins.setup_state import Places, variable
from host.escape import printable
from host.expand import expand

_OPTIONS = (
    ("", "install"),
    ("-u, --upgrade", "bring the latest version; your data and settings stay"),
    ("--uninstall", "remove the application, its command and its menu entry"),
    ("-v, --verbose", "tell more, to find a fault"),
    ("-q, --quiet", "tell only what went wrong"),
    ("-h, --help", "show this page"),
)
_ADDRESSES = frozenset(["DOWNLOAD_URL", "ICON_URL"])
_LINUX_DEFAULTS = {"TIMEOUT": "3600", "CATEGORIES": "Utility;"}


def help_text(program: str, tool: Tool, environ: Mapping[str, str], platform: str) -> str:
    """Return the page; values of variables are escaped and addresses shown without secrets."""
    options = [f"  {option or '(no option)':<16}{text}" for option, text in _OPTIONS]
    return "\n".join(
        [
            f"Usage: {printable(program)} [OPTION]",
            "",
            printable(tool.description or f"Install, upgrade or uninstall {tool.name}"),
            "",
            "Options:",
            *options,
            "",
            "Variables:",
            *_variables(tool, environ),
            "",
            "Files:",
            *_files(tool, environ, platform),
        ]
    )


def _variables(tool: Tool, environ: Mapping[str, str]) -> list[str]:
    lines = []
    for suffix, meaning in MEANINGS.items():
        name = variable(tool.word, suffix)
        value, source = _value(tool, suffix, environ)
        text = shown(value) if suffix in _ADDRESSES and value else printable(value)
        lines += [f"  {name}", f"      {meaning}", f"      {text or '(none)'}  [{source}]"]
    return lines


def _value(tool: Tool, suffix: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return a variable's value and where it comes from.

    By the ranks of SPEC 2.6 only the caller's environment can outrank `envs`, so a
    value that differs from what `envs` says is the caller's.
    """
    name = variable(tool.word, suffix)
    if name not in environ:
        return _default(tool, suffix), "default"
    value = environ[name]
    if name not in tool.envs:
        return value, "environment, settings.conf or .env file"
    same = value == expand(tool.envs[name], environ.get)
    return value, "command.json" if same else "environment"


def _default(tool: Tool, suffix: str) -> str:
    places = Places.read(tool.word, {})
    return {
        "INSTALL_DIR": places.install_dir,
        "BIN_DIR": places.bin_dir,
        "DESKTOP_FILE": places.desktop_file,
        "HOMEBREW_CASK": tool.word.lower(),
        "LAUNCHER": f"{tool.name}, {tool.word} or bin/{tool.word}",
        **_LINUX_DEFAULTS,
    }.get(suffix, "")


def _files(tool: Tool, environ: Mapping[str, str], platform: str) -> list[str]:
    own = user_directories(tool.name, environ)
    kept = [f"  {printable(path)}  your data: never touched" for path in own]
    if platform == "darwin":
        return [f"  the Homebrew cask, and a command {tool.word} beside brew", *kept]
    places = Places.read(tool.word, environ)
    hidden = os.path.join(os.path.dirname(places.install_dir), os.path.basename(places.stage))
    return [
        f"  {printable(places.install_dir)}  the application",
        f"  {printable(places.link)}  link that starts it",
        f"  {printable(places.desktop_file)}  menu entry",
        f"  {printable(hidden)}  while a change is prepared",
        *kept,
    ]
