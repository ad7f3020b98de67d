"""`self import`: the recipes of a justfile, Makefile, … as scripts, each a command."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from builtin_plugins.administration.recipes import (
    DIRECTORY,
    FILE,
    Recipe,
    Tool,
    recipes_in,
    tool_of,
)
from builtin_plugins.io.files.atomic import make_directory, write_file
from builtin_plugins.io.files.flock import PATIENCE, locked
from builtin_plugins.io.files.undo import os_errors_explained
from host import OperationError, UsageError, is_word
from host.cli.session import Session
from host.run.catalog import NOT_CATEGORIES
from host.run.confirm import is_agreed, is_attended

RECORD = ".import.json"  # in the folder: the file that was imported, a hash of each script


def command(
    session: Session,
    file: str,
    words: tuple[str, ...],
    update: bool,
    plugin: str | None,
    yes: bool,
) -> None:
    """Write one script for each recipe of FILE, below WORDS or the name of its tool.

    A script calls the tool; nothing is translated. With --update, scripts that still are
    as the import wrote them follow FILE; the others stay.
    """
    source = Path(os.path.abspath(file))
    tool = tool_of(source)
    if not source.is_file():
        raise OperationError(f"{file}: there is no such file")
    words = words or (tool.name,)
    for word in words:
        if not is_word(word):
            raise UsageError(f"{word}: not a word for a category", "use letters, digits and ._-")
    if words[0] in NOT_CATEGORIES:
        raise UsageError(f"{words[0]}: is this program's own word", "choose another one")
    if tool.listing:
        _agree(f"Run {tool.name} to list the recipes of {source}?", source, yes=yes)
    recipes = recipes_in(source, tool, session.environ)
    if not recipes:
        raise OperationError(f"{source}: there is no recipe in it")
    base = _base(session, plugin)
    folder = base.joinpath(*words)
    with os_errors_explained(folder), locked(os.path.realpath(_existing(folder)), PATIENCE):
        wanted = dict(_files(session, tool, source, folder, recipes))
        _synchronize(session, folder, source, wanted, update=update)
    session.show_lines(f"try it:  {session.program} {' '.join(words)}")


def _agree(question: str, source: Path, *, yes: bool) -> None:
    if yes or (is_attended() and is_agreed(question)):
        return
    raise OperationError(f"{source}: nothing was imported", "to agree without a question: --yes")


def _base(session: Session, plugin: str | None) -> Path:
    """Return the directory that holds the categories to write."""
    if plugin is None:
        return Path(session.installation.commands_dir)
    return Path(session.installation.plugins_dir) / plugin


def _existing(folder: Path) -> Path:
    while not folder.is_dir():
        folder = folder.parent
    return folder


def _files(
    session: Session, tool: Tool, source: Path, folder: Path, recipes: list[Recipe]
) -> Iterator[tuple[str, str]]:
    """Yield path below `folder` and text of each file to write; warn of recipes left out."""
    title = f"Recipes of {source.name}"
    named = {"name": tool.name, "description": title, "requires": [tool.call[0]]}
    yield "category.json", _json(named)
    seen: set[str] = set()
    for recipe in recipes:
        words = [word for word in re.split("[:/]+", recipe.name) if word]
        path = "/".join(words) + ".sh"
        if not words or not all(map(is_word, words)):
            session.messages.warn(f"{recipe.name}: left out, as it cannot be a command's name")
            continue
        if path in seen:
            session.messages.warn(f"{recipe.name}: left out, as another recipe has these words")
            continue
        seen.add(path)
        for depth in range(1, len(words)):
            inner = f"{'/'.join(words[:depth])}/category.json"
            if inner not in seen:
                seen.add(inner)
                yield inner, _json({"name": words[depth - 1], "description": title})
        target = folder / path
        call = _call(tool, source, target.parent, session.layout.root)
        yield path, _script(tool, source, recipe, call)


def _call(tool: Tool, source: Path, folder: Path, root: str) -> str:
    """Return the words that start the tool, for a script in `folder`, quoted for sh.

    Places are relative to the script if the file is in the installation too.
    """
    inside = Path(os.path.realpath(root)) in source.resolve().parents

    def place(path: Path) -> str:
        if not inside:
            return shlex.quote(str(path))
        relative = os.path.relpath(path.resolve(), folder.resolve())
        return f'"${{0%/*}}"/{shlex.quote(relative)}'

    places = {FILE: place(source), DIRECTORY: place(source.parent)}
    if tool.name == "make":  # -C comes first
        places[FILE] = shlex.quote(source.name)
    return " ".join(places.get(word) or shlex.quote(word) for word in tool.call)


def _script(tool: Tool, source: Path, recipe: Recipe, call: str) -> str:
    definition = {"description": f"{tool.name} {recipe.name}", **recipe.definition}
    aliases = [alias for alias in definition.pop("aliases", ()) if is_word(alias)]
    if aliases:
        definition["aliases"] = aliases
    block = "".join(f"# {line}\n" for line in _json(definition).splitlines())
    words = " ".join(map(shlex.quote, (recipe.name, *tool.last)))
    return (
        "#!/bin/sh\n"
        f"# Written by `self import` from {json.dumps(source.name)}.\n"
        f"# /// command\n{block}# ///\n"
        f'exec {call} {words} "$@"\n'
    )


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _synchronize(
    session: Session, folder: Path, source: Path, wanted: dict[str, str], *, update: bool
) -> None:
    """Make the folder hold the `wanted` files; those that somebody changed stay.

    The record is written before the first file and after the last one, so a second try
    after a kill ends in the same state.
    """
    record = folder / RECORD
    written = _recorded(record)
    if written is None and folder.exists():
        raise OperationError(f"{folder}: exists already", "name other words for the recipes")
    if written is not None and not update:
        raise OperationError(f"{folder}: was imported before", "to refresh it, add --update")
    written = written or {}
    make_directory(str(folder))
    if not record.exists():
        _record(record, source, {})
    done: defaultdict[str, list[str]] = defaultdict(list)
    for path, text in wanted.items():
        now = _read(folder / path)
        done[_write(folder / path, now, text, written.get(path))].append(path)
    for path in sorted(written.keys() - wanted.keys(), reverse=True):
        now = _read(folder / path)
        done[_remove(folder / path, now, written[path])].append(path)
    kept = done["kept"]
    hashes = {path: _hash(text) for path, text in wanted.items() if path not in kept}
    _record(record, source, hashes | {path: written[path] for path in kept if path in written})
    for path in kept:
        session.messages.warn(f"{folder / path}: left as it is, as it was changed by hand")
    total = sum(map(_is_script, wanted))
    counts = {what: sum(map(_is_script, done[what])) for what in ("new", "changed", "removed")}
    more = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    commands = "1 command" if total == 1 else f"{total} commands"
    session.show_lines(f"{folder}: {commands}" + (f" ({more})" if more else ""))


def _is_script(path: str) -> bool:
    return path.endswith(".sh")


def _write(target: Path, now: str | None, text: str, written: str | None) -> str:
    """Write one file unless somebody changed it; return what was done."""
    if now is not None and now != text and _hash(now) != written:
        return "kept"
    if now != text:
        make_directory(str(target.parent))
        write_file(str(target), text, 0o755 if _is_script(target.name) else None)
    return "new" if now is None else "changed" if now != text else "same"


def _remove(target: Path, now: str | None, written: str) -> str:
    """Remove a file whose recipe is gone unless somebody changed it; return what was done."""
    if now is None:
        return "same"
    if _hash(now) != written:
        return "kept"
    target.unlink()
    with suppress(OSError):
        target.parent.rmdir()
    return "removed"


def _recorded(record: Path) -> dict[str, str] | None:
    """Return path → hash of the files of the last import, None without one."""
    text = _read(record)
    if text is None:
        return None
    try:
        files = json.loads(text)["files"]
        return {
            path: value
            for path, value in files.items()
            if not os.path.isabs(path) and ".." not in Path(path).parts
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise OperationError(f"{record}: not a record of an import", f"rm {record}") from None


def _record(record: Path, source: Path, files: dict[str, str]) -> None:
    where = os.path.relpath(source.resolve(), record.parent.resolve())
    write_file(str(record), _json({"source": where, "files": files}))


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
