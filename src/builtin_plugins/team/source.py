"""A team's source, fetched into a new directory: a git repository, an archive or a directory.

None of its code is run. The files of a repository are checked like those of an archive, so hooks,
templates, filters and submodules have no effect, and no link points outside the directory.
"""

import os
import shutil
from collections.abc import Iterable

from builtin_plugins.library.archive import UnpackOptions
from builtin_plugins.library.files.atomic import copy_directory, is_real_dir
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.sources.archive import unpack
from builtin_plugins.plugins.sources.base import PluginSource
from builtin_plugins.plugins.sources.git import write_commit
from builtin_plugins.plugins.sources.parse import parse_source
from builtin_plugins.program.launcher import launchers_in
from host import OperationError, UsageError

_OURS = ("core", "core/lib", "core/schema", "config", "commands", "plugins")
_NOT_COPIED = (".git", ".venv", "cli.lock", "cli.lock.index", "__pycache__")


def _has_our_directories(paths: Iterable[str]) -> bool:
    """Return whether the top of an archive is the installation, and not a directory around it."""
    return any(path.split("/")[0] in _OURS for path in paths)


_OPTIONS = UnpackOptions(keeps_top=_has_our_directories)


def team_source(text: str) -> PluginSource:
    """Return the source that the argument SOURCE names. Raises UsageError for a package."""
    source = parse_source(text)
    if source.entry.is_package:
        address = source.entry.source
        raise UsageError(f"{address}: --from needs a repository, archive or directory")
    return source


def fetch(source: PluginSource, change: Change) -> None:
    """Write the files of a source into the new directory `change.files`.

    Raises HostError and OSError.
    """
    if source.is_from_git:
        _clone(source, change)
    elif source.has_checksum:
        unpack(source, _OPTIONS, change)
    else:
        _copy(source.address, change)
    check_installation(change.files, source.entry.source)


def _clone(source: PluginSource, change: Change) -> None:
    """Clone the repository of a source into `change.files`.

    The file `.git/info/attributes` in the clone disables git's filters, now and in later calls.
    """
    address = source.entry.source
    git = change.git(change.area, source.address)
    options = ("--quiet", "--no-checkout", "--template=", "--no-recurse-submodules")
    git.contact(address, "clone", *options, "--", address, "clone")

    git.directory = os.path.join(change.area, "clone", ".git")
    try:
        git("rev-parse", "--verify", "HEAD^{commit}")
    except OperationError:
        raise OperationError(f"{address}: has no commits") from None

    # The checked files get the repository and an index, so that git sees no changes.
    write_commit(git, "HEAD", change.files, address, change.messages.warn)
    os.rename(git.directory, os.path.join(change.files, ".git"))
    git.directory = change.files
    git("read-tree", "HEAD")
    git("update-index", "-q", "--refresh")


def _copy(directory: str, change: Change) -> None:
    area = os.path.realpath(change.area)
    if f"{area}/".startswith(f"{os.path.realpath(directory)}/"):
        what = f"{directory}: the new installation must not be inside its source"
        raise OperationError(what)

    copy_directory(directory, change.files, ignore=shutil.ignore_patterns(*_NOT_COPIED))
    # The launchers of the source start the source's own installation.
    for path in launchers_in(os.path.join(change.files, "core"), anywhere=True):
        os.unlink(path)


def check_installation(root: str, called: str) -> None:
    """Raise OperationError if the directory `root` is not an installation.

    Its subdirectories, such as `core` and `commands`, must be directories, not links to them.
    """
    for name in _OURS:
        path = os.path.join(root, name)
        if not os.path.lexists(path):
            continue
        if not is_real_dir(path):
            what = f"{called}: {name} must be a directory, not a file or a link"
            raise OperationError(what)

    for name in ("core/cli.json", "commands"):
        if os.path.exists(os.path.join(root, name)):
            return
    what = f"{called}: contains neither core/cli.json nor commands/"
    raise OperationError(what, "give the URL of the team's git repository")
