"""What a long operation tells its user on stderr: lines, and a bar on a terminal."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

import click

from host.run.messages import Messages
from host.run.text import printable

_LINE_SECONDS = 10.0  # between two plain lines of progress


class Reporter:
    """Lines for people on stderr, shown escaped; a closed or full stderr is no error.

    `program` heads warnings, `quiet` leaves only those, `verbose` adds details.
    """

    def __init__(
        self, program: str, quiet: bool, verbose: bool, environ: Mapping[str, str]
    ) -> None:
        self._messages = Messages(program, environ)
        self._quiet = quiet
        self._verbose = verbose and not quiet
        self._animated = not quiet and _may_animate(sys.stderr, environ)

    def info(self, text: str) -> None:
        """Say what happens."""
        if not self._quiet:
            self._messages.line(text)

    def detail(self, text: str) -> None:
        """Say what only somebody who looks for a fault wants to know."""
        if self._verbose:
            self._messages.line(f"[DEBUG] {time.strftime('%Y-%m-%d %H:%M:%S')} - {text}")

    def warn(self, text: str) -> None:
        """Say what is not as it should be, though the work goes on."""
        self._messages.warn(text)

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[int, int | None], None]]:
        """Give a function that shows bytes done of bytes in all (None: unknown)."""
        shown = _Bar(printable(label)) if self._animated else _Lines(self.info)
        try:
            yield shown.update
        finally:
            shown.close()


class _Bar:
    """A bar with rate and remaining time, drawn by click."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._bar: click._termui_impl.ProgressBar[int] | None = None
        self._started = time.monotonic()
        self._before = 0

    def update(self, done: int, total: int | None) -> None:
        if total is None:
            return
        if self._bar is None or self._bar.length != total or done < self._bar.pos:
            self._bar = self._start(total)  # also when the transfer began again
            self._before = done
        self._bar.update(done - self._bar.pos, done)

    def _start(self, total: int) -> "click._termui_impl.ProgressBar[int]":
        self.close()
        self._started = time.monotonic()
        bar: click._termui_impl.ProgressBar[int] = click.progressbar(
            length=total, label=self._label, file=sys.stderr, item_show_func=self._rate
        )
        return bar.__enter__()

    def _rate(self, done: int | None) -> str:
        seconds = max(time.monotonic() - self._started, 0.001)
        return f"{((done or self._before) - self._before) / seconds / (1 << 20):.1f} MiB/s"

    def close(self) -> None:
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None


class _Lines:
    """A plain line now and then, for logs and dumb terminals."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._next = time.monotonic() + _LINE_SECONDS

    def update(self, done: int, total: int | None) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LINE_SECONDS
        whole = f" of {readable_size(total)} ({100 * done // max(total, 1)} %)" if total else ""
        self._say(f"{readable_size(done)}{whole}")

    def close(self) -> None:
        pass


def readable_size(count: int) -> str:
    """Return a number of bytes as people read it: `12.3 MiB`, `8 KiB`."""
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{-(-count >> 10)} KiB"


def _may_animate(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    if stream is None or environ.get("NO_COLOR") or environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError):
        return False
