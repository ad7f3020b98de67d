"""Files that look like scripts and are no commands, with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.administration.pages import Finding
from host import HostError, Problem
from host.run.folders import FolderTree, script_word, words_of_script


def left_out(tree: FolderTree, place: str) -> Iterator[Finding]:
    """Yield the files in a category that look like scripts and are no commands, with the reason."""
    with suppress(HostError, OSError):  # reported as what is wrong with the folder
        category = tree.category(place)
        for name in sorted(os.listdir(place)):
            is_own = category is not None and name == category.entrypoint
            if not is_own and _looks_like_a_script(tree, os.path.join(place, name)):
                yield from _reason(tree, place, name)


def _looks_like_a_script(tree: FolderTree, path: str) -> bool:
    name = os.path.basename(path)
    word = script_word(name)
    if not os.path.isfile(path):
        return word != "" and os.path.islink(path) and not os.path.exists(path)
    is_program = os.access(path, os.X_OK) or not tree.refusal(path)
    return word != "" and (word != name or is_program)


def _reason(tree: FolderTree, place: str, name: str) -> Iterator[Finding]:
    """Yield why a file is no command, nothing for one that is."""
    path = os.path.join(place, name)
    refused, reason, remedy = tree.refusal(path), "", ""
    scripts = {} if tree.scripts and place != tree.root else tree.scripts
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
            winner = tree.command(os.path.join(place, *words))
            if winner and winner.entrypoint and winner.file != path:
                own = os.path.join(winner.directory, winner.entrypoint)
                what = f"{own} has the same words and runs instead"
                yield Finding("shadowed", Problem(path, what, "rename one of them"))
    if reason:
        yield Finding("undefined", Problem(path, reason, remedy), hint=True)
