"""Runs that their callers record: a server for assistants, for example, or a run on many hosts."""

from __future__ import annotations

import time

from host.caller import RECORDED
from host.errors import HostError
from host.launch.after_run import call_after_run
from host.launch.demands import records
from host.launch.history_database import RunRecorder
from host.launch.history_record import EndedRun, StartedRun, new_id
from host.launch.plan import Run
from host.launch.record_this_run import (
    masked_positions,
    started_run,
    unparsed_run,
)
from host.launch.run_masking import (
    MASK,
    masked_arguments,
    secret_arguments,
    secret_values,
)
from host.variables.masking import masked_line
from host.variables.recorded_variable import variable_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from host.listing import Command
    from host.session.session import Session

# characters of each fact about a client, because the client chooses them
_LONGEST_FACT = 200
_SIGNALLED = 128  # plus the signal is the status that a shell shows


class RecordedRun:
    """A run that its caller writes to the history: see `Program.record`.

    `id` is that of the run, in the history, too, unless cli.json has `"record": false`.
    """

    def __init__(
        self,
        session: Session,
        command: Command,
        arguments: Sequence[str],
        origin: str,
        client: Mapping[str, str],
        secrets: Collection[str] | None,
    ) -> None:
        self._run = Run(
            words=command.words,
            definition=command.definition,
            installation=session.installation,
            catalog=session.catalog,
            report=session.messages.warn,
            environ=session.run_environ,
            program=session.program,
            plugin=command.plugin,
        )
        self._environ = session.environ
        self._arguments = arguments
        self._origin = origin
        self._client = {name: _cleaned(fact) for name, fact in client.items()}
        self._messages = session.messages
        self._secrets: set[str] | None = None  # not known
        self._started: StartedRun | None = None
        self._unparsed: StartedRun | None = None
        self._is_finished = False
        self._began = time.monotonic()

        self.id: str = new_id()
        self._recorder: RunRecorder | None = None
        if records(self._run, is_asked=True):
            self._recorder = RunRecorder(self._run, session.messages)
        lock = self._run.catalog.lock
        self._calls = lock.after_runs_of(command.words, session.environ)

        if self._recorder is None and not self._calls:
            return
        if secrets is not None and self._read_sources():
            self._secrets = secret_values(self._run).union(secrets)
        # Now, because the run looks for its id in the history.
        self._write_start()

    def _read_sources(self) -> bool:
        """Read the command's variables; return whether that was possible."""
        try:
            self._run.check_trust()
            self._run.read_variables()
        except HostError:
            return False  # the command cannot run, and says why when it is started
        return True

    def start(self, secrets: Collection[str]) -> None:
        """Write the arguments of a run whose secrets were unknown. Only the first call counts.

        `secrets` has all values to mask, which the caller learned from the run itself.
        """
        if self._secrets is not None or self._started is None:
            return

        # The run's own values, and those that the caller has.
        self._secrets = secret_values(self._run).union(secrets)
        self._write_start()

    def _write_start(self) -> None:
        """Write the start; if the secrets are unknown, each argument is masked."""
        shown: Sequence[str] = [MASK] * len(self._arguments)
        if self._secrets is not None:
            self._secrets |= secret_arguments(self._run, self._arguments)
            shown = masked_arguments(self._run, self._arguments, self._secrets)
        started = self._started
        if started is None:
            started = started_run(self._run, run_id=self.id)

        started = started.replaced(
            arguments=shown,
            masked=masked_positions(self._arguments, shown),
            origin=self._origin,
            client=self._client,
        )
        self._started = started
        self._unparsed = unparsed_run(self._run, started)
        if self._recorder is not None:
            self._recorder.begin(self._unparsed)

    def environment(self, environ: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment for the command, so that its run is not recorded again.

        It begins with `environ`, by default the environment of the caller. The hooks of the run get
        the id, the origin and the client from it, also if the run is not recorded.
        """
        if environ is None:
            environ = self._environ
        variable = variable_of(self.id, self._origin, self._client)
        return {**environ, RECORDED: variable}

    def finish(
        self,
        status: int,
        *,
        hosts: Sequence[Mapping[str, str | int | float | None]] = (),
    ) -> None:
        """Write the end of the run to the history. Only the first call has an effect.

        `status` is a `returncode` of `subprocess`: if a signal ended the run, its negative number.
        `hosts` has the result of each host, in which secrets are masked; if there are any, the
        functions of the hook `after_run` are called, because a run on other machines cannot call
        those of this one.
        """
        started = self._unparsed if status else self._started
        if started is None or self._is_finished:
            return
        self._is_finished = True

        seconds = time.monotonic() - self._began
        signal = 0
        if status < 0:
            signal = -status
            status = _SIGNALLED + signal
        results = map(self._masked_result, hosts)
        ended = EndedRun(
            id=started.id,
            seconds=round(seconds, 3),
            status=status,
            signal=signal,
            hosts=list(results),
        )
        if self._recorder is not None:
            self._recorder.end(started, ended)
        if hosts and self._calls:
            call_after_run(self._calls, started, ended, self._messages)

    def _masked_result(
        self, result: Mapping[str, str | int | float | None]
    ) -> dict[str, str | int | float | None]:
        secrets = self._secrets or ()
        masked = dict(result)
        for name, value in result.items():
            if isinstance(value, str):
                masked[name] = masked_line(value, secrets)
        return masked


def _cleaned(fact: str) -> str:
    """Return a fact about a client as text that fits into a variable: no NUL, valid UTF-8."""
    valid = fact.encode("utf-8", "replace").decode()
    return valid.replace("\0", "")[:_LONGEST_FACT]
