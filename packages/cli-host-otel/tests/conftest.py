"""An installation in a temporary directory, and a collector that decodes what it gets."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from testing.fork_server import import_too
from testing.installation import Installed, Result, builder

import_too(
    "opentelemetry.exporter.otlp.proto.http.trace_exporter", "opentelemetry.sdk.trace"
)


@dataclass
class Received:
    """A span and its resource, with their attributes as Python values."""

    span: Span
    attributes: dict[str, Any]
    resource: dict[str, Any]
    headers: dict[str, str]


@dataclass
class Collector:
    """An OTLP collector; `answer` is its HTTP status, after `delay` seconds."""

    answer: int = 200
    delay: float = 0.0
    received: list[Received] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    address: str = ""

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.paths.append(path)
        if headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        for group in request.resource_spans:
            resource = _values(group.resource.attributes)
            for scope in group.scope_spans:
                for span in scope.spans:
                    attributes = _values(span.attributes)
                    self.received.append(Received(span, attributes, resource, headers))


def _values(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind)


@pytest.fixture
def collector() -> Iterator[Collector]:
    running = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(running.delay)
            if running.answer == 200:
                running.take(self.path, dict(self.headers), body)
            try:
                self.send_response(running.answer)
                self.end_headers()
            except BrokenPipeError:
                pass  # the exporter did not wait

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield running
    server.shutdown()
    thread.join()
    server.socket.close()


@dataclass
class Cli(Installed):
    """An installation and its user's home; `endpoint` is the collector that runs report to."""

    endpoint: str

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.root}/core:{Path(sys.executable).parent}:{os.environ['PATH']}"
        environ = {"PATH": path, "HOME": str(self.home)}
        if self.endpoint:
            environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = self.endpoint
        return environ

    def script(self, words: str, text: str, **keys: object) -> None:
        """Write a command as a script, with a definition."""
        file = self.root / "commands" / words.replace(" ", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        head = f"#!/bin/bash\n# /// command\n# {json.dumps(keys)}\n# ///\n"
        file.write_text(f"{head}{text}\n")
        file.chmod(0o755)

    def run(self, *words: str, **env: str) -> Result:
        return self.installed.run(*words, env=self.environ | env, cwd=self.home)


@pytest.fixture
def cli(tmp_path: Path, collector: Collector) -> Cli:
    """An installation without commands that reports to the collector."""
    return Cli(builder(tmp_path)(program="acme"), collector.address)
