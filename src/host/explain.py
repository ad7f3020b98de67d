"""`--explain`: what a command line would run, as a page or as JSON; nothing of it runs.

Only bash for settings.conf and the providers of variables are started, as the plan of a run without
`acts` does.
"""

from __future__ import annotations

import os
import shlex
import sys

from host.cli.page_layout import Page
from host.cli.unknown_words import unknown_word
from host.cli.variables import shown_variables, variables_of
from host.errors import HostError, UsageError
from host.records import Limit, Plan
from host.run.caller import RECORD
from host.run.plan import Questions, Run, find_run
from host.run.programs import start_of
from host.run.questions import unconfirmed
from host.run.requirements import NOT_CHECKED, fault
from host.run.text import EMPTY, printable
from host.run.words import RESERVED_WORDS
from host.supervised.masking import masked_arguments, secret_values
from host.supervised.start import demands_of
from host.text_width import width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from host.cli.global_options import GlobalOptions
    from host.cli.session import Session
    from host.run.layers import Variable

_FROM = "  ← "  # between a value and its source
_WIDEST_NAME = 28  # columns; a longer name gets a line of its own
_GAP = 2
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
    status = plan.errors[0].status if plan.errors else 0
    explanation = _explanation(run, plan, status)
    if options.format == "json":
        session.show_json(explanation)
    else:
        session.show(_page(session, plan, explanation))
    return status


def plan_of(session: Session, words: Sequence[str]) -> Plan:
    """Return what the command line `words` would execute: see `Program.plan`."""
    return _planned(session, words)[1]


def _planned(session: Session, words: Sequence[str]) -> tuple[Run, Plan]:
    run = _run_of(session, tuple(words))
    errors = run.look()
    argv: tuple[str, ...] = ()
    if run.has_variables:
        try:
            process = run.process()
            argv = (process.path, *process.argv[1:])
        except HostError as error:
            errors.append(error)
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
        after=tuple(run.catalog.lock.after_runs_of(run.words)),
        errors=tuple(errors),
    )
    return run, plan


def _run_of(session: Session, words: tuple[str, ...]) -> Run:
    """Return the run that `words` ask for. Raises UsageError if they ask for none."""
    called = " ".join(words)
    if not words:
        raise UsageError(
            "--explain: no command is given", f"see: {session.program} --help"
        )
    if words[0] in RESERVED_WORDS:
        what = f"--explain: {words[0]} is a part of {session.program} itself, and runs no command"
        raise UsageError(what, "name a command")
    questions = Questions()
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
    found = session.find(words)
    if found.kind == "unknown":
        raise unknown_word(session, found, words[len(found.words) :])
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
    config = run.installation.config
    levels = []
    if config.supervision is not None:
        levels.append((run.installation.layout.config_file, config.supervision))
    for definition in run.definition.chain:
        source = definition.file or f"plugin {run.plugin}"
        levels += [(source, supervision) for supervision in definition.own_supervisions]
    limits = {}
    for source, supervision in levels:
        for key, value in supervision.values().items():
            if value is not None:
                limits[key] = Limit(value, source)
    # The environment also decides whether a run is recorded.
    demands = demands_of(run)
    is_recorded = demands is not None and demands.record
    is_declared = "record" in limits and limits["record"].value is not False
    if is_recorded and not is_declared:
        limits["record"] = Limit(True, RECORD)
    elif is_declared and not is_recorded:
        del limits["record"]
    return limits


def _explanation(run: Run, plan: Plan, status: int) -> dict[str, Any]:
    """Return a plan as JSON, with secrets masked."""
    definition = plan.definition
    arguments = [*masked_arguments(run, run.arguments, secret_values(run))]
    argv = (
        [*plan.argv[: len(plan.argv) - len(arguments)], *arguments] if plan.argv else []
    )
    variables = shown_variables(run, plan.variables)
    names = sorted(variables, key=lambda name: (not variables[name].rank, name))
    return {
        "words": plan.words,
        "description": definition.description,
        "moved_from": None if run.moved_from is None else run.moved_from.words,
        "deprecated": definition.deprecated or None,
        "argv": argv,
        "file": run.file or definition.entrypoint,
        "interpreter": plan.interpreter or None,
        "arguments": arguments,
        "directory": plan.directory,
        "definition": definition.file or None,
        "plugin": run.plugin or None,
        "variables": [_variable(variables[name]) for name in names],
        "requires": [
            {"program": program, "state": state or "found"}
            for program, state in plan.programs.items()
        ],
        "question": plan.question or None,
        "effects": plan.effects,
        "limits": {key: limit.values() for key, limit in plan.limits.items()},
        "after_run": [
            {"plugin": call.plugin, "name": call.name, "function": call.function}
            for call in plan.after
        ],
        "errors": [
            {
                "status": error.status,
                "message": error.what,
                "remedy": error.remedy or None,
            }
            for error in plan.errors
        ],
        "status": status,
    }


