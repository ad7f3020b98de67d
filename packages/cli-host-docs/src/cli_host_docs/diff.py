"""`docs diff`: the differences between the commands in two directories or git refs."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack

from cli_host_docs.compare import BREAKING, Difference, differences
from cli_host_docs.facts import own_commands
from host import Command, OperationError, Program, UsageError, printable, supervise

_SECONDS = 60.0  # for one call of git


def main(arguments: Sequence[str]) -> int:
    """Print one line for each difference; return 1 if one of them is breaking."""
    program = Program.current()
    own_command = program.find(program.words)
    values = program.arguments(own_command, arguments)
    old_place = values["ARG_OLD"]
    new_place = values.get("ARG_NEW")  # None is the installation as it is now

    # A git ref or a team's repository has no plugins, so a comparison with it ignores plugins.
    # Commands in Python are known only to the code of plugins, which is not run for another state.
    origins = ["commands"]
    if _has_plugins(old_place) and _has_plugins(new_place):
        origins.append("plugin")

    with ExitStack() as stack:
        old = _commands(program, old_place, origins, stack)
        new = _commands(program, new_place, origins, stack)
        changes = differences(old, new)

    as_format = _FORMATS[values["ARG_FORMAT"]]
    sys.stdout.write(as_format(changes))
    for change in changes:
        if change.kind == BREAKING:
            return 1
    return 0


def _has_plugins(place: str | None) -> bool:
    if place is None:
        return True
    return _is_installation(place)


def _as_text(changes: Sequence[Difference]) -> str:
    lines = [f"{printable(str(change))}\n" for change in changes]
    return "".join(lines)


def _as_json(changes: Sequence[Difference]) -> str:
    rows = [change._asdict() for change in changes]
    text = json.dumps({"differences": rows}, indent=2)
    return f"{text}\n"


def _as_github(changes: Sequence[Difference]) -> str:
    """Return workflow commands of GitHub Actions, which appear as annotations."""
    lines = []
    for change in changes:
        level = "notice"
        if change.kind == BREAKING:
            level = "error"
        text = printable(str(change))
        text = text.replace("%", "%25")
        lines.append(f"::{level}::{text}\n")
    return "".join(lines)


_FORMATS = {"text": _as_text, "json": _as_json, "github": _as_github}


def _commands(
    program: Program, place: str | None, origins: Sequence[str], stack: ExitStack
) -> list[Command]:
    if place is None:
        state = program
    elif os.path.isdir(place):
        state = _opened(place, program, stack)
    else:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cli-docs-"))
        _check_out(program.root, place, folder)
        state = _opened(folder, program, stack)

    commands = own_commands(state)
    return [command for command in commands if command.origin in origins]


def _is_installation(directory: str) -> bool:
    cli_json = os.path.join(directory, "core", "cli.json")
    return os.path.exists(cli_json)


def _opened(root: str, program: Program, stack: ExitStack) -> Program:
    """Return the installation at `root`, which may have only `commands/`.

    It is opened safely: nothing in it is run, and nothing is written to it.
    A team's repository needs no core/cli.json, because `self init --from` creates that file. Such a
    repository is opened as a temporary directory with this program's cli.json and a link to its
    `commands/`.
    """
    commands = os.path.join(root, "commands")
    if _is_installation(root) or not os.path.isdir(commands):
        return Program.at(root, safe=True)

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cli-docs-"))
    core_dir = os.path.join(folder, "core")
    os.mkdir(core_dir)
    cli_json = os.path.join(program.core_dir, "cli.json")
    shutil.copy(cli_json, core_dir)

    link = os.path.join(folder, "commands")
    os.symlink(os.path.abspath(commands), link)
    return Program.at(folder, safe=True)


def _check_out(root: str, ref: str, folder: str) -> None:
    """Write the installation's files from a git ref into a folder."""
    revision = f"{ref}^{{commit}}"
    printed = _git(root, ref, "rev-parse", "--verify", "--end-of-options", revision)
    commit = printed.decode().strip()

    # All files below `root`, which may be a subdirectory of the repository.
    packed = _git(root, ref, "archive", "--format=tar", commit)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="tar")

    # git has no empty folders.
    commands = os.path.join(folder, "commands")
    os.makedirs(commands, exist_ok=True)


def _git(root: str, ref: str, *arguments: str) -> bytes:
    """Return what git prints about `ref`. Raises UsageError if `root` has no such ref."""
    argv = ["git", "-C", root, *arguments]
    try:
        ended = supervise(argv, None, _SECONDS, stderr="drop")
    except FileNotFoundError:
        what = f"{ref} is not a directory, and git is not installed"
        raise OperationError(what) from None

    if ended.limit:
        raise OperationError(f"git {arguments[0]} {ref}: {ended.why}")
    if ended.status:
        raise UsageError(f"{ref} is neither a directory nor a git ref of {root}")
    return ended.stdout
