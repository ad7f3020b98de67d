"""Dispatch command lines that run in this process: `--version`, listings, help pages, `self`.

Any other command replaces this process: see `host.__main__`.

Each command line imports only the modules that it needs. For example, a listing imports no plugin
manager, and `self` imports no renderer.
"""

import posix

from host.errors import HostError
from host.global_options import GlobalOptions
from host.session.session import Session


def run_cli(session: Session, options: GlobalOptions) -> int:
    """Handle a command line in this process; return the exit status. Raises HostError."""
    if options.version:
        session.show(f"{session.version}\n")
        return 0

    while options.words[:1] == ("help",):  # Tab offers `help help`
        options = options.replaced(words=options.words[1:], help=True)

    status = 0
    if options.words[:1] == ("self",):
        from host.dispatch.self_call import run_self

        status = run_self(session, options)
    else:
        from host.pages.listings import show

        show(session, options)

    try:
        _show_news(session)
    except HostError:
        pass  # the output is already complete
    return status


def _show_news(session: Session) -> None:
    """Show what is new in the repository of the installation, if it wants that and a user reads."""
    if session.installation.config.follow != "notice":
        return
    if not posix.isatty(1) or not posix.isatty(2):
        return

    from host.dispatch.self_call import run_self

    run_self(session, GlobalOptions(("self", "news")))
