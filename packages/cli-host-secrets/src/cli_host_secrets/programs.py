"""Run the programs that read secrets, such as op, vault and sops."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from host import Ending, HostError, supervise

_SECONDS = 3600.0
_MOST = 1 << 24  # bytes that a program may print
_LONGEST = 300  # maximum number of characters shown of a failing program's output
_SITES = {
    "age": "https://age-encryption.org",
    "aws": "https://aws.amazon.com/cli",
    "bao": "https://openbao.org",
    "gcloud": "https://cloud.google.com/sdk",
    "op": "https://developer.1password.com/docs/cli",
    "pass": "https://www.passwordstore.org",
    "sops": "https://getsops.io",
    "vault": "https://developer.hashicorp.com/vault",
}


def output(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: str | None = None,
    retry: Callable[[str], Sequence[str]] | None = None,
) -> str:
    """Return what a program prints to stdout; raises HostError with a one-line message.

    stdout is kept only in this process's memory. On a terminal, stderr is not redirected, so that
    the program may prompt; otherwise, stderr becomes part of the error. `retry` returns the command
    to suggest, given the program's stderr; by default, it is `words`.
    """
    program = words[0]
    stderr: Literal["show", "return"] = "return"
    if os.isatty(2):
        stderr = "show"
    given = None
    if stdin is not None:
        given = stdin.encode("utf-8", "surrogateescape")

    try:
        # The program stays in this process's session: it may prompt on the terminal, and it ends
        # with this process, which cli-host ends at its own limit (CLI_SECRETS_TIMEOUT).
        ended = supervise(
            words,
            environment,
            _SECONDS,
            most=_MOST,
            given=given,
            stderr=stderr,
            own_session=False,
            keeps_background=True,  # gpg-agent, for example
        )
    except FileNotFoundError:
        raise HostError(
            f"{program} is not on PATH; install it: {_SITES[program]}"
        ) from None
    except OSError as failure:
        raise HostError(f"{program} cannot be started: {failure.strerror}") from None

    if ended.limit:
        raise HostError(f"{program} {ended.why}")
    if ended.status:
        raise HostError(_failure(words, ended, retry))
    return ended.stdout.decode("utf-8", "surrogateescape")


def _failure(
    words: Sequence[str], ended: Ending, retry: Callable[[str], Sequence[str]] | None
) -> str:
    """Return how a program failed, what it printed, and a command to try.

    Run on a terminal, that command lets the user unlock a key or sign in.
    """
    how = f"ended with status {ended.status}"
    if ended.status < 0:
        how = f"was killed by signal {-ended.status}"

    # On a terminal, the user has seen what the program printed, so this is empty.
    printed = ended.stderr.decode(errors="replace")
    text = _short(printed)
    if text:
        how = f"{how}: {text}"

    suggested = words
    if retry is not None:
        suggested = retry(printed)
    return f"{words[0]} {how}; try: {shlex.join(suggested)}"


def without_line_end(text: str) -> str:
    """Return the text without its final line break."""
    return text.removesuffix("\n").removesuffix("\r")


def _short(text: str) -> str:
    """Return the text on one line; a long text is shortened in the middle."""
    # Programs colour their errors; escape codes would reach the terminal.
    printable = ""
    for character in text:
        if character.isprintable():
            printable += character
        else:
            printable += " "
    line = " ".join(printable.split())

    if len(line) <= _LONGEST:
        return line
    # The cause is often in the first words, the program's advice in the last.
    half = _LONGEST // 2
    return f"{line[:half]} … {line[-half:]}"
