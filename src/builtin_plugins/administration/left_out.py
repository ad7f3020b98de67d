"""Files that look like scripts and are no commands, with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.administration.pages import Finding
from host import HostError, Problem
from host.run.command import is_word, read_definition
from host.run.folders import FolderNode, refusal, script_word, words_of_script

_NO_REASON = ("", "", "")


def left_out(node: FolderNode) -> Iterator[Finding]:
    """Yield the files in a category that look like scripts and are no commands, with the reason."""
    place = node.at
    try:
        names = sorted(one.name for one in os.scandir(place) if not one.is_dir())
    except OSError:
        return  # reported as what is wrong with the folder
    named = {os.path.join(place, one) for one in _entrypoints(place)}
    for name in names:
        path = os.path.join(place, name)
        if path not in named and _looks_like_a_script(path):
            rule, reason, remedy = _why_left_out(node, name)
            if reason:
                yield Finding(rule, Problem(path, reason, remedy), hint=rule == "undefined")


def _entrypoints(place: str) -> Iterator[str]:
    for name in ("category.json", "command.json"):
        with suppress(HostError, FileNotFoundError):
            yield read_definition(os.path.join(place, name)).entrypoint


def _looks_like_a_script(path: str) -> bool:
    name = os.path.basename(path)
    word = script_word(name)
    if not word:
        return False
    if not os.path.isfile(path):  # opening a FIFO would never end
        return os.path.islink(path) and not os.path.exists(path)
    if word != name or os.access(path, os.X_OK):
        return True
    with suppress(OSError), open(path, "rb") as script:
        return script.read(2) == b"#!"
    return False


def _why_left_out(node: FolderNode, name: str) -> tuple[str, str, str]:
    """Return the rule, the reason and the remedy for a file that is no command, "" for one."""
    tree, place = node.tree, node.at
    path, word = os.path.join(place, name), script_word(name)
    is_split = node.parent is None and bool(tree.scripts)
    words = words_of_script(name, tree.scripts or {}) if is_split else [word]
    refused = refusal(path, tree.path)
    if tree.scripts is None:
        remedy = f'write {place}/main.sh and a command.json, or "scripts": {{}} in its plugin.json'
        reason = "" if refused else "no command.json names this script"
        return "undefined", reason, remedy
    if not words or not all(map(is_word, words)):
        has_prefix = name.startswith(tree.scripts.get("prefix", ""))
        reason = "its name cannot be a word" if has_prefix else "its name lacks the prefix"
        remedy = "use letters, digits and ._-, the first a letter or digit" if has_prefix else ""
        return "undefined", reason, remedy
    if refused:
        remedy = f"run: chmod +x {path}; or begin its name with _ if it is no command"
        return "undefined", refused, remedy if "executable" in refused else ""
    there: FolderNode | None = node
    for one in words:
        there = there and there.enter(one)
    own = ""
    with suppress(HostError):
        definition = there and there.command()
        if definition and definition.entrypoint and definition.file != path:
            own = os.path.join(definition.directory, definition.entrypoint)
    remedy = "rename one of them"
    return ("shadowed", f"{own} has the same words and runs instead", remedy) if own else _NO_REASON
