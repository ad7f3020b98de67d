"""Everything but running a command: listings, help pages, `--version` and the way to `self`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from host.catalog import Contents, contents
from host.definition import Definition, is_reference
from host.errors import InstallationError, OperationError, UsageError
from host.help import help_page
from host.layout import Layout
from host.listing import select, with_installed
from host.locate import Found
from host.lock import RESERVED, Declared
from host.messages import Messages
from host.records import Category, Command, Listing
from host.references import load_reference
from host.session import Session

_SELF_DESCRIPTION = "Manage this program and its plugins"
_NEAR = 0.6  # how alike a name must be to be suggested
_HELP_WORDS = ("help", "--help", "-h")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the global options ask for, and the words that they stand before."""

    words: tuple[str, ...]
    help: bool = False
    version: bool = False
    everything: bool = False
    format: str = ""

    @property
    def lists(self) -> bool:
        return self.everything or bool(self.format)


def run_cli(
    layout: Layout,
    words: Sequence[str],
    environ: dict[str, str],
    messages: Messages,
    safe: bool,
) -> int:
    """Answer what is not a command to run; return the exit status, raise HostError."""
    session = Session(layout, environ, messages, safe=safe)
    asked = parse_options(words, layout.program)
    if asked.version:
        config = session.places.config
        session.show(version_line(config.name, config.version))
        return 0
    if asked.words[:1] == (RESERVED,):
        return run_self(session, asked.words, help_asked=asked.help)
    if asked.words[:1] == ("help",):
        asked = Asked(asked.words[1:], True, False, asked.everything, asked.format)
        if asked.words[:1] == (RESERVED,):
            return run_self(session, asked.words, help_asked=True)
    return show(session, asked)


def version_line(name: str, version: str) -> str:
    """Return what `--version` prints."""
    from host.escape import printable

    return f"{printable(name)} {printable(version)}\n"


def parse_options(words: Sequence[str], label: str) -> Asked:
    """Return the options before the first word; raises UsageError for an unknown one.

    `label` is the invocation that they belong to, for the error.
    """
    command = click.Command(
        "cli",
        params=[
            click.Option(["--help", "-h"], is_flag=True),
            click.Option(["--version", "-V"], is_flag=True),
            click.Option(["--all", "everything"], is_flag=True),
            click.Option(["--format"], default=""),
            click.Argument(["words"], nargs=-1, type=click.UNPROCESSED),
        ],
        context_settings={"allow_interspersed_args": False},
        add_help_option=False,
    )
    try:
        return Asked(**command.make_context("cli", list(words)).params)
    except click.UsageError as error:
        raise UsageError(f"{one_line(error)}; see: {label} --help") from None


def one_line(error: click.ClickException) -> str:
    """Return click's message in the style of ours: no capital, no full stop, one line."""
    text = " ".join(error.format_message().split()).rstrip(".")
    return text[:1].lower() + text[1:]


def show(session: Session, asked: Asked) -> int:
    """Show the listing or help page that the words ask for."""
    found = session.find(asked.words)
    rest = asked.words[len(found.words) :]
    if found.kind == "unknown" and rest == ("help",) and found.words:
        found = session.find(found.words)
    if found.kind == "unknown":
        raise unknown(session, found, rest)
    if found.kind == "command":
        if asked.lists or (rest and not asked.help and rest[0] not in _HELP_WORDS):
            raise UsageError("--all and --format go with a listing, not with a command")
        session.show(page(session, found))
        return 0
    trailing = Asked(())
    if rest and rest[0] not in _HELP_WORDS:
        trailing = parse_options(rest, " ".join([session.program, *found.words]))
    if trailing.words:
        raise unknown(session, found, trailing.words)
    everything = asked.everything or trailing.everything
    text = listing_text(
        session, found, asked.format or trailing.format or "text", everything=everything
    )
    session.show(text)
    return 0


def page(session: Session, found: Found) -> str:
    """Return the help page of a command."""
    if found.definition is None:
        raise AssertionError(f"{found.words} is a command without a definition")
    return help_page(session.program, found.words, found.definition, found.plugin, session.terminal)


def listing_text(
    session: Session, found: Found, format: str, *, everything: bool, deep: bool = False
) -> str:
    """Return the listing of a category, rendered; raises UsageError for an unknown format."""
    everything_below = deep or format == "tree"
    inside = contents(found.words, session.lock, session.messages.warn, deep=everything_below)
    inside = select(inside, everything=everything)
    if found.words and not (inside.categories or inside.commands or found.definition):
        raise unknown(session, Found("unknown", found.words[:-1]), found.words[-1:])
    listing = _listing(session, found, inside, everything=everything, deep=everything_below)
    text = session.plugins.first(
        "render_listing", listing=listing, format=format, terminal=session.terminal
    )
    if not isinstance(text, str):
        raise UsageError(
            f"no listing in format {format!r}; there are text, json and tree, and those of plugins"
        )
    return text


