"""A run as text in which equal outputs are printed once, under the names of their hosts.

No host holds back the output of others: the groups are printed when all hosts have ended, and also
when no host has ended for a while and others still run. A host whose output is not to be held back
(see `patience`) and that runs on has its lines printed as they come.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping, Sequence

from cli_host_fleet.captured import STREAMS, Captured
from cli_host_fleet.node_sets import folded
from cli_host_fleet.results import Result
from cli_host_fleet.session import Output
from cli_host_fleet.text_view import Row, TextView, row_of

_QUIET = 1.0  # seconds without an end before the groups so far are printed
# bytes; a larger output is printed whole instead of its differences
_MOST_COMPARED = 1 << 20
# Each takes up to 40 ns, in which nothing else happens. Two outputs of 2,000 different lines take
# no more; with many equal lines, difflib's time grows with the square of their number or faster.
_MOST_STEPS = 8_000_000


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

        held = _Held(Captured())
        self._running[host] = held
        return held

    def finished(self, result: Result) -> None:
        self._last_end = time.monotonic()
        held = self._running.pop(result.host, None)
        if held is None:
            return  # a skipped host
        if held.passed_on is not None:
            super().finished(result)
            return

        digest = held.captured.digest()
        group = self._ended.get(digest)
        if group is None:
            group = _Group([], held.captured)
            self._ended[digest] = group
        else:
            held.captured.close()  # the group has the same output
        group.hosts.append(result.host)

    def tick(
        self, running: Sequence[str], results: Sequence[Result], total: int
    ) -> None:
        now = time.monotonic()
        for host, held in self._running.items():
            if held.since is None or held.passed_on is not None:
                continue  # it has printed nothing, or is no longer held back
            if now - held.since > self._patience:
                self._pass_on(host, held)

        # Without running hosts, `end` prints the groups.
        is_quiet = now - self._last_end > _QUIET
        if running and self._ended and is_quiet:
            self._print_groups()
        super().tick(running, results, total)

    def end(self, results: Sequence[Result], seconds: float) -> None:
        """Print the groups that are left, and one row for hosts that ended alike."""
        self._print_groups()

        # Results are alike if their rows differ only in the host and in the seconds.
        by_end: dict[Row, list[Result]] = {}
        for result in results:
            _, state, status, _, tries, reason = row_of(result)
            row = ("", state, status, "", tries, reason)
            by_end.setdefault(row, []).append(result)

        rows = [_row_of_all(alike) for alike in by_end.values()]
        self._table(rows)
        self._summary(results, seconds)

    def _pass_on(self, host: str, held: _Held) -> None:
        """Print the lines of a host from now on as they come, and those that were held back."""
        output = super().output(host)
        held.passed_on = output
        _copy(held.captured, output)
        held.captured.close()

    def _print_groups(self) -> None:
        """Print the groups since the last call, the largest first."""
        groups = sorted(self._ended.values(), key=_largest_first)
        self._ended = {}
        known = [*self._printed.values(), *groups]
        largest = max(known, key=_number_of_hosts, default=None)
        is_only = len(known) == 1

        for group in groups:
            digest = group.captured.digest()
            earlier = self._printed.get(digest)
            if earlier is None:
                self._printed[digest] = group
                self._print_group(group, largest, is_only=is_only)
                continue

            # Hosts that ended later, with an output that was printed before.
            self._title(group, f"the same as {folded(earlier.hosts)}")
            earlier.hosts += group.hosts
            group.captured.close()

    def _print_group(
        self, group: _Group, largest: _Group | None, *, is_only: bool
    ) -> None:
        if group.is_silent():
            if not is_only:
                self._title(group, "no output")
            return
        if self._diff and largest is not None and group is not largest:
            self._print_differences(group, largest)
            return

        # A host that shares its output with none looks as without groups, unless they were asked
        # for: then the user expects a title.
        is_asked_for = self._patience > _QUIET
        if len(group.hosts) > 1 or is_only or is_asked_for:
            self._print_output(group)
        else:
            self._print_lines(group)

    def _title(self, group: _Group, note: str = "") -> None:
        """Print the hosts of a group, their number if there are several, and a note."""
        text = folded(group.hosts)
        if len(group.hosts) > 1:
            text += f" ({len(group.hosts)})"
        text += ":"
        if note:
            text += f" {note}"

        if self._lively:
            text = f"\x1b[1m{text}\x1b[0m"
        self._write_stdout(f"{text}\n".encode())

    def _print_output(self, group: _Group) -> None:
        self._title(group)
        writers = {"stdout": self._write_stdout, "stderr": self._write_stderr}
        for stream, write in writers.items():
            last = b"\n"
            for piece in group.captured.pieces(stream):
                write(piece)
                last = piece
            if not last.endswith(b"\n"):
                write(b"\n")  # so that the next title is at the start of a line

    def _print_lines(self, group: _Group) -> None:
        """Print the output of a host that nobody shares as lines with the host before them."""
        host = group.hosts[0]
        output = super().output(host)
        _copy(group.captured, output)
        # This ends the last line; the state of the result has no effect.
        super().finished(Result(host, "ok"))

    def _print_differences(self, group: _Group, largest: _Group) -> None:
        """Print how a group's output differs from that of the largest group."""
        before = largest.lines()
        after = group.lines()
        lines = None
        if before is not None and after is not None:
            lines = differences(before, after)
        if lines is None:
            self._print_output(group)
            return

        self._title(group, f"differs from {folded(largest.hosts)}")
        for line in lines:
            self._write_stdout(f"{line}\n".encode("utf-8", "surrogateescape"))


