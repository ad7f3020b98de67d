"""Files that look like scripts but are not commands, with the reason."""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.administration.findings import Finding
from host import HostError, Problem
from host.run.command_files import FolderNode
from host.run.script_names import refusal, script_word, words_of_script
from host.run.words import WORD_RULE


def left_out(node: FolderNode) -> Iterator[Finding]:
    """Yield the files in a category that look like scripts but are not commands.

    If the folder is a command that runs its script `main`, only other `main` scripts are reported.
    """
    with suppress(HostError, OSError):  # other checks report a broken folder
        category = node.category()
        entrypoint = category.entrypoint if category else ""
        for name in sorted(os.listdir(node.at)):
            word = script_word(name)
            is_candidate = word == "main" if node.owned else word != ""
            if is_candidate and name != entrypoint:
                yield from _reason(node, name)


def _reason(node: FolderNode, name: str) -> Iterator[Finding]:
    """Yield the reason why a script is not a command, and nothing for commands and other files."""
    path = os.path.join(node.at, name)
    if not os.path.isfile(path):
        return

    refused = refusal(path, node.base)
    looks_like_script = script_word(name) != name or os.access(path, os.X_OK)
    if refused and not looks_like_script:
        return

    # Only names directly in the tree have a prefix and are split.
    scripts = node.tree.scripts
    if scripts and node.parent:
        scripts = {}
    reason = ""
    remedy = ""
    if scripts is None:
        reason = "" if refused else "no command.json refers to this script"
        remedy = (
            'move it into a folder with a command.json, or set "scripts" in plugin.json'
        )
    elif not name.startswith(scripts.get("prefix", "")):
        reason = f"its name does not begin with {scripts['prefix']}"
    elif not (words := words_of_script(name, scripts)):
        reason = "its name is not a valid command name"
        remedy = WORD_RULE
    elif refused:
        reason = refused
        if not os.path.islink(path):
            run = f"run: chmod +x {shlex.quote(path)}"
            remedy = f"{run}; or, if it is not a command, begin its name with _"
    else:
        yield from _shadowed(node, [] if node.owned else words, path)
    if reason:
        yield Finding("undefined", Problem(path, reason, remedy), hint=True)


def _shadowed(
    node: FolderNode | None, words: list[str], path: str
) -> Iterator[Finding]:
    """Yield a finding if another file defines the same command as the script `path`."""
    with suppress(HostError):
        for word in words:
            node = node.enter(word) if node else None
        winner = node.read_command() if node else None
        if winner is None or not winner.entrypoint or winner.file == path:
            return

        file = os.path.join(winner.directory, winner.entrypoint)
        text = f"{file} defines the same command and runs instead"
        problem = Problem(path, text, "rename one of the two files")
        yield Finding("shadowed", problem)
