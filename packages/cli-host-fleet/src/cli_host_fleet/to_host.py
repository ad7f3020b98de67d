"""Encode the bytes that the controller sends to a host, without I/O.

A host's shell first runs a text that is sent as one line of code. Then it reads items, each ended
by NUL; a host without bash reads another line of code instead.
"""

from __future__ import annotations

import functools
import os
import shlex
import string
from collections.abc import Iterable, Mapping, Sequence

# The characters that stand for themselves in a format of printf in single quotes.
_PRINTABLE = f"{string.ascii_letters}{string.digits}{string.punctuation} "
_PLAIN = {*_PRINTABLE.encode()} - {*b"'\\%"}


@functools.cache
def script(name: str) -> str:
    """Return a host-side script without its comments."""
    directory = os.path.dirname(__file__)
    file = os.path.join(directory, "host_side", name)

    lines = []
    with open(file, encoding="utf-8") as opened:
        for line in opened:
            code = line.strip()
            # Each byte of a script is sent to every host, so indentation goes, too.
            if code and not code.startswith("#"):
                lines.append(code)

    return "\n".join(lines)


def text_for_sh(text: str) -> bytes:
    """Return the bytes that make sh on the host run a text: a line of code that prints the text."""
    escaped = bytearray()
    for byte in text.encode("utf-8", "surrogateescape"):
        if byte in _PLAIN:
            escaped.append(byte)
        else:
            escaped += b"\\%03o" % byte
    return b"printf '%b'\n" % bytes(escaped)


def items(words: Iterable[str]) -> bytes:
    """Return the words as a host's bash reads them: each ended by NUL."""
    text = "".join(f"{word}\0" for word in words)
    return text.encode("utf-8", "surrogateescape")


def elevation(nonce: str, user: str, ask: bool, greeting: str) -> bytes:
    """Return the bytes that make the host start a shell as `user`: see elevate.sh."""
    values = {
        "fleet_nonce": nonce,
        "fleet_user": user,
        "fleet_ask": "",
        "fleet_greeting": greeting,
    }
    if ask:
        values["fleet_ask"] = "ask"
    return text_for_sh(_assigned(values) + script("elevate.sh"))


def opening(nonce: str, size: int, place: str) -> bytes:
    """Return the bytes to send before a tar archive of `size` bytes, to be unpacked at `place`."""
    in_bash = text_for_sh(script("to_bash.sh"))
    stage = "\n".join([script("take.sh"), script("unpack.sh")])
    words = [stage, nonce, str(size), place]
    return in_bash + items(words)


def order(
    library: str,
    environment: Mapping[str, str],
    argv: Sequence[str],
    requires: Iterable[Sequence[str]] = (),
) -> bytes:
    """Return the bytes to send after the archive: what to run, and with which environment.

    Each item of `requires` is a program, its version and its hint.
    """
    variables = [f"{name}={value}" for name, value in environment.items()]
    needs: list[str] = []
    for requirement in requires:
        needs += requirement

    # run.sh reads each list after the number of its items.
    words = [library]
    for counted in (variables, argv, needs):
        words.append(str(len(counted)))
        words += counted
    return items(words)


def opening_in_sh(
    nonce: str, size: int, place: str, requires: Iterable[Sequence[str]]
) -> bytes:
    """Return the bytes of `opening` for a host without bash: see run_in_sh.sh."""
    programs = " ".join(program for program, *_ in requires)
    values = {
        "fleet_nonce": nonce,
        "fleet_size": str(size),
        "fleet_dir": place,
        "fleet_needs": programs,
    }

    # run_in_sh.sh calls the function of take.sh, and reads the variables.
    parts = [script("take.sh"), _assigned(values), script("run_in_sh.sh")]
    return text_for_sh("\n".join(parts))


def order_in_sh(environment: Mapping[str, str], argv: Sequence[str]) -> bytes:
    """Return the bytes of `order` for a host without bash."""
    lines = []
    for name, value in environment.items():
        if name.isidentifier():  # sh can set no other name
            lines.append(f"export {name}={shlex.quote(value)}")

    lines.append(f"exec {shlex.join(argv)}")
    return text_for_sh("\n".join(lines))


def _assigned(values: Mapping[str, str]) -> str:
    """Return lines of sh that set variables."""
    lines = []
    for name, value in values.items():
        lines.append(f"{name}={shlex.quote(value)}\n")
    return "".join(lines)