def differences(before: Sequence[str], after: Sequence[str]) -> list[str] | None:
    """Return how `after` differs from `before`, or None if comparing them takes too long."""
    matcher = difflib.SequenceMatcher(None, before, after)
    places = matcher.b2j  # type: ignore[attr-defined]  # typeshed lacks it
    # Each of the matching blocks that difflib finds takes at most one step for each line, and for
    # each place where the same line is in `after`.
    steps = sum(1 + len(places.get(line, ())) for line in before)
    if steps * min(len(before), len(after)) > _MOST_STEPS:
        return None
    lines = difflib.unified_diff(before, after, n=1, lineterm="")
    return list(lines)[2:]  # without the two lines that name files


class _Held:
    """Holds back the output of a running host, or passes it on to `passed_on`."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.since: float | None = None  # when the first byte came
        self.passed_on: Output | None = None

    def write(self, stream: str, data: bytes) -> None:
        if self.since is None:
            self.since = time.monotonic()
        target = self.passed_on or self.captured
        target.write(stream, data)


class _Group:
    """Hosts with the same output."""

    def __init__(self, hosts: list[str], captured: Captured) -> None:
        self.hosts = hosts
        self.captured = captured

    def is_silent(self) -> bool:
        return self.size() == 0

    def size(self) -> int:
        return sum(self.captured.size(stream) for stream in STREAMS)

    def lines(self) -> list[str] | None:
        """Return the lines of both streams, or None if they are too many to compare."""
        if self.size() > _MOST_COMPARED:
            return None

        content = b""
        for stream in STREAMS:
            content += b"".join(self.captured.pieces(stream))
        return content.decode("utf-8", "surrogateescape").splitlines()


def _number_of_hosts(group: _Group) -> int:
    return len(group.hosts)


def _largest_first(group: _Group) -> tuple[int, str]:
    return -len(group.hosts), folded(group.hosts)


def _copy(captured: Captured, output: Output) -> None:
    for stream in STREAMS:
        for piece in captured.pieces(stream):
            output.write(stream, piece)


def _row_of_all(alike: Sequence[Result]) -> Row:
    """Return one row for hosts that ended alike, with the seconds of the slowest."""
    slowest = max(alike, key=lambda result: result.seconds)
    _, state, status, seconds, tries, reason = row_of(slowest)

    names = [result.host for result in alike]
    return folded(names), state, status, seconds, tries, reason
