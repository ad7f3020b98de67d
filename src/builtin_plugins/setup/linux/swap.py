"""Put a prepared application in place of the old one, or take it away.

At every moment the old version starts or the new one does, and the link never
dangles. Each step is one rename, and each has its undo. Where the file system can
exchange two directories, that one call is the swap. Elsewhere, and when the launcher
moves within the archive, the link leads into the stage while the directories change
places: always to the version that lies still.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from builtin_plugins.files.atomic import (
    discard,
    exchange,
    sync_directory,
    sync_file_system,
    temporary,
    write_file,
    write_link,
)
from builtin_plugins.files.endings import undoing, uninterrupted
from builtin_plugins.setup.linux.stage import (
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
    read_prepared,
    refuse_foreign,
    small_file,
    starts_from_stage,
    starts_inside,
)
from builtin_plugins.setup.settings import Places


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
    from a version in the stage; the other one is in place or in the stage, complete.
    """
    with uninterrupted():
        if starts_from_stage(places):
            for name in (NEW, OLD):
                staged = os.path.join(places.stage, name)
                other = read_mark(staged).get("tool") and not starts_inside(places, staged)
                if other and directory_owner(places) is Owner.NOBODY:
                    os.rename(staged, places.install_dir)
            launcher = read_mark(places.install_dir).get("launcher", "")
            if directory_owner(places) is Owner.SETUP and launcher:
                write_link(places.link, os.path.join(places.install_dir, launcher))
        for path in (temporary(places.link), temporary(places.desktop_file)):
            discard(path)
    if not starts_from_stage(places):
        clear_stage(places.stage)


def left_behind(places: Places) -> bool:
    """Tell whether an interrupted run left something, or another one is at work."""
    beside = (temporary(places.link), temporary(places.desktop_file))
    return os.path.isdir(places.stage) or any(map(os.path.lexists, beside))


def _swap_directory(places: Places, launcher: str, undo: ExitStack) -> None:
    new, old = (os.path.join(places.stage, name) for name in (NEW, OLD))
    target = places.install_dir
    if not os.path.lexists(target):
        _move(new, target, undo)
        return
    live = is_installed(places)
    leads = os.path.join(places.bin_dir, os.readlink(places.link)) if live else ""
    if not live or leads == os.path.join(target, launcher):
        with suppress(OSError):
            exchange(new, target)
            undo.callback(exchange, new, target)
            return
    if not live:
        _move(target, old, undo)
        _move(new, target, undo)
        return
    os.chmod(places.stage, 0o755)  # noqa: S103  # everybody's command starts from there now
    _point_link(places, os.path.join(new, launcher), undo)
    _move(target, old, undo)
    _point_link(places, os.path.join(old, os.path.relpath(leads, target)), undo)
    _move(new, target, undo)
    _point_link(places, os.path.join(target, launcher), undo)


def _move(one: str, other: str, undo: ExitStack) -> None:
    os.rename(one, other)
    undo.callback(os.rename, other, one)


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
