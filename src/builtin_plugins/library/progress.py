"""Progress of a long operation on stderr: lines, and a bar on a terminal."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from host import Messages, printable


class QuietMessages(Messages):
    """Prints only warnings and errors."""

    def line(self, text: str) -> None:
        """Print nothing."""


@contextmanager
def progress_bar(
    messages: Messages, label: str
) -> Iterator[Callable[[int, int | None, str], None]]:
    """Yield the `progress` callback for `download`; only a terminal shows a bar."""
    from tqdm import tqdm

    # A bar is drawn with escape codes, so whoever wants no colours gets none.
    is_quiet = isinstance(messages, QuietMessages)
    is_shown = not is_quiet and os.isatty(2) and messages.colours(2)

    tqdm.monitor_interval = 0  # no monitor thread
    with tqdm(
        desc=printable(label),
        disable=not is_shown,
        file=sys.stderr,
        dynamic_ncols=True,
        unit="iB",
        unit_scale=True,
        unit_divisor=1024,
        # by default, a download that becomes slow is not drawn for up to 10 seconds
        miniters=1,
    ) as bar:

        def update(done: int, total: int | None, trouble: str) -> None:
            with suppress(OSError, ValueError):  # stderr is closed
                if trouble:
                    bar.clear()
                    messages.line(trouble)
                    bar.reset()
                bar.total = total
                bar.update(done - bar.n)

        yield update
