"""Plugins from .tar.gz and .zip, by path or address."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from builtin_plugins.archives.extract import extract
from builtin_plugins.archives.judge import MOST_BYTES, MOST_FILES, Rules
from builtin_plugins.plugin_changes.kinds.staged import Staged, bring_file, described
from builtin_plugins.plugin_changes.source import Origin
from builtin_plugins.plugin_changes.work import Work
from builtin_plugins.plugin_directories.registry import Entry


def fetch(origin: Origin, work: Work) -> Staged:
    """Stage an archive's plugin; members are judged before one is written."""
    packed = Path(work.area, "archive")
    sha256 = bring_file(origin, packed, work)
    rules = Rules(stays=_is_category, members=MOST_FILES, size=MOST_BYTES)
    extract(packed, Path(work.tree), rules, called=origin.source, seconds=work.seconds)
    packed.unlink()
    entry = Entry("", "archive", origin.source, sha256=sha256, pinned=bool(origin.sha256))
    return described(entry, work.tree, origin)


def _is_category(paths: Collection[str]) -> bool:
    """Tell whether the one leading directory of an archive is the plugin's, not its wrapping."""
    inside = [path.split("/")[1:] for path in paths]
    if ["plugin.json"] in inside:
        return False
    return any(
        one in (["category.json"], ["command.json"]) or one[1:] == ["command.json"]
        for one in inside
    )
