"""The kinds of plugin behind one interface: how each is fetched, put in place, taken away."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Protocol

from builtin_plugins.plugin_contents import PluginContents, read_contents
from builtin_plugins.plugin_origin import Origin
from builtin_plugins.plugin_staging import Stage, Undo
from builtin_plugins.progress import Reporter
from host.errors import HostError
from host.registry import Entry


@dataclass(frozen=True)
class Staged:
    """A version of a plugin, fetched and not yet in place: its entry and what it holds.

    The entry has no name yet where the user has not given one.
    """

    entry: Entry
    contents: PluginContents


@dataclass(frozen=True)
class Work:
    """What a kind works with: the staging area, the caller's environment, and the user's ear.

    `seconds` bounds each download, clone or run of pip.
    """

    stage: Stage
    environ: Mapping[str, str]
    reporter: Reporter
    seconds: float
    exits: ExitStack = field(default_factory=ExitStack)  # what ends with the change


class Kind(Protocol):
    """One kind of plugin. All methods raise HostError or OSError, and undo what they did then."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        """Bring a version into the staging area and say what it is."""

    def put(self, entry: Entry, work: Work) -> Undo:
        """Put the staged version in place of what is there."""

    def take(self, entry: Entry, work: Work) -> Undo:
        """Take the plugin away."""


def kind_of(name: str) -> Kind:
    """Return the kind called so; only its module is imported."""
    if name == "git":
        from builtin_plugins.plugin_git import GitKind

        return GitKind()
    if name == "archive":
        from builtin_plugins.plugin_archive import ArchiveKind

        return ArchiveKind()
    if name == "pip":
        from builtin_plugins.plugin_pip import PipKind

        return PipKind()
    from builtin_plugins.plugin_local import LocalKind

    return LocalKind()


def described(entry: Entry, root: str, origin: Origin) -> Staged:
    """Return the directory plugin at `root`, its entry completed from its plugin.json.

    Errors and problems name the origin and the path inside it, as what is staged is gone
    when they are read.
    """
    try:
        found = read_contents(root)
    except HostError as error:
        raise type(error)(_named(str(error), root, origin)) from None
    found = replace(found, problems=tuple(_named(one, root, origin) for one in found.problems))
    said = found.manifest
    if said is None:
        return Staged(entry._replace(name=origin.suggested_name), found)
    entry = entry._replace(
        name=said.name or origin.suggested_name,
        version=said.version,
        description=said.description,
        directory=said.directory,
        hooks=said.hooks,
    )
    return Staged(entry, found)


def _named(text: str, root: str, origin: Origin) -> str:
    if origin.kind == "local":
        return text
    return f"{origin.source}: {text.replace(f'{root}/', '').removeprefix(f'{root}: ')}"
