"""`self lock`."""

from builtin_plugins.self_commands.decorator import self_command
from host.lock.lock import read_lock
from host.session.session import Session


@self_command(
    "lock",
    "Rebuild the lock",
    hidden=True,  # rarely needed, so only `--all` lists it
)
def lock(session: Session) -> None:
    """Rebuild the lock, the cache of the plugins' declarations.

    This is never necessary, because each run notices changes to commands and plugins.
    """
    session.refresh_lock()

    # The lock is read again to learn where it is, because the first place may not be writable.
    installation = session.installation
    for path in installation.locks:
        if read_lock([path], installation.key):
            session.show_lines(path)
            return

    session.show_lines(
        "the lock was not written, because no directory for it is writable"
    )
