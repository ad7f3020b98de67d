"""Dispatch of everything that runs no command: `--version`, listings, help pages, `self`.

Each answer imports what it needs and no more: `--version` next to nothing, a listing
no plugin, `self` no renderer.
"""

import posix

from host.cli.global_options import GlobalOptions, without_color
from host.errors import HostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.cli.session import Session


def run_cli(session: "Session", asked: GlobalOptions) -> int:
    """Answer what is not a command to run; return the exit status, raise HostError."""
    if asked.words[:1] in (("help",), ("self",)):
        asked.words = without_color(asked.words, session.messages)
    if asked.version:
        session.show(f"{session.version}\n")
        return 0
    if asked.words[:1] == ("help",):
        asked.words, asked.help = asked.words[1:], True
    if asked.words[:1] == ("self",):
        session.find_packages()
        from host.cli.self_dispatch import run_self

        status = run_self(session, asked)
    else:
        from host.cli.listings import show

        show(session, asked)
        status = 0
    _mention_news(session)
    return status


def _mention_news(session: "Session") -> None:
    """End an answer on a terminal with the news of the installation's repository, if there is any.

    An error is not reported: the answer itself is complete.
    """
    try:
        if session.installation.config.follow == "notice" and posix.isatty(1) and posix.isatty(2):
            session.find_packages()
            from host.cli.self_dispatch import run_self

            run_self(session, GlobalOptions(("self", "news")))
    except HostError:
        pass
