"""A view that looks at what each host printed before it passes the result on to another view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from cli_host_fleet.captured import Captured
from cli_host_fleet.fleet import View
from cli_host_fleet.results import Result
from cli_host_fleet.session import Output

Examine = Callable[[Result, Captured, Output], Result]


class ExaminingView:
    """Captures some `streams` of each host; the others go to the `inner` view.

    `examine(result, captured, output)` returns the result to show, and can write to `output`, the
    host's output in the inner view.
    """

    def __init__(self, inner: View, examine: Examine, streams: Collection[str]) -> None:
        self.results: dict[str, Result] = {}
        self._inner = inner
        self._examine = examine
        self._streams = streams
        self._hosts: dict[str, _Split] = {}

    @property
    def problem(self) -> OSError | None:
        return self._inner.problem

    @problem.setter
    def problem(self, problem: OSError | None) -> None:
        self._inner.problem = problem

    def output(self, host: str) -> Output:
        former = self._hosts.pop(host, None)
        if former is not None:  # an earlier attempt did not reach the host
            former.captured.close()
        self._hosts[host] = _Split(Captured(), self._inner.output(host), self._streams)
        return self._hosts[host]

    def finished(self, result: Result) -> None:
        split = self._hosts.pop(result.host, None)
        if split is not None:
            result = self._examine(result, split.captured, split.output)
            split.captured.close()
        self.results[result.host] = result
        self._inner.finished(result)

    def tick(self, running: Sequence[str], done: Sequence[Result], total: int) -> None:
        self._inner.tick(running, list(self.results.values()), total)

    def end(self, results: Sequence[Result], seconds: float) -> Sequence[Result]:
        """Show the examined results, and return them."""
        examined = [self.results[result.host] for result in results]
        self._inner.end(examined, seconds)
        return examined


class _Split:
    """Output of which some streams are captured, and the others passed on."""

    def __init__(self, captured: Captured, output: Output, streams: Collection[str]) -> None:
        self.captured = captured
        self.output = output
        self._streams = streams

    def write(self, stream: str, data: bytes) -> None:
        target = self.captured if stream in self._streams else self.output
        target.write(stream, data)
