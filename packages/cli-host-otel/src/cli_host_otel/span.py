"""Send the span of a finished run to the collector that the standard variables name.

The SDK takes a fifth of a second to import, so it is imported only if there is a collector.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import unquote

from cli_host_otel.plugin import ENDPOINTS
from host import FinishedRun, OperationError, masked_line, masked_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan

_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
_HEADERS = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
_PROTOCOL = "http/protobuf"
_EXPORTER = "otlp"
# After a failed export, no run tries again for so long: each would wait and warn.
_QUIET_SECONDS = 60.0
_MOST_SECONDS = (
    3.0  # the program waits at most 5 seconds for the functions of all plugins
)

Attribute = str | int | Sequence[str]


def send_span(run: FinishedRun) -> None:
    """Send the span of a run. Raises OperationError with one line if that fails."""
    environ = os.environ  # of the run's caller
    endpoint = _first(environ, ENDPOINTS)
    if not endpoint or _is_off(environ):
        return
    protocol = _first(environ, _PROTOCOLS)
    if protocol not in ("", _PROTOCOL):
        what = f"only the protocol {_PROTOCOL} is supported, not {protocol}"
        raise OperationError(what)

    failure = _failure_file(endpoint, environ)
    if _is_fresh(failure):
        return
    problem = _export(run, environ)
    if problem:
        _touch(failure)
        what = f"no trace was sent to {masked_text(endpoint)}"
        problem = masked_line(problem, _header_values(environ))
        one_line = " ".join(masked_text(problem).split())
        raise OperationError(f"{what}: {one_line}")


def _header_values(environ: Mapping[str, str]) -> list[str]:
    """Return the values of the headers, such as a token, as they are set and as they are sent."""
    values = []
    for name in _HEADERS:
        for header in environ.get(name, "").split(","):
            _, _, value = header.partition("=")
            values += [value, unquote(value)]
    return values


def _failure_file(endpoint: str, environ: Mapping[str, str]) -> str:
    """Return the file whose time is that of the last failed export to a collector."""
    state = environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        state = os.path.expanduser("~/.local/state")
    name = hashlib.sha256(os.fsencode(endpoint)).hexdigest()
    return f"{state}/cli-host-otel/failed-{name[:16]}"


def _is_fresh(file: str) -> bool:
    try:
        return time.time() - os.stat(file).st_mtime < _QUIET_SECONDS
    except OSError:
        return False


def _touch(file: str) -> None:
    """Set the time of a file to now; without it, the next run tries again, and no more."""
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        with open(file, "w", encoding="utf-8"):
            os.utime(file)


def _is_off(environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return True
    exporters = environ.get("OTEL_TRACES_EXPORTER") or _EXPORTER
    names = [name.strip() for name in exporters.split(",")]
    return _EXPORTER not in names


def _export(run: FinishedRun, environ: Mapping[str, str]) -> str:
    """Send the span; return why that failed, or ""."""
    messages = _Messages()
    logging.getLogger().addHandler(messages)  # the SDK would write them to stderr

    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SpanExportResult

    span = _span_of(run, environ)
    if span is None:
        return ""
    exporter = OTLPSpanExporter(timeout=_seconds(environ))
    result = exporter.export([span])
    if result is SpanExportResult.SUCCESS:
        return ""
    return messages.first or "unknown error"


def _span_of(run: FinishedRun, environ: Mapping[str, str]) -> ReadableSpan | None:
    """Return the span, or None if the sampler or the caller's trace decided against it."""
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.trace import SpanKind, Status, StatusCode
    from opentelemetry.trace.propagation.tracecontext import (
        TraceContextTextMapPropagator,
    )

    # In the process of a command in Python, the name is followed by the command's words.
    program = os.path.basename(sys.argv[0]).partition(" ")[0]
    # Without a span, as for a run on other machines, the SDK chooses the ids.
    ids = _Ids(run.traceparent) if run.traceparent else None
    provider = TracerProvider(
        resource=_resource(run, program, environ),
        shutdown_on_exit=False,
        id_generator=ids,
    )
    tracer = provider.get_tracer("cli-host-otel")

    # The variables of W3C's Trace Context: the span belongs to the caller's trace.
    carrier = {
        "traceparent": environ.get("TRACEPARENT", ""),
        "tracestate": environ.get("TRACESTATE", ""),
    }
    start = _nanoseconds(run.start)
    span = tracer.start_span(
        " ".join([program, *run.words]),
        context=TraceContextTextMapPropagator().extract(carrier),
        kind=SpanKind.INTERNAL,
        attributes=_attributes(run, program),
        start_time=start,
    )
    if run.status:
        status = Status(StatusCode.ERROR, _ending(run))
        span.set_status(status)
    span.end(start + round(run.seconds * 1e9))

    # A span that is not recorded is of another class.
    if not isinstance(span, ReadableSpan):
        return None
    return span


