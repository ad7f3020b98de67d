"""What a long operation tells its user on stderr: lines, and a bar on a terminal."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

from host import Messages, printable

# What is shown: bytes so far, in all (None: unknown), and what went wrong before another
# try ("" when nothing did).
Progress = Callable[[int, int | None, str], None]

_LINE_SECONDS = 10.0  # between two plain lines of progress
# What stands behind the name: the first that fits whole; a bar comes last where there is room.
_KNOWN = (
    "{percentage:3.0f}% {n_fmt}/{total_fmt} {rate_fmt} {remaining}",
    "{percentage:3.0f}% {n_fmt}/{total_fmt} {remaining}",
    "{percentage:3.0f}% {remaining}",
    "{percentage:3.0f}%",
)
_UNKNOWN = ("{n_fmt} {rate_fmt} {elapsed}", "{n_fmt} {elapsed}", "{n_fmt}")
_CUT = "..."
_LEAST_BAR = 6  # columns, with the blank before it


class Reporter(Messages):
    """Lines for people on stderr; `quiet` leaves only warnings, `verbose` adds details."""

    def __init__(
        self, program: str, quiet: bool, verbose: bool, environ: Mapping[str, str]
    ) -> None:
        super().__init__(program, environ)
        self.debugging = (verbose or self.debugging) and not quiet
        self._silent = quiet
        plain = environ.get("NO_COLOR") or environ.get("TERM", "dumb") == "dumb"
        self._animated = not quiet and not plain and os.isatty(2)

    def info(self, text: str) -> None:
        """Say what happens."""
        if not self._silent:
            self.line(text)

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress]:
        """Give a function that shows what came so far."""
        if not self._animated:
            yield _plain_lines(self.info)
            return
        bar = _Bar(printable(label))
        try:
            yield bar.update
        finally:
            bar.close()


class _Bar:
    """A bar with rate and remaining time on one line of any width, drawn by tqdm."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._bar = _new_bar()
        self._drawn = self._bar.format_meter
        self._bar.format_meter = self._fitted  # at each refresh, with what is true then

    def _fitted(self, **facts: Any) -> str:
        from tqdm.utils import disp_len, disp_trim

        columns = facts["ncols"]
        label = self._label[:columns]
        for form in _KNOWN if facts["total"] else _UNKNOWN:
            text = self._drawn(**facts | {"ncols": None, "prefix": "", "bar_format": form})
            room = columns - len(text) - 1
            if room >= min(disp_len(label), columns // 3):
                break
        if disp_len(label) > room:
            label = disp_trim(label, room - len(_CUT)) + _CUT if room > 2 * len(_CUT) else ""
        prefix = f"{label} " if label else ""
        if facts["total"] and columns - disp_len(prefix + text) >= _LEAST_BAR:
            form += " {bar}"
        line: str = self._drawn(**facts | {"prefix": prefix, "bar_format": "{desc}" + form})
        return line

    def update(self, done: int, total: int | None, trouble: str) -> None:
        bar = self._bar
        with suppress(OSError, ValueError):  # nobody looks any more
            bar.ncols = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
            if trouble:
                bar.write(printable(trouble), file=sys.stderr)
            bar.total = total
            if done < bar.n:  # it began again
                bar.reset()
                bar.n = bar.last_print_n = bar.initial = done  # no rate for what was there
            if not bar.update(done - bar.n):
                bar.refresh()

    def close(self) -> None:
        with suppress(OSError, ValueError):
            self._bar.close()


def _new_bar() -> Any:
    """Return tqdm's bar; any type, as its way to word a line is replaced."""
    from tqdm import tqdm

    tqdm.set_lock(RLock())  # its own one would be shared with other processes
    tqdm.monitor_interval = 0  # no thread that watches bars
    return tqdm(
        file=sys.stderr,
        delay=1e-9,  # nothing is drawn before the first update
        ncols=1,
        nrows=2,
        unit="iB",
        unit_scale=True,
        unit_divisor=1024,
    )


def _plain_lines(say: Callable[[str], None]) -> Progress:
    """Return what says a line now and then, for logs and dumb terminals."""
    due = time.monotonic() + _LINE_SECONDS

    def update(done: int, total: int | None, trouble: str) -> None:
        nonlocal due
        if trouble:
            say(trouble)
        if time.monotonic() >= due:
            due = time.monotonic() + _LINE_SECONDS
            whole = f" of {readable_size(total)} ({100 * done // total} %)" if total else ""
            say(f"{readable_size(done)}{whole}")

    return update


def readable_size(count: int) -> str:
    """Return a number of bytes as people read it: `12.3 MiB`, `8 KiB`."""
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{-(-count >> 10)} KiB"
