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
from functools import partial

from builtin_plugins.io.files.atomic import (
    discard,
    exchange,
    make_directory,
    remove_tree,
    sync_directory,
    sync_file_system,
    temporary,
    write_file,
    write_link,
)
from builtin_plugins.io.files.undo import signals_blocked, undoing
from builtin_plugins.setup.linux import state
from builtin_plugins.setup.linux.stage import NEW, OLD, clear_stage, hold_stage
from builtin_plugins.setup.tool_settings import Places

_Write = Callable[[str, str], None]
_write_menu = partial(write_file, mode=0o644)


def swap_in(places: Places, bring: Callable[[str], None]) -> None:
    """Let `bring` make `<stage>/new`, and that the installed version.

    Undoes what was done and raises OSError when a step fails, OperationError when
    something foreign is in the way.
    """
    with undoing() as undo:
        make_directory(os.path.dirname(places.install_dir), 0o755, undo)
        with recovered_stage(places) as stage:
            bring(stage)
            make_directory(places.bin_dir, 0o755, undo)
            make_directory(os.path.dirname(places.desktop_file), 0o755, undo)
            _put_in_place(places)


@contextmanager
def recovered_stage(places: Places) -> Iterator[str]:
    """Hold the stage, without what a killed run left in it; yields its path."""
    with hold_stage(places.stage, lambda: state.starts_from_stage(places)) as stage:
        _recover(places)
        yield stage


def _put_in_place(places: Places) -> None:
    """Make `<stage>/new` the installed version; its notes name launcher and menu entry."""
    prepared = state.read_prepared(os.path.join(places.stage, NEW))
    launcher, menu = prepared["launcher"], prepared["menu"]
    sync_file_system(places.stage)
    state.refuse_foreign(places)  # a download is long enough for something to appear there
    with signals_blocked(), undoing() as undo:
        _swap_directory(places, launcher, undo)
        _replace_menu(places, menu, undo)
        _point_link(places, os.path.join(places.install_dir, launcher), undo)
    sync_directory(os.path.dirname(places.install_dir))
    sync_directory(places.bin_dir)


def _recover(places: Places) -> None:
    """Bring the leftovers of a killed run to the old version or the new one, and clear them.

    The caller holds the stage. Only a swap without exchange leaves the command starting
    from a version in the stage; the other one is in place or in the stage, complete.
    """
    with signals_blocked():
        if state.starts_from_stage(places):
            for name in (NEW, OLD):
                staged = os.path.join(places.stage, name)
                is_other = not state.starts_inside(places, staged)
                has_room = state.directory_owner(places) is state.Owner.NOBODY
                if is_other and has_room and state.read_mark(staged).get("tool"):
                    os.rename(staged, places.install_dir)
            launcher = state.read_mark(places.install_dir).get("launcher", "")
            if state.directory_owner(places) is state.Owner.SETUP and launcher:
                write_link(places.link, os.path.join(places.install_dir, launcher))
        for path in (temporary(places.link), temporary(places.desktop_file)):
            discard(path)
    if not state.starts_from_stage(places):
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
    live = state.is_installed(places)
    leads = os.path.join(places.bin_dir, os.readlink(places.link)) if live else ""
    if not live or leads == os.path.join(target, launcher):
        with suppress(OSError):
            exchange(new, target)
            undo.callback(exchange, new, target)
            return
    if live:
        os.chmod(places.stage, 0o755)  # noqa: S103  # everybody's command starts from there now
        _point_link(places, os.path.join(new, launcher), undo)
    _move(target, old, undo)
    if live:
        _point_link(places, os.path.join(old, os.path.relpath(leads, target)), undo)
    _move(new, target, undo)


def _move(one: str, other: str, undo: ExitStack) -> None:
    os.rename(one, other)
    undo.callback(os.rename, other, one)


def _point_link(places: Places, target: str | None, undo: ExitStack) -> None:
    former = os.readlink(places.link) if os.path.lexists(places.link) else None
    _replace(write_link, places.link, former, target, undo)


def _replace_menu(places: Places, content: str | None, undo: ExitStack) -> None:
    former = state.small_file(places.desktop_file)
    _replace(_write_menu, places.desktop_file, former, content, undo)


def _replace(
    write: _Write, path: str, former: str | None, new: str | None, undo: ExitStack
) -> None:
    """Bring a file or link from `former` to `new`; None is none."""
    if new != former:
        _set(write, path, new)
        undo.callback(_set, write, path, former)


def _set(write: _Write, path: str, content: str | None) -> None:
    if content is None:
        os.unlink(path)
    else:
        write(path, content)


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
    own = {path for path, _, owner in state.owned(places) if owner is state.Owner.SETUP}
    with signals_blocked(), undoing() as undo:
        if places.desktop_file in own:
            _replace_menu(places, None, undo)
        if places.link in own:
            _point_link(places, None, undo)
        if places.install_dir in own:
            os.rename(places.install_dir, grave)
