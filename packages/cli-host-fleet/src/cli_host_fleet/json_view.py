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

        captured = Captured()
        self._outputs[host] = captured
        return captured

    def finished(self, result: Result) -> None:
        captured = self._outputs.pop(result.host, None)
        if captured is None:
            captured = Captured()  # a skipped host has no output
        if self._lines:
            self._show(result, captured)
            return

        self._known[result.host] = (result, captured)
        while self._next and self._next[0] in self._known:
            host = self._next.popleft()
            known_result, known_output = self._known.pop(host)
            self._show(known_result, known_output)

    def _show(self, result: Result, captured: Captured) -> None:
        try:
            # After an error, further output would only be a part of a document.
            if not self.problem:
                self._write_before()
                self._write_result(result, captured)
                self._stdout.flush()
        except OSError as failure:
            self.problem = failure

        captured.close()

    def tick(
        self, running: Sequence[str], results: Sequence[Result], total: int
    ) -> None:
        """Do nothing: JSON has no live view."""

    def end(self, results: Sequence[Result], seconds: float) -> None:
        if self.problem or self._lines:
            return
        try:
            if self._count:
                self._write("\n]}\n")
            else:
                self._write('{"hosts":[]}\n')
            self._stdout.flush()
        except OSError as failure:
            self.problem = failure

    def _write_before(self) -> None:
        """Write what comes between two results, or before the first."""
        self._count += 1
        if self._lines:
            return
        if self._count == 1:
            self._write('{"hosts":[\n')
        else:
            self._write(",\n")

    def _write_result(self, result: Result, captured: Captured) -> None:
        fields: dict[str, object] = {
            "host": result.host,
            "state": result.state,
            "status": result.status,
            "attempts": result.attempts,
            "seconds": result.seconds,
            "reason": result.reason or None,
        }

        # The outputs may be larger than memory, so they are added to the object piece by piece.
        text = json.dumps(fields)
        self._write(text.removesuffix("}"))
        for name in STREAMS:
            self._write_output(name, captured)
        self._write("}")
        if self._lines:
            self._write("\n")

    def _write_output(self, name: str, captured: Captured) -> None:
        """Write a key with an output as text and, if it is not UTF-8, a key with its bytes."""
        stream = captured.streams[name]
        self._write(f', "{name}": "')
        self._write_text(stream)
        self._write('"')

        if captured.binary(name):
            self._write(f', "{name}_base64": "')
            self._write_base64(stream)
            self._write('"')

    def _write_text(self, stream: IO[bytes]) -> None:
        """Write a stream as the inside of a JSON string; bytes that are not UTF-8 become U+FFFD."""
        # A character may be split between two pieces, so the decoder keeps its first bytes.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        stream.seek(0)
        while piece := stream.read(_CHUNK):
            text = decoder.decode(piece)
            self._write(_escaped(text))

        rest = decoder.decode(b"", final=True)
        self._write(_escaped(rest))

    def _write_base64(self, stream: IO[bytes]) -> None:
        stream.seek(0)
        while piece := stream.read(_CHUNK):
            encoded = base64.b64encode(piece)
            self._write(encoded.decode())

    def _write(self, text: str) -> None:
        self._stdout.write(text.encode())


def _escaped(text: str) -> str:
    """Return a text as JSON has it between the quotes of a string."""
    quoted = json.dumps(text)
    return quoted[1:-1]
