"""Plugins from archives such as .tar.gz and .zip, given by path or by address."""

from collections.abc import Collection
from pathlib import Path

from builtin_plugins.library.archive import UnpackOptions, extract
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.fetch_file import fetch_file
from builtin_plugins.plugins.sources.base import ARCHIVES, PluginSource
from builtin_plugins.registry.version import PluginVersion


class ArchiveSource(PluginSource):
    """An archive; its members are checked before the first one is written."""

    suffixes = ARCHIVES
    has_checksum = True
    has_subdirectories = True

    @property
    def is_pinned(self) -> bool:
        return bool(self.entry.sha256)

    def fetch(self, change: Change) -> PluginVersion:
        options = UnpackOptions(keeps_top=_is_category_or_command)
        sha256 = unpack(self, options, change)
        entry = self.entry.replaced(sha256=sha256)
        return self.stage_contents(entry, change, change.files, entry.source)


def unpack(source: PluginSource, options: UnpackOptions, change: Change) -> str:
    """Fetch the archive of a source and unpack it into `change.files`; return its SHA-256."""
    entry = source.entry
    packed = Path(change.area, "archive")
    sha256 = fetch_file(source.address, entry.sha256, packed, change)
    extract(packed, Path(change.files), entry.source, options, change.seconds)
    return sha256


def _is_category_or_command(paths: Collection[str]) -> bool:
    """Return whether an archive's top-level directory is a category or a command.

    Any other top-level directory is only a wrapper: unpacking omits it, but keeps its content.
    """
    inside = [path.split("/")[1:] for path in paths]
    if ["plugin.json"] in inside:
        return False

    for parts in inside:
        if parts in (["category.json"], ["command.json"]):
            return True
        if parts[1:] == ["command.json"]:  # of a command in the directory
            return True
    return False
