"""`self init`: make a complete installation from the files that the package ships."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.administration.commands.completion import uncompleted_shell
from builtin_plugins.administration.pages import plural
from builtin_plugins.administration.program.launcher import ensure_launcher, write_man_page
from builtin_plugins.administration.program.shipped_files import add_missing, check_program_name
from builtin_plugins.administration.project import make_project
from builtin_plugins.administration.team.init import init_from
from builtin_plugins.io.files.file_lock import file_lock
from host import find_program
from host.cli.session import Session
from host.run.installation import home


def command(
    session: Session,
    directory: str | None,
    name: str | None,
    project: bool,
    yes: bool,
    timeout: float,
    **options: str | None,
) -> None:
    """Make a complete installation in DIRECTORY; existing files are never overwritten.

    The default DIRECTORY is the one where this program looks for its installation. An
    existing installation gets the program's missing files, but no examples.

    --project makes a project instead: commands that are available in DIRECTORY (by default the
    current directory) and below it. The commands are in .PROGRAM/commands/. The example
    command is trusted.

    --from makes the installation from a team's SOURCE: a git address, user/repo, a directory or
    an archive that contains core/cli.json or commands/. The commands and plugins of SOURCE are
    shown first; on a terminal, you are then asked whether to continue. The program is linked in
    ~/.local/bin if its name is free there.
    """
    if project:
        make_project(session, directory or ".")
        return
    if source := options["from"]:  # `from` is a keyword and cannot be a parameter
        init_from(session, source, directory, name, yes=yes, timeout=timeout)
        return
    program = session.program if name is None else name
    check_program_name(program)
    root = Path(os.path.abspath(directory or session.layout.root))
    launcher = root / "core" / program
    root.mkdir(parents=True, exist_ok=True)
    with file_lock(os.path.realpath(root), session.messages.line):
        made = ensure_launcher(str(launcher)) + add_missing(str(root), program)
    session.show_lines(
        f"{root}: {plural(made, 'file')} made" if made else f"{root}: all files exist already",
        *_next_steps(session, root, launcher),
    )


def _next_steps(session: Session, root: Path, launcher: Path) -> Iterator[str]:
    name, path = launcher.name, shlex.quote(str(launcher))
    yield f"to start it: {path}"
    found = find_program(name, session.environ)
    # The script that pip installed uses the installation of the same name in the data directory.
    usual = session.layout.default and (session.program, session.layout.root) == (name, str(root))
    if found and (usual or os.path.realpath(found) == os.path.realpath(launcher)):
        yield f"the command on PATH that starts it, too: {name}"
        path = name
    elif found:
        link = f"ln -s {path} ~/.local/bin/NAME"
        yield f"{found} is another program; to put this one on PATH as NAME: {link}"
    else:
        yield to_path(str(launcher), session.environ)
    if shell := uncompleted_shell(name, session.environ):
        yield f"for Tab completion: {name} self completion {shell} --install"
    yield from _man_page(name, session.environ)
    yield f"next: {path} self new command team hello"


def _man_page(name: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield how to link the man page if ~/.local/bin is on PATH and `man` finds no page."""
    pages = os.path.join(home(environ), ".local", "share", "man", "man1")
    path = environ.get("PATH", "").split(":")
    is_found = f"{sys.prefix}/bin" in path or os.path.lexists(f"{pages}/{name}.1")
    if is_found or f"{home(environ)}/.local/bin" not in path or sys.prefix == sys.base_prefix:
        return
    with suppress(OSError):
        page = write_man_page(name)
        if page.is_file():
            make = "" if os.path.isdir(pages) else "mkdir -p ~/.local/share/man/man1 && "
            yield f"for the man page: {make}ln -s {shlex.quote(str(page))} ~/.local/share/man/man1/"


def to_path(launcher: str, environ: Mapping[str, str]) -> str:
    """Return advice on how to put a launcher on PATH."""
    usual = f"{home(environ)}/.local/bin"
    if usual in environ.get("PATH", "").split(":"):
        make = "" if os.path.isdir(usual) else "mkdir -p ~/.local/bin && "
        return f"to put it on PATH: {make}ln -s {shlex.quote(launcher)} ~/.local/bin/"
    start = "to put it on PATH, add this line to your shell's start-up file"
    return f"{start}: export PATH={shlex.quote(os.path.dirname(launcher))}:$PATH"
