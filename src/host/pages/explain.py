"""`--explain`: what a command line would run, as a page or as JSON; nothing of it runs.

Only bash for settings.conf and the providers of variables are started, as the plan of a run without
`acts` does.
"""

from __future__ import annotations

import os
import shlex
import sys

from host.asking.terminal import unconfirmed
from host.caller import RECORD
from host.errors import HostError, UsageError
from host.launch.demands import demands_of
from host.launch.plan import Questions, Run, find_run
from host.launch.plan_errors import errors_of
from host.launch.run_masking import masked_arguments, secret_values
from host.pages.page_layout import WIDEST_TERM, Page, text_column
from host.pages.variable_table import (
    FROM,
    table_rows,
    table_values,
    variable_table,
    variables_of,
)
from host.processes.programs import start_of
from host.processes.required_programs import NOT_CHECKED, fault
from host.records import Limit, Plan
from host.session.unknown_words import unknown_word
from host.text import printable
from host.text_width import width_of
from host.words import RESERVED_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from host.global_options import GlobalOptions
    from host.plugin_functions import AfterRun, BeforeRun
    from host.session.session import Session

_INDENT = 2


def explain(session: Session, options: GlobalOptions) -> int:
    """Show what `options.words` would run; return 0 or the exit status of that run.

    Raises HostError if the words name no command, or one that cannot be planned at all.
    """
    if options.everything:
        raise UsageError("--all is for listings, not for --explain")
    if options.format not in ("", "text", "json"):
        raise UsageError(
            f"--explain has no format {options.format!r}", "use text or json"
        )

    run, plan = _planned(session, options.words)

    if plan.question and not session.assume_yes:
        error = unconfirmed(run.program, run.words, may_ask=session.may_ask)
        if error is not None:
            plan = plan.replaced(errors=(*plan.errors, error))

    status = 0
    if plan.errors:
        status = plan.errors[0].status

    explanation = _explanation(run, plan, status)
    if options.format == "json":
        session.show_json(explanation)
    else:
        session.show(_page(session, run, plan, explanation))
    return status


