"""Questions on the terminal, such as the confirmation before a command runs."""

import os

from host.errors import NotConfirmedError
from host.text import decode, encode, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_ANSWER = 1024  # bytes
FORBIDDEN = "--no-input, CLI_NO_INPUT, CI or a coding agent forbids the question"


def confirm(question: str, words: "Sequence[str]") -> None:
    """Ask whether to run a command. Raises NotConfirmedError unless the user agrees.

    `unconfirmed` says whether anybody can be asked.
    """
    if not is_agreed(question):
        command = " ".join(words)
        raise NotConfirmedError(f"{command}: not confirmed; nothing was run")


def unconfirmed(
    program: str, words: "Sequence[str]", *, may_ask: bool
) -> NotConfirmedError | None:
    """Return the error for a command that needs confirmation if nobody can be asked, or None."""
    if can_ask(may_ask=may_ask):
        return None
    command = " ".join(words)
    why = FORBIDDEN
    if may_ask:
        why = "there is no terminal to ask on"
    return NotConfirmedError(
        f"{command}: needs confirmation, but {why}",
        f"to run it without the question: {program} --yes {command} …",
    )


def can_ask(*, may_ask: bool) -> bool:
    """Return whether a user can answer a question.

    All questions of the program follow this rule: nothing forbids them (`may_ask`, from
    `allows_questions`), and stdin and stderr are terminals. In CI, a pseudo-terminal would wait for
    an answer that nobody gives.
    """
    if not may_ask:
        return False
    return os.isatty(0) and os.isatty(2)


def is_agreed(question: str) -> bool:
    """Ask a yes-or-no question on the terminal; return whether the answer is y or yes."""
    answer = ask(f"{printable(question)} [y/N] ")
    return answer in ("y", "yes")


def ask(question: str) -> str:
    """Ask on the terminal and return the answer in lower case."""
    os.write(2, encode(question))
    answer = os.read(0, _LONGEST_ANSWER)
    if not answer.endswith(b"\n"):
        os.write(2, b"\n")  # after Ctrl-D, the cursor is still on the question's line
    return decode(answer).strip().lower()
