"""What a sweep breaks: a change on some ground, and how the ground looks then."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import stat
import sys
import tempfile
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_MOMENT = re.compile(rb'"installedAt": *"[^"]*"')


class Outcome(NamedTuple):
    """How a run ended: its wait status, and what it said."""

    status: int
    out: str
    err: str

    @property
    def failed(self) -> bool:
        """Whether it told of a failure, rather than being done or ended."""
        return os.WIFEXITED(self.status) and os.WEXITSTATUS(self.status) == 1


def in_fork(
    work: Callable[[], int], after: Callable[[], None] = lambda: None
) -> Outcome:
    """Do `work` in a child, and `after` it when it came to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            status = 70
            atexit.register(after)  # so that the program does not end the fork itself
            try:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                status = work()
                sys.stdout.flush()
                after()
            except BaseException:  # noqa: BLE001 - to be told, not to leave the fork
                os.write(2, traceback.format_exc().encode())
            os._exit(status)
        _, status = os.waitpid(child, 0)
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode("utf-8", "replace"))
        return Outcome(status, *said)


class Ground(ABC):
    """A directory with everything, put back for each run, and the change that is broken there."""

    one_line = True  # whether a failure is told without warnings before it
    progress: tuple[str, ...] = ()  # how lines begin that tell what is being done

    def __init__(self, place: Path) -> None:
        self.place = place  # below it changes count
        self._known: dict[bytes, Any] = {}

    @abstractmethod
    def restore(self) -> None:
        """Put everything back as it is before the change."""

    @abstractmethod
    def change(self) -> int:
        """Do the change in this process; return its exit status."""

    @abstractmethod
    def state(self) -> Any:
        """Return what a user finds."""

    def like(self, state: Any, other: Any) -> bool:
        """Tell whether two states are the same to a user."""
        return bool(state == other)

    @abstractmethod
    def broken(self, old: Any, new: Any, state: Any, outcome: Outcome) -> Iterator[str]:
        """Yield the promises that a broken run did not keep."""

    @abstractmethod
    def unsettled(self, new: Any, state: Any, again: Outcome) -> Iterator[str]:
        """Yield what is wrong after the same change once more, unbroken; it was `state` before."""

    def ask(self, key: Callable[[], bytes], ask: Callable[[], Any]) -> Any:
        """Return what `ask` says of files whose `key` is new, else what it said of the same.

        Asking may change the files; then it is asked again the next time.
        """
        before = key()
        if before not in self._known:
            answer = ask()
            if key() != before:
                return answer
            self._known[before] = answer
        return self._known[before]


def fingerprint(root: Path, without: Callable[[str], bool] = lambda _: False) -> bytes:
    """Return the same for the same files: names, kinds, rights, contents; not times.

    What has a name that `without` takes is left out, with all below it.
    """
    digest = hashlib.sha256()
    waiting = [str(root)]
    while waiting:
        directory = waiting.pop()
        for name in sorted(os.listdir(directory)):
            if without(name):
                continue
            path = os.path.join(directory, name)
            mode = os.lstat(path).st_mode
            digest.update(f"\0{os.path.relpath(path, root)}\0{mode:o}\0".encode())
            if stat.S_ISLNK(mode):
                digest.update(os.fsencode(os.readlink(path)))
            elif stat.S_ISDIR(mode):
                waiting.append(path)
            elif stat.S_ISREG(mode):
                content = _MOMENT.sub(b"", Path(path).read_bytes())
                digest.update(hashlib.sha256(content).digest())
    return digest.digest()
