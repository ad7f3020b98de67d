"""Put a prepared application in place of the old one, or take it away.

At every moment the old version starts or the new one does, and the link never
dangles. Each step is one rename, and each has its undo. Where the file system can
exchange two directories, that one call is the swap. Elsewhere, and when the launcher
moves within the archive, the command starts from a hard-linked copy of the new
version (the bridge) while the directories change places.
"""

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from builtin_plugins.setup_prepared import Prepared, read_prepared
from builtin_plugins.setup_rights import refuse_foreign
from builtin_plugins.setup_stage import clear_stage, make_directory
from builtin_plugins.setup_state import (
    Owner,
    Places,
    directory_owner,
    is_installed,
    read_mark,
    was_interrupted,
)

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
NEW, OLD, _BRIDGE = "new", "old", "bridge"


def put_in_place(places: Places) -> None:
    """Make `<stage>/new` the installed version; its notes name launcher and menu entry.

    Undoes what was done and raises OSError when a step fails, OperationError when
    something foreign is in the way. The caller holds the stage.
    """
    for directory in (places.bin_dir, os.path.dirname(places.desktop_file)):
        make_directory(directory)
    prepared = read_prepared(os.path.join(places.stage, NEW))
    _flush(places.stage)
    refuse_foreign(places)  # a download is long enough for something to appear there
    with uninterrupted(), _undoing() as undo:
        _swap_directory(places, prepared, undo)
        _write_menu(places, prepared.menu, undo)
        _point_link(places, os.path.join(places.install_dir, prepared.launcher), undo)
    _sync_directory(os.path.dirname(places.install_dir))
    _sync_directory(places.bin_dir)


def heal(places: Places) -> None:
    """Bring the leftovers of a killed run to the old version or the new one, and clear them.

    The caller holds the stage. Only a swap without exchange leaves the command starting
    from the stage; then one of the two versions is in the stage, complete.
    """
    with uninterrupted():
        if was_interrupted(places):
            for name in (NEW, OLD):
                staged = os.path.join(places.stage, name)
                if directory_owner(places) is Owner.NOBODY and _belongs(staged, places):
                    os.rename(staged, places.install_dir)
            launcher = read_mark(places.install_dir).get("launcher", "")
            if directory_owner(places) is Owner.SETUP and launcher:
                _replace_link(places, os.path.join(places.install_dir, launcher))
        for path in (_temporary(places.link), _temporary(places.desktop_file)):
            with suppress(FileNotFoundError):
                os.unlink(path)
    if not was_interrupted(places):
        clear_stage(places.stage)


def left_behind(places: Places) -> list[str]:
    """Return what interrupted runs left outside the stage."""
    paths = (_temporary(places.link), _temporary(places.desktop_file))
    return [path for path in paths if os.path.lexists(path)]


def _belongs(directory: str, places: Places) -> bool:
    return read_mark(directory).get("tool") == places.tool


def _swap_directory(places: Places, prepared: Prepared, undo: list[Callable[[], None]]) -> None:
    new, target = os.path.join(places.stage, NEW), places.install_dir
    if not os.path.lexists(target):
        os.rename(new, target)
        undo.append(lambda: os.rename(target, new))
        return
    live = is_installed(places)
    kept = not live or os.readlink(places.link) == os.path.join(target, prepared.launcher)
    if kept and _exchange(new, target):
        undo.append(lambda: _exchange_back(new, target))
        return
    if live:
        _copy_linked(new, os.path.join(places.stage, _BRIDGE))
        _point_link(places, os.path.join(places.stage, _BRIDGE, prepared.launcher), undo)
    old = os.path.join(places.stage, OLD)
    os.rename(target, old)
    undo.append(lambda: os.rename(old, target))
    os.rename(new, target)
    undo.append(lambda: os.rename(target, new))
    if live:
        _replace_link(places, os.path.join(target, prepared.launcher))
        undo.append(
            lambda: _replace_link(places, os.path.join(places.stage, _BRIDGE, prepared.launcher))
        )


def _exchange(one: str, other: str) -> bool:
    """Let two directories change places in one step; False where that cannot be done."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    status = call(
        _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    return bool(status == 0)


def _exchange_back(one: str, other: str) -> None:
    if not _exchange(one, other):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), other)


def _copy_linked(source: str, target: str) -> None:
    """Make a second tree of the same files; takes no space for their content."""
    pending = [""]
    while pending:
        inside = pending.pop()
        os.mkdir(os.path.join(target, inside), 0o755)
        with os.scandir(os.path.join(source, inside)) as entries:
            for entry in entries:
                place = os.path.join(inside, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(place)
                elif entry.is_symlink():
                    os.symlink(os.readlink(entry.path), os.path.join(target, place))
                else:
                    os.link(entry.path, os.path.join(target, place))


def _write_menu(places: Places, text: str, undo: list[Callable[[], None]]) -> None:
    path = places.desktop_file
    former = None
    if os.path.lexists(path):
        with open(path, encoding="utf-8") as file:
            former = file.read()
    if former == text:
        return
    _replace_file(path, text)
    if former is None:
        undo.append(lambda: os.unlink(path))
    else:
        earlier = former
        undo.append(lambda: _replace_file(path, earlier))


def _replace_file(path: str, text: str) -> None:
    """Write a file that others can read; whole or not at all."""
    temporary = _temporary(path)
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o644), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _point_link(places: Places, target: str, undo: list[Callable[[], None]]) -> None:
    former = os.readlink(places.link) if os.path.lexists(places.link) else None
    if former == target:
        return
    _replace_link(places, target)
    if former is None:
        undo.append(lambda: os.unlink(places.link))
    else:
        earlier = former
        undo.append(lambda: _replace_link(places, earlier))


def _replace_link(places: Places, target: str) -> None:
    temporary = _temporary(places.link)
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    os.symlink(target, temporary)
    try:
        os.rename(temporary, places.link)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _temporary(path: str) -> str:
    """Return the hidden name beside `path` under which its successor is made."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.setup")


@contextmanager
def _undoing() -> Iterator[list[Callable[[], None]]]:
    """Collect undo steps and run them backwards when the block fails.

    An undo that fails too ends the chain: the next run heals from there.
    """
    steps: list[Callable[[], None]] = []
    try:
        yield steps
    except BaseException:
        with suppress(OSError):
            for step in reversed(steps):
                step()
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C and polite kills back for the few milliseconds of a change."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    former = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _flush(path: str) -> None:
    """Write the prepared files through to the disk before anything points at them."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        ctypes.CDLL(None, use_errno=True).syncfs(descriptor)
    except (OSError, AttributeError):
        os.sync()
    finally:
        os.close(descriptor)


def _sync_directory(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
