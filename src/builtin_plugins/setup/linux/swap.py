"""Make a prepared version the installed one, or remove all that setup installed.

At every moment the link starts the old version or the new one. Each step is one rename with its
undo. The callers hold the lock of the store.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from builtin_plugins.io.files.atomic import (
    discard,
    make_directory,
    sync_directory,
    temporary,
    write_file,
    write_link,
)
from builtin_plugins.io.files.undo import signals_blocked, undoing
from builtin_plugins.setup.linux import state
from builtin_plugins.setup.linux.prepare import Application
from builtin_plugins.setup.tool_settings import Places
from host import OperationError

_write_menu = partial(write_file, mode=0o644)


def swap_in(places: Places, application: Application, staged: str) -> list[OperationError]:
    """Make a version the installed one; `staged` is its directory, "" if it is in the store.

    Undoes what was done and raises OSError or OperationError if a step fails. Returns what cannot
    be removed of the old version.
    """
    store = state.store_of(places)
    version, launcher = application.version, application.launcher
    state.refuse_foreign(places)  # something may have appeared during the download
    if not state.is_program(staged or store.path(version), launcher):
        raise OperationError(f"{staged or store.path(version)} has no program {launcher}")
    with signals_blocked(), undoing() as undo:
        for path in (places.link, places.desktop_file):
            make_directory(os.path.dirname(path), 0o755, undo)
        if staged:
            store.commit(staged, version, undo)
        target = os.path.join(store.link, launcher)
        if version != store.current:
            if state.is_installed(places) and os.readlink(places.link) != target:
                # The new version may lack the old launcher: lead past `current` meanwhile.
                _replace(write_link, places.link, os.path.realpath(places.link), undo)
            store.activate(version, undo)
        _replace(_write_menu, places.desktop_file, application.menu, undo)
        _replace(write_link, places.link, target, undo)
    sync_directory(places.bin_dir)
    return store.collect()


def remove_all(places: Places) -> list[OperationError]:
    """Remove link, menu entry and application; raises as `swap_in` and returns as it."""
    store = state.store_of(places)
    own = {path for path, _, owner in state.owners(places) if owner is state.Owner.SETUP}
    with signals_blocked(), undoing() as undo:
        if places.desktop_file in own:
            _replace(_write_menu, places.desktop_file, None, undo)
        if places.link in own:
            _replace(write_link, places.link, None, undo)
        if places.install_dir in own:
            store.activate("", undo)
    return clear(places)


def clear(places: Places) -> list[OperationError]:
    """Remove what killed changes left; return what cannot be removed."""
    for path in (places.link, places.desktop_file):
        discard(temporary(path))
    # A killed change may have left the link leading past `current`.
    real = os.path.relpath(os.path.realpath(places.link), os.path.realpath(places.install_dir))
    return state.store_of(places).collect(keep=[real.partition("/")[0]])


def _replace(
    write: Callable[[str, str], None], path: str, new: str | None, undo: ExitStack
) -> None:
    """Write a file or link; None removes it."""
    former = os.readlink(path) if os.path.islink(path) else state.small_file(path)
    if new != former:
        _set(write, path, new)
        undo.callback(_set, write, path, former)


def _set(write: Callable[[str, str], None], path: str, content: str | None) -> None:
    if content is None:
        os.unlink(path)
    else:
        write(path, content)
