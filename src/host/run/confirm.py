"""The prompt for yes or no, on the terminal; the answer is no unless it is y or yes."""

import os

from host.errors import NotConfirmedError
from host.run.text import decode, encode, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_ANSWER = 1024  # bytes


def confirm(question: str, program: str, words: "Sequence[str]", *, may_ask: bool = True) -> None:
    """Ask before a command runs; raises NotConfirmedError if the answer is no."""
    command = " ".join(words)
    if not may_ask or not is_attended():
        why = "there is no terminal to ask on" if may_ask else "--no-input forbids the question"
        raise NotConfirmedError(
            f"{command}: asks before it runs, and {why}",
            f"to run it all the same: {program} --yes {command} …",
        )
    if not is_agreed(question):
        raise NotConfirmedError(f"{command}: not confirmed; nothing was run")


def is_attended() -> bool:
    """Return whether somebody can see a question on stderr and answer it on stdin."""
    return os.isatty(0) and os.isatty(2)


def is_agreed(question: str) -> bool:
    """Ask on the terminal and return whether the answer is yes."""
    return ask(f"{printable(question)} [y/N] ") in ("y", "yes")


def ask(question: str) -> str:
    """Ask on the terminal and return the answer in lower case."""
    os.write(2, encode(question))
    answer = os.read(0, _LONGEST_ANSWER)
    if not answer.endswith(b"\n"):
        os.write(2, b"\n")  # Ctrl-D leaves the cursor behind the question
    return decode(answer).strip().lower()
