"""`self env`: show where the value of each variable comes from."""

from typing import Any

from builtin_plugins.self_commands.decorator import (
    FORMAT,
    WORDS,
    argument,
    self_command,
)
from host import SourceError, Terminal, Variable, printable, width_of
from host.launch.plan import Run
from host.pages.variable_table import table_rows, table_values, variable_table
from host.session.lookup import find_command
from host.session.session import Session


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

    table: dict[str, Variable | None] = {
        **variable_table(run, everything=all or bool(names), show_secrets=show_secrets)
    }
    if names:
        table = {name: table.get(name) for name in names}

    _report_problems(session, run)
    if format == "json":
        session.show_json(table_values(table))
    else:
        rows = table_rows(table, session.layout.root)
        session.show(_text(rows, session.terminal))


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


def _text(rows: list[tuple[str, str]], terminal: Terminal) -> str:
    """Return rows as aligned lines; what a variable shadows is indented."""
    widths = [width_of(printable(name)) for name, _ in rows]
    widest = max(widths, default=0)
    lines = []
    for (name, text), width in zip(rows, widths, strict=True):
        label = terminal.styled(printable(name), "name") if name else "  "
        padding = " " * (widest - width)
        lines.append(f"{label}{padding}  {printable(text)}\n")
    return "".join(lines)
