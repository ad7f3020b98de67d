"""`self env`: show where the value of each variable comes from."""

from collections.abc import Mapping
from typing import Any

from builtin_plugins.self_commands.declared import (
    FORMAT,
    WORDS,
    argument,
    self_command,
)
from host import SourceError, Terminal, Variable, printable, width_of
from host.launch.plan import Run
from host.pages.lookup import find_command
from host.pages.session import Session
from host.pages.variables import shown_variables, traced_variables
from host.text import EMPTY
from host.variables.layers import SYSTEM


@self_command(
    "env",
    "Show where a command's variables come from",
    WORDS,
    argument("--all", "Also show the variables that only your environment sets."),
    argument("--show-secrets", "Do not mask the values of secrets."),
    FORMAT,
)
def env(
    session: Session, words: tuple[str, ...], all: bool, show_secrets: bool, format: str
) -> None:
    """Show each variable of a command: value, source, rank and the values that it shadows.

    If variable names follow the command, only those variables are shown. Rank 1 takes precedence:
    1 the caller's environment, 2 envs, 3 settings.conf, 4 .env files, 4.5 secrets. A
    declared secret is shown as its reference; with --show-secrets, it is resolved. The
    values of variables that look like secrets (DB_PASS, API_TOKEN, …) are masked wherever
    they appear. Credentials in addresses are masked, too.
    """
    words, names = _split(session, words)
    match, _ = find_command(session, words)
    match = session.catalog.follow(match)
    definition: Any = match.definition
    run = session.run_with_variables(
        match.words, definition, session.run_environ, secrets=show_secrets
    )

    traced = traced_variables(run.layers)
    shown = shown_variables(run, traced, show_secrets=show_secrets)
    if not names:
        listed = set(shown)
        if not all:
            listed &= _relevant(run, traced)

        def order(name: str) -> tuple[bool, str]:
            # Variables without a rank, which the run itself sets, are the last.
            return not shown[name].rank, name

        names = tuple(sorted(listed, key=order))
    rows = [_row(name, shown.get(name)) for name in names]

    _report_problems(session, run)
    if format == "json":
        session.show_json(rows)
    else:
        session.show(_text(rows, session.layout.root, session.terminal))


def _relevant(run: Run, traced: Mapping[str, Variable]) -> set[str]:
    """Return the names of the variables that not only the caller's environment sets.

    The names that the command's definition has are among them, wherever their values come from.
    """
    definition = run.definition
    names: set[str] = {*definition.required_envs}
    for declared in definition.args:
        if declared.env in run.environ:
            names.add(declared.env)

    for name, variable in traced.items():
        if variable.rank != SYSTEM or variable.shadows:
            names.add(name)
    return names


def _report_problems(session: Session, run: Run) -> None:
    """Report what a run of the command would lack."""
    for path in run.layers.missing:
        session.messages.warn(f"{path}: this environment file does not exist")

    for reference in run.layers.unasked:
        what = f"{reference}: not resolved, so its variables are missing here"
        session.messages.line(f"{session.program}: {what}")

    try:
        run.check_variables()
    except SourceError as failure:
        session.messages.warn(str(failure))


def _split(
    session: Session, words: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split `words` into the words of a command and the variable names that follow them."""
    match = session.find(words)
    if match.kind == "unknown":
        unknown = words[len(match.words)]
        # The words before the name may be a category with an entrypoint of its own.
        if unknown.isupper():
            match = session.find(match.words)

    definition = match.definition
    if definition is None or not definition.is_command:
        return words, ()
    return match.words, words[len(match.words) :]


def _row(name: str, variable: Variable | None) -> dict[str, Any]:
    """Return the row of a variable; None is a variable that is not set."""
    shadows: list[dict[str, Any]] = []
    if variable is not None:
        shadows = [_value(weaker) for weaker in variable.shadows]
    return {"name": name, **_value(variable), "shadows": shadows}


def _value(variable: Variable | None) -> dict[str, Any]:
    if variable is None:
        return {"value": None, "source": None, "rank": None}
    return {
        "value": variable.value,
        "source": variable.source,
        "rank": variable.rank or None,  # variables of the run itself have rank 0
    }


def _text(rows: list[dict[str, Any]], root: str, terminal: Terminal) -> str:
    """Return the variables in `rows` as text, with paths in the installation relative to it."""
    widths = [width_of(printable(row["name"])) for row in rows]
    name_width = max(widths, default=0)
    lines = []
    for row, width in zip(rows, widths, strict=True):
        label = terminal.styled(printable(row["name"]), "name")
        padding = " " * (name_width - width)
        lines.append(f"{label}{padding}  {_value_text(row, root)}\n")

        indent = " " * name_width
        for shadow in row["shadows"]:
            lines.append(f"{indent}    shadows {_value_text(shadow, root)}\n")
    return "".join(lines)


def _value_text(row: dict[str, Any], root: str) -> str:
    """Return the text for a row with a value, its source and its rank: `eu  ← .env (rank 4)`."""
    if row["value"] is None:
        return "is not set"

    value = printable(row["value"]) or EMPTY
    source = printable(row["source"].removeprefix(f"{root}/"))
    if row["rank"] is None:
        return f"{value}  ← {source}"
    return f"{value}  ← {source} (rank {row['rank']:g})"
