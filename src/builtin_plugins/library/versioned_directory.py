"""Several versions of a directory; one link, replaced by a rename, selects the current one.

    <directory>/<version>      a complete version
    <directory>/.cli-stage-…   a version that is being made or removed
    <link>                     points to the current version, or to `inside` in it

A version is made in a stage, a temporary directory (`staging`), moved to its final path (`add`),
made current (`activate`) and removed when it is neither current nor kept (`collect`). A directory
with a version's name is always complete, because it is added and removed by one rename. An
interrupted change therefore leaves the old version or the new one. It may also leave stages, which
the next `collect` removes.
"""

import os
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress

from builtin_plugins.library.files import atomic
from host import OperationError

STAGE = ".cli-stage-"  # prefix of the names of stages (temporary directories)
_ATTEMPTS = 20  # at making a stage that no other process removes


class Store:
    """The versions in `directory`, and the `link` to the current one.

    The link points to the version, or to the directory `inside` it if that is not "".
    `is_own(path)` returns whether this program made the directory at `path`; other directories
    are not treated as versions. `add`, `activate` and `collect` require a file lock:
    `exclusive`, or a wider one that the caller holds. All methods may raise OSError.
    """

    def __init__(
        self, directory: str, link: str, is_own: Callable[[str], bool], inside: str = ""
    ) -> None:
        self.directory = directory
        self.link = link
        self._is_own = is_own
        self._inside = inside

    def path(self, version: str) -> str:
        """Return the path for `version`, whether or not the version exists."""
        return os.path.join(self.directory, version)

    def link_target(self, version: str) -> str:
        """Return the path to which the link points while `version` is the current one."""
        path = os.path.join(self.path(version), self._inside)
        return path.rstrip("/")

    @property
    def current(self) -> str:
        """The version that the link points to, even if that version is missing, or "" for none."""
        if not os.path.islink(self.link):
            return ""

        above = os.path.dirname(self.link)
        written = os.readlink(self.link)
        target = os.path.normpath(os.path.join(above, written))
        below = os.path.relpath(target, self.directory)
        version, _, _ = below.partition("/")
        if self.link_target(version) != target:
            return ""
        return version

    def versions(self, without: Collection[str] = ()) -> list[str]:
        """Return the complete versions, sorted, except those in `without`."""
        if not atomic.is_real_dir(self.directory):
            return []

        versions = []
        for name in sorted(os.listdir(self.directory)):
            if name.startswith(".") or name in without:
                continue
            path = self.path(name)
            if atomic.is_real_dir(path) and self._is_own(path):
                versions.append(name)
        return versions

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the file lock on this store. Raises OperationError if another process has it.

        The directory and its missing parents are made; at the end, they are removed if empty.
        """
        # Imported here: see `staging`.
        from builtin_plugins.library.files.file_lock import file_lock
        from builtin_plugins.library.files.undo import undoing

        with undoing() as undo:
            atomic.make_directory(os.path.dirname(self.directory), 0o755, undo)
            # There is no undo step for this one, because others may lock the directory.
            atomic.make_directory(self.directory, 0o755)
            with file_lock(self.directory):
                try:
                    yield
                finally:
                    with suppress(OSError):
                        os.rmdir(self.directory)
            if not os.path.lexists(self.directory):
                undo.close()

    def add(self, staged: str, version: str, undo: ExitStack) -> None:
        """Flush the directory `staged` to the disk and move it to the path of `version`.

        An existing directory of that version is replaced; it must not be in use.
        """
        # The files must be on disk before their directory gets the name of a complete version.
        atomic.sync_file_system(staged)
        path = self.path(version)
        if os.path.lexists(path):
            _move(path, self._grave(version), undo)
        _move(staged, path, undo)
        atomic.sync_directory(self.directory)

    def activate(self, version: str, undo: ExitStack) -> None:
        """Point the link to `version` in one step; if `version` is "", remove the link.

        `undo` gets a step that restores the former link.
        """
        former = self.current
        self.point_to(version)
        undo.callback(self.point_to, former)

    def point_to(self, version: str) -> None:
        """Point the link to `version`, as `activate` does, if nothing can fail after it."""
        above = os.path.dirname(self.link)
        if version:
            target = os.path.relpath(self.link_target(version), above)
            atomic.write_link(self.link, target)
        elif os.path.islink(self.link):
            os.unlink(self.link)
        atomic.sync_directory(above)

    def collect(self, keep: Collection[str] = ()) -> list[OperationError]:
        """Remove abandoned staging directories; keep only the current version and those in `keep`.

        Returns an error for each directory that cannot be removed.
        """
        atomic.discard(atomic.temporary(self.link))
        unused = self.versions({self.current, *keep})
        paths = [self.path(version) for version in unused]
        paths += abandoned(self.directory)

        problems = []
        for path in paths:
            problem = self._remove(path)
            if problem is not None:
                problems.append(problem)
        return problems

    def _remove(self, path: str) -> OperationError | None:
        """Remove a version or a staging directory; return an error if it cannot be removed.

        A version is first renamed to a staging directory, so that no incomplete version remains.
        """
        name = os.path.basename(path)
        try:
            if name.startswith(STAGE):
                _remove_stage(path)
            else:
                grave = self._grave(name)
                os.rename(path, grave)
                path = grave
                atomic.remove_path(path)
        except OSError as failure:
            why = f"{path} cannot be removed: {failure.strerror}"
            return OperationError(why, f"rm -r {shlex.quote(path)}")
        return None

    def _grave(self, version: str) -> str:
        path = self.path(f"{STAGE}{version}")
        while os.path.lexists(path):
            path += "+"
        return path


@contextmanager
def staging(directory: str) -> Iterator[str]:
    """Yield a new private directory in `directory`, locked to mark it as in use.

    Directories that interrupted changes left behind are removed first. The new directory is
    removed at the end of the block. Raises OSError, or OperationError if it cannot be locked.
    """
    remove_abandoned(directory)
    with ExitStack() as locked:
        path = _new_stage(directory, locked)
        try:
            yield path
        finally:
            with suppress(OSError):
                atomic.remove_path(path)


def _new_stage(directory: str, locked: ExitStack) -> str:
    """Make a staging directory; `locked` holds its lock. Raises OSError or OperationError."""
    # Imported here because lists of plugins load this module.
    import tempfile

    from builtin_plugins.library.files.file_lock import file_lock

    attempts = _ATTEMPTS
    while True:
        try:
            path = tempfile.mkdtemp(prefix=STAGE, dir=directory)
        except OSError as failure:
            raise OSError(failure.errno, failure.strerror, directory) from None

        attempts -= 1
        try:
            locked.enter_context(file_lock(path))
        except OperationError:
            # Another process may take a directory that is not locked yet for an abandoned one.
            if not attempts:
                raise
        else:
            return path


def remove_abandoned(directory: str) -> None:
    """Remove the staging directories that interrupted changes left behind; ignore errors."""
    for path in abandoned(directory):
        with suppress(OSError):
            _remove_stage(path)


def _remove_stage(path: str) -> None:
    """Remove a staging directory, unless a process uses it. Raises OSError."""
    from builtin_plugins.library.files.file_lock import (
        file_lock,
    )  # here: see `_new_stage`

    # While the lock is held, no process can begin to use the directory.
    with suppress(OperationError), file_lock(path):
        atomic.remove_path(path)


def abandoned(directory: str) -> list[str]:
    """Return the staging directories in `directory` that no process uses any more."""
    if not os.path.isdir(directory):
        return []

    stages = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.startswith(STAGE) and _is_free(path):
            stages.append(path)
    return stages


def _is_free(path: str) -> bool:
    from builtin_plugins.library.files.file_lock import (
        file_lock,
    )  # here: see `_new_stage`

    # The process that makes a stage holds its lock.
    with suppress(OperationError), file_lock(path):
        return True
    return False


def _move(source: str, target: str, undo: ExitStack) -> None:
    os.rename(source, target)
    undo.callback(os.rename, target, source)
