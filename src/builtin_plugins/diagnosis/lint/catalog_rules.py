"""The rules that need all commands together: which ones are hidden, and where they have moved."""

import os
from collections.abc import Iterator, Sequence

from builtin_plugins.self_commands.findings import Finding
from host import Category, Command, HostError, Problem
from host.catalog.catalog import Catalog
from host.catalog.contents import contents
from host.projects.projects import Project


def shadowed(catalog: Catalog, projects: Sequence[Project] = ()) -> Iterator[Finding]:
    """Yield a finding for each hidden command; a hidden one in a project is only a hint."""
    roots = []
    for project in projects:
        roots.append(f"{project.root}/")
        roots.append(f"{os.path.realpath(project.commands_dir)}/")

    listed = contents(catalog, (), deep=True)
    rows: list[Command | Category] = [*listed.commands, *listed.categories]
    for row in rows:
        winner = "the category of that name"
        if isinstance(row, Command):
            winner = row.definition.file
            if not winner:
                winner = f"plugin {row.plugin}"

        for place in row.shadows:
            text = f"{' '.join(row.words)} is hidden by {winner}"
            remedy = "rename one of the two, or disable the plugin"
            is_in_project = place.startswith(tuple(roots))
            problem = Problem(place, text, remedy)
            yield Finding("shadowed", problem, hint=is_in_project)


def moved(catalog: Catalog) -> Iterator[Finding]:
    """Yield a finding for each command whose `moved_to` names no command that can run."""
    for command in contents(catalog, (), deep=True).commands:
        problem = _problem_of_move(catalog, command)
        if problem is not None:
            yield Finding("definition", problem)


def moved_in_part(part: Catalog, whole: Catalog | None) -> Iterator[Finding]:
    """Yield what `moved` yields for a part of an installation, such as a plugin.

    A target whose first word the part does not have may be elsewhere in the installation that the
    part is for. It is looked up in `whole`, if there is an installation here; a missing one is
    only a hint, because the installation here may be another.
    """
    for command in contents(part, (), deep=True).commands:
        problem = _problem_of_move(part, command)
        if problem is None:
            continue

        target = tuple(command.definition.moved_to.split())
        first_word = target[:1]
        is_inside = part.find(first_word).words == first_word
        if is_inside or not _has_command(whole, target):
            yield Finding("definition", problem, hint=not is_inside)


def _problem_of_move(catalog: Catalog, command: Command) -> Problem | None:
    if not command.definition.moved_to:
        return None
    try:
        catalog.follow(catalog.find(command.words))
    except HostError as error:
        return error.problem
    return None


def _has_command(catalog: Catalog | None, words: tuple[str, ...]) -> bool:
    if catalog is None:
        return False
    match = catalog.find(words)
    if match.kind != "command":
        return False
    return match.words == words
