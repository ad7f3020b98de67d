"""A team's source, fetched into a new directory: a git repository, an archive or a directory.

None of its code is run. The files of a repository are checked like those of an archive, so hooks,
templates, filters and submodules have no effect, and no link points outside the directory.
"""

import os
import shutil
from collections.abc import Iterable
from glob import glob
from pathlib import Path

from builtin_plugins.library.archive import UnpackOptions
from builtin_plugins.library.files.atomic import copy_directory, is_real_dir
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.sources.archive import unpack
from builtin_plugins.plugins.sources.base import PluginSource
from builtin_plugins.plugins.sources.git import write_commit
from builtin_plugins.plugins.sources.parse import parse_source
from builtin_plugins.program.launcher import launchers_in
from builtin_plugins.program.shipped_files import CLI_JSON, shipped_files
from builtin_plugins.registry.entry import VERSIONS
from host import HostError, OperationError, UsageError, printable
from host.installation import Config, read_config

_OURS = ("core", "core/lib", "core/schema", "config", "commands", "plugins")
_NOT_FOR_PLUGINS = (".git", "core", "config")
_CACHES = ("cli.lock", "cli.lock.index")
_NOT_COPIED = (".git", ".venv", VERSIONS, *_CACHES, "__pycache__")


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
        _check_no_repository(change.files, source.entry.source)
    else:
        _copy(source.address, change)
    check_installation(change.files, source.entry.source)


def _check_no_repository(root: str, called: str) -> None:
    """Raise OperationError if an archive contains a repository: its settings name programs."""
    if os.path.lexists(os.path.join(root, ".git")):
        what = f"{called}: contains .git, and git runs what its settings name"
        raise OperationError(what, "leave it out, or give the URL of the repository")


def _clone(source: PluginSource, change: Change) -> None:
    """Clone the repository of a source into `change.files`.

    The file `.git/info/attributes` in the clone disables git's filters, now and in later calls.
    """
    address = source.entry.source
    git = change.git(change.area, source.address)
    options = ("--quiet", "--no-checkout", "--template=", "--no-recurse-submodules")
    origin = ("--origin", "origin")  # whatever the user's settings call it
    git.contact(address, "clone", *options, *origin, "--", address, "clone")

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

    Its subdirectories, such as `core` and `commands`, must be directories, not links to them. It
    must contain no caches: every run would use what they say without a look at the plugins.
    """
    for name in _CACHES:
        if os.path.lexists(os.path.join(root, name)):
            what = f"{called}: contains {name}, which only this program writes"
            raise OperationError(what, "remove it from the source")

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


def check_configuration(root: str, called: str, config_in: str = "") -> str:
    """Return the name in the cli.json of a source, or "" if there is no such file.

    Raises HostError if the file is invalid or names a directory that it must not name, and if the
    source contains versions of plugins: those in an installation were checked when they were
    fetched, and are used without another check.

    Problems name the source `called`, or `config_in` if cli.json comes from another place.
    """
    name = ""
    plugins_dir = "plugins"
    if has_config(root):
        place = config_in or called
        config = _read_config(root, place)
        name = config.name
        plugins_dir = config.plugins_dir
        directories = {"commands_dir": config.commands_dir, "plugins_dir": plugins_dir}
        for key, directory in directories.items():
            _check_inside(root, place, key, directory)

    versions = os.path.join(plugins_dir, VERSIONS)
    if os.path.lexists(os.path.join(root, versions)):
        what = f"{called}: contains {versions}, which only this program writes"
        raise OperationError(what, "remove it from the source")
    return name


def _read_config(root: str, called: str) -> Config:
    try:
        return read_config(config_file(root))
    except HostError as error:
        # The user knows the source, and not the temporary directory.
        problem = error.problem.replaced("core/cli.json", error.problem.text)
        raise type(error)(problem.inside(called)) from None


def _check_inside(root: str, called: str, key: str, directory: str) -> None:
    inside = os.path.realpath(root)
    path = os.path.realpath(os.path.join(root, directory))
    if not f"{path}/".startswith(f"{inside}/"):
        what = f"core/cli.json: {key} must be inside the installation"
        remedy = "give a path relative to its root"
        raise OperationError(f"{called}: {what}", remedy)

    # A plugin with the name `hooks` or `config` would be what git or every run reads.
    top = os.path.relpath(path, inside).split("/")[0].lower()
    is_root = top == "." and key == "plugins_dir"
    if is_root or top in _NOT_FOR_PLUGINS:
        what = f"core/cli.json: {key} must not be {printable(directory)}"
        remedy = "choose a directory that contains nothing else"
        raise OperationError(f"{called}: {what}", remedy)


def check_no_launcher(root: str, called: str, name: str, or_else: str = "") -> None:
    """Raise OperationError if a source contains the launcher of the program `name`."""
    if os.path.lexists(os.path.join(root, "core", name)):
        what = f"{called}: contains core/{name}, which the new launcher would replace"
        raise OperationError(what, f"run git rm core/{name} in the source{or_else}")


def shell_code(root: str, former: str = "") -> str:
    """Return the files in `root` that bash reads in every run, or "" for none.

    Files that this program ships are left out, and those that the directory `former` has, too.
    """
    shipped = {str(file.relative): file.original for file in shipped_files()}
    library = sorted(glob("core/lib/*.sh", root_dir=root))
    found = []
    for name in ("config/settings.conf", *library):
        path = os.path.join(root, name)
        others = [os.path.join(former, name)] if former else []
        if name in shipped:
            others.append(str(shipped[name]))
        if os.path.isfile(path) and not any(_is_same(path, other) for other in others):
            found.append(name)
    return ", ".join(found)


def _is_same(path: str, other: str) -> bool:
    """Return whether two files have the same content; False if the other is missing."""
    if not os.path.isfile(other):
        return False
    return Path(path).read_bytes() == Path(other).read_bytes()


def config_file(root: str) -> str:
    return os.path.join(root, CLI_JSON)


def has_config(root: str) -> bool:
    return os.path.lexists(config_file(root))
