"""The question before a run whose definition has `confirm`."""

import os

from host.errors import NotConfirmedError
from host.run.text import encode, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_ANSWER = 1024  # bytes


def confirm(question: str, program: str, words: "Sequence[str]") -> None:
    """Ask on the terminal; raises NotConfirmedError unless the answer is y or yes.

    The question goes to stderr and the answer comes from stdin. Where one of them is no
    terminal nobody would see the question or could answer it, so none is asked.
    """
    command = " ".join(words)
    if not (os.isatty(0) and os.isatty(2)):
        raise NotConfirmedError(
            f"{command}: asks before it runs, and there is no terminal to ask on",
            f"to run it all the same: {program} --yes {command} …",
        )
    os.write(2, encode(f"{printable(question)} [y/N] "))
    answer = os.read(0, _LONGEST_ANSWER)
    if not answer.endswith(b"\n"):
        os.write(2, b"\n")  # Ctrl-D leaves the cursor behind the question
    if answer.strip().lower() not in (b"y", b"yes"):
        raise NotConfirmedError(f"{command}: not confirmed; nothing was run")
