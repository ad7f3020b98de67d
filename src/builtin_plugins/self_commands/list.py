"""`self list`."""

from __future__ import annotations

from host import UsageError
from host.cli.pages import listing_text
from host.cli.plain_command import ALL, FORMAT, chosen_format, takes
from host.cli.unknown import unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.cli.plain_command import Texts
    from host.cli.session import Session


@takes({"name": "words..."}, ALL, FORMAT)
def command(session: Session, given: Texts) -> None:
    """List every command below WORDS, or all there are."""
    words = tuple(given.get("words...", ()))
    found = session.find(words)
    rest = words[len(found.words) :]
    if found.kind != "command" and rest:
        raise unknown(session, found, rest)
    if found.kind == "command":
        raise UsageError(f"{' '.join(found.words)} is a command", "name a category, or nothing")
    shown = listing_text(
        session, found, chosen_format(given), everything="--all" in given, deep=True
    )
    session.show(shown)
