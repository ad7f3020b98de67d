"""Make a prepared version the installed one, or remove everything that setup installed.

At any moment the link starts the old version or the new one. Each step is one rename with an undo
step.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

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
from builtin_plugins.setup.tool_settings import Places
from builtin_plugins.store import staging
from host import OperationError

BUSY = "another setup is running"

_write_menu = partial(write_file, mode=0o644)


class Application(NamedTuple):
    """A version to install: its name, the launcher's path in it, the text of the menu entry.

    `source` is its directory, "" if it is already in the store.
    """

    version: str
    launcher: str
    menu: str
    source: str


def install(places: Places, prepare: Callable[[str], Application]) -> list[OperationError]:
    """Install the version that `prepare` makes in the stage that it is given.

    If a step fails, undoes everything and raises OSError or OperationError. Returns an error for
    each old version that cannot be removed.
    """
    store = state.store_of(places)
    with store.locked(BUSY):
        clear(places)
        with staging(places.install_dir) as (stage, _):
            _swap_in(places, prepare(stage))
            return store.collect()


def _swap_in(places: Places, application: Application) -> None:
    store = state.store_of(places)
    version, launcher, menu, source = application
    state.refuse_foreign(places)  # something may have appeared during the download
    if not state.is_program(source or store.path(version), launcher):
        raise OperationError(f"{source or store.path(version)} has no program {launcher}")
    with signals_blocked(), undoing() as undo:
        for path in (places.link, places.desktop_file):
            make_directory(os.path.dirname(path), 0o755, undo)
        if source:
            store.commit(source, version, undo)
        target = os.path.join(store.link, launcher)
        if version != store.current:
            if state.is_installed(places) and os.readlink(places.link) != target:
                # The new version may lack the old launcher: link directly to the old version.
                _replace(write_link, places.link, os.path.realpath(places.link), undo)
            store.activate(version, undo)
        _replace(_write_menu, places.desktop_file, menu, undo)
        _replace(write_link, places.link, target, undo)
    sync_directory(places.bin_dir)


def uninstall(places: Places) -> None:
    """Remove link, menu entry and application; raises OSError or OperationError.

    After an error nothing has changed, unless it names a version that cannot be removed.
    """
    store = state.store_of(places)
    with store.locked(BUSY):
        is_own = state.owners(places)
        with signals_blocked(), undoing() as undo:
            for write, path in (_write_menu, places.desktop_file), (write_link, places.link):
                if is_own[path]:
                    _replace(write, path, None, undo)
            if is_own[places.install_dir]:
                store.activate("", undo)
        for problem in clear(places):
            raise problem


def clear(places: Places) -> list[OperationError]:
    """Remove leftovers of killed changes, with the lock held; return errors for the others."""
    for path in (places.link, places.desktop_file):
        discard(temporary(path))
    # A killed change may have left the link pointing directly to a version.
    real = os.path.relpath(os.path.realpath(places.link), os.path.realpath(places.install_dir))
    return state.store_of(places).collect(keep=[real.partition("/")[0]])


def _replace(
    write: Callable[[str, str], None], path: str, new: str | None, undo: ExitStack
) -> None:
    """Write a file or link; None removes it."""
    former = os.readlink(path) if os.path.islink(path) else state.read_text(path)
    if new != former:
        _set(write, path, new)
        undo.callback(_set, write, path, former)


def _set(write: Callable[[str, str], None], path: str, content: str | None) -> None:
    if content is None:
        os.unlink(path)
    else:
        write(path, content)
