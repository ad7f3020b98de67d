"""`self lock`."""

import os

from host.cli.session import Session


def command(session: Session) -> None:
    """Rebuild the lock.

    Nobody has to: every change of commands and plugins is seen by the next
    invocation. It helps to find out what plugins declare.
    """
    session.refresh_lock()
    written = next(filter(os.path.exists, session.installation.locks), None)
    session.show_lines(written or "not written: no place for it is writable")
