"""The files of a command: one tar archive, the same for all hosts of a run."""

from __future__ import annotations

import fnmatch
import io
import json
import os
import re
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

from cli_host_fleet.checksums import sum_of
from cli_host_fleet.problem import FleetError

_CHUNK = 1 << 16
_STAYS_HERE = {".git", ".hg", ".svn", "__pycache__"}
_ENV_FILES = (".env", ".env.*")
_REFERENCE = re.compile(r"\$\{[^}]*\}+|\$\w+")
_MOST_BYTES = 256 << 20


def stem_of_a_run() -> str:
    """Return an unguessable name for the directory of a run.

    All names have the same length and the same sum of bytes, so replacing one with another inside
    a tar archive keeps the archive's checksums valid.
    """
    halves = [half for byte in os.urandom(8) for half in divmod(byte, 16)]
    return "cli-fleet." + "".join(
        chr(ord("a") + half) + chr(ord("p") - half) for half in halves
    )


class Shipment:
    """The tar archive, in an unnamed file that disappears after the run."""

    def __init__(self) -> None:
        self._stem = stem_of_a_run()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with its owner
        self._tar = tarfile.open(  # noqa: SIM115 - closed with its owner
            fileobj=self._file, mode="w", format=tarfile.GNU_FORMAT
        )
        self.size = 0
        self.names: list[str] = []
        top = self._member("")
        top.type, top.mode = tarfile.DIRTYPE, 0o700
        self._tar.addfile(top)

    def add_tree(
        self, directory: str, place: str, env_files: Sequence[str] = ()
    ) -> None:
        """Add the files and links below `directory`; raises FleetError.

        `place` is their directory in the archive. A link out of `directory` is added as the file
        that it points to. `.env` files and files that match `env_files` are excluded, because
        variables and secrets are sent in the environment.
        """
        # The value of `$STAGE` in `.env.$STAGE` is unknown here, so any value stays.
        named = [_REFERENCE.sub("*", os.path.normpath(path)) for path in env_files]
        stays = [*_ENV_FILES, *named]
        top = os.path.realpath(directory)
        for current, directories, files in os.walk(top):
            kept = [name for name in directories if name not in _STAYS_HERE]
            directories[:] = sorted(
                name for name in kept if not _is_link(current, name)
            )
            links = [name for name in kept if _is_link(current, name)]
            for name in sorted([*files, *links]):
                path = os.path.join(current, name)
                inside = os.path.relpath(path, top)
                if not _matches(name, stays) and not _matches(inside, stays):
                    self._add(path, f"{place}/{inside}", top)

    def add_file(self, path: str, place: str) -> None:
        """Add one file, or the target of a link; raises FleetError."""
        real = os.path.realpath(path)
        self._add(real, place, os.path.dirname(real))

    def add_all(self, directory: str, place: str) -> None:
        """Add all files and directories below `directory`; a link is added as its target's file.

        Raises FleetError.
        """
        top = os.path.realpath(directory)
        for current, directories, files in os.walk(top):
            directories.sort()
            inside = os.path.relpath(current, top)
            self._add_directory(place if inside == "." else f"{place}/{inside}")
            for name in sorted(files):
                path = os.path.join(current, name)
                if os.path.isfile(path):
                    self.add_file(path, os.path.normpath(f"{place}/{inside}/{name}"))

    def add_text(self, place: str, text: str, mode: int = 0o644) -> None:
        self._add_stream(place, io.BytesIO(text.encode()), len(text.encode()), mode)

    def add_stdin(self, path: str) -> None:
        """Add the file `path`, or for `-` this process's stdin, as the command's stdin.

        Raises OSError.
        """
        with (
            open(0 if path == "-" else path, "rb", closefd=path != "-") as opened,
            tempfile.TemporaryFile() as copy,
        ):
            while chunk := opened.read(
                _CHUNK
            ):  # the size of a pipe is unknown until it is read
                copy.write(chunk)
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
        # The name is at the start of a tar block, so it never spans two chunks.
        ours, its = self._stem.encode(), stem.encode()
        for start in range(0, self.size, _CHUNK):
            chunk = os.pread(self._file.fileno(), min(_CHUNK, self.size - start), start)
            yield chunk.replace(ours, its)

    def mentions(self, word: bytes, place: str) -> list[str]:
        """Return the names, without `place/`, of the files below `place` that contain `word`."""
        self._file.seek(0)
        with tarfile.open(fileobj=self._file) as archive:
            names = []
            for member in archive:
                name = os.path.relpath(member.name, self._stem)
                content = (
                    archive.extractfile(member)
                    if name.startswith(f"{place}/")
                    else None
                )
                if content is not None and any(word in line for line in content):
                    names.append(os.path.relpath(name, place))
        return names

    def _add(self, path: str, place: str, top: str) -> None:
        try:
            leaves = not os.path.realpath(path).startswith(top + os.sep)
            if os.path.islink(path) and not leaves:
                member = self._member(place)
                member.type = tarfile.SYMTYPE
                member.linkname = os.path.relpath(
                    os.path.realpath(path), os.path.dirname(path)
                )
                self._tar.addfile(member)
            elif stat.S_ISREG(os.stat(path).st_mode):
                with open(path, "rb") as opened:
                    status = os.fstat(opened.fileno())
                    self._add_stream(
                        place, opened, status.st_size, stat.S_IMODE(status.st_mode)
                    )
        except FileNotFoundError:
            return  # a dangling link
        except OSError as failure:
            raise FleetError(f"{path}: {failure.strerror}") from None

    def sums(self, place: str) -> list[str]:
        """Return the SHA-256 of each file below `place`."""
        self._file.seek(0)
        with tarfile.open(fileobj=self._file) as archive:
            top = os.path.join(self._stem, place) + "/"
            sums = []
            for member in archive:
                content = (
                    archive.extractfile(member) if member.name.startswith(top) else None
                )
                if content is not None:  # a directory has none
                    sums.append(sum_of(content))
        return sums

    def _add_directory(self, place: str) -> None:
        member = self._member(place)
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        self._tar.addfile(member)

    def _member(self, place: str) -> tarfile.TarInfo:
        return tarfile.TarInfo(os.path.join(self._stem, place))

    def _add_stream(self, place: str, stream: IO[bytes], size: int, mode: int) -> None:
        if place != "stdin" and self._file.tell() + size > _MOST_BYTES:
            raise FleetError(
                f"{place}: the files for a host exceed {_MOST_BYTES >> 20} MiB"
            )
        member = self._member(place)
        member.size, member.mode = size, mode & 0o755
        self._tar.addfile(member, stream)
        self.names.append(place)


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def _is_link(directory: str, name: str) -> bool:
    return os.path.islink(os.path.join(directory, name))


def config(name: str, version: str) -> str:
    """Return a cli.json with only the program's name and version."""
    return json.dumps({"name": name, "version": version})


def start_of(head: bytes, executable: bool) -> tuple[list[str], bool]:
    """Return the words that must precede the entrypoint, and whether bash must load core/lib.

    `head` is the start of the entrypoint's content. As in a local run, bash runs a text
    file without a shebang, and a file without an execute bit is run by the program that its shebang
    names.
    """
    if not head.startswith(b"#!"):
        return ([], False) if b"\0" in head else (["bash"], True)
    line = os.fsdecode(head[2:].split(b"\n")[0]).strip()
    program, _, argument = line.partition(" ")
    # The kernel passes what follows the program as one argument.
    words = [word for word in (program, argument.strip()) if word]
    runs_bash = "bash" in {os.path.basename(word) for word in line.split()}
    return ([] if executable else words), runs_bash
