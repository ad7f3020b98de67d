"""Files that look like scripts but are not commands, with the reason."""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.self_commands.findings import Finding
from host import Definition, HostError, Problem
from host.catalog.command_files import FolderNode
from host.catalog.script_names import refusal, script_word, words_of_script
from host.words import WORD_RULE


def left_out(node: FolderNode) -> Iterator[Finding]:
    """Yield the files in a category that look like scripts but are not commands.

    If the folder is a command that runs its script `main`, only other `main` scripts are reported.
    """
    with suppress(HostError, OSError):  # other checks report a broken folder
        entrypoint = ""
        category = node.category()
        if category is not None:
            entrypoint = category.entrypoint

        for name in sorted(os.listdir(node.at)):
            if name == entrypoint:
                continue

            word = script_word(name)
            is_candidate = word != ""
            if node.owned:
                is_candidate = word == "main"
            if is_candidate:
                yield from _reason(node, name)


def _reason(node: FolderNode, name: str) -> Iterator[Finding]:
    """Yield the reason why a script is not a command, and nothing for commands and other files."""
    path = os.path.join(node.at, name)
    if not os.path.isfile(path):
        return

    refused = refusal(path, node.base)
    if refused and not _looks_like_script(path, name):
        return

    if node.tree.scripts is not None:
        yield from _reason_in_scripts(node, name, path, refused)
    elif not refused:
        remedy = (
            'move it into a folder with a command.json, or set "scripts" in plugin.json'
        )
        yield _undefined(path, "no command.json refers to this script", remedy)


def _reason_in_scripts(
    node: FolderNode, name: str, path: str, refused: str
) -> Iterator[Finding]:
    """Yield the reason for a script in a tree whose scripts are commands by their names."""
    # Only names directly in the tree have a prefix and are split.
    scripts = node.tree.scripts
    if scripts is None or node.parent:
        scripts = {}

    prefix = scripts.get("prefix", "")
    if not name.startswith(prefix):
        yield _undefined(path, f"its name does not begin with {prefix}")
        return

    words = words_of_script(name, scripts)
    if not words:
        yield _undefined(path, "its name is not a valid command name", WORD_RULE)
    elif refused:
        remedy = ""
        if not os.path.islink(path):
            run = f"run: chmod +x {shlex.quote(path)}"
            remedy = f"{run}; or, if it is not a command, begin its name with _"
        yield _undefined(path, refused, remedy)
    else:
        if node.owned:
            words = []
        yield from _shadowed(node, words, path)


def _looks_like_script(path: str, name: str) -> bool:
    """Return whether a file has the ending of a script, or may be executed."""
    if script_word(name) != name:
        return True
    return os.access(path, os.X_OK)


def _undefined(path: str, reason: str, remedy: str = "") -> Finding:
    return Finding("undefined", Problem(path, reason, remedy), hint=True)


def _shadowed(node: FolderNode, words: list[str], path: str) -> Iterator[Finding]:
    """Yield a finding if another file than the script `path` defines the command `words`."""
    with suppress(HostError):
        winner = _definition_below(node, words)
        if winner is None or not winner.entrypoint:
            return
        if winner.file == path:
            return

        file = os.path.join(winner.directory, winner.entrypoint)
        text = f"{file} defines the same command and runs instead"
        problem = Problem(path, text, "rename one of the two files")
        yield Finding("shadowed", problem)


def _definition_below(node: FolderNode, words: list[str]) -> Definition | None:
    for word in words:
        child = node.enter(word)
        if child is None:
            return None
        node = child
    return node.read_command()
