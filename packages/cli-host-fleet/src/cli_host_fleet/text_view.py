"""A run as text: the hosts' lines, a progress line on a terminal, and a table at the end."""

from __future__ import annotations

import os
import select
from collections.abc import Mapping, Sequence

from cli_host_fleet.lines import Lines, without_controls
from cli_host_fleet.results import Result, counts
from cli_host_fleet.session import Output
from host import printable

_COLOURS = {"ok": "32", "skipped": "33", "interrupted": "33"}
_FAILED = "31"
Row = tuple[str, str, str, str, str, str]
_HEADING: Row = ("HOST", "STATE", "STATUS", "SECONDS", "TRIES", "REASON")
_ERASE = b"\r\x1b[K"


class TextView:
    """Hosts' stdout goes to `stdout`; their stderr and messages about the run go to `stderr`.

    Both are file descriptors without buffers, so that lines stay whole if they are the same file.
    """

    def __init__(self, stdout: int, stderr: int, environ: Mapping[str, str]) -> None:
        self.problem: OSError | None = None
        self._stdout = stdout
        self._stderr = stderr
        self._terminals = {fd for fd in (stdout, stderr) if os.isatty(fd)}
        self._live = b""
        self._lines: dict[str, tuple[Lines, Lines]] = {}

        without_colour = bool(environ.get("NO_COLOR"))
        is_dumb = environ.get("TERM") == "dumb"
        self._lively = os.isatty(stderr) and not without_colour and not is_dumb
        self._columns = 80
        if self._lively:
            # A terminal without a known size says 0.
            self._columns = os.get_terminal_size(stderr).columns or 80

    def output(self, host: str) -> Output:
        prefix = f"{host}: ".encode()
        stdout = Lines(prefix, self._write_stdout)
        stderr = Lines(prefix, self._write_stderr)
        self._lines[host] = (stdout, stderr)
        return HostOutput(stdout, stderr)

    def finished(self, result: Result) -> None:
        for lines in self._lines.pop(result.host, ()):
            lines.close()

    def tick(
        self, running: Sequence[str], results: Sequence[Result], total: int
    ) -> None:
        if not self._lively:
            return

        text = f"{len(results)}/{total} · {counts(results)} · {' '.join(running)}"
        # A full line would make some terminals begin the next one.
        line = text[: self._columns - 1].encode()
        if line != self._live:
            self._erase()
            self._write(self._stderr, line)
            self._live = line

    def end(self, results: Sequence[Result], seconds: float) -> None:
        """Write one row per host, then how many hosts ended in each state."""
        rows = [row_of(result) for result in results]
        self._table(rows)
        self._summary(results, seconds)

    def _table(self, rows: Sequence[Row]) -> None:
        self._erase()
        all_rows = [_HEADING, *rows]
        widths = []
        for column in zip(*all_rows, strict=True):
            widths.append(max(map(len, column)))

        for row in all_rows:
            cells = []
            for cell, width in zip(row, widths, strict=True):
                cells.append(cell.ljust(width))

            # Escape codes have no width, so the cell is coloured after it was filled.
            if self._lively and row is not _HEADING:
                colour = _COLOURS.get(row[1], _FAILED)
                cells[1] = f"\x1b[{colour}m{cells[1]}\x1b[0m"
            line = "  ".join(cells)
            self._write_line(line.rstrip())

    def _summary(self, results: Sequence[Result], seconds: float) -> None:
        noun = "hosts"
        if len(results) == 1:
            noun = "host"
        in_time = f"{len(results)} {noun} in {seconds:.1f} s"
        self._write_line(f"{in_time}: {counts(results)}")

    def _write_line(self, text: str) -> None:
        self._write(self._stderr, f"{text}\n".encode())

    def _write_stdout(self, data: bytes) -> None:
        self._write_output(self._stdout, data)

    def _write_stderr(self, data: bytes) -> None:
        self._write_output(self._stderr, data)

    def _write_output(self, descriptor: int, data: bytes) -> None:
        """Write what hosts have printed: byte for byte, unless to a terminal."""
        self._erase()
        if descriptor in self._terminals:
            data = without_controls(data)
        self._write(descriptor, data)

    def _erase(self) -> None:
        if self._live:
            self._live = b""
            self._write(self._stderr, _ERASE)

    def _write(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)  # a write to a pipe may take only a part

        try:
            while rest and not self.problem:
                try:
                    rest = rest[os.write(descriptor, rest) :]
                except BlockingIOError:
                    # Another program has set the terminal or pipe, which we share, to non-blocking.
                    select.select([], [descriptor], [])
        except OSError as failure:
            self.problem = failure


class HostOutput:
    """Passes both streams of a host to `Lines`."""

    def __init__(self, stdout: Lines, stderr: Lines) -> None:
        self._streams = {"stdout": stdout, "stderr": stderr}

    def write(self, stream: str, data: bytes) -> None:
        self._streams[stream].feed(data)


def row_of(result: Result) -> Row:
    """Return the cells of a host's row: without a status or a time that nobody knows."""
    status = ""
    if result.status is not None:
        status = str(result.status)
    seconds = ""
    if result.attempts:
        seconds = f"{result.seconds:.1f}"

    return (
        result.host,
        result.state,
        status,
        seconds,
        str(result.attempts),
        printable(result.reason),
    )
