"""The only module that starts programs: ssh for a host, and programs whose output is read whole."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from host import supervise


@dataclass(frozen=True, slots=True)
class Pipes:
    """Our ends of the pipes to a program's stdin, stdout and stderr."""

    stdin: int
    stdout: int
    stderr: int


def start(
    argv: Sequence[str], environ: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], Pipes]:
    """Start a program in a session of its own, so that Ctrl-C on the terminal does not reach it."""
    child_in, our_in = os.pipe()
    our_out, child_out = os.pipe()
    our_err, child_err = os.pipe()
    try:
        process = subprocess.Popen(
            argv,
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            env=environ,
            start_new_session=True,
        )
    finally:
        for descriptor in (child_in, child_out, child_err):
            os.close(descriptor)

    os.set_blocking(our_in, False)  # a host that reads slowly must not hold back others
    return process, Pipes(our_in, our_out, our_err)


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program that has ended printed on stdout, and its exit status."""

    status: int
    stdout: bytes


def output_of(
    argv: Sequence[str],
    seconds: float,
    *,
    environ: Mapping[str, str] | None = None,
    quiet: bool = False,
    most: int = 16 << 20,
) -> Printed:
    """Run a program without stdin and return its output; `quiet` discards its stderr.

    It keeps the terminal, on which an inventory program may ask. Raises OSError, also if it takes
    longer than `seconds` or prints more than `most` bytes.
    """
    stderr: Literal["drop", "show"] = "show"
    if quiet:
        stderr = "drop"
    ended = supervise(
        argv, environ, seconds, most=most, stderr=stderr, own_session=False
    )
    if ended.limit:
        raise OSError(ended.why)
    return Printed(ended.status, ended.stdout)
