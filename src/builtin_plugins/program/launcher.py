"""The launcher `core/<name>`: an executable that starts the host with this interpreter.

A file in the virtual environment lists the installations that use this environment, one path per
line. install.sh also reads that file.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from glob import escape, glob
from pathlib import Path

import host
from builtin_plugins.library.files.atomic import write_file
from builtin_plugins.program.shipped_files import renew
from builtin_plugins.self_commands.decorator import argument, self_command
from builtin_plugins.self_commands.templates import fill_template
from host import OperationError
from host.caller import home, xdg_home
from host.files.paths import read_regular
from host.installation import Layout
from host.processes.importing import complete_import_path
from host.session.session import Session

# Linux splits a shebang at its first blank and reads only 255 bytes of it.
_LONGEST_SHEBANG = 250

_INSTALLATIONS = "cli-host-installations"
_LARGEST = 1 << 14  # size limit of a launcher, in bytes


def environment() -> str:
    """Return the directory of the Python environment that this program runs in."""
    complete_import_path()  # a launcher skips `site`, which finds it out
    return sys.prefix


def in_venv() -> bool:
    """Return whether this program runs in a virtual environment."""
    return environment() != sys.base_prefix


def launcher_text(interpreter: str) -> str:
    """Return the launcher's text for an interpreter and this program's packages.

    `-I` keeps the caller's PYTHON* variables from changing how this program starts. `-S` skips
    the slow `site` module; the code that needs it loads it later. The shebang names no shell,
    because shells change the environment. Raises OperationError if the interpreter's path is too
    long for a shebang.
    """
    head = f"#!{interpreter} -IS"
    if any(mark in interpreter for mark in " \t\\'\""):
        # `env -S` splits and unquotes the line as a shell does.
        quoted = interpreter.replace("\\", "\\\\").replace("'", "\\'")
        head = f"#!/usr/bin/env -S '{quoted}' -IS"

    if len(os.fsencode(head)) > _LONGEST_SHEBANG or "\n" in head:
        raise OperationError(f"{interpreter}: this path is too long for a launcher")

    packages = Path(host.__file__).parent.parent
    texts = fill_template(
        "launcher",
        HEAD=head,
        PACKAGES=_expression(str(packages)),
        PREFIX=repr(environment()),
    )
    return texts["launcher"]


def _expression(packages: str) -> str:
    """Return the path of this program's packages as a Python expression.

    The directory `lib/pythonX.Y` gets the version of the interpreter: an environment that is made
    again with another Python keeps its path, and with it this launcher.
    """
    library = os.path.join(environment(), "lib", "python")
    version = "{}.{}".format(*sys.version_info)
    inside = packages.removeprefix(library + version)
    if inside == packages:
        return repr(packages)
    return f'{library!r} + "%d.%d" % sys.version_info[:2] + {inside!r}'


def interpreter() -> str:
    """Return the interpreter for a launcher.

    An environment that is made again with another Python has no `python3.11` any more, but always
    `python`.
    """
    if not in_venv():
        return sys.executable
    plain = os.path.join(environment(), "bin", "python")
    if not os.path.exists(plain):
        return sys.executable
    return plain


def is_of_other_version(path: str) -> bool:
    """Return whether `path` is a launcher of this environment that needs an update.

    This is the case if another version of this program wrote it.
    """
    if not is_launcher(path):
        return False
    text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    _, _, body = text.partition("\n")
    _, _, current = launcher_text(sys.executable).partition("\n")
    return body != current  # the shebang may name python or python3


def launcher_of(layout: Layout) -> str:
    return os.path.join(layout.core_dir, layout.program)


def write_launcher(path: str) -> None:
    """Write the launcher `path` atomically. Raises OSError or OperationError."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_file(path, os.fsencode(launcher_text(interpreter())), 0o755)


def ensure_launcher(path: str) -> bool:
    """Write a missing launcher and record its installation; return whether it was missing.

    Raises OSError, and OperationError if another file is at `path`.
    """
    is_missing = not os.path.lexists(path)
    if is_missing:
        write_launcher(path)
    elif not is_launcher(path, anywhere=True):
        what = f"{path}: already exists and is not a launcher"
        raise OperationError(what, "move that file, or use --name")
    record_installation(os.path.dirname(os.path.dirname(path)))
    return is_missing


