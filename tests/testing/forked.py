"""Runs of a launcher as forks of one process, which has imported the program (Linux).

They take a third of the time. What starts the interpreter, and that each module imports what it
needs, is proved by the tests of `host`, of pages and of packages, which start the launcher itself.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import host
from builtin_plugins.self_commands.launcher import launcher_text

_SERVER = Path(__file__).with_name("fork_server.py")
_PACKAGES = Path(host.__file__).parent.parent
# With these, the interpreter itself would start in another way.
_STARTS_OTHERWISE = ("LANG", "LC_", "PYTHON", "LD_", "COVERAGE_")
_BUSY = threading.Lock()


def run_forked(
    command: Sequence[str | bytes | Path],
    environ: Mapping[str, str],
    cwd: str | Path | None = None,
    seconds: float = 300,
) -> tuple[int, bytes, bytes] | None:
    """Run a launcher with an empty stdin; return its status, stdout and stderr.

    None where a fork would not be what the launcher starts: that is of another content or
    interpreter, another thread waits for a run. Raises TimeoutExpired.
    """
    otherwise = any(name.startswith(_STARTS_OTHERWISE) for name in environ)
    if sys.platform != "linux" or otherwise or not _is_plain(os.fsdecode(command[0])):
        return None
    if not _BUSY.acquire(blocking=False):
        return None
    try:
        return _run([os.fsdecode(word) for word in command], environ, cwd or Path.cwd(), seconds)
    finally:
        _BUSY.release()


def _is_plain(launcher: str) -> bool:
    """Tell whether a file is a launcher as this program writes it, for the tests' interpreter."""
    try:
        text = Path(launcher).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    plain = text == launcher_text(sys.executable, str(_PACKAGES))
    return plain and os.access(launcher, os.X_OK)


@cache
def _server() -> socket.socket:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    needed = sysconfig.get_path("purelib")
    with there:
        server = subprocess.Popen(
            [sys.executable, "-IS", _SERVER, _PACKAGES, needed, str(there.fileno())],
            env={"PATH": os.environ["PATH"]},
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(server.wait)
    atexit.register(here.close)
    return here


def _run(
    command: Sequence[str], environ: Mapping[str, str], cwd: str | Path, seconds: float
) -> tuple[int, bytes, bytes]:
    server = _server()
    asked = {"command": command, "environ": dict(environ), "cwd": os.fspath(cwd)}
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    with (
        open(os.devnull, "rb") as nothing,
        open(out_end, "wb") as out_,
        open(err_end, "wb") as err_,
    ):
        streams = [one.fileno() for one in (nothing, out_, err_)]
        socket.send_fds(server, [json.dumps(asked).encode()], streams)
    child = int(server.recv(32))
    try:
        said = _read_to_the_end([out, err], seconds)
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        server.recv(32)
        raise subprocess.TimeoutExpired(list(command), seconds) from None
    finally:
        os.close(out)
        os.close(err)
    return os.waitstatus_to_exitcode(int(server.recv(32))), *said


def _read_to_the_end(pipes: Sequence[int], seconds: float) -> tuple[bytes, bytes]:
    said = dict.fromkeys(pipes, b"")
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as waiting:
        for pipe in pipes:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if chunk := os.read(key.fd, 1 << 16):
                    said[key.fd] += chunk
                else:
                    waiting.unregister(key.fd)
    out, err = said.values()
    return out, err
