"""Progress of a long operation on stderr: lines, and a bar on a terminal."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from host import Messages, printable


class Reporter(Messages):
    """Prints lines on stderr; `quiet` leaves only warnings, and `verbose` adds details."""

    def __init__(
        self, program: str, quiet: bool, verbose: bool, environ: Mapping[str, str]
    ) -> None:
        super().__init__(program, environ)
        self.debugging = (verbose or self.debugging) and not quiet
        self._silent = quiet

    def info(self, text: str) -> None:
        """Report a step."""
        if not self._silent:
            self.line(text)

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[int, int | None, str], None]]:
        """Yield the `progress` callback for `download`; only a terminal shows a bar."""
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no monitor thread
        with tqdm(
            desc=printable(label),
            disable=self._silent or not (os.isatty(2) and self.colours(2)),
            file=sys.stderr,
            dynamic_ncols=True,
            unit="iB",
            unit_scale=True,
            unit_divisor=1024,
        ) as bar:

            def update(done: int, total: int | None, trouble: str) -> None:
                with suppress(OSError, ValueError):  # stderr is closed
                    if trouble:
                        bar.clear()
                        self.info(trouble)
                        bar.reset()
                    bar.total = total
                    bar.update(done - bar.n)

            yield update
