"""A version of a plugin that was fetched: what the kinds of plugin have in common."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from builtin_plugins.administration.plugins.contents import PluginContents, read_contents
from builtin_plugins.administration.plugins.sources.parse import ARCHIVES
from builtin_plugins.administration.plugins.transaction import Work
from builtin_plugins.io.addresses import shown
from builtin_plugins.io.archive import MOST_BYTES
from builtin_plugins.plugins_folder.registry import Entry
from host import HostError, OperationError, Problem, Record


class Staged(Record):
    """A version of a plugin, fetched and not yet in place: its entry and what it holds.

    The entry has no name yet where the user has not given one. `unbuilt` is what only
    running code of the plugin can tell more of.
    """

    entry: Entry
    contents: PluginContents
    unbuilt: bool = False


def described(wanted: Entry, root: str) -> Staged:
    """Return the directory plugin at `root`, its entry completed from its plugin.json.

    Errors and problems name the source and the path inside it, as what is staged is gone
    when they are read.
    """
    try:
        found = read_contents(root)
    except HostError as error:
        raise type(error)(_named(error.problem, root, wanted)) from None
    found = found.replaced(problems=tuple(_named(one, root, wanted) for one in found.problems))
    said = found.manifest
    name = wanted.name or said.name or _suggested_name(wanted.source)
    return Staged(wanted.replaced(name=name, **said.facts), found)


def _suggested_name(source: str) -> str:
    """Return a plugin's name made of the source's last part."""
    last = re.split(r"[/:]", urlsplit(source).path.rstrip("/") or source)[-1]
    for suffix in (".git", *ARCHIVES):
        last = last.removesuffix(suffix)
    return re.sub(r"[^a-z0-9._-]+", "-", last.lower()).strip("._-")[:64]


def _named(problem: Problem, root: str, wanted: Entry) -> Problem:
    if wanted.kind == "local":
        return problem
    path = "" if problem.path == root else problem.path.removeprefix(f"{root}/")
    return problem.replaced(path, problem.text.replace(f"{root}/", "")).inside(wanted.source)


def bring_file(address: str, sha256: str, target: Path, work: Work) -> str:
    """Copy or download a file; return its SHA-256, which must be `sha256` unless that is ""."""
    if "://" in address:
        # Here, as requests takes a tenth of a second to import and most changes need none.
        from builtin_plugins.io.download import Limits, download

        limits = Limits(seconds=work.seconds, stall=min(30, work.seconds), size=MOST_BYTES)
        with work.reporter.progress(shown(address)) as progress:
            return download(address, target, limits=limits, sha256=sha256, progress=progress).sha256
    try:
        if os.path.getsize(address) > MOST_BYTES:
            raise OperationError(f"{address}: larger than {MOST_BYTES} bytes")
        shutil.copyfile(address, target)
    except FileNotFoundError:
        raise OperationError(f"{address}: no such file") from None
    return checked(target, sha256, address)


def checked(path: str | Path, wanted: str, called: str = "") -> str:
    """Return the SHA-256 of a file; raises OperationError for another than `wanted`, "" for any.

    The error names the file, or what it is `called`.
    """
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if wanted and found != wanted:
        raise OperationError(
            f"{called or os.path.basename(path)}: the SHA-256 is {found}, expected {wanted}"
        )
    return found