class _Questions(Questions):
    """Keeps what the plugins of the run would ask."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def policies(self, run: Run, calls: Sequence[BeforeRun]) -> None:
        from host.launch.before_run import check_can_ask, check_policies, planned_run

        def ask(question: str) -> None:
            check_can_ask(run, question, may_ask=self.may_ask)
            self.asked.append(question)

        check_policies(calls, planned_run(run), ask)


def plan_of(session: Session, words: Sequence[str]) -> Plan:
    """Return what the command line `words` would execute: see `Program.plan`."""
    _, plan = _planned(session, words)
    return plan


def _planned(session: Session, words: Sequence[str]) -> tuple[Run, Plan]:
    """Return the run that `words` ask for, and what it would execute."""
    run = _run_of(session, tuple(words))
    errors = errors_of(run)

    # Without its variables, a run has no process: `errors` has the reason.
    argv: tuple[str, ...] = ()
    if run.has_variables:
        try:
            process = run.process()
        except HostError as error:
            errors.append(error)
        else:
            argv = (process.path, *process.argv[1:])

    environment = run.layers.environment()
    versions = session.installation.cache_path("versions")
    programs = {}
    for requirement in run.definition.requires:
        state = fault(requirement, environment, versions, starts_programs=False)
        programs[str(requirement)] = state

    plan = Plan(
        words=run.words,
        definition=run.definition,
        argv=argv,
        arguments=tuple(run.arguments),
        interpreter=_interpreter(run, environment),
        directory=_current_directory(),
        variables=variables_of(run),
        programs=programs,
        question=run.question,
        effects=run.effects,
        limits=_limits(run),
        before=tuple(run.catalog.lock.before_runs_of(run.words)),
        asked=tuple(getattr(run.questions, "asked", ())),
        after=tuple(
            run.catalog.lock.after_runs_of(run.words, run.installation.environ)
        ),
        errors=tuple(errors),
    )
    return run, plan


def _run_of(session: Session, words: tuple[str, ...]) -> Run:
    """Return the run that `words` ask for. Raises UsageError if they ask for none."""
    if not words:
        raise UsageError(
            "--explain: no command is given",
            f"see: {session.program} --help",
        )
    if words[0] in RESERVED_WORDS:
        what = f"--explain: {words[0]} is a part of {session.program} itself, and runs no command"
        raise UsageError(what, "name a command")

    questions = _Questions()
    questions.may_ask = session.may_ask
    questions.assume_yes = session.assume_yes
    run = find_run(
        words,
        session.installation,
        session.catalog,
        session.messages.warn,
        questions,
        acts=False,
        shell_file=session.shell_file,
    )
    if run is not None:
        return run

    match = session.find(words)
    if match.kind == "unknown":
        raise unknown_word(session, match, words[len(match.words) :])
    called = " ".join(words)
    what = f"{called}: this shows a listing or a help page, and runs nothing"
    raise UsageError(what, "name a command")


def _current_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""  # it was deleted, and the run starts there all the same


def _interpreter(run: Run, environment: Mapping[str, str]) -> str:
    if not run.file:
        return sys.executable
    try:
        return start_of(run.file, environment).interpreter
    except HostError:
        return ""  # `Plan.errors` has the reason


def _limits(run: Run) -> dict[str, Limit]:
    """Return the keys that record or limit a run, each with its nearest value and its source."""
    # A later level is nearer to the command, and the nearest value counts.
    limits = {}
    levels = run.installation.config.supervision_levels(run.definition)
    for definition, supervision in levels:
        if definition is None:
            source = run.installation.layout.config_file
        elif definition.file:
            source = definition.file
        else:
            source = f"plugin {run.plugin}"
        for key, value in supervision.values().items():
            if value is not None:
                limits[key] = Limit(value, source)

    # The environment also decides whether a run is recorded.
    demands = demands_of(run)
    is_recorded = demands is not None and demands.record
    is_declared = "record" in limits and limits["record"].value is not False
    if not is_recorded:
        if is_declared:
            del limits["record"]
    elif not is_declared:
        limits["record"] = Limit(True, RECORD)

    return limits


def _explanation(run: Run, plan: Plan, status: int) -> dict[str, Any]:
    """Return a plan as JSON, with secrets masked."""
    definition = plan.definition

    # The command's arguments are the last words of `argv`.
    secrets = secret_values(run)
    arguments = list(masked_arguments(run, run.arguments, secrets))
    argv: list[str] = []
    if plan.argv:
        before_arguments = len(plan.argv) - len(arguments)
        argv = [*plan.argv[:before_arguments], *arguments]

    moved_from = None
    if run.moved_from is not None:
        moved_from = run.moved_from.words

    requires = []
    for program, fault_of_program in plan.programs.items():
        state = fault_of_program or "found"
        requires.append({"program": program, "state": state})

    limits = {}
    for key, limit in plan.limits.items():
        limits[key] = limit.values()

    return {
        "words": plan.words,
        "description": definition.description,
        "moved_from": moved_from,
        "deprecated": _text(definition.deprecated),
        "argv": argv,
        "file": run.file or definition.entrypoint,
        "interpreter": _text(plan.interpreter),
        "arguments": arguments,
        "directory": plan.directory,
        "definition": _text(definition.file),
        "plugin": _text(run.plugin),
        "variables": table_values(variable_table(run)),
        "requires": requires,
        "question": _text(plan.question),
        "effects": plan.effects,
        "limits": limits,
        "before_run": list(map(_call, plan.before)),
        "asked": plan.asked,
        "after_run": list(map(_call, plan.after)),
        "errors": list(map(_error, plan.errors)),
        "status": status,
    }


def _text(text: str) -> str | None:
    """Return a text for JSON, where `null` stands for an empty one."""
    if not text:
        return None
    return text


def _call(call: BeforeRun | AfterRun) -> dict[str, str]:
    return {"plugin": call.plugin, "name": call.name, "function": call.function}


def _error(error: HostError) -> dict[str, Any]:
    return {
        "status": error.status,
        "message": error.what,
        "remedy": _text(error.remedy),
    }


def _page(
    session: Session, run: Run, plan: Plan, explanation: Mapping[str, Any]
) -> str:
    """Return the explanation as a page; a section without rows is left out."""
    root = session.layout.root
    page = Page(session.terminal)

    called = " ".join([session.program, *plan.words])
    page.title(called)
    page.paragraph(explanation["description"])
    command_line = _command_lines(explanation["argv"], session.terminal.width)
    page.lines("Command line", list(command_line))

    _add_table(page, "Run", _facts(session, plan, explanation))
    _add_table(page, "Variables", table_rows(variable_table(run), root))

    programs = []
    for program in explanation["requires"]:
        programs.append((program["program"], program["state"]))
    _add_table(page, "Requires", programs)

    limits = []
    for key, limit in plan.limits.items():
        limits.append((key, _limit_text(limit, root)))
    _add_table(page, "Limits", limits)

    asked = [("asks", question) for question in plan.asked]
    _add_table(page, "Before the run", [*map(_call_row, plan.before), *asked])
    _add_table(page, "After the run", list(map(_call_row, plan.after)))

    errors = []
    for error in plan.errors:
        errors.append((f"status {error.status}", str(error)))
    _add_table(page, "This run would fail", errors)

    if NOT_CHECKED in plan.programs.values():
        page.add("")
        page.paragraph(
            "A program that is not checked is started for its version by the run."
        )
    return page.text()


def _call_row(call: BeforeRun | AfterRun) -> tuple[str, str]:
    return call.name, f"{call.function}{FROM}plugin {call.plugin}"


def _facts(
    session: Session, plan: Plan, explanation: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return the rows of the section `Run`: name and text."""
    moved_from = ""
    if explanation["moved_from"]:
        moved_from = " ".join(explanation["moved_from"])
    arguments = "none"
    if explanation["arguments"]:
        arguments = shlex.join(explanation["arguments"])
    definition = explanation["definition"]
    if not definition:
        definition = f"plugin {explanation['plugin']}"

    facts = [
        ("moved from", moved_from),
        ("deprecated", explanation["deprecated"]),
        ("file", explanation["file"]),
        ("interpreter", plan.interpreter),
        ("arguments", arguments),
        ("directory", plan.directory),
        ("definition", definition),
        ("effects", plan.effects),
        ("question", _question(session, plan)),
    ]
    return [(name, text) for name, text in facts if text]


