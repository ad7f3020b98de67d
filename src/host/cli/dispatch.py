"""Dispatch of everything that runs no command: `--version`, listings, help pages, `self`.

Each answer imports what it needs and no more: `--version` next to nothing, a listing
no plugin, `self` no renderer.
"""

from host.cli.global_options import GlobalOptions, without_color

# The words of `self` that work if cli.json needs a newer version of this program.
_OF_ANY_VERSION = (("version",), ("info",), ("doctor",), ("update",), ("init",))

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
    if asked.words[:1] != ("self",) or asked.words[1:2] not in _OF_ANY_VERSION:
        session.check_version()
    if asked.words[:1] == ("help",):
        asked.words, asked.help = asked.words[1:], True
    if asked.words[:1] == ("self",):
        session.find_packages()
        from host.cli.self_dispatch import run_self

        return run_self(session, asked)
    from host.cli.listings import show

    show(session, asked)
    return 0
