"""The plugins that a team's source contains, read from their files; none of their code is run."""

import os
from collections.abc import Iterator

from builtin_plugins.administration.plugins.directory_contents import read_contents
from builtin_plugins.administration.plugins.preview import plan_lines
from builtin_plugins.io.git import Git
from builtin_plugins.plugins_folder.directory import find_directory_plugins
from builtin_plugins.plugins_folder.registry import effective_registry
from builtin_plugins.plugins_folder.version import (
    PluginVersion,
    relocated,
)
from host import HostError
from host.cli.session import Session


def contained_plugins(session: Session, called: str = "") -> dict[str, PluginVersion]:
    """Return the directory plugins in the installation of `session`, by name.

    Problems name the installation's root as `called`.
    """
    root, plugins_dir = session.layout.root, session.installation.plugins_dir
    contained = {}
    for plugin in find_directory_plugins(plugins_dir, effective_registry(plugins_dir)):
        contents = plugin
        problem = plugin.problem
        if problem is None:
            try:
                contents = read_contents(plugin)
            except HostError as error:
                problem = error.problem
        problems = [*contents.problems, *([problem] if problem else [])]
        named = tuple(relocated(one, root, called or root) for one in problems)
        contained[plugin.entry.name] = contents.replaced(problems=named)
    return contained


def show_contained(session: Session, contained: dict[str, PluginVersion]) -> None:
    """Show what each plugin adds, as `plugin add` does."""
    for contents in contained.values():
        session.show_lines(*plan_lines(None, contents, verbose=False))
        session.messages.warn(*contents.problems)


def changed_lines(
    git: Git, before: Session, after: Session, old: str, new: str, called: str
) -> Iterator[str]:
    """Yield what the commit `new` changes in the plugins that the repository contains.

    `before` has the files of the commit `old`, and `after` those of `new`.
    """
    former, contained = contained_plugins(before), contained_plugins(after, called)
    place = os.path.relpath(after.installation.plugins_dir, after.layout.root)
    listed = git(
        "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new, "--", place
    )
    for name, contents in contained.items():
        inside = os.path.join(place, name, "")
        paths = [
            path for path in os.fsdecode(listed).split("\0") if path.startswith(inside)
        ]
        if not paths:
            continue
        if name not in former:
            yield from plan_lines(None, contents, verbose=False)
        else:
            yield from plan_lines(former[name], contents)
            if contents.has_python and any(path.endswith(".py") for path in paths):
                yield f"  ~ Python code, with the hooks {', '.join(contents.hooks) or 'unknown'}"
        yield from map(str, contents.problems)
