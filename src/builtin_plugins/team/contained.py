"""The plugins that a team's source contains, read from their files; none of their code is run."""

from collections.abc import Iterator, Mapping

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


def changed_lines(before: Session, after: Session, called: str) -> Iterator[str]:
    """Yield how the plugins in the files of `after` differ from those in the files of `before`.

    The contents are compared, not the paths in git: a link may lead to another directory.
    """
    former = contained_plugins(before)
    for name, version in contained_plugins(after, called).items():
        if name in former:
            lines = plan_lines(former[name], version)
            is_change = len(lines) > 1  # more than a title
            if not is_change and not version.problems:
                continue
        else:
            lines = plan_lines(None, version, verbose=False)

        yield from lines
        yield from map(str, version.problems)
