"""Plugins that are distributions, installed into the program's own environment.

Nothing of a distribution is run until the user agreed: `fetch` brings a wheel and reads
it; `build_wheel` and `install` come after the question.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from builtin_plugins.administration.plugins.collisions import check_collisions_in_copy
from builtin_plugins.administration.plugins.contents import PluginContents, read_wheel
from builtin_plugins.administration.plugins.sources import git
from builtin_plugins.administration.plugins.sources.package_index import build, build_from, find
from builtin_plugins.administration.plugins.sources.parse import (
    Origin,
    parse_requirement,
    repository_of,
)
from builtin_plugins.administration.plugins.sources.staged import Staged, bring_file
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.environment.copy import (
    VenvCopy,
    check_change,
    check_environment,
    check_starts,
    copied_environment,
    installed_files,
    refuse,
)
from builtin_plugins.administration.program.environment.distributions import find_distribution
from builtin_plugins.administration.program.environment.installations import remember
from builtin_plugins.administration.program.environment.installer import INSTALLERS
from builtin_plugins.administration.program.environment.owned_files import problems
from builtin_plugins.plugins_folder.directory import kept_tree
from builtin_plugins.plugins_folder.registry import Entry
from host import OperationError, PluginError, UsageError
from host.cli.session import Session
from host.hookspecs import OWN_DISTRIBUTION, PROJECT
from host.run.importing import complete_import_path


def fetch(origin: Origin, tx: Transaction) -> Staged:
    """Stage a wheel that was read, or say which version is to be built."""
    complete_import_path()
    check_environment()
    os.mkdir(tx.tree)
    entry = origin.wanted
    if entry.from_wheel:
        name = os.path.basename(origin.address.partition("?")[0])
        try:
            parse_wheel_filename(name)
        except InvalidWheelFilename:
            raise UsageError(f"{name}: not a wheel's file name") from None
        path = os.path.join(tx.tree, name)
        sha256 = bring_file(origin.address, entry.sha256, Path(path), tx)
        return _staged(path, entry.replaced(sha256=sha256))
    if entry.from_repository:
        return _from_repository(origin, tx)
    requirement = parse_requirement(entry.source)
    _refuse_needed(requirement.name)
    if entry.version:
        requirement.specifier = SpecifierSet(f"=={_checked_version(entry)}")
    elif origin.least:
        requirement.specifier &= SpecifierSet(f">={origin.least}")
    tx.reporter.info(f"looking for {requirement.name}{requirement.specifier}")
    found = find(requirement, entry.sha256, tx)
    if found.path:
        return _staged(found.path, entry.replaced(sha256=found.sha256))
    entry = entry.replaced(name=canonicalize_name(requirement.name), version=found.version)
    return Staged(entry, PluginContents(), unbuilt=True)


def _from_repository(origin: Origin, tx: Transaction) -> Staged:
    """Bring the files of a commit that is to be built; nothing of them is run."""
    wanted = origin.wanted
    found, fetched = repository_of(wanted.source), repository_of(origin.address)
    name = canonicalize_name(found.requirement.name)
    _refuse_needed(name)
    if wanted.name not in ("", name):
        raise PluginError(f"{wanted.name}: its source is the package {name}")
    asked = Origin(wanted.replaced(source=found.address, version=""), fetched.address)
    brought = git.write_files(asked, tx, _files(tx))
    place = os.path.join(_files(tx), found.subdirectory)
    if not any(os.path.isfile(os.path.join(place, one)) for one in ("pyproject.toml", "setup.py")):
        raise PluginError(
            f"{wanted.source}: there is no pyproject.toml and no setup.py",
            "" if found.subdirectory else "name its directory with #subdirectory=DIRECTORY",
        )
    entry = brought.replaced(name=name, source=wanted.source)
    return Staged(entry, PluginContents(), unbuilt=True)


def _files(tx: Transaction) -> str:
    """Return where the files of a repository are until they are built."""
    return os.path.join(tx.area, "files")


def install(session: Session, entry: Entry, tx: Transaction, *, force: bool) -> None:
    """Install the staged wheel, or the kept one, with what it needs, into a copied environment.

    What this program itself needs stays at its versions. The copy is asked what the package
    declares: that may take no words of others.
    """
    complete_import_path()
    wheel, wheels = _wheel_of(entry, tx)
    remember(session.layout.root)
    kept = _kept()
    copy = tx.exits.enter_context(copied_environment(tx.reporter.info))
    exact = f"{entry.name}=={entry.version}"
    tx.reporter.info(f"installing {exact}")
    alone = ["install", "--no-index", "--no-deps", "--force-reinstall", "--find-links", wheels]
    copy.change(tx.installer, *alone, exact)
    if needed_by(entry, wheel):
        constraints = os.path.join(tx.area, "constraints.txt")
        with open(constraints, "w", encoding="utf-8") as file:
            file.writelines(f"{name}=={version}\n" for name, version in kept.items())
        extras = ",".join(sorted(_extras(entry)))
        more = f"[{extras}]" if extras else ""
        asked = f"{entry.name}{more}=={entry.version}"
        copy.change(tx.installer, "install", "--constraint", constraints, asked)
    if entry.from_repository:
        copy.record_origin(entry.name, repository_of(entry.source).origin(entry.commit))
    check_change(copy, entry.name, installed_files(copy.prefix, set(kept)))
    check_starts(copy.python, f"with {entry.name}, this program")
    check_collisions_in_copy(session, entry, tx, force=force)


def uninstall(entry: Entry, tx: Transaction) -> VenvCopy | None:
    """Return a copy of the environment without the distribution, None if it is not installed."""
    complete_import_path()
    name = entry.name
    if find_distribution(name) is None:
        return None
    copy = tx.exits.enter_context(copied_environment(tx.reporter.info))
    copy.change(tx.installer, "uninstall", "--yes", name)
    there = installed_files(copy.prefix, {*host_requirements(), "pip"})
    check_change(copy, name, there.replaced(names={}))  # what took a name may go
    check_starts(copy.python, f"without {name}, this program")
    return copy


def host_requirements(*more: str) -> dict[str, str]:
    """Return the installed distributions that this program and `more` need, with their versions."""
    found: dict[str, str] = {}
    pending: list[str] = [OWN_DISTRIBUTION, *more]
    while pending:
        name = canonicalize_name(pending.pop())
        if name in found:
            continue
        distribution = find_distribution(name)
        if distribution is None:
            continue
        found[name] = str(distribution.version)
        pending += [one.name for one in needed(distribution.requires or ())]
    return found


def _kept() -> dict[str, str]:
    """Return the distributions that no plugin may replace, with their versions."""
    return host_requirements(*INSTALLERS)


def needed_by(entry: Entry, found: PluginContents) -> list[Requirement]:
    """Return what the distribution of an entry needs here, with the extras that were asked for."""
    return list(needed(found.requires, _extras(entry)))


def _extras(entry: Entry) -> set[str]:
    if entry.from_repository:
        return repository_of(entry.source).requirement.extras
    by_name = entry.source and "/" not in entry.source
    return parse_requirement(entry.source).extras if by_name else set()


def needed(requires: Iterable[str], extras: Collection[str] = ()) -> Iterator[Requirement]:
    """Yield what of a distribution's requirements counts here, with these extras."""
    for one in map(Requirement, requires):
        if one.marker is None or any(one.marker.evaluate({"extra": x}) for x in ("", *extras)):
            yield one


