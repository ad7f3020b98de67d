"""Everything but running a command: `--version`, listings, help pages and the way to `self`.

Each answer imports what it needs and no more: `--version` next to nothing, a listing
no click, `self` no renderer.
"""

from host.cli.options import Asked, parse_options
from host.cli.session import Session
from host.run.installation import Layout
from host.run.lock import RESERVED
from host.run.messages import Messages
from host.run.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run_cli(
    layout: Layout,
    words: "Sequence[str]",
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
    if asked.words[:1] == ("help",):
        asked = Asked(asked.words[1:], True, False, asked.everything, asked.format)
    if asked.words[:1] == (RESERVED,):
        from host.cli.self_group import run_self

        return run_self(session, asked.words, help_asked=asked.help)
    from host.cli.pages import show

    show(session, asked)
    return 0


def version_line(name: str, version: str) -> str:
    """Return what `--version` prints."""
    return f"{printable(name)} {printable(version)}\n"
