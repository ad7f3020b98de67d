"""`self update`: run the command of whoever installed the program.

Nothing is added to what git, pip, uv and pipx do: they know how to go on after a failure.
"""

import os
import shlex
import subprocess
from collections.abc import Mapping

from builtin_plugins.library.git import (
    Git,
    differing_paths,
    newer_commit,
    without_repository,
)
from builtin_plugins.program.launcher import is_launcher, launcher_of
from builtin_plugins.program.origin import (
    Command,
    Origin,
    installed_commit,
    origin_of_program,
)
from builtin_plugins.program.shipped_files import changed_files, set_aside
from builtin_plugins.self_commands.decorator import FORMAT, argument, self_command
from host import OperationError, printable
from host.session.session import Session
from host.text import plural

_GIT_SECONDS = 60.0  # for a question to the clone's remote
_START_SECONDS = 60.0  # for one start of the new version
_MOST_NAMED = 5  # changed files that are named


@self_command(
    "update",
    "Update this program",
    argument("--check", "Only show the newest version, or the command to run."),
    FORMAT,
    synonyms=("upgrade", "selfupdate", "self-update"),
)
def update(session: Session, check: bool, format: str) -> None:
    """Update this program with the command of whoever installed it.

    In a clone, that is `git pull --ff-only`, then install.sh; otherwise uv, pipx or pip. The
    commands are printed before they run. If a package manager installed the program, or it is a
    single file, the command is only printed. Your commands, configuration and plugins stay. The
    files in core/lib and core/schema become those of the new version; a file that you changed
    is first moved to NAME.old.
    """
    launcher = launcher_of(session.layout)
    origin = origin_of_program(session.environ, launcher)
    if check or format == "json":
        _show_newest(session, origin, format)
        return

    if not origin.commands:
        raise OperationError(origin.what, origin.update)
    if origin.clone:
        _check_clone(Git(origin.clone, session.environ, _GIT_SECONDS))

    # The old version knows which files the user has changed; the new one cannot know.
    root = session.layout.root
    changed = changed_files(root)
    environ = without_repository(session.environ)
    for command in origin.commands:
        session.show_lines(shlex.join(command))
        _run(command, environ)
    set_aside(root, changed, session.messages.line)
    if is_launcher(launcher):
        _renew(launcher, session)


def _show_newest(session: Session, origin: Origin, format: str) -> None:
    """Show whether a clone's remote has a newer commit; otherwise, show the command to run."""
    now = session.own_version.rpartition(" ")[2]
    newest = None
    if origin.clone:
        git = Git(origin.clone, session.environ, _GIT_SECONDS)
        head = git("rev-parse", "HEAD").decode().strip()
        newest = (newer_commit(git) or head)[:12]
        # install.sh may have failed after the last update of the files.
        now = (installed_commit() or head)[:12]

    if format == "json":
        facts = {"version": now, "newest": newest, "command": origin.update}
        session.show_json(facts)
    elif newest is None:
        session.show_lines(origin.update)
    elif now == newest:
        session.show_lines(f"{now} is the newest version")
    else:
        session.show_lines(f"{now} → {newest}")


def _check_clone(git: Git) -> None:
    """Raise OperationError if the clone has changed tracked files, or commits of its own."""
    clone = shlex.quote(git.directory)
    changed = differing_paths(git)
    if changed:
        names = printable(", ".join(changed[:_MOST_NAMED]))
        what = (
            f"{git.directory}: {plural(len(changed), 'tracked file')} changed: {names}"
        )
        raise OperationError(what, f"git -C {clone} stash")

    listed = git("rev-list", "--count", "@{upstream}..HEAD")
    count = int(listed)
    if count:
        what = f"{git.directory}: has {plural(count, 'commit')} that its remote lacks"
        rebase = f"git -C {clone} pull --rebase && bash {clone}/install.sh"
        raise OperationError(what, rebase)


def _run(command: Command, environ: Mapping[str, str]) -> None:
    """Run a command on this terminal. Raises OperationError, with the command to repeat."""
    line = shlex.join(command)
    try:
        process = subprocess.Popen(command, env=environ)
    except OSError as failure:
        what = f"{command[0]}: {failure.strerror}"
        raise OperationError(what, f"to repeat: {line}") from None

    try:
        status = process.wait()
    finally:
        # After Ctrl-C, an installer undoes what it has done, which takes its time.
        process.wait()
    if status:
        what = f"{command[0]} failed with status {status}"
        if status < 0:
            what = f"{command[0]} was ended by signal {-status}"
        raise OperationError(what, f"to repeat: {line}")


def _renew(launcher: str, session: Session) -> None:
    """Let the new version write its files: it alone knows them. Raises OperationError.

    This version can rely on the new one's command line, but not on its Python code.
    """
    command = (launcher, "--safe", "self", "launcher", launcher, "--replace")
    # A broken installation must not keep the program from starting.
    environ = {**session.environ, "CLI_DIR": os.devnull, "GLOBAL_CONFIG_FILE": ""}
    what = f"{launcher}: the new version cannot write its files"
    repeat = f"to repeat: {shlex.join(command)}"
    try:
        ended = subprocess.run(
            command,
            env=environ,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_START_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise OperationError(f"{what}: {failure}", repeat) from None

    complaints = (ended.stderr + ended.stdout).decode("utf-8", "replace").splitlines()
    if ended.returncode:
        # The last line of a traceback names the error.
        reason = complaints[-1] if complaints else "failed without a message"
        raise OperationError(f"{what}: {reason}", repeat)
    session.messages.warn(*complaints)
