"""The one step of setup that may need root: put a prepared application in place, or remove it.

Started as `sudo PYTHON -I -m builtin_plugins.setup.linux.elevated ACTION …` with every path
as an argument, because sudo drops the environment that said them.
"""

import argparse
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence

from builtin_plugins.archives.tree import Entry, Rules, Tree
from builtin_plugins.setup.linux.rights import refuse_foreign
from builtin_plugins.setup.linux.stage import hold_stage, make_directory
from builtin_plugins.setup.linux.state import Places, was_interrupted
from builtin_plugins.setup.linux.swap import NEW, heal, put_in_place, remove_all
from host.errors import HostError, OperationError
from host.run.messages import Messages
from host.run.text import printable

ISOLATION = ("-I",)  # no PYTHON* variable, no current directory
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def run_elevated(
    sudo: str, action: str, places: Places, environ: Mapping[str, str], tree: str = ""
) -> None:
    """Let root do `action`; raises OperationError with the reason that it gave."""
    command = [
        *(sudo, sys.executable, *ISOLATION, "-m", "builtin_plugins.setup.linux.elevated", action),
        *("--tool", places.tool, "--install-dir", places.install_dir),
        *("--bin-dir", places.bin_dir, "--desktop-file", places.desktop_file),
        *(("--tree", tree) if tree else ()),
    ]
    interrupted = False
    with subprocess.Popen(command, env=dict(environ), stderr=subprocess.PIPE) as process:
        while True:
            try:
                _, said = process.communicate()
                break
            except KeyboardInterrupt:  # the terminal told sudo too; wait for what it does
                interrupted = True
    if process.returncode and interrupted:
        raise KeyboardInterrupt
    if process.returncode:
        lines = said.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise OperationError(f"with sudo: {printable(lines[-1])}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; print one line and return 1 when it cannot be done."""
    parser = argparse.ArgumentParser(prog="setup_elevated", allow_abbrev=False)
    parser.add_argument("action", choices=("put", "remove"))
    for name in ("--tool", "--install-dir", "--bin-dir", "--desktop-file"):
        parser.add_argument(name, required=True)
    parser.add_argument("--tree", default="")
    given = parser.parse_args(arguments)
    places = Places(given.tool, given.install_dir, given.bin_dir, given.desktop_file)
    try:
        if given.action == "put":
            _put(places, given.tree)
        else:
            remove_all(places)
    except HostError as failure:
        return _fail(str(failure))
    except OSError as failure:
        return _fail(f"{failure.filename2 or failure.filename}: {failure.strerror}")
    return 0


def _fail(reason: str) -> int:
    Messages("setup", {}).line(reason)
    return 1


def _put(places: Places, tree: str) -> None:
    refuse_foreign(places)
    make_directory(os.path.dirname(places.install_dir))
    with hold_stage(places.stage, lambda: was_interrupted(places)) as stage:
        heal(places)
        copy_tree(tree, os.path.join(stage, NEW))
        put_in_place(places)


def copy_tree(source: str, target: str) -> None:
    """Copy files, directories and inner links; owners become the caller's, modes plain.

    `source` belongs to somebody with fewer rights and may change meanwhile. So no link
    in it is followed, all of it must belong to that one user, and links are judged by
    where they lead in the copy. Raises OperationError, OSError.
    """
    directory = os.open(source, _DIRECTORY)
    try:
        copy = _Copy(target, os.fstat(directory).st_uid)
        copy.directory(directory, "")
    finally:
        os.close(directory)
    copy.judged.seal()
    for place, points_to in copy.links:
        os.symlink(points_to, os.path.join(target, place))


class _Copy:
    """One copy in progress: what it has met, and the links to be made at its end."""

    def __init__(self, target: str, owner: int) -> None:
        self.judged = Tree(Rules(strip=False, links=True))
        self.links: list[tuple[str, str]] = []
        self._target = target
        self._owner = owner

    def directory(self, descriptor: int, place: str) -> None:
        """Copy what is in an open directory; its depth is bounded by the rules."""
        made = os.path.join(self._target, place)
        os.mkdir(made)
        os.chmod(made, 0o755)  # noqa: S103  # applications are for all users
        for name in os.listdir(descriptor):
            self._entry(descriptor, name, os.path.join(place, name))

    def _entry(self, above: int, name: str, place: str) -> None:
        mode = os.lstat(name, dir_fd=above).st_mode
        if stat.S_ISLNK(mode):
            points_to = os.readlink(name, dir_fd=above)
            self.judged.add(Entry(place, "link", target=points_to))
            self.links.append((place, points_to))
            return
        self.judged.add(Entry(place, "directory" if stat.S_ISDIR(mode) else "file"))
        descriptor = os.open(name, _DIRECTORY if stat.S_ISDIR(mode) else _FILE, dir_fd=above)
        try:
            status = os.fstat(descriptor)
            if status.st_uid != self._owner:
                raise OperationError(f"{printable(place)} belongs to another user")
            if stat.S_ISDIR(status.st_mode):
                self.directory(descriptor, place)
            elif stat.S_ISREG(status.st_mode):
                _copy_file(descriptor, os.path.join(self._target, place))
            else:
                raise OperationError(f"{printable(place)} is no regular file")
        finally:
            os.close(descriptor)


def _copy_file(descriptor: int, target: str) -> None:
    create = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    executable = os.fstat(descriptor).st_mode & 0o111
    with (
        open(descriptor, "rb", closefd=False) as source,
        open(os.open(target, create, 0o600), "wb") as copy,
    ):
        shutil.copyfileobj(source, copy, 1 << 20)
        os.fchmod(copy.fileno(), 0o755 if executable else 0o644)


if __name__ == "__main__":
    sys.exit(main())
