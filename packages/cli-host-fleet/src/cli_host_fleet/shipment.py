"""The files of a command: one tar archive, the same for all hosts of a run."""

from __future__ import annotations

import fnmatch
import glob
import io
import os
import re
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

from cli_host_fleet.problem import FleetError

_CHUNK = 1 << 16
_STAYS_HERE = {".git", ".hg", ".svn", "__pycache__"}
_ENV_FILES = (".env", ".env.*")
_SETTINGS = "/config/settings.conf"
_OF_COMMANDS = {"command.json", "category.json"}
_REFERENCE = re.compile(r"\$\{[^}]*\}+|\$\w+")
_WHOLE_REFERENCE = re.compile(r"\$\{?(\w+)(?::?-([^}]*))?\}?")
_MOST_BYTES = 256 << 20


def stem_of_a_run() -> str:
    """Return an unguessable name for the directory of a run.

    All names have the same length and the same sum of bytes, so replacing one with another inside
    a tar archive keeps the archive's checksums valid.
    """
    stem = "cli-fleet."
    for digit in os.urandom(8).hex():
        value = int(digit, 16)
        # The second letter is as far from `p` as the first is from `a`: the sum is always the same.
        stem += chr(ord("a") + value)
        stem += chr(ord("p") - value)
    return stem


def pattern_of(file: str, directory: str, values: Mapping[str, str]) -> str:
    """Return the pattern of the real paths that a file in `env_files` or `secrets` can have.

    The value of `$STAGE` in `.env.$STAGE` may differ between hosts, so any value fits.
    """
    whole = _WHOLE_REFERENCE.fullmatch(file)
    if whole:
        # Any value would also fit the script itself, so only the one of `values` does.
        name, default = whole.groups()
        file = values.get(name) or default or file
        return glob.escape(os.path.realpath(os.path.join(directory, file)))

    if file.startswith("$"):  # the path may be absolute
        path = os.path.normpath(f"/{file}")
        return "*" + _REFERENCE.sub("*", glob.escape(path))
    path = os.path.realpath(os.path.join(directory, file))
    return _REFERENCE.sub("*", glob.escape(path))


