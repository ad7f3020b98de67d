"""A view that looks at what each host printed before it passes the result on to another view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from cli_host_fleet.captured import Captured
from cli_host_fleet.fleet import View
from cli_host_fleet.results import Result
from cli_host_fleet.session import Output

Examine = Callable[[Result, Captured], Result]


class ExaminingView:
    """Captures some `streams` of each host; the others go to the `inner` view.

    `examine(result, captured)` returns the result to show; it is called in other threads.
    """

    def __init__(self, inner: View, examine: Examine, streams: Collection[str]) -> None:
        self._inner = inner
        self._examine = examine
        self._streams = streams
        self._captured: dict[str, Captured] = {}

    @property
    def problem(self) -> OSError | None:
        return self._inner.problem

    @problem.setter
    def problem(self, problem: OSError | None) -> None:
        self._inner.problem = problem

    def output(self, host: str) -> Output:
        former = self._captured.pop(host, None)
        if former is not None:  # an earlier attempt did not reach the host
            former.close()
        captured = Captured()
        self._captured[host] = captured
        output = self._inner.output(host)
        return _Split(captured, output, self._streams)

    def examination(self, result: Result) -> Callable[[], Result]:
        captured = self._captured.pop(result.host)

        def examined() -> Result:
            try:
                return self._examine(result, captured)
            finally:
                captured.close()

        return examined

    def finished(self, result: Result) -> None:
        self._inner.finished(result)

    def tick(
        self, running: Sequence[str], results: Sequence[Result], total: int
    ) -> None:
        self._inner.tick(running, results, total)

    def end(self, results: Sequence[Result], seconds: float) -> None:
        self._inner.end(results, seconds)


class _Split:
    """Output of which some streams are captured, and the others passed on."""

    def __init__(
        self, captured: Captured, output: Output, streams: Collection[str]
    ) -> None:
        self._captured = captured
        self._output = output
        self._streams = streams

    def write(self, stream: str, data: bytes) -> None:
        if stream in self._streams:
            self._captured.write(stream, data)
        else:
            self._output.write(stream, data)
