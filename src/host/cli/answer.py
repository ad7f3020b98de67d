"""Everything but running a command: `--version`, listings, help pages and the way to `self`.

Each answer imports what it needs and no more: `--version` next to nothing, a listing
no plugin, `self` no renderer.
"""

import os

from host.cli.global_options import HELP_WORDS, parse_options, without_color
from host.cli.session import Session
from host.errors import InstallationError
from host.run.installation import Layout
from host.run.text import Messages, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.installation import OpenInstallation
    from host.run.locate import Found
    from host.run.lock import Lock


def run_cli(
    layout: Layout,
    words: "Sequence[str]",
    environ: dict[str, str],
    messages: Messages,
    start: "tuple[OpenInstallation, Lock, Found] | None",
    *,
    safe: bool,
    sure: bool,
) -> int:
    """Answer what is not a command to run; return the exit status, raise HostError.

    `start` is what a run looked up before it turned out that there is nothing to run.
    """
    session = Session(layout, environ, messages, safe=safe, sure=sure, start=start)
    asked = parse_options(words, layout.program)
    messages.choice = asked.color or messages.choice
    if asked.words[:1] in (("help",), ("self",)):
        asked.words, chosen = without_color(asked.words)
        messages.choice = chosen or messages.choice
    if asked.version:
        session.show(version_of(session))
        return 0
    if asked.words[:1] == ("help",):
        asked.words, asked.help = asked.words[1:], True
    if asked.words[:1] == ("self",):
        session.find_packages()
        from host.cli.self_words import run_self

        try:
            return run_self(session, asked.words, help_asked=asked.help)
        except InstallationError:
            helps = asked.help or asked.words[-1] in HELP_WORDS
            if not helps or not is_missing(session):
                raise
            asked.words, asked.help = (), True
    if asked.help and not asked.words and is_missing(session):
        from host.cli.topics import without_installation

        session.show(without_installation(session, version_of(session)))
        return 0
    from host.cli.listings import show

    show(session, asked)
    return 0


def is_missing(session: Session) -> bool:
    """Tell whether there is no installation; one that is wrong is there."""
    try:
        session.installation  # noqa: B018 - raises where there is none
    except InstallationError:
        return not os.path.lexists(session.layout.config_file)
    return False


def version_of(session: Session) -> str:
    """Return what `--version` prints: the host's own version where there is no installation.

    Raises InstallationError where there is one that is wrong.
    """
    if is_missing(session):
        return f"{own_version(session)}\n"
    config = session.installation.config
    return f"{printable(config.name)} {printable(config.version)}\n"


def own_version(session: Session) -> str:
    """Return the name and version of the host itself."""
    session.find_packages()
    import importlib_metadata

    from host.planning.loading import OWN_DISTRIBUTION

    return f"{OWN_DISTRIBUTION} {importlib_metadata.version(OWN_DISTRIBUTION)}"
