"""The help page of a `setup` command: options, variables as they stand, files touched."""

import os
from collections.abc import Mapping

from builtin_plugins.fetch.addresses import shown
from builtin_plugins.setup.linux.state import Places, variable
from builtin_plugins.setup.settings import MEANINGS, user_directories
from builtin_plugins.setup.tool import Tool
from host.run.text import printable

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
    names = [variable(tool.word, suffix) for suffix in MEANINGS]
    lines = []
    for name, (suffix, meaning) in zip(names, MEANINGS.items(), strict=True):
        value, source = environ.get(name, _default(tool, suffix)), "default"
        if name in environ:
            known = tool.variables.get(name)
            source = printable(known.source) if known and known.rank > 1 else "environment"
        text = shown(value) if suffix in _ADDRESSES and value else printable(value)
        lines += [f"  {name}", f"      {meaning}", f"      {text or '(none)'}  [{source}]"]
    return lines


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
