"""Take an installed application away, and nothing that setup did not make."""

import errno
import os
from pathlib import Path

from builtin_plugins.setup_stage import hold_stage, remove_tree
from builtin_plugins.setup_state import (
    Owner,
    Places,
    directory_owner,
    link_owner,
    menu_owner,
    was_interrupted,
)
from builtin_plugins.setup_steps import replace_file, replace_link, undoing, uninterrupted
from builtin_plugins.setup_swap import OLD, heal


def remove_all(places: Places) -> None:
    """Remove application, link and menu entry; raises OSError, OperationError."""
    try:
        with hold_stage(places.stage, lambda: was_interrupted(places)) as stage:
            heal(places)
            _take_away(places, os.path.join(stage, OLD))
    except OSError as failure:
        if failure.errno not in (errno.ENOSPC, errno.EDQUOT) or os.path.lexists(places.stage):
            raise
        _take_away(places, places.stage)  # a full disk has no room for a stage
        remove_tree(places.stage)


def _take_away(places: Places, grave: str) -> None:
    """Unlink the small things and move the application to `grave`, in one rename.

    Puts back what it unlinked when a step fails.
    """
    owners = (directory_owner(places), link_owner(places), menu_owner(places))
    with uninterrupted(), undoing() as undo:
        if owners[2] is Owner.SETUP:
            entry = Path(places.desktop_file).read_text(encoding="utf-8")
            os.unlink(places.desktop_file)
            undo.append(lambda: replace_file(places.desktop_file, entry))
        if owners[1] is Owner.SETUP:
            target = os.readlink(places.link)
            os.unlink(places.link)
            undo.append(lambda: replace_link(places.link, target))
        if owners[0] is Owner.SETUP:
            os.rename(places.install_dir, grave)