def _resource(run: FinishedRun, program: str, environ: Mapping[str, str]) -> Resource:
    """Return what describes the sender; the user's variables name the service."""
    from opentelemetry.sdk.resources import Resource

    resource = Resource.create({"host.name": run.host, "service.version": run.version})
    attributes = environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    if "OTEL_SERVICE_NAME" in environ or "service.name=" in attributes:
        return resource
    # Otherwise, the SDK would call it "unknown_service".
    return resource.merge(Resource({"service.name": program}))


def _attributes(run: FinishedRun, program: str) -> dict[str, Attribute]:
    """Return the attributes, by the semantic conventions for command-line programs if possible."""
    attributes: dict[str, Attribute] = {
        "process.executable.name": program,
        "process.pid": os.getppid(),  # this process is a child of the one that the caller started
        "process.exit.code": run.status,
        "process.command_args": [program, *run.words, *run.arguments],
        "process.working_directory": run.directory,
        "process.owner": run.user,
        "cli_host.command": " ".join(run.words),
        "cli_host.run.id": run.id,
        "cli_host.run.origin": run.origin,
    }
    if run.status:
        attributes["error.type"] = _ending(run)
    if run.outer:
        attributes["cli_host.run.outer"] = run.outer
    if run.plugin:
        attributes["cli_host.plugin"] = run.plugin
    for name, fact in run.client.items():
        attributes[f"cli_host.client.{name}"] = fact
    return attributes


def _ending(run: FinishedRun) -> str:
    """Return how a failed run ended, such as `exit status 3` or `SIGTERM`."""
    if not run.signal:
        return f"exit status {run.status}"
    try:
        return signal.Signals(run.signal).name
    except ValueError:
        return f"signal {run.signal}"


def _nanoseconds(moment: str) -> int:
    """Return a time with milliseconds as nanoseconds since 1970."""
    seconds = datetime.fromisoformat(moment).timestamp()
    return round(seconds * 1000) * 1_000_000


def _seconds(environ: Mapping[str, str]) -> float:
    """Return the time limit in seconds that the variables set, but at most 3 seconds."""
    try:
        seconds = float(_first(environ, _TIMEOUTS) or _MOST_SECONDS)
    except ValueError:
        return _MOST_SECONDS
    if seconds <= 0:
        return _MOST_SECONDS
    return min(seconds, _MOST_SECONDS)


def _first(environ: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the value of the first of these variables that is set, or ""."""
    for name in names:
        if environ.get(name):
            return environ[name]
    return ""


class _Ids:
    """Gives the run's span the ids that its command got; the SDK calls it an `IdGenerator`."""

    def __init__(self, traceparent: str) -> None:
        _, self._trace, self._span, _ = traceparent.split("-")

    def generate_trace_id(self) -> int:
        return int(self._trace, 16)

    def generate_span_id(self) -> int:
        return int(self._span, 16)

    def is_trace_id_random(self) -> bool:
        return True


class _Messages(logging.Handler):
    """Keeps the first message of the exporter; those behind it only say that it gave up.

    Other modules of the SDK quote headers and attributes that they cannot parse, with any secrets.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.first = ""

    def emit(self, record: logging.LogRecord) -> None:
        if not self.first and record.name.startswith("opentelemetry.exporter."):
            self.first = record.getMessage()