def _question(session: Session, plan: Plan) -> str:
    if not plan.question or not session.assume_yes:
        return plan.question
    return f"{plan.question} (--yes answers it)"


def _limit_text(limit: Limit, root: str) -> str:
    value = limit.value
    if isinstance(value, bool):
        value = str(value).lower()  # as in the JSON file

    source = limit.source.removeprefix(f"{root}/")
    return f"{value}{FROM}{source}"


def _command_lines(argv: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines that a shell can read; no word is broken."""
    # Each line but the last ends with a backslash.
    columns = width - _INDENT - len(" \\")

    line = ""
    for word in argv:
        text = printable(shlex.quote(word))
        if not line:
            line = text
        elif width_of(f"{line} {text}") <= columns:
            line += f" {text}"
        else:
            yield f"{line} \\"
            line = f"  {text}"
    if line:
        yield line


def _add_table(page: Page, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    """Add a section of names and exact texts; a long text is folded at blanks."""
    names = [printable(name) for name, _ in rows]
    column = text_column(names)
    columns = page.terminal.width - _INDENT - column

    lines = []
    for name, text in rows:
        label = printable(name)
        if width_of(label) > WIDEST_TERM:
            lines.append(page.terminal.styled(label, "name"))
            label = ""
        folded = _folded_at_source(printable(text), columns)
        lines += page.row(label, folded, column)
    page.lines(heading, lines)


def _folded_at_source(text: str, columns: int) -> list[str]:
    """Return a value and its source in lines; if both do not fit, the source begins a line."""
    value, _, source = text.rpartition(FROM)
    if not value or width_of(text) <= columns:
        return _folded(text, columns)

    lines = _folded(value, columns)
    lines += _folded(f"{FROM.strip()} {source}", columns)
    return lines


def _folded(text: str, columns: int) -> list[str]:
    """Return `text` in lines of at most `columns` columns, broken at blanks only.

    Unlike `wrap`, this keeps all blanks inside a line, because they may be part of a value, and
    keeps long words whole, because somebody may copy a path.
    """
    lines = []
    line = ""
    for word in text.split(" "):
        if not line:
            line = word
        elif width_of(f"{line} {word}") <= columns:
            line += f" {word}"
        else:
            lines.append(line)
            line = word
    lines.append(line)
    return lines
