"""Run a job on many hosts: batches, retries, failure limits and signals."""

from __future__ import annotations

import logging
import math
import os
import resource
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ClusterShell.Engine.Engine import EngineTimer
from ClusterShell.Engine.Factory import PreferredEngine

from cli_host_fleet import rollout
from cli_host_fleet.connection import Connection
from cli_host_fleet.lifelines import Lifelines
from cli_host_fleet.results import Result, State, Stop
from cli_host_fleet.rollout import Amount
from cli_host_fleet.session import Output, Session

_TICK = 0.1  # seconds between checks for signals and updates of the live view
_SLACK = 10.0  # seconds for the login after ssh has connected; ssh itself sets no limit
# descriptors: three pipes to ssh, and two files for the host's output
_FILES_OF_A_HOST = 5
_FILES_OF_OURS = 64
_REACTION = 2  # seconds that a run gets to react to a signal before this process ends
_LAST = 10  # further seconds for the hosts to end their commands, and for the view to show that


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a run; times are in seconds, and a `timeout` of 0 means no limit."""

    forks: int = 20
    serial: Amount | None = None
    max_fail: Amount | None = None
    retries: int = 0
    timeout: float = 0.0
    connect_timeout: float = 10.0


class Job(Protocol):
    """The work to do on each host."""

    def call(self, host: str) -> tuple[list[str], Mapping[str, str]]:
        """Return the argv and the environment of the program that connects to a host."""

    def explain(self, status: int, words: str) -> tuple[State, str]:
        """Return the state and the reason if no shell has answered."""

    def session(self, host: str, output: Output) -> Session: ...

    def examined(self, result: Result) -> Result:
        """Return the final result of a host, which may depend on its output."""


class View(Protocol):
    """Shows a run. Its methods never raise; `problem` is the error that made it stop writing."""

    problem: OSError | None

    def output(self, host: str) -> Output: ...

    def finished(self, result: Result) -> None: ...
    def tick(
        self, running: Sequence[str], results: Sequence[Result], total: int
    ) -> None: ...

    def end(self, results: Sequence[Result], seconds: float) -> None: ...


class _Guarded:
    """Passes output on. An OSError is stored as `view.problem`, so that the run ends as usual."""

    def __init__(self, view: View, output: Output) -> None:
        self._view = view
        self._output = output

    def write(self, stream: str, data: bytes) -> None:
        try:
            if not self._view.problem:
                self._output.write(stream, data)
        except OSError as failure:
            self._view.problem = failure


class Fleet:
    """Runs a job on hosts; `signal` is the signal that stopped the run early, or 0."""

    def __init__(self, job: Job, options: Options, view: View) -> None:
        self.signal = 0
        self._job = job
        self._options = options
        self._view = view

        # A host is in one of these; `_again` has those to connect to in the next attempt.
        self._queue: deque[str] = deque()
        self._running: dict[str, Connection] = {}
        self._again: dict[str, Result] = {}
        self._results: dict[str, Result] = {}

        self._lifelines = Lifelines()
        self._engine: Any = PreferredEngine("auto", {"fanout": options.forks})
        self._total = 0
        self._failures_left = 0
        self._forks = options.forks
        self._stopping: Stop = ""

    def run(self, hosts: Sequence[str]) -> list[Result]:
        """Run the job; return a result for each host, in the order of `hosts`."""
        # Without a handler, Python prints ClusterShell's warnings among the hosts' lines.
        logging.getLogger("ClusterShell").addHandler(logging.NullHandler())

        options = self._options
        self._total = len(hosts)
        self._failures_left = rollout.failures_allowed(
            options.max_fail, options.serial, len(hosts)
        )
        self._forks = make_room(options.forks)

        restore = self._catch_signals()
        try:
            for batch in rollout.batches(hosts, options.serial):
                self._run_batch(batch)
        finally:
            restore()
            self._lifelines.close()
            self._engine.release()

        for host in hosts:
            if host not in self._results:
                self._skip(host)
        return [self._results[host] for host in hosts]

    def _skip(self, host: str) -> None:
        # A host whose next attempt was not made keeps the result of its last one.
        result = self._again.get(host)
        if result is None:
            result = Result(host, "skipped", reason=self._why_skipped())
        self._finish(result)

    def _run_batch(self, batch: Sequence[str]) -> None:
        """Run the job on the hosts of a batch; retry unreachable hosts as often as allowed."""
        retries = self._options.retries
        for attempt in range(1, retries + 2):
            self._queue = deque(batch)
            self._attempt(attempt, may_repeat=attempt <= retries)

            # In the next attempt, only the hosts that this one did not reach.
            batch = [host for host in batch if host in self._again]
            if not batch or self._stops():
                return
            self._wait(rollout.pause(attempt))

    def _attempt(self, attempt: int, may_repeat: bool) -> None:
        def ended(result: Result) -> None:
            del self._running[result.host]
            result = replace(result, attempts=attempt)

            # Only a host on which nothing ran is tried again.
            is_unreached = result.state == "unreachable"
            if is_unreached and may_repeat and not self._stops():
                self._again[result.host] = result
            else:
                self._finish(self._job.examined(result))
            self._fill(ended)

        timer = EngineTimer(_TICK, _TICK, True, self)
        self._engine.add_timer(timer)
        self._fill(ended)
        self._engine.run(None)

    def _fill(self, ended: Callable[[Result], None]) -> None:
        """Connect to waiting hosts, in order, until `forks` hosts are active."""
        while self._queue and len(self._running) < self._forks:
            if self._stops():
                return
            host = self._queue.popleft()
            self._again.pop(host, None)  # its former result no longer counts

            connection = self._connection(host, ended)
            self._running[host] = connection
            self._engine.add(connection)

    def _connection(self, host: str, ended: Callable[[Result], None]) -> Connection:
        view = self._view
        output = _Guarded(view, view.output(host))
        session = self._job.session(host, output)

        until_greeting = self._options.connect_timeout + _SLACK
        until_end = self._options.timeout or math.inf
        return Connection(
            host,
            self._job.call(host),
            session,
            self._lifelines,
            (until_greeting, until_end),
            ended,
            self._engine,
            explain=self._job.explain,
        )

    def _finish(self, result: Result) -> None:
        self._results[result.host] = result
        if result.state != "ok":
            self._failures_left -= 1
        self._view.finished(result)

    def ev_timer(self, timer: Any) -> None:
        """Do what is due at each tick; the engine calls this method of its timers."""
        # Nobody reads the output, so no result would be seen.
        if self._view.problem and not self.signal:
            self.signal = signal.SIGPIPE

        # A connection that ends leaves `_running`, so the loops go over a copy.
        if self.signal and not self._stopping:
            self._stopping = "interrupted"
            for connection in [*self._running.values()]:
                connection.stop("interrupted")
        for connection in [*self._running.values()]:
            connection.check()

        results = list(self._results.values())
        self._view.tick([*self._running], results, self._total)

    def _stops(self) -> bool:
        """Return whether the run must not connect to any further host."""
        return bool(self.signal) or self._failures_left < 0

    def _why_skipped(self) -> str:
        if self.signal:
            return "stopped by the user"
        return "too many hosts failed before this one"

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.signal:
            time.sleep(_TICK)

    def _catch_signals(self) -> Callable[[], None]:
        """Catch signals; return a function that restores the former handlers.

        The first signal stops the run; the same signal again ends this process at once. If
        the run does not stop, for example because nobody reads its output, the first signal also
        ends this process. The hosts end their commands when this process has ended.
        """

        def note(number: int, _frame: object) -> None:
            if not self.signal:
                self.signal = number
            signal.signal(number, signal.SIG_DFL)  # a second one ends this process
            signal.signal(signal.SIGALRM, overdue)
            signal.setitimer(signal.ITIMER_REAL, _REACTION)

        def overdue(_number: int, _frame: object) -> None:
            # Still no tick since the signal: something blocks, such as a full pipe to a pager.
            if not self._stopping:
                die_of(self.signal)
            signal.signal(signal.SIGALRM, too_late)
            signal.setitimer(signal.ITIMER_REAL, _LAST)

        def too_late(_number: int, _frame: object) -> None:
            die_of(self.signal)

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in numbers}
        for number, former in before.items():
            if former != signal.SIG_IGN:  # as under nohup
                signal.signal(number, note)

        def restore() -> None:
            for number, former in before.items():
                signal.signal(number, former)

        return restore


def die_of(number: int) -> None:
    """End this process by a signal, as if the signal had not been caught."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def make_room(forks: int) -> int:
    """Raise the limit on open files for `forks` hosts; return how many the system allows."""
    limit = forks * _FILES_OF_A_HOST + _FILES_OF_OURS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = soft == resource.RLIM_INFINITY or soft >= limit
    if is_enough:
        return forks

    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)  # only root may raise the hard limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(1, (limit - _FILES_OF_OURS) // _FILES_OF_A_HOST)