def _variable(variable: Variable) -> dict[str, Any]:
    shadows = [_value(weaker) for weaker in variable.shadows]
    return {"name": variable.name, **_value(variable), "shadows": shadows}


def _value(variable: Variable) -> dict[str, Any]:
    # Variables that describe the run have rank 0.
    return {
        "value": variable.value,
        "source": variable.source,
        "rank": variable.rank or None,
    }


def _page(session: Session, plan: Plan, explanation: Mapping[str, Any]) -> str:
    root = session.layout.root
    page = Page(session.terminal)
    page.title(" ".join([session.program, *plan.words]))
    page.paragraph(explanation["description"])
    page.lines(
        "Command line", [*_command_lines(explanation["argv"], session.terminal.width)]
    )
    arguments = shlex.join(explanation["arguments"])
    facts = [
        ("moved from", " ".join(explanation["moved_from"] or ())),
        ("deprecated", explanation["deprecated"] or ""),
        ("file", explanation["file"]),
        ("interpreter", plan.interpreter),
        ("arguments", arguments or "none"),
        ("directory", plan.directory),
        ("definition", explanation["definition"] or f"plugin {explanation['plugin']}"),
        ("effects", plan.effects),
        ("question", _question(session, plan)),
    ]
    _add_table(page, "Run", [(name, text) for name, text in facts if text])
    rows = []
    for variable in explanation["variables"]:
        rows.append((variable["name"], _value_text(variable, root)))
        rows += [
            ("", f"shadows {_value_text(weaker, root)}")
            for weaker in variable["shadows"]
        ]
    _add_table(page, "Variables", rows)
    programs = [
        (program["program"], program["state"]) for program in explanation["requires"]
    ]
    _add_table(page, "Requires", programs)
    limits = [(key, _limit_text(limit, root)) for key, limit in plan.limits.items()]
    _add_table(page, "Limits", limits)
    calls = [
        (call.name, f"{call.function}{_FROM}plugin {call.plugin}")
        for call in plan.after
    ]
    _add_table(page, "After the run", calls)
    errors = [(f"status {error.status}", str(error)) for error in plan.errors]
    _add_table(page, "This run would fail", errors)
    unchecked = [
        program for program, state in plan.programs.items() if state == NOT_CHECKED
    ]
    if unchecked:
        page.add("")
        page.paragraph(
            "A program that is not checked is started for its version by the run."
        )
    return page.text()


def _question(session: Session, plan: Plan) -> str:
    if not plan.question or not session.assume_yes:
        return plan.question
    return f"{plan.question} (--yes answers it)"


def _value_text(row: Mapping[str, Any], root: str) -> str:
    rank = "" if row["rank"] is None else f" (rank {row['rank']:g})"
    source = row["source"].removeprefix(f"{root}/")
    return f"{row['value'] or EMPTY}{_FROM}{source}{rank}"


def _limit_text(limit: Limit, root: str) -> str:
    value = str(limit.value).lower() if isinstance(limit.value, bool) else limit.value
    return f"{value}{_FROM}{limit.source.removeprefix(f'{root}/')}"


def _command_lines(argv: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines that a shell can read; no word is broken."""
    line = ""
    for word in argv:
        text = printable(shlex.quote(word))
        end = len(" \\")
        if line and _INDENT + width_of(f"{line} {text}") + end > width:
            yield f"{line} \\"
            line = f"  {text}"
        else:
            line = f"{line} {text}" if line else text
    if line:
        yield line


def _add_table(page: Page, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    """Add a section of names and exact texts; a long text is folded at blanks."""
    names = [width_of(printable(name)) for name, _ in rows]
    column = max([width for width in names if width <= _WIDEST_NAME], default=0) + _GAP
    columns = page.terminal.width - _INDENT - column
    lines = []
    for name, text in rows:
        folded = _folded_at_source(printable(text), columns)
        label = printable(name)
        if width_of(label) > _WIDEST_NAME:
            lines.append(page.terminal.styled(label, "name"))
            label = ""
        lines += page.row(label, folded, column)
    page.lines(heading, lines)


def _folded_at_source(text: str, columns: int) -> list[str]:
    """Return a value and its source in lines; if both do not fit, the source begins a line."""
    value, _, source = text.rpartition(_FROM)
    if not value or width_of(text) <= columns:
        return _folded(text, columns)
    return [*_folded(value, columns), *_folded(f"{_FROM.strip()} {source}", columns)]


def _folded(text: str, columns: int) -> list[str]:
    """Return `text` in lines of at most `columns` columns, broken at blanks only.

    Unlike `wrap`, this keeps all blanks inside a line, because they may be part of a value, and
    keeps long words whole, because somebody may copy a path.
    """
    lines = []
    line = ""
    for word in text.split(" "):
        if line and width_of(f"{line} {word}") > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
