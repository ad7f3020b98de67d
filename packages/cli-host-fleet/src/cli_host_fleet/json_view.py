"""A run as JSON: one document with the results in the order of the hosts, or a line per result.

A result is written as soon as it is known, in the document also those before it.
"""

from __future__ import annotations

import base64
import codecs
import json
from collections import deque
from collections.abc import Sequence
from typing import IO, BinaryIO

from cli_host_fleet.captured import STREAMS, Captured
from cli_host_fleet.results import Result

_CHUNK = 3 << 14  # divisible by three, so that the base64 of the pieces can be joined


class JsonView:
    """Writes `{"hosts": […]}` or, for `jsonl`, one object per line."""

    def __init__(self, stdout: BinaryIO, form: str, hosts: Sequence[str]) -> None:
        self.problem: OSError | None = None
        self._stdout = stdout
        self._lines = form == "jsonl"
        self._count = 0
        self._outputs: dict[str, Captured] = {}
        self._next = deque(hosts)
        self._known: dict[str, tuple[Result, Captured]] = {}

    def output(self, host: str) -> Captured:
        if host in self._outputs:  # an earlier attempt did not reach the host
            self._outputs[host].close()
        self._outputs[host] = Captured()
        return self._outputs[host]

    def examination(self, result: Result) -> None:
        """Return None: nothing depends on what a host has printed."""

    def finished(self, result: Result) -> None:
        captured = self._outputs.pop(result.host, None) or Captured()
        if self._lines:
            self._show(result, captured)
            return
        self._known[result.host] = (result, captured)
        while self._next and self._next[0] in self._known:
            self._show(*self._known.pop(self._next.popleft()))

    def _show(self, result: Result, captured: Captured) -> None:
        try:
            if not self.problem:
                self._write(self._before())
                self._result(result, captured)
                self._stdout.flush()
        except OSError as failure:
            self.problem = failure
        captured.close()

    def tick(self, running: Sequence[str], done: Sequence[Result], total: int) -> None:
        """Do nothing: JSON has no live view."""

    def end(self, results: Sequence[Result], seconds: float) -> None:
        try:
            if not self.problem and not self._lines:
                self._write("\n]}\n" if self._count else '{"hosts":[]}\n')
                self._stdout.flush()
        except OSError as failure:
            self.problem = failure

    def _before(self) -> str:
        self._count += 1
        if self._lines:
            return ""
        return '{"hosts":[\n' if self._count == 1 else ",\n"

    def _result(self, result: Result, captured: Captured) -> None:
        fields: dict[str, object] = {
            "host": result.host,
            "state": result.state,
            "status": result.status,
            "attempts": result.attempts,
            "seconds": result.seconds,
            "reason": result.reason or None,
        }
        if result.files is not None:
            fields["files"] = result.files
        self._write(json.dumps(fields)[:-1])
        for name in STREAMS:
            stream = captured.streams[name]
            self._write(f', "{name}": "')
            self._text(stream)
            self._write('"')
            if captured.binary(name):
                self._write(f', "{name}_base64": "')
                self._base64(stream)
                self._write('"')
        self._write("}\n" if self._lines else "}")

    def _text(self, stream: IO[bytes]) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        stream.seek(0)
        while piece := stream.read(_CHUNK):
            self._write(json.dumps(decoder.decode(piece))[1:-1])
        self._write(json.dumps(decoder.decode(b"", final=True))[1:-1])

    def _base64(self, stream: IO[bytes]) -> None:
        stream.seek(0)
        while piece := stream.read(_CHUNK):
            self._write(base64.b64encode(piece).decode())

    def _write(self, text: str) -> None:
        self._stdout.write(text.encode())
