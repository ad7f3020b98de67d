"""`self lock`."""

from __future__ import annotations

import os

from host.cli.session import Session


def command(session: Session) -> None:
    """Rebuild the lock.

    Nobody has to: every change of commands and plugins is seen by the next
    invocation. It helps to find out what plugins declare.
    """
    lock = session.refresh_lock()
    written = next((place for place in session.installation.locks if os.path.exists(place)), None)
    session.show(
        f"{written or 'not written: no place for it is writable'}\n"
        f"directories: {len(lock.trees)}, commands in Python: {len(lock.commands)}, "
        f"sources of variables: {len(lock.sources)}\n"
    )
