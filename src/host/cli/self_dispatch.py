"""`self …`: commands that the built-in plugins declare; their functions get the session."""

from __future__ import annotations

import os

from host.cli.global_options import HELP_WORDS, GlobalOptions
from host.cli.session import Session
from host.cli.unknown_words import unknown_word_in
from host.errors import InstallationError, OperationError, Problem, UsageError
from host.run.argument_parser import parse
from host.run.argument_spec import Argument
from host.run.catalog import Catalog
from host.run.importing import load_reference
from host.run.interrupts import RaisedInterrupts
from host.run.lock import Lock
from host.run.words import SELF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# These need no installed package and not the path of the environment, which `site` finds out.
_WITHOUT_SITE = ((SELF, "version"), (SELF, "plugin", "list"))
_NEVER_ASSUMED = (SELF, "trust")  # the global --yes does not apply to this command


def run_self(session: Session, options: GlobalOptions) -> int:
    """Call the command that the words (including `self`) name; return its exit status.

    The command's function gets the session, and each declared argument as a keyword: a flag as a
    bool, a number as a float, a repeated argument as a tuple of strings, and any other as a string
    or None. For a category, the listing is shown. Raises HostError; an OSError of the function
    becomes an OperationError that names the file.
    """
    lock = _own_commands(session)
    catalog = Catalog(lock)
    found = catalog.find(options.words)
    rest = options.words[len(found.words) :]
    if found.kind != "command" or found.definition is None:
        if rest and rest[0] not in HELP_WORDS and not rest[0].startswith("-"):
            raise unknown_word_in(session.program, lock, found, rest[0])
        from host.cli.listings import show

        show(session, options)
        return 0
    definition = found.definition
    if options.help or "--help" in rest or "-h" in rest:
        from host.cli.help_page import help_page

        session.show(help_page(session, catalog, found, definition))
        return 0
    if found.words not in _WITHOUT_SITE:
        session.make_packages_importable()
    function = load_reference(definition.entrypoint)
    listing = [f"--format={options.format}"] if options.format else []
    listing += ["--all"] if options.everything else []
    given = parse(
        definition.args, [*listing, *rest], session.program, found.words
    ).texts
    # A pattern decides about an empty value itself: `--ref ''` has a meaning.
    with_pattern = {argument.name for argument in definition.args if argument.pattern}
    for name, texts in given.items():
        if name.startswith("--") and "" in texts and name not in with_pattern:
            raise UsageError(f"{' '.join(found.words)}: {name} must not be empty")
    if session.assume_yes and found.words != _NEVER_ASSUMED:
        given["--yes"] = ["true"]
    try:
        with RaisedInterrupts():
            return function(session, **_named_values(definition.args, given)) or 0
    except OSError as failure:
        path = os.fsdecode(failure.filename2 or failure.filename or "")
        if not path and not _has_directory():
            what = "the current directory does not exist any more"
            raise OperationError(what, "run: cd") from None
        raise OperationError(Problem(path, failure.strerror or str(failure))) from None


def _has_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _own_commands(session: Session) -> Lock:
    try:
        lock = session.current_lock
    except InstallationError:
        lock = None  # `self init` works without an installation
    if lock is not None:
        return Lock([], lock.commands)
    session.make_packages_importable()
    from host.planning.discovery import own_commands

    return Lock([], own_commands(session.layout))


def _named_values(
    arguments: Iterable[Argument], given: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the arguments' values as keyword arguments for the command's function."""
    values: dict[str, Any] = {}
    for one in arguments:
        found = given.get(one.name, ())
        text = found[0] if found else one.default
        value: Any = float(text) if text and one.type == "number" else text
        if one.flag:
            value = bool(found)
        elif one.repeats:
            value = tuple(found)
        values[one.bare_name.lstrip("-").replace("-", "_")] = value
    return values
