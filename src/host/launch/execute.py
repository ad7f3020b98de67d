"""Execute a planned run: take its steps, ask the user if necessary, and become the command."""

from host.caller import REPORT
from host.launch.plan import Questions, Run
from host.processes import process
from host.processes.process import Exec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.arguments.parser import MissingArgumentsError
    from host.catalog.definition import Definition
    from host.messages import Messages
    from host.plugin_functions import BeforeRun


class UserQuestions(Questions):
    """Asks the user on the terminal, unless `may_ask` is false."""

    def __init__(self, *, may_ask: bool, assume_yes: bool) -> None:
        self.may_ask = may_ask
        self.assume_yes = assume_yes

    def trust(self, run: Run, words: tuple[str, ...], definition: "Definition") -> None:
        from host.asking.ask_trust import ask_trust

        if definition.project is not None:
            ask_trust(
                words,
                definition.project,
                definition.written,
                run.program,
                may_ask=self.may_ask,
            )

    def policies(self, run: Run, calls: "Sequence[BeforeRun]") -> None:
        from host.launch.before_run import ask_policy, check_policies, planned_run

        def ask(question: str) -> None:
            ask_policy(run, question, may_ask=self.may_ask)

        check_policies(calls, planned_run(run), ask)

    def arguments(
        self, run: Run, missing: "MissingArgumentsError"
    ) -> "tuple[Sequence[str], Mapping[str, str]]":
        from host.asking.prompt import ask_missing

        return ask_missing(
            missing,
            run.definition,
            run.arguments,
            run.environ,
            may_ask=self.may_ask,
        )


def execute(run: Run, messages: "Messages") -> int:
    """Become the command of a run, or wait for it if a file or plugin asks for more than a run.

    Raises HostError if the command must not run, or if the system refuses to start it.
    """
    replacement = make_ready(run, messages)

    # Most runs have no demands: the command takes the place of this process.
    demands = None
    lock: int | None = None
    if run.may_have_demands:
        from host.launch.demands import demands_of, take_lock

        demands = demands_of(run)
        if demands is not None:
            lock = take_lock(run, demands, messages)

    # The user is asked last, when hardly anything else can prevent the run. If the answer is no,
    # this process ends, and with it the lock; nothing has been written for the calling shell.
    if _must_confirm(run):
        from host.asking.terminal import confirm

        confirm(run.question, run.words)

    if run.definition.shell:
        from host.launch.shell_file import make_shell_file

        make_shell_file(run.shell_file)

    messages.debug(f"starting {replacement.path}")
    if demands is None:
        process.execute(replacement)

    from host.launch.demands import start_with_demands

    return start_with_demands(run, demands, lock, replacement, messages)


def make_ready(run: Run, messages: "Messages") -> Exec:
    """Take all steps of a run, and return the process to execute; no lock, no confirmation."""
    for step in run.steps:
        step()

    if messages.debugging:
        for line in run.layers.ignored():
            messages.debug(line)
    descriptor = run.environ.get(REPORT)
    if descriptor is not None:
        from host.launch.variables_report import report_variables

        report_variables(run.layers, descriptor)

    replacement = run.process()
    if _must_confirm(run):
        # Known before the lock is taken, because a run may wait for the lock for hours.
        from host.asking.terminal import unconfirmed

        error = unconfirmed(run.program, run.words, may_ask=run.questions.may_ask)
        if error is not None:
            raise error
    return replacement


def _must_confirm(run: Run) -> bool:
    return bool(run.question) and not run.questions.assume_yes
