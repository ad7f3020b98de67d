"""Listings of commands, and the choice between a listing and a help page."""

from __future__ import annotations

from host.catalog.catalog import Match
from host.catalog.contents import Contents
from host.errors import OperationError, PluginError, UsageError
from host.global_options import (
    FORMATS,
    HELP_WORDS,
    OPTIONS,
    GlobalOptions,
    read_listing_options,
)
from host.listing import Listing
from host.pages.topics import DOCS, topic, without_installation
from host.processes.importing import load_reference
from host.session.session import Session
from host.session.unknown_words import unknown_word
from host.words import SELF, TOPICS, asks_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from host.lock.plugin import Plugin

_SETUP = "setup"


def show(session: Session, options: GlobalOptions) -> None:
    """Show the listing or page that the command line `options` requests. Raises HostError."""
    if _asks_how_to_begin(session, options):
        session.show(without_installation(session))
        return

    match = session.find(options.words)
    rest = options.words[len(match.words) :]
    if match.kind == "unknown":
        topics = _topics(options)
        if rest[0] in topics:
            session.show(topic(rest[0], session.program))
            return
        if not match.words or rest != ("help",):
            raise unknown_word(session, match, rest, topics)

        # `cli deploy help`, as in other programs
        match = session.find(match.words)
        rest = ()

    session.messages.warn(*session.installation.config.warnings)
    definition = match.definition
    if definition is not None:
        session.messages.warn(*definition.warnings)
    if definition is None or match.kind != "command":
        _show_listing(session, match, options, rest)
        return

    if options.everything or options.format:
        raise UsageError("--all and --format are for listings, not for commands")
    if not options.help and not asks_help(rest):
        # It has appeared since `find_run` looked for it, and has not run.
        what = f"{' '.join(match.words)}: this command has just been added, and did not run"
        raise OperationError(what, "run it again")
    from host.pages.help_page import show_page  # listings do not need it

    words = [word for word in rest if word not in HELP_WORDS]
    show_page(session, match, definition, words)


def _show_listing(
    session: Session, match: Match, options: GlobalOptions, rest: Sequence[str]
) -> None:
    """Show the listing of a category; `rest` has the words after those of the category."""
    options = read_listing_options(rest, session.messages, options, match.words)
    if options.words:
        called = " ".join([session.program, *match.words])
        what = f"unexpected argument {options.words[0]}"
        raise UsageError(what, f"see: {called} --help")

    output_format = options.format
    if not output_format:
        output_format = "text"
    text = listing_text(session, match, output_format, everything=options.everything)
    session.show(text)


def _topics(options: GlobalOptions) -> Collection[str]:
    """Return the topics that `help` may name here: `help colour` is one, `help x colour` is not."""
    if options.help and len(options.words) == 1:
        return TOPICS
    return ()


def _asks_how_to_begin(session: Session, options: GlobalOptions) -> bool:
    """Return whether the user wants general help and there is no installation."""
    if not _asks_general_help(options):
        return False
    return session.is_missing


def _asks_general_help(options: GlobalOptions) -> bool:
    """Return whether the command line asks for nothing in particular, or for help with `self`."""
    words = options.words
    if not words:
        asks_listing = options.everything or options.format != ""
        return options.help or not asks_listing
    if words[0] != SELF:
        return False
    return options.help or words[-1] in HELP_WORDS


def listing_text(
    session: Session, match: Match, format: str, *, everything: bool, deep: bool = False
) -> str:
    """Return the rendered listing of a category. Raises UsageError for an unknown format."""
    if format == "tree":
        deep = True
    inside = session.listed(match.words, deep=deep, everything=everything)
    if _is_nothing(match, inside):
        *category, word = match.words
        parent = session.find(tuple(category))
        raise unknown_word(session, parent, [word])
    return rendered(session, match, inside, format, deep=deep)


def _is_nothing(match: Match, inside: Contents) -> bool:
    """Return whether a category's folder has no definition and no commands."""
    if not match.words or match.definition is not None:
        return False
    if inside.categories or inside.commands:
        return False
    # Commands that the listing leaves out, such as hidden ones, count.
    for node in match.nodes:
        if node.holds_commands():
            return False
    return True


def rendered(
    session: Session, match: Match, inside: Contents, format: str, *, deep: bool = False
) -> str:
    """Return the contents of a category as text. Raises UsageError for an unknown format."""
    _set_installed(session, inside)
    listing = _listing_of(session, match, inside, deep=deep)
    call = {"listing": listing, "format": format, "terminal": session.terminal}
    is_builtin = format in FORMATS
    [text] = first_results(session, "render_listing", [call], only_builtin=is_builtin)
    if not isinstance(text, str):
        what = f"unknown format {format!r}"
        raise UsageError(what, "use text, json, tree or a plugin's format")
    return text


def _set_installed(session: Session, inside: Contents) -> None:
    """Ask the plugins whether what each command of `setup` installs is installed."""
    commands = []
    calls = []
    for command in inside.commands:
        if command.words[0] == _SETUP:
            commands.append(command)
            calls.append({"command": command})

    # one call for all of them, because a plugin answers in a child process
    results = first_results(session, "is_installed", calls)
    for command, result in zip(commands, results, strict=True):
        command.installed = bool(result)


def _listing_of(
    session: Session, match: Match, inside: Contents, *, deep: bool
) -> Listing:
    config = session.installation.config
    listing = Listing(
        program=session.program,
        words=match.words,
        name=config.name,
        description=config.description,
        version=config.version,
        categories=inside.categories,
        commands=inside.commands,
        deep=deep,
    )
    definition = match.definition
    if definition is not None and definition.entrypoint:
        listing = listing.replaced(runnable=True, arguments=definition.args)
    if match.words:
        return listing.replaced(
            name=match.name, description=match.description, version=""
        )
    if not deep:
        notes = root_notes(session.program)
        return listing.replaced(options=tuple(OPTIONS.items()), notes=notes)
    return listing


def root_notes(program: str) -> tuple[str, ...]:
    """Return the lines that point to more help, at the end of the root's listing."""
    return (
        f"`{program} help <words…>` explains a command; `{program} self` manages this program.",
        f"`{program} help {'|'.join(TOPICS[1:])}`",
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
    first: list[Any] = [None] * len(calls)
    for plugin in _plugins_with(session, hook):
        if plugin.broken:
            continue
        if only_builtin and not plugin.ours:
            continue

        # the calls that no plugin has answered yet
        left = []
        calls_left = []
        for index, call in enumerate(calls):
            if first[index] is None:
                left.append(index)
                calls_left.append(call)
        if not left:
            break

        results = _results(session, plugin, hook, calls_left)
        for index, result in zip(left, results, strict=True):
            first[index] = result
    return first


def _plugins_with(session: Session, hook: str) -> list[Plugin]:
    """Return the plugins that have a hook, in the order in which they are called."""
    plugins = []
    for plugin in session.lock.plugins.values():
        if hook in plugin.hooks:
            plugins.append(plugin)

    plugins.reverse()
    plugins.sort(key=lambda plugin: plugin.hooks[hook])
    return plugins


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
    from host.lock.broken import with_distribution
    from host.lock.plugin_worker import call_hook
    from host.lock.write_lock import write_lock

    try:
        return call_hook(plugin, hook, calls, session.program)
    except PluginError as failure:
        plugin.broken = with_distribution(plugin, str(failure))
    session.messages.warn(*session.lock.warnings(session.program))
    write_lock(session.installation.locks, session.installation.key, session.lock)
    return [None] * len(calls)
