"""Listings of commands, and the choice between a listing and a help page."""

from __future__ import annotations

from host.cli.contents import Contents
from host.cli.global_options import (
    FORMATS,
    HELP_WORDS,
    OPTIONS,
    GlobalOptions,
    read_listing_options,
)
from host.cli.session import Session
from host.cli.topics import DOCS, TOPICS, topic, without_installation
from host.cli.unknown_words import unknown_word
from host.errors import PluginError, UsageError
from host.listing_records import Listing
from host.run.catalog import Match
from host.run.importing import load_reference
from host.run.words import SELF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.run.plugin import Plugin

_SETUP = "setup"


def show(session: Session, options: GlobalOptions) -> None:
    """Show the listing or page that the command line `options` requests. Raises HostError."""
    if _asks_how_to_begin(session, options):
        session.show(without_installation(session))
        return
    found = session.find(options.words)
    rest = options.words[len(found.words) :]
    if found.kind == "unknown" and rest == ("help",) and found.words:
        found, rest = session.find(found.words), ()
    if found.kind == "unknown":
        topics = TOPICS if options.help and len(options.words) == 1 else ()
        if rest[0] not in topics:
            raise unknown_word(session, found, rest, topics)
        session.show(topic(rest[0], session.program))
        return
    session.messages.warn(*session.installation.config.warnings)
    if found.definition is not None:
        session.messages.warn(*found.definition.warnings)
    if found.kind == "command" and found.definition is not None:
        if options.everything or options.format:
            raise UsageError("--all and --format are for listings, not for commands")
        from host.cli.help_page import (
            help_page,
        )  # imported here, because listings do not need it

        session.show(help_page(session, session.catalog, found, found.definition))
        return
    options = read_listing_options(rest, session.messages, options, found.words)
    if options.words:
        called = " ".join([session.program, *found.words])
        raise UsageError(
            f"unexpected argument {options.words[0]}", f"see: {called} --help"
        )
    session.show(
        listing_text(
            session, found, options.format or "text", everything=options.everything
        )
    )


def _asks_how_to_begin(session: Session, options: GlobalOptions) -> bool:
    """Return whether the user wants general help and there is no installation."""
    alone = not (options.words or options.everything or options.format)
    helps = alone or options.help or not {*options.words[-1:]}.isdisjoint(HELP_WORDS)
    return helps and options.words[:1] in ((), (SELF,)) and session.is_missing


def listing_text(
    session: Session, found: Match, format: str, *, everything: bool, deep: bool = False
) -> str:
    """Return the rendered listing of a category. Raises UsageError for an unknown format."""
    deep = deep or format == "tree"
    inside = session.listed(found.words, deep=deep, everything=everything)
    is_category = (
        not found.words or found.definition or inside.categories or inside.commands
    )
    if not is_category and not any(node.holds_commands() for node in found.nodes):
        raise unknown_word(session, session.find(found.words[:-1]), found.words[-1:])
    return rendered(session, found, inside, format, deep=deep)


def rendered(
    session: Session, found: Match, inside: Contents, format: str, *, deep: bool = False
) -> str:
    """Return the contents of a category as text. Raises UsageError for an unknown format."""
    config = session.installation.config
    about = found if found.words else config
    runs = found.definition is not None and found.definition.entrypoint != ""
    at_root = not found.words and not deep
    setup = [command for command in inside.commands if command.words[0] == _SETUP]
    calls = [{"command": command} for command in setup]
    installed = first_results(session, "is_installed", calls)
    for command, result in zip(setup, installed, strict=True):
        command.installed = bool(result)
    listing = Listing(
        program=session.program,
        words=found.words,
        name=about.name,
        description=about.description,
        version="" if found.words else config.version,
        categories=inside.categories,
        commands=inside.commands,
        deep=deep,
        runnable=runs,
        arguments=found.definition.args if runs and found.definition else (),
        options=(*OPTIONS.items(),) if at_root else (),
        notes=root_notes(session.program) if at_root else (),
    )
    call = {"listing": listing, "format": format, "terminal": session.terminal}
    [text] = first_results(
        session, "render_listing", [call], only_builtin=format in FORMATS
    )
    if not isinstance(text, str):
        raise UsageError(
            f"unknown format {format!r}", "use text, json, tree or a plugin's format"
        )
    return text


def root_notes(program: str) -> tuple[str, ...]:
    """Return the lines that point to more help, at the end of the root's listing."""
    return (
        f"`{program} help <words…>` explains a command; `{program} self` manages this program.",
        f"`{program} help {'|'.join(TOPICS)}`",
        f"More: {DOCS}",
    )


def first_results(
    session: Session,
    hook: str,
    calls: Sequence[Mapping[str, Any]],
    *,
    only_builtin: bool = False,
) -> list[Any]:
    """Call the plugins' `hook`; return for each of `calls` the first result that is not None.

    A call has the hook's arguments by name. The plugin registered last is called first, as in
    pluggy.
    """
    found: list[Any] = [None] * len(calls)
    plugins = [
        plugin for plugin in session.lock.plugins.values() if hook in plugin.hooks
    ]
    plugins.reverse()
    for plugin in sorted(plugins, key=lambda plugin: plugin.hooks[hook]):
        left = [index for index, result in enumerate(found) if result is None]
        if left and not plugin.broken and (plugin.ours or not only_builtin):
            results = _results(session, plugin, hook, [calls[index] for index in left])
            for index, result in zip(left, results, strict=True):
                found[index] = result
    return found


def _results(
    session: Session, plugin: Plugin, hook: str, calls: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """Return the results of a plugin's `hook`, one for each of `calls`.

    A built-in plugin is called directly, without pluggy, and any other in a child process. If the
    child fails, the results are None, and the plugin is reported and skipped until one of its
    files changes.
    """
    if plugin.ours:
        function = load_reference(f"{plugin.reference}:{hook}")
        return [function(**call) for call in calls]
    session.make_packages_importable()
    from host.planning.lock_file import write_lock
    from host.planning.plugin_worker import call_hook

    try:
        return call_hook(plugin, hook, calls, session.program)
    except PluginError as failure:
        plugin.broken = f"{plugin.distribution}: {failure}"
    session.messages.warn(*session.lock.warnings(session.program))
    write_lock(session.installation.locks, session.installation.key, session.lock)
    return [None] * len(calls)
