"""`fleet copy`: send files to many hosts."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from cli_host_fleet import to_host
from cli_host_fleet.captured import Captured
from cli_host_fleet.checksums import read_sums
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


@click.command(cls=OneLineCommand)
@target_options
@connecting_options
@rollout_options
@dry_run_option
@format_option
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files
)
@click.argument("to", metavar="DEST")
def copy_to_hosts(
    targets: Targets, files: tuple[str, ...], to: str, **params: Any
) -> None:
    """Copy files and folders to DEST on every host of a set, and compare their checksums.

    DEST is a directory if it ends with a slash, or if there are several files; it is made if it is
    missing. Otherwise it is the name of the copy, unless it is a directory on the host. A relative
    DEST is in the home directory of the login.
    """
    program = Program.current()
    hosts = targets.hosts(program)
    job = CopyJob(hosts, files, to)

    # The checksums that a host prints are no output for the user.
    examine = functools.partial(compared, job.sums)
    inner = view_for(params["form"], hosts)
    view = ExaminingView(inner, examine, ("stdout",))

    sys.exit(run_or_preview(program, job, targets, params, view))


class CopyJob(Job):
    """Ships files and moves them to their places; `sums` are their SHA-256, in sorted order."""

    def __init__(
        self, hosts: Mapping[str, Host], files: Sequence[str], to: str
    ) -> None:
        super().__init__(hosts)
        self._files = files
        self._to = to
        self._how = "as"  # as copy.sh calls it
        if to.endswith("/") or len(files) > 1:
            self._how = "into"

        by_name: dict[str, str] = {}
        for file in files:
            path = os.path.abspath(file)
            name = os.path.basename(path)
            if name in by_name:
                raise FleetError(
                    f"{name}: two files of this name cannot be in one directory"
                )
            by_name[name] = file

        for name, file in by_name.items():
            self._add(file, name)
        self.shipment.close()
        self.sums = self.shipment.sums("files")

    def _add(self, file: str, name: str) -> None:
        """Ship a file or folder, which copy.sh expects below `files`; raises FleetError."""
        if os.path.isdir(file):
            self.shipment.add_all(file, f"files/{name}")
        elif os.path.isfile(file):
            self.shipment.add_file(file, f"files/{name}")
        elif os.path.lexists(file):
            raise FleetError(f"{file}: not a file or a directory")
        else:
            raise FleetError(f"{file}: no such file")

    def masked_words(self) -> list[str]:
        return ["copy", *self._files, self._to]

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        script = to_host.script("copy.sh")
        operands = [self._how, self._to]
        argv = ["sh", "-c", script, "copy", *operands]
        return Start(argv, {"CLI_DIR": place})

    def _environment_on_host(
        self, host: Host, facts: Mapping[str, str], place: str
    ) -> Mapping[str, str]:
        return {}


def compared(sums: Sequence[str], result: Result, captured: Captured) -> Result:
    """Return the result with the files on the host; it has failed if their checksums differ."""
    printed = b"".join(captured.pieces("stdout"))
    copied = read_sums(printed)
    result = replace(result, files=copied)

    # The paths on the host depend on what was there before, so only the sums are compared.
    differs = sorted(copied.values()) != sorted(sums)
    if result.state == "ok" and differs:
        reason = "the checksums on the host differ"
        return replace(result, state="failed", reason=reason)
    return result
