"""Run the programs that read secrets, such as op, vault and sops."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence

from host import HostError

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
    attended = os.isatty(2)
    try:
        done = subprocess.run(
            words,
            env=environment,
            input=None if stdin is None else stdin.encode("utf-8", "surrogateescape"),
            stdout=subprocess.PIPE,
            stderr=None if attended else subprocess.PIPE,
            check=False,
        )
    except FileNotFoundError:
        raise HostError(f"{program} is not on PATH; install it: {_SITES[program]}") from None
    except OSError as failure:
        raise HostError(f"{program} cannot be started: {failure.strerror}") from None
    if done.returncode:
        ending = done.returncode
        how = f"ended with status {ending}" if ending > 0 else f"was killed by signal {-ending}"
        printed = (done.stderr or b"").decode(errors="replace")
        text = _short(printed)
        # Run on a terminal, the suggested command lets the user unlock a key or sign in.
        suggested = shlex.join(retry(printed) if retry else words)
        raise HostError(f"{program} {how}{text and ': '}{text}; try: {suggested}")
    return done.stdout.decode("utf-8", "surrogateescape")


def without_line_end(text: str) -> str:
    """Return the text without its final line break."""
    return text.removesuffix("\n").removesuffix("\r")


def _short(text: str) -> str:
    """Return the text on one line; a long text is shortened in the middle."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    half = _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[:half]} … {line[-half:]}"
