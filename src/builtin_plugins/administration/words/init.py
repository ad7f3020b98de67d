"""`self init`: a complete installation, made from the files that the package ships."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from builtin_plugins.administration.program.environment.installations import is_launcher, remember
from builtin_plugins.administration.program.launcher import make_file, write_launcher
from builtin_plugins.administration.program.shipped_files import (
    CLI_JSON,
    GITIGNORE,
    IN_CORE,
    own_skeleton,
    record_shipped,
    shipped_files,
)
from builtin_plugins.administration.words.completion import uncompleted_shell
from builtin_plugins.io.files.flock import locked
from builtin_plugins.io.files.undo import os_errors_explained
from host import OperationError, UsageError, find_program, is_word
from host.cli.session import Session
from host.planning.cache_files import can_be_made
from host.run.installation import data_home, home

_PATIENCE = 60.0  # seconds that this waits for another one


def command(session: Session, directory: str | None, name: str | None) -> None:
    """Make a complete installation in DIRECTORY; no file that is there is overwritten.

    An installation that is there gets what it lacks to work, but no examples.

    Without DIRECTORY it is where this program looks for its installation.
    """
    program = session.program if name is None else name
    if not is_word(program) or program in IN_CORE:
        raise UsageError(f"{program} cannot name a program", "use letters, digits and ._-")
    try:
        root = Path(os.path.abspath(directory or session.layout.root))
    except FileNotFoundError:
        raise OperationError(
            f"{directory}: cannot be found from a deleted current directory", "give its full path"
        ) from None
    launcher = root / "core" / program
    with os_errors_explained(root):
        root.mkdir(parents=True, exist_ok=True)
        with locked(os.path.realpath(root), _PATIENCE, session.messages.line):
            if os.path.lexists(launcher) and not is_launcher(str(launcher), anywhere=True):
                raise OperationError(
                    f"{launcher}: is in the way and is no launcher", "move it, or use --name"
                )
            made = sum(_copies(root, program))
            record_shipped(str(root), own_skeleton(), ExitStack())
            made += write_launcher(launcher)
            remember(str(root))
    said = f"{made} files made" if made else "nothing to do: every file is there"
    path = shlex.quote(str(launcher))
    there = find_program(launcher.name, session.environ)
    on_path = there is not None and _starts(there, launcher, session)
    shell = uncompleted_shell(launcher.name, session.environ)
    tab = f"Tab completes its words after: {launcher.name} self completion {shell} --install"
    session.show_lines(
        f"{root}: {said}",
        f"start it with: {path}",
        f"on PATH it is {launcher.name}" if on_path else _to_path(launcher, there, session),
        *([tab] if shell else []),
        *_to_ignore(root),
        f"next: {launcher.name if on_path else path} self new command team hello",
    )


def _to_path(launcher: Path, there: str | None, session: Session) -> str:
    """Return how the program gets on PATH, and what has its name `there`, if anything."""
    name, path = launcher.name, session.environ.get("PATH", "")
    directory = os.path.join(home(session.environ), ".local", "bin")
    link = os.path.join(directory, name)
    if there is None and not os.path.lexists(link):
        taken, how, target = "", "", "~/.local/bin/"
    else:
        taken, how, target = f"{there or link} is another {name}; ", " as NAME", "~/.local/bin/NAME"
    if not can_be_made(link):
        return f"{taken}to have it on PATH{how}, link it into one of its directories"
    make = "" if os.path.isdir(directory) else "mkdir -p ~/.local/bin && "
    once = "" if directory in path.split(":") else ", once ~/.local/bin is"
    return (
        f"{taken}to have it on PATH{how}{once}: {make}ln -s {shlex.quote(str(launcher))} {target}"
    )


def _starts(program: str, launcher: Path, session: Session) -> bool:
    """Tell whether `program` starts this installation: its launcher, or a script of pip's here.

    Such a script looks for the installation in the data directory of its name.
    """
    if os.path.realpath(program) == os.path.realpath(launcher):
        return True
    usual = os.path.realpath(os.path.join(data_home(session.environ), launcher.name))
    scripts = os.path.realpath(os.path.join(sys.prefix, "bin"))
    ours = os.path.dirname(os.path.realpath(program)) == scripts
    return ours and usual == os.path.realpath(launcher.parent.parent)


def _copies(root: Path, program: str) -> Iterator[bool]:
    """Copy what is missing; yield for each file whether it was made.

    The installation has the name of its program; the shipped cli.json has that of `cli`. It is
    copied last: where it is, the examples that are missing were removed by the user.
    """
    examples = not _is_installation(root)
    for file in sorted(shipped_files(), key=lambda file: file.relative == CLI_JSON):
        if not (examples or file.is_needed):
            continue
        target = root / file.relative
        content = file.source.read_bytes()
        if program != "cli" and file.relative == CLI_JSON:
            values = json.loads(content) | {"name": program}
            content = (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()
        yield make_file(target, content, file.source.stat().st_mode & 0o777)


def _to_ignore(root: Path) -> Iterator[str]:
    """Yield how to add the shipped lines to a user's own .gitignore, unless it has the first."""
    [shipped] = (file.source for file in shipped_files() if file.relative == GITIGNORE)
    own = root / GITIGNORE
    with suppress(OSError):
        if b"\n/core/*\n" not in b"\n" + own.read_bytes() + b"\n":
            add = f"{{ echo; cat {shlex.quote(str(shipped))}; }} >> {shlex.quote(str(own))}"
            yield f"to keep the launcher and other files of this machine out of git: {add}"


def _is_installation(root: Path) -> bool:
    """Check for a cli.json that is not alone: by itself it is what a user begins with."""
    if not os.path.lexists(root / CLI_JSON):
        return False
    return [*os.listdir(root), *os.listdir(root / "core")] != ["core", "cli.json"]
