"""Make a program available to its user: a link on PATH, the man page and completion.

The links are in ~/.local, and they replace nothing.
"""

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from builtin_plugins.library.files import atomic
from builtin_plugins.program import completion_code
from builtin_plugins.program.launcher import (
    environment,
    in_venv,
    is_launcher,
    local_bin,
    write_man_page,
)
from host import find_program
from host.asking.terminal import is_agreed
from host.caller import home
from host.session.session import Session


class Start(NamedTuple):
    """How to start a program: `word` for the command line, and advice if the name does not work."""

    word: str
    advice: str
    is_linked: bool


def link_on_path(
    launcher: str, environ: Mapping[str, str], *, usual: bool = False
) -> Start:
    """Link a launcher in ~/.local/bin, unless its name is taken there, or anywhere on PATH.

    `usual` says that the script that pip installed starts this installation, too.
    """
    name = os.path.basename(launcher)
    link = os.path.join(local_bin(environ), name)
    starts_it = partial(_starts, launcher, usual)

    # A team's cli.json can name any program, such as sudo.
    is_free = find_program(name, environ) is None and not os.path.lexists(link)
    if is_free:
        with suppress(OSError):  # the home directory may be read-only
            os.makedirs(os.path.dirname(link), exist_ok=True)
            atomic.write_link(link, launcher)

    is_linked = starts_it(link)
    if is_linked:
        with suppress(OSError):
            _link_man_page(name, environ)

    # The link, or another program of this name, may be on PATH now.
    started = find_program(name, environ)
    if starts_it(started):
        return Start(name, "", is_linked=True)
    if is_linked:
        advice = f"to run it as {name}, put ~/.local/bin first on PATH"
        return Start(shlex.quote(link), advice, is_linked=True)

    other = started
    if other is None and os.path.lexists(link):
        other = link
    advice = _advice(launcher, other, environ)
    return Start(shlex.quote(launcher), advice, is_linked=False)


def _advice(launcher: str, other: str | None, environ: Mapping[str, str]) -> str:
    """Return how to put a launcher on PATH; `other` is another program of its name, if any."""
    if other is None:
        return to_path(launcher, environ)
    command = f"ln -s {shlex.quote(launcher)} ~/.local/bin/NAME"
    return f"{other} is another program; to put this one on PATH as NAME: {command}"


def _starts(launcher: str, usual: bool, path: str | None) -> bool:
    """Return whether the program at `path` starts the installation of a launcher."""
    if path is None:
        return False
    real = os.path.realpath(path)
    if real == os.path.realpath(launcher):
        return True
    return usual and is_launcher(real)


def _link_man_page(name: str, environ: Mapping[str, str]) -> None:
    """Link the man page unless `man` finds it in the environment. Raises OSError."""
    if not in_venv():
        return
    # `man` looks beside each directory on PATH.
    if f"{environment()}/bin" in environ.get("PATH", "").split(":"):
        return

    pages = os.path.join(home(environ), ".local", "share", "man", "man1")
    link = os.path.join(pages, f"{name}.1")
    if os.path.lexists(link):
        return
    page = write_man_page(name)
    if page.is_file():
        os.makedirs(pages, exist_ok=True)
        atomic.write_link(link, str(page))


def to_path(launcher: str, environ: Mapping[str, str]) -> str:
    """Return advice on how to put a launcher on PATH."""
    usual = local_bin(environ)
    link = os.path.join(usual, os.path.basename(launcher))
    is_linked = os.path.realpath(link) == os.path.realpath(launcher)
    start_up = "add this line to your shell's start-up file: export "
    if not is_linked and not _can_be_written(usual):
        folder = shlex.quote(os.path.dirname(launcher))
        return f"to put it on PATH, {start_up}PATH={folder}:$PATH"

    is_on_path = usual in environ.get("PATH", "").split(":")
    line = f"{start_up}PATH=~/.local/bin:$PATH"
    if is_linked and not is_on_path:
        return f"to put it on PATH, {line}"

    make = "" if os.path.isdir(usual) else "mkdir -p ~/.local/bin && "
    to_link = f"{make}ln -s {shlex.quote(launcher)} ~/.local/bin/"
    if is_on_path:
        return f"to put it on PATH: {to_link}"
    return f"to put it on PATH, run {to_link}, and {line}"


def _can_be_written(folder: str) -> bool:
    """Return whether the user can create files in a folder, or can make this folder."""
    # Of a folder that is missing, the first one above it that exists decides.
    while folder and not os.path.lexists(folder):
        folder = os.path.dirname(folder)

    if not os.path.isdir(folder):
        return False
    return os.access(folder, os.W_OK)


def offer_completion(session: Session, name: str) -> None:
    """Ask on a terminal whether to install completion for the user's shell. Raises OSError."""
    environ = session.environ
    shell = completion_code.uncompleted_shell(name, environ)
    if not shell:
        return
    if not session.can_ask:
        return

    path = completion_code.start_up_file(shell, name, environ)
    if is_agreed(f"Add completion with Tab to {path}?"):
        completion_code.install_completion(shell, name, environ)


def scripts_of_user(environ: Mapping[str, str]) -> str:
    """Return `~/bin` if it contains scripts or programs that are not links, otherwise ""."""
    directory = os.path.join(home(environ), "bin")
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and _is_command(entry.path):
                return "~/bin"
    return ""


def _is_command(path: str) -> bool:
    if os.access(path, os.X_OK):
        return True
    with suppress(OSError), open(path, "rb") as file:
        return file.read(2) == b"#!"
    return False