def write_man_page(name: str) -> Path:
    """Write the man page of the program `name`, and return its path. Raises OSError.

    The text is the man page of `cli` with each "cli" in bold replaced: `release/share.py` prints
    the program's name in bold. If that page is missing, nothing is written.
    """
    pages = Path(environment(), "share", "man", "man1")
    shipped = pages / "cli.1"
    page = pages / f"{name}.1"
    if page == shipped or not shipped.is_file():
        return page

    text = shipped.read_text("utf-8").replace("\n.TH CLI ", f"\n.TH {name.upper()} ", 1)
    escaped = name.replace("-", "\\-")
    text = text.replace("\\fBcli\\fR", f"\\fB{escaped}\\fR")
    write_file(str(page), text.encode())
    return page


@self_command(
    "launcher",
    "Rebuild the launcher",
    argument("path", required=True),
    argument("--replace", "Replace changed files of the program without a copy."),
    hidden=True,  # install.sh and `self update` run it
)
def launcher(session: Session, path: str, replace: bool) -> None:
    """Write a launcher, its man page and the program's own files beside it again.

    PATH is the launcher's path. install.sh and `self update` run this command after they have
    installed the program. It prints only the files that it moves.
    """
    path = os.path.abspath(path)
    root = os.path.dirname(os.path.dirname(path))
    write_launcher(path)
    write_man_page(os.path.basename(path))
    record_installation(root)
    renew(root, session.show_lines, replaces=replace)


def record_installation(root: str) -> None:
    """Record that the installation at `root` needs this environment."""
    if not in_venv():
        return
    if "\n" in root:  # the file has one path per line
        return

    line = os.fsencode(f"{root}\n")
    path = os.path.join(environment(), _INSTALLATIONS)
    with suppress(OSError), open(path, "a+b") as file:  # it may belong to root
        file.seek(0)
        if line not in file.readlines():
            file.write(line)


def usual_launchers(root: str, environ: Mapping[str, str]) -> list[str]:
    """Return the launchers of this environment outside the installation at `root`.

    They are searched for on PATH and in the default data directory.
    """
    installations = escape(xdg_home(environ, "DATA"))
    paths = {*links_on_path(environ).values()}
    for path in glob(os.path.join(installations, "*", "core", "*")):
        paths.add(os.path.realpath(path))

    inside = os.path.realpath(root) + os.sep
    launchers = []
    for path in sorted(paths):
        if path.startswith(inside):
            continue
        # The program that pip installed is in the environment's bin and is no installation.
        folder = os.path.dirname(path)
        if os.path.basename(folder) != "core":
            continue

        if is_launcher(path):
            launchers.append(path)
    return launchers


def is_launcher(path: str, *, anywhere: bool = False) -> bool:
    """Return whether `path` is a launcher of this environment or, with `anywhere`, of any other."""
    try:
        content = read_regular(path, OperationError, _LARGEST)
    except (OSError, OperationError):
        return False

    if b"from host.__main__ import main\n" not in content:
        return False
    if anywhere:
        return True
    return os.fsencode(environment()) in content


def launchers_in(core_dir: str, *, anywhere: bool = False) -> list[str]:
    """Return the sorted paths of the launchers in a directory; see `is_launcher` for `anywhere`."""
    paths = sorted(glob(os.path.join(escape(core_dir), "*")))
    return [path for path in paths if is_launcher(path, anywhere=anywhere)]


def local_bin(environ: Mapping[str, str]) -> str:
    """Return the directory where this program links launchers; it need not be on PATH."""
    return os.path.join(home(environ), ".local", "bin")


def links_on_path(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the links in ~/.local/bin and the directories on PATH, with their resolved targets."""
    # A link in ~/.local/bin is of use even if that directory is not on PATH yet.
    directories = [local_bin(environ)]
    for directory in environ.get("PATH", "").split(":"):
        if os.path.isabs(directory):
            directories.append(directory)

    links = {}
    for directory in directories:
        pattern = os.path.join(escape(directory), "*")
        for path in sorted(glob(pattern)):
            if os.path.islink(path):
                links[path] = os.path.realpath(path)
    return links
