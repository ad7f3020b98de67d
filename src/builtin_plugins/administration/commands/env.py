"""`self env`: show where the value of each variable comes from."""

from typing import Any

from builtin_plugins.administration.declared import (
    FORMAT,
    WORDS,
    argument,
    self_command,
)
from host import SourceError, Terminal, Variable, printable, width_of
from host.cli.lookup import find_command
from host.cli.session import Session
from host.cli.variables import shown_variables, traced_variables
from host.run.layers import SYSTEM
from host.run.text import EMPTY


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
    found, _ = find_command(session, words)
    found = session.catalog.follow(found)
    definition: Any = found.definition
    run = session.run_with_variables(
        found.words, definition, session.run_environ, secrets=show_secrets
    )
    layers = run.layers
    every = traced_variables(layers)
    callers = {one.env for one in definition.args if one.env in run.environ}
    shown = shown_variables(run, every, show_secrets=show_secrets)
    relevant = {*callers, *definition.required_envs}
    relevant |= {
        name for name, one in every.items() if one.rank != SYSTEM or one.shadows
    }
    wanted = shown if all else shown.keys() & relevant
    order = names or sorted(wanted, key=lambda name: (not shown[name].rank, name))
    described = [_described(name, shown.get(name)) for name in order]
    for path in layers.missing:
        session.messages.warn(f"{path}: this environment file does not exist")
    for reference in layers.unasked:
        what = f"{reference}: not resolved, so its variables are missing here"
        session.messages.line(f"{session.program}: {what}")
    try:
        run.check_variables()
    except SourceError as failure:
        session.messages.warn(str(failure))
    if format == "json":
        session.show_json(described)
    else:
        session.show(_text(described, session.layout.root, session.terminal))


def _split(
    session: Session, words: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split `words` into the words of a command and the variable names that follow them."""
    found = session.find(words)
    if found.kind == "unknown" and words[len(found.words)].isupper():
        found = session.find(found.words)  # a category may have its own entrypoint
    if found.definition is None or not found.definition.is_command:
        return words, ()
    return found.words, words[len(found.words) :]


def _described(name: str, one: Variable | None) -> dict[str, Any]:
    shadows = [_value(weaker) for weaker in one.shadows] if one else []
    return {"name": name, **_value(one), "shadows": shadows}


def _value(one: Variable | None) -> dict[str, Any]:
    rank = one and (one.rank or None)  # variables of the run itself have rank 0
    return {"value": one and one.value, "source": one and one.source, "rank": rank}


def _text(rows: list[dict[str, Any]], root: str, terminal: Terminal) -> str:
    """Return the variables in `rows` as text, with paths in the installation relative to it."""

    def value_text(row: dict[str, Any]) -> str:
        if row["value"] is None:
            return "is not set"
        rank = "" if row["rank"] is None else f" (rank {row['rank']:g})"
        source = printable(row["source"].removeprefix(f"{root}/"))
        return f"{printable(row['value']) or EMPTY}  ← {source}{rank}"

    names = max((width_of(printable(row["name"])) for row in rows), default=0)
    lines = []
    for row in rows:
        name = printable(row["name"])
        label = terminal.styled(name, "name") + " " * (names - width_of(name))
        lines.append(f"{label}  {value_text(row)}")
        behind = f"{' ' * names}    shadows "
        lines += [f"{behind}{value_text(shadow)}" for shadow in row["shadows"]]
    return "".join(f"{line}\n" for line in lines)
