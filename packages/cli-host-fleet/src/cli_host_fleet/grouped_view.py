"""A run as text in which equal outputs are printed once, under the names of their hosts.

No host holds back the output of others: the groups are printed when all hosts have ended, and also
when no host has ended for a while and others still run. A host whose output is not to be held back
(see `patience`) and that runs on has its lines printed as they come.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping, Sequence
from itertools import chain

from cli_host_fleet.captured import STREAMS, Captured
from cli_host_fleet.node_sets import folded
from cli_host_fleet.results import Result
from cli_host_fleet.session import Output
from cli_host_fleet.text_view import Row, TextView, row_of

_QUIET = 1.0  # seconds without an end before the groups so far are printed
_MOST_COMPARED = (
    1 << 20
)  # bytes; a larger output is printed whole instead of its differences


class GroupedView(TextView):
    """Groups the hosts with equal outputs.

    `patience` is the number of seconds for which the output of a running host is held back.
    `diff` prints the differences from the largest group instead of the other groups' outputs.
    """

    def __init__(
        self,
        stdout: int,
        stderr: int,
        environ: Mapping[str, str],
        *,
        patience: float,
        diff: bool,
    ) -> None:
        super().__init__(stdout, stderr, environ)
        self._patience = patience
        self._diff = diff
        self._running: dict[str, _Held] = {}
        self._ended: dict[bytes, _Group] = {}
        self._printed: dict[bytes, _Group] = {}
        self._last_end = time.monotonic()

    def output(self, host: str) -> Output:
        if host in self._running:  # an earlier attempt did not reach the host
            self._running[host].captured.close()
        self._running[host] = _Held(Captured())
        return self._running[host]

    def finished(self, result: Result) -> None:
        self._last_end = time.monotonic()
        held = self._running.pop(result.host, None)
        if held is None:
            return
        if held.passed_on is not None:
            super().finished(result)
            return
        group = self._ended.get(held.captured.digest())
        if group is None:
            group = _Group([], held.captured)
            self._ended[held.captured.digest()] = group
        else:
            held.captured.close()
        group.hosts.append(result.host)

    def tick(self, running: Sequence[str], done: Sequence[Result], total: int) -> None:
        now = time.monotonic()
        for host, held in self._running.items():
            is_late = held.since is not None and now - held.since > self._patience
            if is_late and held.passed_on is None:
                self._pass_on(host, held)
        if running and self._ended and now - self._last_end > _QUIET:
            self._print_groups()
        super().tick(running, done, total)

    def end(self, results: Sequence[Result], seconds: float) -> None:
        """Print the groups that are left, and one row for hosts that ended alike."""
        self._print_groups()
        rows: dict[Row, list[Result]] = {}
        for result in results:
            _, state, status, _, tries, reason = row_of(result)
            rows.setdefault(("", state, status, "", tries, reason), []).append(result)
        self._table([_row(row, alike) for row, alike in rows.items()])
        self._summary(results, seconds)

    def _pass_on(self, host: str, held: _Held) -> None:
        """Print the lines of a host from now on as they come, and those that were held back."""
        output = super().output(host)
        held.passed_on = output
        for stream in STREAMS:
            for piece in held.captured.pieces(stream):
                output.write(stream, piece)
        held.captured.close()

    def _print_groups(self) -> None:
        """Print the groups since the last call, the largest first."""
        groups = sorted(
            self._ended.items(),
            key=lambda item: (-len(item[1].hosts), folded(item[1].hosts)),
        )
        self._ended = {}
        known = [*self._printed.values(), *(group for _, group in groups)]
        largest = max(known, key=lambda group: len(group.hosts), default=None)
        for digest, group in groups:
            earlier = self._printed.get(digest)
            if earlier is not None:
                self._title(group, f"the same as {folded(earlier.hosts)}")
                earlier.hosts += group.hosts
                group.captured.close()
                continue
            self._printed[digest] = group
            if group.is_silent():
                if len(known) > 1:
                    self._title(group, "no output")
            elif self._diff and group is not largest and largest is not None:
                self._print_differences(group, largest)
            elif len(group.hosts) > 1 or len(known) == 1 or self._patience > _QUIET:
                self._print_output(group)
            else:
                self._print_lines(group)

    def _title(self, group: _Group, note: str = "") -> None:
        count = len(group.hosts)
        number = f" ({count})" if count > 1 else ""
        after = f": {note}" if note else ":"
        text = f"{folded(group.hosts)}{number}{after}"
        bold = f"\x1b[1m{text}\x1b[0m" if self._lively else text
        self._write_stdout(f"{bold}\n".encode())

    def _print_output(self, group: _Group) -> None:
        self._title(group)
        for stream, write in (
            ("stdout", self._write_stdout),
            ("stderr", self._write_stderr),
        ):
            last = b"\n"
            for piece in group.captured.pieces(stream):
                write(piece)
                last = piece
            if not last.endswith(b"\n"):
                write(b"\n")

    def _print_lines(self, group: _Group) -> None:
        """Print the output of a host that nobody shares as lines with the host before them."""
        host = group.hosts[0]
        output = super().output(host)
        for stream in STREAMS:
            for piece in group.captured.pieces(stream):
                output.write(stream, piece)
        super().finished(Result(host, "ok"))

    def _print_differences(self, group: _Group, largest: _Group) -> None:
        """Print how a group's output differs from that of the largest group."""
        before, after = largest.lines(), group.lines()
        if before is None or after is None:
            self._print_output(group)
            return
        self._title(group, f"differs from {folded(largest.hosts)}")
        lines = difflib.unified_diff(before, after, n=1, lineterm="")
        for line in list(lines)[2:]:  # without the two lines that name files
            self._write_stdout(f"{line}\n".encode("utf-8", "surrogateescape"))


class _Held:
    """Holds back the output of a running host, or passes it on to `passed_on`."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.since: float | None = None  # when the first byte came
        self.passed_on: Output | None = None

    def write(self, stream: str, data: bytes) -> None:
        if self.since is None:
            self.since = time.monotonic()
        (self.passed_on or self.captured).write(stream, data)


class _Group:
    """Hosts with the same output."""

    def __init__(self, hosts: list[str], captured: Captured) -> None:
        self.hosts = hosts
        self.captured = captured

    def is_silent(self) -> bool:
        return not any(self.captured.size(stream) for stream in STREAMS)

    def lines(self) -> list[str] | None:
        """Return the lines of both streams, or None if they are too many to compare."""
        if sum(self.captured.size(stream) for stream in STREAMS) > _MOST_COMPARED:
            return None
        content = b"".join(chain.from_iterable(map(self.captured.pieces, STREAMS)))
        return content.decode("utf-8", "surrogateescape").splitlines()


def _row(row: Row, alike: Sequence[Result]) -> Row:
    _, state, status, _, tries, reason = row
    slowest = max(alike, key=lambda result: result.seconds)
    hosts = [result.host for result in alike]
    return folded(hosts), state, status, row_of(slowest)[3], tries, reason
