"""A run as JSON, in one document or one line per host; a result is written when it is known.

A host's output is buffered in unnamed files and written piece by piece, so memory use does not
grow with it.
"""

from __future__ import annotations

import base64
import codecs
import json
import tempfile
from collections.abc import Sequence
from typing import IO, BinaryIO

from cli_host_fleet.results import Result

_IN_MEMORY = 1 << 16
_CHUNK = 3 << 14  # divisible by three, so that the base64 of the pieces can be joined
_STREAMS = ("stdout", "stderr")


class JsonView:
    """Writes `{"hosts": […]}` or, for `jsonl`, one object per line."""

    def __init__(self, stdout: BinaryIO, form: str) -> None:
        self.problem: OSError | None = None
        self._stdout = stdout
        self._lines = form == "jsonl"
        self._count = 0
        self._outputs: dict[str, _Captured] = {}

    def output(self, host: str) -> _Captured:
        if host in self._outputs:  # an earlier attempt did not reach the host
            self._outputs[host].close()
        self._outputs[host] = _Captured()
        return self._outputs[host]

    def finished(self, result: Result) -> None:
        captured = self._outputs.pop(result.host, None) or _Captured()
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

    def _result(self, result: Result, captured: _Captured) -> None:
        fields = {
            "host": result.host,
            "state": result.state,
            "status": result.status,
            "attempts": result.attempts,
            "seconds": result.seconds,
            "reason": result.reason or None,
        }
        self._write(json.dumps(fields)[:-1])
        for name in _STREAMS:
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


class _Captured:
    """The output of one host, and whether it is UTF-8."""

    def __init__(self) -> None:
        self.streams = {
            name: tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
            for name in _STREAMS
        }
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")() for name in _STREAMS}
        self._binary: set[str] = set()

    def write(self, stream: str, data: bytes) -> None:
        self.streams[stream].write(data)
        self._decode(stream, data)

    def binary(self, stream: str) -> bool:
        self._decode(stream, b"", final=True)
        return stream in self._binary

    def close(self) -> None:
        for stream in self.streams.values():
            stream.close()

    def _decode(self, stream: str, data: bytes, final: bool = False) -> None:
        try:
            if stream not in self._binary:
                self._decoders[stream].decode(data, final)
        except UnicodeDecodeError:
            self._binary.add(stream)
