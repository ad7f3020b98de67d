"""Put a prepared application in place of the old one, or take it away.

At every moment the old version starts or the new one does, and the link never
dangles. Each step is one rename, and each has its undo. Where the file system can
exchange two directories, that one call is the swap. Elsewhere, and when the launcher
moves within the archive, the command starts from a hard-linked copy of the new
version (the bridge) while the directories change places.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from builtin_plugins.files.atomic import (
    copy_linked,
    discard,
    sync_directory,
    sync_file_system,
    temporary,
    undoing,
    uninterrupted,
    write_file,
    write_link,
)
from builtin_plugins.files.exchange import exchange
from builtin_plugins.setup.linux.prepare import read_prepared
from builtin_plugins.setup.linux.stage import (
    BRIDGE,
    NEW,
    OLD,
    clear_stage,
    hold_stage,
    make_readable,
    remove_tree,
)
from builtin_plugins.setup.linux.state import (
    Owner,
    directory_owner,
    is_installed,
    owned,
    read_mark,
    refuse_foreign,
    small_file,
    starts_from_stage,
)
from builtin_plugins.setup.places import Places


def swap_in(places: Places, bring: Callable[[str], None]) -> None:
    """Let `bring` make `<stage>/new`, and that the installed version.

    Undoes what was done and raises OSError when a step fails, OperationError when
    something foreign is in the way.
    """
    with undoing() as undo:
        make_readable(os.path.dirname(places.install_dir), undo)
        with recovered_stage(places) as stage:
            bring(stage)
            make_readable(places.bin_dir, undo)
            make_readable(os.path.dirname(places.desktop_file), undo)
            _put_in_place(places)


@contextmanager
def recovered_stage(places: Places) -> Iterator[str]:
    """Hold the stage, without what a killed run left in it; yields its path."""
    with hold_stage(places.stage, lambda: starts_from_stage(places)) as stage:
        _recover(places)
        yield stage


def _put_in_place(places: Places) -> None:
    """Make `<stage>/new` the installed version; its notes name launcher and menu entry."""
    prepared = read_prepared(os.path.join(places.stage, NEW))
    launcher, menu = prepared["launcher"], prepared["menu"]
    sync_file_system(places.stage)
    refuse_foreign(places)  # a download is long enough for something to appear there
    with uninterrupted(), undoing() as undo:
        _swap_directory(places, launcher, undo)
        former = small_file(places.desktop_file)
        _replace(_write_menu, places.desktop_file, menu, former, undo)
        _point_link(places, os.path.join(places.install_dir, launcher), undo)
    sync_directory(os.path.dirname(places.install_dir))
    sync_directory(places.bin_dir)


def _recover(places: Places) -> None:
    """Bring the leftovers of a killed run to the old version or the new one, and clear them.

    The caller holds the stage. Only a swap without exchange leaves the command starting
    from the stage; then one of the two versions is in the stage, complete.
    """
    with uninterrupted():
        if starts_from_stage(places):
            for name in (NEW, OLD):
                staged = os.path.join(places.stage, name)
                belongs = read_mark(staged).get("tool") == places.tool
                if belongs and directory_owner(places) is Owner.NOBODY:
                    os.rename(staged, places.install_dir)
            launcher = read_mark(places.install_dir).get("launcher", "")
            if directory_owner(places) is Owner.SETUP and launcher:
                write_link(places.link, os.path.join(places.install_dir, launcher))
        for path in (temporary(places.link), temporary(places.desktop_file)):
            discard(path)
    if not starts_from_stage(places):
        clear_stage(places.stage)


def left_behind(places: Places) -> list[str]:
    """Return what interrupted runs left outside the stage."""
    paths = (temporary(places.link), temporary(places.desktop_file))
    return [path for path in paths if os.path.lexists(path)]


def _swap_directory(places: Places, launcher: str, undo: ExitStack) -> None:
    new, target = os.path.join(places.stage, NEW), places.install_dir
    if not os.path.lexists(target):
        os.rename(new, target)
        undo.callback(os.rename, target, new)
        return
    live = is_installed(places)
    kept = not live or os.readlink(places.link) == os.path.join(target, launcher)
    if kept:
        with suppress(OSError):
            exchange(new, target)
            undo.callback(exchange, new, target)
            return
    if live:
        os.chmod(places.stage, 0o755)  # noqa: S103  # everybody's command starts from there now
        copy_linked(new, os.path.join(places.stage, BRIDGE))
        _point_link(places, os.path.join(places.stage, BRIDGE, launcher), undo)
    old = os.path.join(places.stage, OLD)
    os.rename(target, old)
    undo.callback(os.rename, old, target)
    os.rename(new, target)
    undo.callback(os.rename, target, new)
    if live:
        _point_link(places, os.path.join(target, launcher), undo)


def _point_link(places: Places, target: str, undo: ExitStack) -> None:
    former = os.readlink(places.link) if os.path.lexists(places.link) else None
    _replace(write_link, places.link, target, former, undo)


def _replace(
    write: Callable[[str, str], None], path: str, new: str, former: str | None, undo: ExitStack
) -> None:
    if former == new:
        return
    write(path, new)
    if former is None:
        undo.callback(os.unlink, path)
    else:
        undo.callback(write, path, former)


def _write_menu(path: str, text: str) -> None:
    write_file(path, text, 0o644)


def remove_all(places: Places) -> None:
    """Remove application, link and menu entry; raises OSError, OperationError."""
    try:
        with recovered_stage(places) as stage:
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
    own = {path for path, _, owner in owned(places) if owner is Owner.SETUP}
    with uninterrupted(), undoing() as undo:
        if places.desktop_file in own:
            entry = small_file(places.desktop_file) or ""
            os.unlink(places.desktop_file)
            undo.callback(_write_menu, places.desktop_file, entry)
        if places.link in own:
            target = os.readlink(places.link)
            os.unlink(places.link)
            undo.callback(write_link, places.link, target)
        if places.install_dir in own:
            os.rename(places.install_dir, grave)
