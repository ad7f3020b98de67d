"""`self …`: the commands that built-in plugins declare, called with the session."""

from __future__ import annotations

from host.cli.options import HELP_WORDS, GlobalOptions
from host.cli.plain_command import Group, PlainCommand
from host.cli.session import Session
from host.cli.unknown import unknown_word
from host.cli.verbs import SELF_VERBS
from host.errors import InstallationError, UsageError
from host.run.importing import load_reference
from host.run.locate import RESERVED
from host.run.lock import Declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def run_self(session: Session, words: Sequence[str], *, help_asked: bool) -> int:
    """Run the command that `words` (with `self`) name; return its exit status.

    Raises HostError. Without a command the listing of `self` is shown.
    """
    declared = _declared(session)
    for one in sorted(declared, key=lambda one: -len(one.words)):
        if tuple(words[: len(one.words)]) == one.words:
            args = list(words[len(one.words) :])
            args += ["--help"] if help_asked else []
            return _call(session, one.words, one.definition.entrypoint, args)
    rest = list(words[1:])
    if rest and rest[0] not in HELP_WORDS and not rest[0].startswith("-"):
        where = f"{session.program} {RESERVED}"
        shown = [one.words[1] for one in declared if not one.definition.hidden]
        raise unknown_word(rest[0], where, where, shown, SELF_VERBS)
    from host.cli.pages import show

    show(session, GlobalOptions((RESERVED, *rest)))
    return 0


def _declared(session: Session) -> list[Declared]:
    try:
        lock = session.lock_on_disk
    except InstallationError:
        lock = None  # `self init` makes one
    if lock is None:
        from host.planning.discovery import own_commands

        return own_commands(session.layout)
    return [one for one in lock.commands if one.words[0] == RESERVED]


def _call(session: Session, words: tuple[str, ...], reference: str, args: list[str]) -> int:
    """Call a command with the session; only what needs click loads it."""
    command: Any = load_reference(reference)
    label = " ".join([session.program, *words])
    if isinstance(command, Group):
        return _call_in(command, session, words, args)
    if isinstance(command, PlainCommand):
        if not set(HELP_WORDS[1:]).intersection(args):
            command.call(session, words, args)
            return 0
        command = command.for_click()
    from host.cli.click_pages import call_click

    return call_click(command, session, label, args)


def _call_in(group: Group, session: Session, words: tuple[str, ...], args: list[str]) -> int:
    label = " ".join([session.program, *words])
    if not args or args[0] in HELP_WORDS[1:]:
        session.show(group.page(label, session.output.terminal))
        return 0
    see = f"{label} --help"
    if args[0] in group.words:
        return _call(session, (*words, args[0]), group.words[args[0]][0], args[1:])
    if args[0].startswith("-"):
        raise UsageError(f"no such option '{args[0]}'", f"see: {see}")
    raise unknown_word(args[0], label, see, group.words, group.meant)