class Shipment:
    """The tar archive, in an unnamed file that disappears after the run.

    `names` are the files in it, `paths` the real paths of those that were on this machine, and
    `targets` what those are that were links out of their folder.
    """

    def __init__(self) -> None:
        self._stem = stem_of_a_run()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with its owner
        self._tar = tarfile.open(  # noqa: SIM115 - closed with its owner
            fileobj=self._file, mode="w", format=tarfile.GNU_FORMAT
        )
        self.size = 0
        self.names: list[str] = []
        self.paths: set[str] = set()
        self.targets: dict[str, str] = {}
        self._add_directory("", 0o700)

    def add_tree(
        self,
        directory: str,
        place: str,
        roots: Sequence[str] = (),
        stays: Sequence[str] = (),
    ) -> None:
        """Add the files and links below `directory`; raises FleetError.

        `place` is their directory in the archive. A link out of `directory` is added as the file
        that it points to, which must be below one of `roots`. `.env` files and files that match
        `stays` (see `pattern_of`) are excluded, because variables and secrets are sent in the
        environment; so are links to them, and the folders of other commands, which may have secrets
        of their own.
        """
        top = os.path.realpath(directory)
        allowed = [top, *map(os.path.realpath, roots)]

        for current, directories, files in os.walk(top):
            links, descends = _links_and_directories(current, directories)
            directories[:] = descends  # `os.walk` goes on with these

            if current != top and not _OF_COMMANDS.isdisjoint(files):
                directories.clear()
                continue

            for name in sorted([*files, *links]):
                path = os.path.join(current, name)
                inside = os.path.relpath(path, top)
                if not _stays(path, stays):
                    _check_link(path, allowed)
                    self._add(path, f"{place}/{inside}", top)

    def add_file(self, path: str, place: str) -> None:
        """Add one file, or the target of a link; raises FleetError."""
        real = os.path.realpath(path)
        folder = os.path.dirname(real)
        self._add(real, place, folder)

    def add_text(self, place: str, text: str, mode: int = 0o644) -> None:
        content = text.encode()
        self._add_stream(place, io.BytesIO(content), len(content), mode)

    def add_stdin(self, path: str) -> None:
        """Add the file `path`, or for `-` this process's stdin, as the command's stdin.

        Raises OSError.
        """
        is_own = path == "-"
        file = 0 if is_own else path
        with (
            open(file, "rb", closefd=not is_own) as opened,
            tempfile.TemporaryFile() as copy,
        ):
            # The size of a pipe is unknown until it is read.
            shutil.copyfileobj(opened, copy)
            size = copy.tell()
            copy.seek(0)
            self._add_stream("stdin", copy, size, 0o600)

    def close(self) -> None:
        """Finish the archive."""
        self._tar.close()
        self._file.flush()  # `chunks` reads the file through its descriptor
        self.size = self._file.tell()

    def chunks(self, stem: str) -> Iterator[bytes]:
        """Yield the archive, its top directory renamed to `stem`; iterators may run in parallel."""
        former = self._stem.encode()
        replacement = stem.encode()
        descriptor = self._file.fileno()

        for start in range(0, self.size, _CHUNK):
            # Reading at a place of its own moves no position that a parallel iterator uses.
            chunk = os.pread(descriptor, _CHUNK, start)
            # The name is at the start of a tar block, so it never spans two chunks.
            yield chunk.replace(former, replacement)

    def mentions(self, word: bytes, place: str) -> list[str]:
        """Return the names, without `place/`, of the files below `place` that contain `word`."""
        names = []
        for name, content in self._files_below(place):
            if any(word in line for line in content):
                names.append(name)
        return names

    def _files_below(self, place: str) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield the name below `place` and the content of each file there."""
        top = os.path.join(self._stem, place) + "/"
        self._file.seek(0)
        with tarfile.open(fileobj=self._file) as archive:
            for member in archive:
                if not member.name.startswith(top):
                    continue
                content = archive.extractfile(member)
                if content is not None:  # a directory has none
                    yield member.name.removeprefix(top), content

    def _add(self, path: str, place: str, top: str) -> None:
        try:
            real = os.path.realpath(path)
            stays_inside = real.startswith(top + os.sep)
            if os.path.islink(path) and stays_inside:
                folder = os.path.dirname(path)
                target = os.path.relpath(real, folder)
                self._add_link(place, target)
                return

            # Devices and pipes are left out.
            file_type = os.stat(path).st_mode
            if not stat.S_ISREG(file_type):
                return
            with open(path, "rb") as opened:
                status = os.fstat(opened.fileno())
                mode = stat.S_IMODE(status.st_mode)
                self._add_stream(place, opened, status.st_size, mode)
            self.paths.add(real)
            if not stays_inside:
                self.targets[place] = real
        except FileNotFoundError:
            return  # a dangling link
        except OSError as failure:
            raise FleetError(f"{path}: {failure.strerror}") from None

    def _add_link(self, place: str, target: str) -> None:
        member = self._member(place)
        member.type = tarfile.SYMTYPE
        member.linkname = target
        self._tar.addfile(member)

    def _add_directory(self, place: str, mode: int) -> None:
        member = self._member(place)
        member.type = tarfile.DIRTYPE
        member.mode = mode
        self._tar.addfile(member)

    def _member(self, place: str) -> tarfile.TarInfo:
        name = os.path.join(self._stem, place)
        return tarfile.TarInfo(name)

    def _add_stream(self, place: str, stream: IO[bytes], size: int, mode: int) -> None:
        total = self._file.tell() + size
        if place != "stdin" and total > _MOST_BYTES:
            raise FleetError(
                f"{place}: the files for a host exceed {_MOST_BYTES >> 20} MiB"
            )

        member = self._member(place)
        member.size = size
        member.mode = mode & 0o755  # only the user of the run may write
        self._tar.addfile(member, stream)
        self.names.append(place)


def _links_and_directories(
    current: str, names: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Return which directories in `current` are links, and which others are sent, both sorted."""
    links = []
    directories = []
    for name in sorted(names):
        if name in _STAYS_HERE:
            continue

        path = os.path.join(current, name)
        if os.path.islink(path):
            links.append(name)
        else:
            directories.append(name)

    return links, directories


def _check_link(path: str, roots: Sequence[str]) -> None:
    """Raise FleetError for a link to a file that no command may send: a private key, for example.

    Who shares a command chooses its links, and could read the file on a host.
    """
    real = os.path.realpath(path)
    if not os.path.islink(path) or not os.path.isfile(real):
        return
    is_inside = any(real.startswith(os.path.join(root, "")) for root in roots)
    is_private = not _STAYS_HERE.isdisjoint(real.split(os.sep))
    if not is_inside or is_private or real.endswith(_SETTINGS):
        what = f"{path}: leads to {real}, which stays on this machine"
        raise FleetError(f"{what}; replace the link by a copy")


def _stays(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a file, or what it is a link to, is a `.env` file or matches a pattern."""
    files = {path, os.path.realpath(path)}
    while os.path.islink(path):
        target = os.path.join(os.path.dirname(path), os.readlink(path))
        path = os.path.abspath(target)
        if path in files:
            break  # the end, or a circle
        files.add(path)

    for file in files:
        name = os.path.basename(file)
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in _ENV_FILES):
            return True
        if any(fnmatch.fnmatchcase(file, pattern) for pattern in patterns):
            return True
    return False
