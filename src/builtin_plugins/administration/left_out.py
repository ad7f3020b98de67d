"""Files that look like scripts but are not commands, with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.administration.pages import Finding
from host import HostError, Problem
from host.run.folders import FolderNode, refusal, script_word, words_of_script


def left_out(node: FolderNode) -> Iterator[Finding]:
    """Yield the files in a category that look like scripts but are no commands, with the reason."""
    with suppress(HostError, OSError):  # other checks report a broken folder
        category = node.category()
        for name in sorted(os.listdir(node.at)):
            is_own = category is not None and name == category.entrypoint
            if not is_own and _looks_like_a_script(node, name):
                yield from _reason(node, name)


def _looks_like_a_script(node: FolderNode, name: str) -> bool:
    path, word = os.path.join(node.at, name), script_word(name)
    if not os.path.isfile(path):
        return word != "" and os.path.islink(path) and not os.path.exists(path)
    is_program = os.access(path, os.X_OK) or not refusal(path, node.tree.path)
    return word != "" and (word != name or is_program)


def _reason(node: FolderNode, name: str) -> Iterator[Finding]:
    """Yield why a file is not a command, or nothing if it is one."""
    place, tree = node.at, node.tree
    path, reason, remedy = os.path.join(place, name), "", ""
    refused = refusal(path, tree.path)
    scripts = {} if tree.scripts and node.parent else tree.scripts
    if scripts is None:
        reason = "" if refused else "no command.json names this script"
        remedy = f'write {place}/main.sh and a command.json, or "scripts": {{}} in its plugin.json'
    elif not name.startswith(scripts.get("prefix", "")):
        reason = "its name lacks the prefix"
    elif not (words := words_of_script(name, scripts)):
        reason = "its name cannot be a word"
        remedy = "use letters, digits and ._-, the first a letter or digit"
    elif refused:
        reason, fix = refused, f"run: chmod +x {path}; or begin its name with _ if it is no command"
        remedy = "" if os.path.islink(path) else fix
    else:
        with suppress(HostError):
            there: FolderNode | None = node
            for word in words:
                there = there and there.enter(word)
            winner = there and there.command()
            if winner and winner.entrypoint and winner.file != path:
                own = os.path.join(winner.directory, winner.entrypoint)
                what = f"{own} has the same words and runs instead"
                yield Finding("shadowed", Problem(path, what, "rename one of them"))
    if reason:
        yield Finding("undefined", Problem(path, reason, remedy), hint=True)
