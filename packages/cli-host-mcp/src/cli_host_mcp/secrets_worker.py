"""A process that finds out which values a command's output must not show.

To know them is to read the command's sources, which starts bash for settings.conf and so
needs a main thread, and time. This process has no other thread, so it may fork.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Sequence

import anyio

from cli_host_mcp.forked_worker import ENDINGS, fork_worker
from cli_host_mcp.masking import secrets_of
from cli_host_mcp.problem import SecretsUnknownError
from cli_host_mcp.processes import VARIABLE, Processes
from host import HostError, Program, Variable, declared_secrets

_PIECE = 1 << 16
_QUICK = 0.5  # seconds
_END = b"\n"  # of an answer


class SecretsWorker:
    """The server's end."""

    def __init__(self) -> None:
        self._control, self._far = socket.socketpair()

    def start(self) -> None:
        fork_worker(self._far.detach(), _answer_all)

    async def ask(self, words: Sequence[str], processes: Processes) -> set[str]:
        """Return the secrets of a command's run; what is started for that carries the mark.

        Raises SecretsUnknownError.
        """
        ours, theirs = socket.socketpair()
        with ours, theirs:
            try:
                answer = await self._answer(ours, theirs, [processes.mark, *words])
            except OSError:
                answer = b""  # it is gone
        if not answer.endswith(_END):
            raise SecretsUnknownError("its secrets could not be determined; the command was ended")
        return set(json.loads(answer))

    async def _answer(
        self, ours: socket.socket, theirs: socket.socket, question: list[str]
    ) -> bytes:
        """Return what a fork of its own says to the question, as far as it came."""
        socket.send_fds(self._control, [b"?"], [theirs.fileno()])
        theirs.close()
        ours.sendall(json.dumps(question).encode())
        ours.shutdown(socket.SHUT_WR)
        answer = b""
        while True:
            await anyio.wait_readable(ours)
            piece = ours.recv(_PIECE)
            if not piece:
                return answer
            answer += piece


def _answer_all(descriptor: int) -> None:
    """Answer questions here, or each in a fork once one has taken long.

    A settings.conf that takes seconds then holds up no other call, and the usual one costs no
    fork, which is as dear as all the rest.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that answer
    quick = True
    with socket.socket(fileno=descriptor) as control:
        while True:
            asked, questions, _, _ = socket.recv_fds(control, 1, 1)
            if not asked:
                return
            with socket.socket(fileno=questions[0]) as question:
                if quick:
                    start = time.monotonic()
                    _answer(question)
                    quick = time.monotonic() - start < _QUICK
                elif not os.fork():
                    for number in ENDINGS:
                        signal.signal(number, signal.SIG_DFL)
                    _answer(question)
                    os._exit(0)


def _answer(question: socket.socket) -> None:
    asked = b""
    while piece := question.recv(_PIECE):
        asked += piece
    if not asked:
        return
    mark, *words = json.loads(asked)
    environ = {**os.environ, VARIABLE: mark}
    variables = {name: Variable(name, value, "", 1) for name, value in environ.items()}
    declared: set[str] = set()
    try:
        program = Program.current()
        variables |= program.environment(words, caller=environ, secrets=True)
        declared = declared_secrets(program.find(words).definition, variables)
    except HostError:
        pass  # the run will say what is wrong with its sources
    found = secrets_of(variables, declared)
    try:
        question.sendall(json.dumps(sorted(found)).encode() + _END)
    except OSError:
        pass  # the call was cancelled
