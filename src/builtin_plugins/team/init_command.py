"""`self init`: make a complete installation from the files that the package ships."""

import os
from collections.abc import Mapping
from pathlib import Path

from builtin_plugins.library.files.file_lock import file_lock
from builtin_plugins.program.launcher import ensure_launcher
from builtin_plugins.program.on_path import (
    link_on_path,
    offer_completion,
    scripts_of_user,
)
from builtin_plugins.program.shipped_files import (
    CLI_JSON,
    add_missing,
    check_program_name,
)
from builtin_plugins.self_commands.decorator import (
    TIMEOUT,
    YES,
    argument,
    self_command,
    text,
)
from builtin_plugins.self_commands.project import make_project
from builtin_plugins.team.init import init_from
from host import UsageError
from host.caller import xdg_home
from host.session.session import Session
from host.text import plural


@self_command(
    "init",
    "Make a complete installation",
    argument("directory", complete="directory"),
    text("--name", "NAME", "The program's name; the launcher is DIRECTORY/core/NAME."),
    argument(
        "--project", "Make a project with an example.", conflicts=["--name", "--from"]
    ),
    argument("--from", "A team's git address, archive or directory.", value="SOURCE"),
    YES,
    TIMEOUT,
    synonyms=("setup",),
)
def init(
    session: Session,
    directory: str | None,
    name: str | None,
    project: bool,
    yes: bool,
    timeout: float,
    **options: str | None,
) -> None:
    """Make a complete installation in DIRECTORY; existing files are never overwritten.

    The default DIRECTORY is the one where a program of this name looks for its installation. An
    existing installation gets the program's missing files, but no examples. The program is
    linked in ~/.local/bin if its name is free there and on PATH. On a terminal, you are asked
    whether to install completion with Tab.

    --project makes a project instead: commands that are available in DIRECTORY (by default the
    current directory) and below it. The commands are in .PROGRAM/commands/. The example
    command is trusted.

    --from makes the installation from a team's SOURCE: a git address, user/repo, a directory or
    an archive that contains core/cli.json or commands/. The commands and plugins of SOURCE are
    shown first; on a terminal, you are then asked whether to continue.
    """
    if directory == "help":
        called = f"{session.program} self init"
        see = f"see: {called} --help; for a directory of this name: {called} ./help"
        raise UsageError("help is no name of a directory", see)

    source = options["from"]  # `from` is a keyword and cannot be a parameter
    if project:
        make_project(session, directory or ".")
    elif source:
        init_from(session, source, directory, name, yes=yes, timeout=timeout)
    else:
        if name is None:
            name = session.program
        _make_installation(session, directory, name)


def _make_installation(session: Session, directory: str | None, program: str) -> None:
    """Make an installation in a directory, or in the usual one for a program of this name."""
    check_program_name(program)
    layout = session.layout
    if not directory:
        directory = _usual_root(session, program)
    root = Path(os.path.abspath(directory))
    launcher = str(root / "core" / program)

    root.mkdir(parents=True, exist_ok=True)
    with file_lock(os.path.realpath(root), session.messages.line):
        is_fresh = not os.path.lexists(root / CLI_JSON)
        count = ensure_launcher(launcher) + add_missing(str(root), program)

    # The script that pip installed uses the installation of its name in the data directory.
    is_usual = (session.program, layout.root) == (program, str(root))
    usual = layout.default and is_usual
    start = link_on_path(launcher, session.environ, usual=usual)
    if start.is_linked:
        offer_completion(session, program)
    if start.advice:
        session.messages.line(start.advice)

    if count:
        result = f"{root}: {plural(count, 'file')} made"
    else:
        result = f"{root}: all files exist already"
    next_step = _suggestion(start.word, session.environ, fresh=is_fresh)
    session.show_lines(result, next_step)


def _usual_root(session: Session, program: str) -> str:
    """Return the directory where a program of this name looks for its installation."""
    if not session.layout.default:
        return session.layout.root
    return os.path.join(xdg_home(session.environ, "DATA"), program)


def _suggestion(start: str, environ: Mapping[str, str], *, fresh: bool) -> str:
    """Return a line with the next command to type; it works as it stands."""
    if not fresh:
        return f"start with: {start}"

    # Most users have scripts already; their own commands are a better start than an example.
    scripts = scripts_of_user(environ)
    if scripts:
        return f"next: {start} self plugin add {scripts}"
    return f"next: {start} self new command team hello"
