"""Ask the functions of plugins that may refuse a run (the hook `before_run`)."""

import shlex

from host.errors import NotConfirmedError
from host.launch.history_record import user_name
from host.launch.record_this_run import caller_of, current_directory, shown_arguments
from host.processes.bounded_child import supervise_call
from host.processes.importing import complete_import_path, enter_plugin, load_reference
from host.records import PlannedRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from host.launch.plan import Run
    from host.plugin_functions import BeforeRun

_SECONDS = 10.0  # for each function
_REFUSE = "refuse"
_ASK = "ask"


def planned_run(run: "Run") -> PlannedRun:
    """Return what the functions get of a run whose variables have been read."""
    _, origin, client = caller_of(run.installation.environ)
    return PlannedRun(
        words=run.words,
        arguments=tuple(shown_arguments(run)),
        definition=run.definition,
        effects=run.effects,
        directory=current_directory(),
        user=user_name(),
        origin=origin,
        client=client,
    )


def check_policies(
    calls: "Sequence[BeforeRun]",
    planned: PlannedRun,
    ask: "Callable[[str], None]",
    seconds: float = _SECONDS,
) -> None:
    """Ask each function, in a child process, within `seconds`.

    `ask` gets the question of a function, and raises NotConfirmedError if nobody agrees to it.
    Raises NotConfirmedError also if a function refuses the run, fails or is too slow.
    """
    called = " ".join(planned.words)
    for call in calls:

        def run_function(call: "BeforeRun" = call) -> tuple[str, str]:
            return _answer(call, planned)

        named = f"plugin {call.plugin}: {call.name}"
        try:
            answer, text = supervise_call(run_function, seconds)
        except TimeoutError:
            failure = f"{call.function} did not answer within {seconds:g} s"
            raise _refused(called, named, failure) from None
        except ChildProcessError as error:
            raise _refused(called, named, str(error)) from None

        if answer == _REFUSE:
            raise _refused(called, named, text)
        if answer == _ASK:
            ask(text)


def _refused(called: str, named: str, reason: str) -> NotConfirmedError:
    return NotConfirmedError(f"{called}: refused ({named}): {reason}")


def _answer(call: "BeforeRun", planned: PlannedRun) -> tuple[str, str]:
    """Call one function in this process, a child; return its answer and the text of it."""
    complete_import_path()
    enter_plugin(call.folders)

    from host.plugin_functions import Ask, Refuse

    answer = load_reference(call.function)(planned)
    if answer is None:
        return "", ""
    if isinstance(answer, Refuse):
        return _REFUSE, str(answer.reason)
    if isinstance(answer, Ask):
        return _ASK, str(answer.question)
    kind = type(answer).__name__
    raise TypeError(f"{call.function} returned {kind}; expected None, Refuse or Ask")


def check_can_ask(run: "Run", question: str, *, may_ask: bool) -> None:
    """Raise NotConfirmedError, with the line to run by hand, if nobody can be asked."""
    from host.asking.terminal import can_ask

    if can_ask(may_ask=may_ask):
        return
    called = " ".join(run.words)
    line = shlex.join([run.program, *run.words, *shown_arguments(run)])
    raise NotConfirmedError(
        f"{called}: a person must answer on a terminal: {question}",
        f"to run it by hand: {line}",
    )


def refuse_elsewhere(run: "Run", shown: "Sequence[str]", question: str) -> "NoReturn":
    """Raise NotConfirmedError for a run on other machines; `shown` has its masked arguments."""
    called = " ".join(run.words)
    line = shlex.join([run.program, *run.words, *shown])
    raise NotConfirmedError(
        f"{called}: nobody can answer for other machines: {question}",
        f"to run it by hand, on each of them: {line}",
    )


def ask_policy(run: "Run", question: str, *, may_ask: bool) -> None:
    """Ask the user. Raises NotConfirmedError if nobody can be asked, or the answer is no."""
    from host.asking.terminal import confirm

    check_can_ask(run, question, may_ask=may_ask)
    confirm(question, run.words)
