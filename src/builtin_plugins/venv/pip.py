"""One call of pip: without prompts, bounded, honouring the user's pip configuration."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence

from builtin_plugins.fetch.addresses import masked
from host.errors import OperationError

_CONFLICT = re.compile(r"^The conflict is caused by:\n(?P<sides>(?:[ \t]+\S.*\n)+)", re.MULTILINE)

_HASHES = re.compile(r"Expected sha256 (?P<expected>\w+)\s+Got\s+(?P<found>\w+)")


def run_pip(
    python: str,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    seconds: float,
    held: Sequence[int] = (),
) -> str:
    """Return what `python -m pip ARGUMENTS` printed; raises OperationError when it fails.

    `held` are descriptors that pip keeps open: what they lock stays locked until it ends,
    even when this process is killed.
    """
    process = subprocess.Popen(
        [
            *(python, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check"),
            *("--no-color", *arguments),
        ],
        env={**environ, "PIP_NO_INPUT": "1", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=tuple(held),
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise OperationError(
            f"pip took longer than {seconds:g} seconds; nothing was changed"
        ) from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    text = output.decode("utf-8", "replace")
    if process.returncode:
        raise OperationError(f"pip {arguments[0]}: {_reason(text)}")
    return text


def _reason(output: str) -> str:
    conflict = _CONFLICT.search(output)
    if conflict is not None:
        sides = "; ".join(line.strip() for line in conflict["sides"].splitlines())
        return masked(f"these cannot be met together: {sides}")[:600]
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    told = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if hashes := _HASHES.search(output):
        return f"the SHA-256 is {hashes['found']}, expected {hashes['expected']}"
    text = told[-1] if told else (lines[-1] if lines else "failed without a word")
    if told and "No matching distribution" in told[-1] and len(told) > 1:
        text = f"{told[-2]}; {told[-1]}"
    return masked(text)[:600]