def _staged(path: str, entry: Entry) -> Staged:
    """Return the plugin in a wheel, its entry completed; raises HostError when it is none."""
    found = read_wheel(path)
    said = found.manifest
    if not found.names:
        raise PluginError(f"{said.name}: is no plugin; it has no entry point for {PROJECT}")
    _refuse_needed(said.name)
    name = canonicalize_name(said.name)
    if entry.name not in ("", name):
        raise PluginError(f"{entry.name}: what came calls itself {name}")
    refuse(name, problems(found.files, {name}, installed_files(sys.prefix, set(_kept()))))
    return Staged(entry.replaced(name=name, **said.facts), found)


def _checked_version(entry: Entry) -> str:
    """Return the version that somebody else's registry may ask for; raises UsageError."""
    try:
        return str(Version(entry.version))
    except InvalidVersion:
        raise UsageError(f"{entry.source}: {entry.version} is no version") from None


def _refuse_needed(name: str) -> None:
    """Raise PluginError for the name of anything that this program stands on."""
    if canonicalize_name(name) in {*_kept(), *INSTALLERS}:
        raise PluginError(f"{name}: this program itself needs it, so it can be no plugin")


def build_wheel(staged: Staged, tx: Transaction) -> Staged:
    """Build what has no wheel, by its own code, which the user agreed to; see what it is."""
    entry = staged.entry
    if entry.from_repository:
        tx.reporter.info(f"building {entry.name}")
        place = os.path.join(_files(tx), repository_of(entry.source).subdirectory)
        return _staged(build_from(place, Requirement(entry.name), tx), entry)
    tx.reporter.info(f"building {entry.name} {entry.version}")
    found = build(Requirement(f"{entry.name}=={entry.version}"), entry.sha256, tx)
    return _staged(found.path, entry.replaced(sha256=found.sha256))


def kept_version(entry: Entry, tx: Transaction) -> Staged | None:
    """Return the version that an entry records where it is kept here, None where it is not."""
    if entry.kind != "pip" or not entry.version_dir:
        return None
    try:
        return Staged(entry, _wheel_of(entry, tx)[0])
    except OperationError:
        return None


def _wheel_of(entry: Entry, tx: Transaction) -> tuple[PluginContents, str]:
    """Return the wheel of a version that is staged or kept, and the directory that it is in."""
    kept = kept_tree(tx.plugins_dir, entry)
    for place in (tx.tree, kept):
        names = os.listdir(place) if os.path.isdir(place) else []
        if len(names) == 1:
            return read_wheel(os.path.join(place, names[0])), place
    raise OperationError(f"{entry.name}: its wheel is gone from {kept}")
