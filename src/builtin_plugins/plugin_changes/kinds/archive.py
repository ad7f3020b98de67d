"""Plugins from .tar.gz and .zip, by path or address."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from builtin_plugins.archives.extract import extract
from builtin_plugins.archives.judge import MOST_BYTES, MOST_FILES, Rules
from builtin_plugins.plugin_changes.kinds.kind import Kind, Staged, Work, bring_file, described
from builtin_plugins.plugin_changes.source import Origin
from builtin_plugins.plugin_directories.registry import Entry


class ArchivePlugin(Kind):
    """A plugin from a .tar.gz or .zip, by path or address."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        """Stage it; members are judged before one is written, the checksum is recorded."""
        packed = Path(work.stage.path, "archive")
        sha256 = bring_file(origin, packed, work)
        rules = Rules(stays=is_category, members=MOST_FILES, size=MOST_BYTES)
        extract(packed, Path(work.stage.tree), rules, called=origin.source, seconds=work.seconds)
        os.unlink(packed)
        entry = Entry("", "archive", origin.source, sha256=sha256, pinned=bool(origin.sha256))
        return described(entry, work.stage.tree, origin)


KIND = ArchivePlugin()


def is_category(paths: Collection[str]) -> bool:
    """Tell whether the one leading directory of an archive is the plugin's, not its wrapping."""
    inside = [path.split("/")[1:] for path in paths]
    if ["plugin.json"] in inside:
        return False
    return any(
        one in (["category.json"], ["command.json"]) or one[1:] == ["command.json"]
        for one in inside
    )
