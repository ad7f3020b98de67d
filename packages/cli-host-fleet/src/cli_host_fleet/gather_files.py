"""`fleet gather`: fetch files from many hosts."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import IO, Any

import click

from cli_host_fleet import to_host
from cli_host_fleet.captured import Captured
from cli_host_fleet.checksums import read_sums, sum_of
from cli_host_fleet.complete import complete_files
from cli_host_fleet.connecting import connecting_options
from cli_host_fleet.examining_view import ExaminingView
from cli_host_fleet.from_host import Facts
from cli_host_fleet.job import Job, Start
from cli_host_fleet.problem import FleetError
from cli_host_fleet.results import Result
from cli_host_fleet.run_options import dry_run_option, format_option, rollout_options
from cli_host_fleet.running import run_or_preview, view_for
from cli_host_fleet.targets import Targets, target_options
from cli_host_fleet.transport import Host
from host import OneLineCommand, Program

_CHUNK = 1 << 16
_MOST_SUMS = 64 << 20  # bytes of the list of checksums before an archive


@click.command(cls=OneLineCommand)
@target_options
@connecting_options
@rollout_options
@dry_run_option
@format_option
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.argument("directory", metavar="DIR", shell_complete=complete_files)
def gather_from_hosts(
    targets: Targets, paths: tuple[str, ...], directory: str, **params: Any
) -> None:
    """Fetch files and folders from every host of a set into DIR/HOST, and compare their checksums.

    PATH can be a pattern such as '/var/log/*.log'; a relative one begins in the home directory of
    the login. The file /etc/hosts of web01 becomes DIR/web01/etc/hosts.
    """
    program = Program.current()
    hosts = targets.hosts(program)
    job = GatherJob(hosts, paths, directory)

    def examine(result: Result, captured: Captured) -> Result:
        if result.state != "ok":
            return result
        archive = captured.streams["stdout"]
        return unpacked(result, archive, f"{directory}/{result.host}")

    inner = view_for(params["form"], hosts)
    view = ExaminingView(inner, examine, ("stdout",))

    sys.exit(run_or_preview(program, job, targets, params, view))


class GatherJob(Job):
    """Makes each host print an archive of files."""

    def __init__(
        self, hosts: Mapping[str, Host], paths: Sequence[str], directory: str
    ) -> None:
        super().__init__(hosts)
        self._paths = paths
        self._directory = directory
        is_something_else = os.path.lexists(directory) and not os.path.isdir(directory)
        if is_something_else:
            raise FleetError(f"{directory}: not a directory")
        self.shipment.close()

    def masked_words(self) -> list[str]:
        return ["gather", *self._paths, self._directory]

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        script = to_host.script("gather.sh")
        argv = ["sh", "-c", script, "gather", *self._paths]
        return Start(argv, {"CLI_DIR": place})

    def _environment_on_host(
        self, host: Host, facts: Mapping[str, str], place: str
    ) -> Mapping[str, str]:
        return {}


def unpacked(result: Result, stream: IO[bytes], directory: str) -> Result:
    """Unpack what a host printed; return the result with the files, or with the reason of a fault.

    The files are made in a new directory and then moved, so each is the old one or the whole new
    one. Only plain files and directories are made, so no path of a host can lead elsewhere.
    """
    try:
        sums = _read_header(stream)
        os.makedirs(directory, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".gather-") as fresh:
            unpacked_sums = _unpack(stream, fresh)
            changed = _changed(sums, unpacked_sums)
            if changed:
                reason = f"/{changed}: changed while it was read"
                return replace(result, state="failed", reason=reason)

            for name in unpacked_sums:
                _move(name, fresh, directory)
    except (OSError, ValueError, tarfile.TarError) as failure:
        # Of an OSError, the path may be in the directory for fresh files, which is gone.
        problem = str(failure)
        if isinstance(failure, OSError) and failure.strerror:
            problem = failure.strerror
        reason = f"{directory}: {problem}"
        return replace(result, state="failed", reason=reason)

    return replace(result, files=sums)


def _move(name: str, fresh: str, directory: str) -> None:
    source = os.path.join(fresh, name)
    target = os.path.join(directory, name)
    parent = os.path.dirname(target)
    os.makedirs(parent, exist_ok=True)
    os.replace(source, target)


def _changed(announced: Mapping[str, str], unpacked: Mapping[str, str]) -> str:
    """Return the first file that is not the one whose checksum the host announced, or ""."""
    expected = {}
    for path, digest in announced.items():
        expected[path.lstrip("/")] = digest  # tar removes the slash, too

    for name in sorted({*unpacked, *expected}):
        if unpacked.get(name) != expected.get(name):
            return name
    return ""


def _read_header(stream: IO[bytes]) -> dict[str, str]:
    """Read the checksums before the archive; raises ValueError."""
    stream.seek(0)
    header = b""
    while b"\0" not in header:
        piece = stream.read(_CHUNK)
        if not piece or len(header) > _MOST_SUMS:
            raise ValueError("the host sent no archive")
        header += piece

    lines, _, _ = header.partition(b"\0")
    stream.seek(len(lines) + 1)  # the archive begins after the NUL
    return read_sums(lines)


def _unpack(stream: IO[bytes], fresh: str) -> dict[str, str]:
    """Write the files of an archive below `fresh`; return their checksums. Raises ValueError."""
    sums = {}
    # For a long list, gather.sh sends several archives; each ends with zeros.
    with tarfile.open(fileobj=stream, mode="r|", ignore_zeros=True) as archive:
        for member in archive:
            # A directory is made for its files; links and devices are left out.
            if not member.isreg():
                continue
            content = archive.extractfile(member)
            if content is None:
                continue

            name = member.name.lstrip("/")
            if not _is_safe(name):
                raise ValueError(f"{member.name!r}: not a path in an archive")
            path = os.path.join(fresh, name)
            sums[name] = _write(content, path, member.mode)
    return sums


def _is_safe(name: str) -> bool:
    """Return whether a relative path stays in its directory."""
    if "\0" in name:
        return False
    parts = name.split("/")
    return {"", ".", ".."}.isdisjoint(parts)


def _write(content: IO[bytes], path: str, mode: int) -> str:
    """Write a new file, which only its owner may write; return its checksum."""
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)

    # An archive may have a name twice, so the second one is an error.
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)

    with open(descriptor, "w+b") as written:
        shutil.copyfileobj(content, written)
        os.fchmod(descriptor, mode & 0o755 | 0o600)
        written.seek(0)
        return sum_of(written)
