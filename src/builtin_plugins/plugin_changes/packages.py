"""What a package goes through after its user agreed: build, installation, a last look."""

from __future__ import annotations

from builtin_plugins.plugin_changes.change import confirmed
from builtin_plugins.plugin_changes.collisions import check_collisions, collisions_in_copy
from builtin_plugins.plugin_changes.kinds.kind import Staged, Work
from builtin_plugins.plugin_changes.kinds.pip import build_wheel, install
from builtin_plugins.plugin_directories.registry import Entry
from host import OperationError
from host.cli.session import Session


def built(session: Session, staged: Staged, work: Work, *, yes: bool) -> Staged:
    """Return what is staged as a wheel; where it is to be built, only if the user agrees."""
    if not staged.unbuilt:
        return staged
    entry = staged.entry
    session.show_lines(
        f"{entry.name} {entry.version} has no wheel; what it adds shows when it is built, which "
        "runs code of its own"
    )
    if not confirmed("Build it?", yes):
        raise OperationError("nothing was changed")
    return build_wheel(staged, work)


def install_checked(session: Session, entry: Entry, work: Work, *, force: bool = True) -> None:
    """Install a package into a copy of the environment, and ask it there what it declares.

    Raises HostError where it breaks this program or takes words of others.
    """
    install(entry, work)
    check_collisions(session, entry.name, collisions_in_copy(session, entry, work), force=force)
