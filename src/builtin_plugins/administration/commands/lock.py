"""`self lock`."""

from builtin_plugins.administration.declared import self_command
from host.cli.session import Session
from host.run.lock import read_lock


@self_command(
    "lock",
    "Rebuild the lock",
)
def lock(session: Session) -> None:
    """Rebuild the lock, the cache of the plugins' declarations.

    This is never necessary, because each run notices changes to commands and plugins.
    """
    session.refresh_lock()
    paths, key = session.installation.locks, session.installation.key
    written = next((path for path in paths if read_lock([path], key)), None)
    session.show_lines(
        written or "the lock was not written, because no directory for it is writable"
    )
