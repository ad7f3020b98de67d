"""`self lock`."""

import os

from host.cli.session import Session


def command(session: Session) -> None:
    """Rebuild the lock, the cache of what plugins declare.

    This is never necessary, because each run notices changes of commands and plugins.
    """
    session.refresh_lock()
    written = next(filter(os.path.exists, session.installation.locks), None)
    session.show_lines(
        written or "the lock was not written, because no directory for it is writable"
    )
