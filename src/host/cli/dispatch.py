"""Dispatch of everything that runs no command: `--version`, listings, help pages, `self`.

Each answer imports what it needs and no more: `--version` next to nothing, a listing
no plugin, `self` no renderer.
"""

from host.cli.global_options import GlobalOptions, without_color
from host.cli.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.run.installation import Layout, OpenInstallation
    from host.run.lock import Lock
    from host.run.text import Messages


def run_cli(
    layout: "Layout",
    asked: GlobalOptions,
    environ: dict[str, str],
    messages: "Messages",
    start: "tuple[OpenInstallation, Lock] | None",
    *,
    safe: bool,
    assume_yes: bool,
) -> int:
    """Answer what is not a command to run; return the exit status, raise HostError.

    `start` is what a run looked up before it turned out that there is nothing to run.
    """
    session = Session(layout, environ, messages, safe=safe, assume_yes=assume_yes, start=start)
    if asked.words[:1] in (("help",), ("self",)):
        asked.words = without_color(asked.words, messages)
    if asked.version:
        session.show(f"{session.version}\n")
        return 0
    if asked.words[:1] == ("help",):
        asked.words, asked.help = asked.words[1:], True
    if asked.words[:1] == ("self",):
        session.find_packages()
        from host.cli.self_dispatch import run_self

        return run_self(session, asked)
    from host.cli.listings import show

    show(session, asked)
    return 0
