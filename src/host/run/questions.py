"""Questions on the terminal, such as the confirmation before a command runs."""

import os

from host.errors import NotConfirmedError
from host.run.text import decode, encode, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST_ANSWER = 1024  # bytes


def confirm(question: str, program: str, words: "Sequence[str]", *, may_ask: bool = True) -> None:
    """Ask whether to run a command. Raises NotConfirmedError unless the user agrees."""
    command = " ".join(words)
    if not may_ask or not is_attended():
        why = "there is no terminal to ask on" if may_ask else "--no-input forbids the question"
        raise NotConfirmedError(
            f"{command}: needs confirmation, but {why}",
            f"to run it without the question: {program} --yes {command} …",
        )
    if not is_agreed(question):
        raise NotConfirmedError(f"{command}: not confirmed; nothing was run")


def is_ci(environ: "Mapping[str, str]") -> bool:
    """Return whether CI is set, to anything but nothing, 0, false, no or off (any case)."""
    return environ.get("CI", "").lower() not in ("", "0", "false", "no", "off")


def is_attended() -> bool:
    """Return whether stdin and stderr are terminals, so that a user can answer."""
    return os.isatty(0) and os.isatty(2)


def is_agreed(question: str) -> bool:
    """Ask a yes-or-no question on the terminal; return whether the answer is y or yes."""
    return ask(f"{printable(question)} [y/N] ") in ("y", "yes")


def ask(question: str) -> str:
    """Ask on the terminal and return the answer in lower case."""
    os.write(2, encode(question))
    answer = os.read(0, _LONGEST_ANSWER)
    if not answer.endswith(b"\n"):
        os.write(2, b"\n")  # after Ctrl-D, the cursor is still on the question's line
    return decode(answer).strip().lower()
