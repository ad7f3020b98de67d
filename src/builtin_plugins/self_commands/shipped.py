"""The files that the package ships, from which installations are made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import host

IN_CORE = ("cli.json", "lib", "schema")

_PARTS = ("commands", "config", "core", "plugins")
_COMMANDS = (
    *("demo/category.json", "demo/files", "demo/hello", "demo/precedence", "demo/words"),
    *("setup/category.json", "setup/postman"),
)


def shipped_files() -> Iterator[tuple[Path, Path]]:
    """Yield each shipped file: its path in an installation, relative, and where it is now."""
    package = Path(host.__file__).parent
    shipped = package / "skeleton"
    skeleton = shipped if shipped.is_dir() else package.parent.parent  # a checkout is one itself
    for part in _PARTS:
        for source in sorted((skeleton / part).rglob("*")):
            relative = source.relative_to(skeleton)
            if source.is_file() and _is_shipped(relative):
                yield relative, source


def _is_shipped(path: Path) -> bool:
    """Tell a shipped file from what a checkout that is an installation has of its own."""
    first, *rest = path.parts
    if "__pycache__" in rest:
        return False
    if first == "core":
        return rest[0] in IN_CORE
    if first == "plugins":
        return rest == ["README.md"]
    if first == "commands":
        return "/".join(rest[:2]) in _COMMANDS
    return rest == ["settings.conf.example"]