def _listing(
    session: Session, found: Found, inside: Contents, *, everything: bool, deep: bool
) -> Listing:
    config = session.places.config
    definition = found.definition
    name, description, version = config.name, config.description, config.version
    if found.words:
        name = definition.name if definition and definition.name else found.words[-1]
        description = definition.description if definition else ""
        version = ""
    if found.words == (RESERVED,):
        description = _SELF_DESCRIPTION
    categories = inside.categories
    if deep:
        categories = tuple(one for one in categories if one.words[0] != RESERVED)
    commands = tuple(one for one in inside.commands if not deep or one.words[0] != RESERVED)
    return Listing(
        program=session.program,
        words=found.words,
        name=name,
        description=description,
        version=version,
        categories=tuple(map(_with_own_words, categories)),
        commands=with_installed(commands, lambda one: is_installed(session, one)),
        deep=deep,
        everything=everything,
        runnable=bool(definition and definition.entrypoint),
    )


def _with_own_words(category: Category) -> Category:
    if category.words == (RESERVED,):
        return Category(category.words, category.name, _SELF_DESCRIPTION)
    return category


def is_installed(session: Session, command: Command) -> bool:
    """Ask the plugins whether what a `setup` command installs is there."""
    return bool(session.plugins.first("is_installed", command=command))


def unknown(session: Session, found: Found, rest: Sequence[str]) -> UsageError:
    """Return the error for a word that names nothing, with the nearest names."""
    import difflib

    where = " ".join([session.program, *found.words])
    word = rest[0]
    if word.startswith("-"):
        return UsageError(f"unknown option {word} of {where}; see: {where} --help")
    told: list[str] = []
    inside = select(contents(found.words, session.lock, told.append), everything=False)
    names = [one.words[-1] for one in inside.categories]
    names += [one.words[-1] for one in inside.commands]
    if set(names) <= {RESERVED}:  # what is wrong here may be why
        for text in told:
            session.messages.warn(text)
    near = difflib.get_close_matches(word, names, n=3, cutoff=_NEAR)
    kind = "command" if found.words else "category"
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; see: {where} --help"
    place = f" in {' '.join(found.words)}" if found.words else ""
    return UsageError(f"unknown {kind} {word}{place}{hint}")


def find_command(session: Session, words: tuple[str, ...]) -> tuple[Found, Definition]:
    """Return the command that all of `words` name; raises UsageError when they name none."""
    found = session.find(words)
    rest = words[len(found.words) :]
    if found.kind == "unknown" or rest:
        raise unknown(session, found, rest)
    if found.definition is None or not found.definition.entrypoint:
        raise UsageError(f"{' '.join(words)} is a category; name one of its commands")
    return found, found.definition


def run_self(session: Session, words: Sequence[str], *, help_asked: bool) -> int:
    """Run a `self` command: a click command that a built-in plugin declares."""
    declared = _self_commands(session)
    for one in sorted(declared, key=lambda one: -len(one.words)):
        if tuple(words[: len(one.words)]) == one.words:
            args = list(words[len(one.words) :])
            return call(session, one, [*args, "--help"] if help_asked else args)
    rest = list(words[1:])
    if rest and rest[0] not in _HELP_WORDS and not rest[0].startswith("-"):
        import difflib

        words_there = [one.words[1] for one in declared]
        near = difflib.get_close_matches(rest[0], words_there, cutoff=_NEAR)
        hint = f"did you mean {' or '.join(near)}?" if near else f"see: {session.program} self"
        raise UsageError(f"unknown command {rest[0]} in self; {hint}")
    return show(session, Asked((RESERVED, *rest)))


def _self_commands(session: Session) -> list[Declared]:
    try:
        declared = session.known.commands
    except InstallationError:  # `self init` makes one
        from host.discovery import own_commands

        declared = own_commands(session.layout)
    return [one for one in declared if one.words[0] == RESERVED]


def call(session: Session, declared: Declared, args: list[str]) -> int:
    """Call a click command with the session as its object; its usage errors become ours."""
    entrypoint = declared.definition.entrypoint
    if not is_reference(entrypoint):
        raise AssertionError(f"{entrypoint} was checked when it was declared")
    command: Any = load_reference(entrypoint)
    label = " ".join([session.program, *declared.words])
    try:
        status = command.main(
            args=args,
            prog_name=label,
            obj=session,
            standalone_mode=False,
            help_option_names=["-h", "--help"],
        )
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else label
        raise UsageError(f"{one_line(error)}; see: {path} --help") from None
    except click.ClickException as error:
        raise OperationError(one_line(error)) from None
    except click.Abort:
        raise OperationError("stopped; nothing was changed") from None
    return status if isinstance(status, int) else 0
