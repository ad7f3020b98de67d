"""The kinds of plugin behind one interface: how each is fetched, put in place, taken away."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from builtin_plugins.archives.tree import MOST_BYTES
from builtin_plugins.fetch.addresses import shown
from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.plugin_changes.contents import PluginContents, read_contents
from builtin_plugins.plugin_changes.source import Origin
from builtin_plugins.plugin_changes.staging import Stage
from builtin_plugins.plugin_directories.registry import Entry
from host import HostError, OperationError

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Staged:
    """A version of a plugin, fetched and not yet in place: its entry and what it holds.

    The entry has no name yet where the user has not given one. `unbuilt` is what only
    running code of the plugin can tell more of.
    """

    entry: Entry
    contents: PluginContents
    unbuilt: bool = False


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
    """One kind of plugin. All raise HostError or OSError; `undo` gets the way back."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        """Bring a version into the staging area and say what it is."""

    def put(self, entry: Entry, work: Work, undo: ExitStack) -> None:
        """Put the staged version in place of what is there."""

    def take(self, entry: Entry, work: Work, undo: ExitStack) -> None:
        """Take the plugin away."""


def described(entry: Entry, root: str, origin: Origin) -> Staged:
    """Return the directory plugin at `root`, its entry completed from its plugin.json.

    Errors and problems name the origin and the path inside it, as what is staged is gone
    when they are read.
    """
    try:
        found = read_contents(root)
    except HostError as error:
        raise type(error)(_named(error.what, root, origin), error.remedy) from None
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


def bring_file(origin: Origin, target: Path, work: Work) -> str:
    """Copy or download the file that `origin` names; return its SHA-256, checked if asked for."""
    address = origin.address or origin.source
    if "://" in address:
        # Here, as requests takes a tenth of a second to import and most changes need none.
        from builtin_plugins.fetch.download import Limits, fetch

        limits = Limits(seconds=work.seconds, stall=min(30, work.seconds), size=MOST_BYTES)
        with work.reporter.progress(shown(address)) as progress:
            fetched = fetch(
                address,
                target,
                limits=limits,
                sha256=origin.sha256 or None,
                digest=True,
                progress=progress,
            )
        return fetched.sha256 or ""
    found = _copy(address, target)
    if origin.sha256 and found != origin.sha256:
        raise OperationError(f"{address}: the SHA-256 is {found}, expected {origin.sha256}")
    return found


def _copy(source: str, target: Path) -> str:
    digest = hashlib.sha256()
    size = 0
    try:
        with open(source, "rb") as file, target.open("wb") as copy:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > MOST_BYTES:
                    raise OperationError(f"{source}: larger than {MOST_BYTES} bytes")
                digest.update(chunk)
                copy.write(chunk)
    except FileNotFoundError:
        raise OperationError(f"{source}: no such file") from None
    return digest.hexdigest()
