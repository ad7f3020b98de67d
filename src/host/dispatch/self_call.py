"""`self …`: commands that the built-in plugins declare; their functions get the session."""

from __future__ import annotations

import os

from host.arguments.parser import parse
from host.arguments.spec import Argument
from host.catalog.catalog import Catalog
from host.errors import InstallationError, OperationError, Problem, UsageError
from host.global_options import HELP_WORDS, GlobalOptions
from host.lock.lock import Lock
from host.processes.importing import load_reference
from host.processes.own_interrupts import RaisedInterrupts
from host.session.session import Session
from host.session.unknown_words import unknown_word_in
from host.words import SELF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from host.catalog.definition import Definition

# These need no installed package and not the path of the environment, which `site` finds out.
_WITHOUT_SITE = ((SELF, "version"), (SELF, "plugin", "list"))
_HELP_OPTIONS = frozenset(["--help", "-h"])
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
    match = catalog.find(options.words)
    rest = options.words[len(match.words) :]

    definition = match.definition
    if match.kind != "command" or definition is None:
        if rest and not _is_about_listing(rest[0]):
            raise unknown_word_in(session.program, lock, match, rest[0])

        from host.pages.listings import show

        show(session, options)
        return 0

    asks_help = not _HELP_OPTIONS.isdisjoint(rest)
    if asks_help or options.help:
        from host.pages.help_page import help_page

        session.show(help_page(session, catalog, match, definition))
        return 0

    if match.words not in _WITHOUT_SITE:
        session.make_packages_importable()
    function = load_reference(definition.entrypoint)

    texts = _parsed(session, match.words, definition, options, rest)
    values = _named_values(definition.args, texts)
    try:
        with RaisedInterrupts():
            status = function(session, **values)
    except OSError as failure:
        raise _operation_error(failure) from None
    return status or 0


def _is_about_listing(word: str) -> bool:
    """Return whether a word after a category is an option or asks for help."""
    return word.startswith("-") or word in HELP_WORDS


def _parsed(
    session: Session,
    words: Sequence[str],
    definition: Definition,
    options: GlobalOptions,
    rest: Sequence[str],
) -> dict[str, list[str]]:
    """Return the texts of each argument that is on the command line. Raises UsageError."""
    # `cli --format json self plugin list` is the same as the option after the words.
    line: list[str] = []
    if options.format:
        line.append(f"--format={options.format}")
    if options.everything:
        line.append("--all")
    line += rest
    texts = parse(definition.args, line, session.program, words).texts

    for argument in definition.args:
        # A pattern decides about an empty value itself: `--ref ''` has a meaning.
        if not argument.option or argument.pattern:
            continue
        if "" in texts.get(argument.name, ()):
            command = " ".join(words)
            raise UsageError(f"{command}: {argument.name} must not be empty")

    if session.assume_yes and words != _NEVER_ASSUMED:
        texts["--yes"] = ["true"]
    return texts


def _operation_error(failure: OSError) -> OperationError:
    """Return the error for a failure of the system, with the file that it is about."""
    path = ""
    name = failure.filename2 or failure.filename
    if name:
        path = os.fsdecode(name)
    elif not _has_directory():
        what = "the current directory does not exist any more"
        return OperationError(what, "run: cd")

    reason = failure.strerror or str(failure)
    return OperationError(Problem(path, reason))


def _has_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _own_commands(session: Session) -> Lock:
    """Return a lock with the commands of `self` only."""
    try:
        lock = session.current_lock
    except InstallationError:
        lock = None  # `self init` works without an installation
    if lock is not None:
        return Lock([], lock.commands)

    session.make_packages_importable()
    from host.lock.discovery import own_commands

    return Lock([], own_commands(session.layout))


def _named_values(
    arguments: Iterable[Argument], texts: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the arguments' values as keyword arguments for the command's function."""
    values: dict[str, Any] = {}
    for argument in arguments:
        word = argument.bare_name.lstrip("-")
        name = word.replace("-", "_")
        given = texts.get(argument.name, ())
        values[name] = _value(argument, given)
    return values


def _value(argument: Argument, texts: Sequence[str]) -> Any:
    if argument.flag:
        return bool(texts)
    if argument.repeats:
        return tuple(texts)

    text = texts[0] if texts else argument.default
    if text and argument.type == "number":
        return float(text)
    return text
