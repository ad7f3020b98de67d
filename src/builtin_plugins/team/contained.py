"""The plugins that a team's source contains, read from their files; none of their code is run."""

import os
from collections.abc import Iterable, Iterator, Mapping

from builtin_plugins.library.git import Git
from builtin_plugins.plugins.directory_contents import read_contents
from builtin_plugins.plugins.preview import plan_lines
from builtin_plugins.registry.directory import find_directory_plugins
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import Registry, read_registry
from builtin_plugins.registry.version import (
    PluginVersion,
    relocated,
)
from host import HostError, OperationError, masked_text
from host.session.session import Session


def contained_plugins(session: Session, called: str = "") -> dict[str, PluginVersion]:
    """Return the directory plugins in the installation of `session`, by name.

    Problems name the installation's root as `called`.
    """
    root = session.layout.root
    plugins_dir = session.installation.plugins_dir
    registry = read_registry(plugins_dir)

    if not called:
        called = root

    contained = {}
    for plugin in find_directory_plugins(plugins_dir, registry):
        version = _readable_version(plugin)
        problems = [relocated(problem, root, called) for problem in version.problems]
        contained[plugin.entry.name] = version.replaced(problems=tuple(problems))
    return contained


def read_team_registry(
    staged: Session, called: str, own: Mapping[str, Entry]
) -> Registry:
    """Return the registry in the files of a team's source, which problems name `called`.

    `own` has the entries that the user has already. Raises HostError if the registry cannot be
    read, or lists a directory elsewhere: anybody may have made one of its name on this machine.
    """
    root = staged.layout.root
    try:
        listed = read_registry(staged.installation.plugins_dir)
    except HostError as error:
        raise type(error)(relocated(error.problem, root, called)) from None
    listed.problems = [relocated(one, root, called) for one in listed.problems]

    for name, entry in listed.entries.items():
        if not (entry.is_linked and entry.source):
            continue
        if name not in own or own[name].source_and_ref != entry.source_and_ref:
            place = masked_text(entry.source)
            what = f"{called}: registry.json lists {name} in {place}, outside of it"
            raise OperationError(what, "remove the entry, or add a git repository")
    return listed


def _readable_version(plugin: PluginVersion) -> PluginVersion:
    """Return a plugin with its contents; if they cannot be read, that is one of its problems."""
    problem = plugin.problem
    if problem is None:
        try:
            return read_contents(plugin)
        except HostError as error:
            problem = error.problem
    return plugin.replaced(problems=(*plugin.problems, problem))


def show_contained(session: Session, contained: dict[str, PluginVersion]) -> None:
    """Show what each plugin adds, as `plugin add` does."""
    for version in contained.values():
        session.show_lines(*plan_lines(None, version, verbose=False))
        session.messages.warn(*version.problems)


def changed_lines(
    git: Git, before: Session, after: Session, old: str, new: str, called: str
) -> Iterator[str]:
    """Yield what the commit `new` changes in the plugins that the repository contains.

    `before` has the files of the commit `old`, and `after` those of `new`.
    """
    former = contained_plugins(before)
    contained = contained_plugins(after, called)
    place = os.path.relpath(after.installation.plugins_dir, after.layout.root)
    paths = _changed_paths(git, old, new, place)

    for name, version in contained.items():
        inside = os.path.join(place, name, "")
        changed = [path for path in paths if path.startswith(inside)]
        if not changed:
            continue

        if name not in former:
            yield from plan_lines(None, version, verbose=False)
        else:
            yield from plan_lines(former[name], version)
            # Declarations show no change if only the code behind them is another.
            if version.has_python and _have_code(changed):
                hooks = ", ".join(version.hooks) or "unknown"
                yield f"  ~ Python code, with the hooks {hooks}"
        yield from map(str, version.problems)


def _have_code(paths: Iterable[str]) -> bool:
    return any(path.endswith(".py") for path in paths)


def _changed_paths(git: Git, old: str, new: str, place: str) -> list[str]:
    """Return the paths below `place` that differ between two commits."""
    options = ("-r", "-z", "--name-only", "--no-renames")
    listed = git("diff-tree", *options, old, new, "--", place)
    return os.fsdecode(listed).split("\0")
