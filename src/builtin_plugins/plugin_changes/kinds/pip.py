"""Plugins that are distributions: installed with pip into the program's own environment."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from builtin_plugins.plugin_changes.kinds.kind import Staged, Work, bring_file
from builtin_plugins.plugin_changes.source import WHEEL, Origin, is_exact, parse_requirement
from builtin_plugins.plugin_changes.staging import put_kept
from builtin_plugins.plugin_changes.wheel import is_wheel_name, read_wheel
from builtin_plugins.plugin_directories.registry import Entry
from builtin_plugins.venv.check import check_others, check_starts
from builtin_plugins.venv.copy import VenvCopy, check_environment, copied_environment
from builtin_plugins.venv.pip import run_pip
from host.errors import OperationError, PluginError, UsageError
from host.hookspecs import PROJECT
from host.planning.loading import OWN_DISTRIBUTION
from host.run.importing import complete_import_path

WHEELS = "tree"  # where a kept version has its wheel


class PipKind:
    """A copy of the environment is changed with pip; then the two change places."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        complete_import_path()
        check_environment()
        wheels = os.path.join(work.stage.make_version(), WHEELS)
        os.mkdir(wheels)
        extras = ""
        if _file_name(origin).endswith(WHEEL):
            path, sha256 = _brought(origin, wheels, work)
            pinned = True
        else:
            path, sha256, extras = _built(origin, wheels, work)
            pinned = is_exact(parse_requirement(origin.source))
        found = read_wheel(path)
        name = canonicalize_name(found.name)
        if not found.points:
            raise PluginError(f"{found.name}: is no plugin; it has no entry point for {PROJECT}")
        if name in host_requirements():
            raise PluginError(f"{found.name}: this program itself needs it; see: self update")
        entry = Entry(
            name=name,
            kind="pip",
            source=origin.source,
            version=found.version,
            description=found.summary,
            sha256=sha256,
            pinned=pinned,
        )
        _install(entry, extras, wheels, work)
        return Staged(entry, found.contents)

    def put(self, entry: Entry, work: Work, undo: ExitStack) -> None:
        copy = VenvCopy.of_this()
        put_kept(work.stage, entry, undo)
        copy.swap()
        undo.callback(copy.swap_back)

    def take(self, entry: Entry, work: Work, undo: ExitStack) -> None:
        complete_import_path()
        if not is_installed(entry.name):
            return
        copy = work.exits.enter_context(copied_environment())
        run_pip(
            copy.python, ["uninstall", "--yes", entry.name], work.environ, work.seconds, copy.held
        )
        check_others(copy, entry.name, {*host_requirements(), "pip"})
        check_starts(copy.python, f"without {entry.name}, this program")
        copy.swap()
        undo.callback(copy.swap_back)


def is_installed(name: str) -> bool:
    try:
        importlib_metadata.distribution(name)
    except importlib_metadata.PackageNotFoundError:
        return False
    return True


def host_requirements() -> dict[str, str]:
    """Return the distributions that this program needs, itself included, with their versions."""
    found: dict[str, str] = {}
    pending: list[str] = [OWN_DISTRIBUTION]
    while pending:
        name = canonicalize_name(pending.pop())
        if name in found:
            continue
        try:
            distribution = importlib_metadata.distribution(name)
        except importlib_metadata.PackageNotFoundError:
            continue
        found[name] = str(distribution.version)
        pending += [one.name for one in needed(distribution.requires)]
    return found


def needed(requires: Iterable[str] | None, extras: Collection[str] = ()) -> Iterator[Requirement]:
    """Yield what of a distribution's requirements counts here, with these extras."""
    for one in map(Requirement, requires or ()):
        if one.marker is None or any(one.marker.evaluate({"extra": x}) for x in ("", *extras)):
            yield one


def _file_name(origin: Origin) -> str:
    """Return the name of the file at a path or address; a requirement comes back as it is."""
    return os.path.basename((origin.address or origin.source).partition("?")[0])


def _brought(origin: Origin, wheels: str, work: Work) -> tuple[str, str]:
    """Copy or download a wheel; return its path and SHA-256."""
    name = _file_name(origin)
    if not is_wheel_name(name):
        raise UsageError(f"{name}: not a wheel's file name")
    path = os.path.join(wheels, name)
    return path, bring_file(origin, Path(path), work)


def _built(origin: Origin, wheels: str, work: Work) -> tuple[str, str, str]:
    """Let pip bring the distribution alone, as a wheel; return its path, SHA-256, extras.

    The checksum is that of the file that pip found: of a source distribution, from which
    each machine builds a wheel of its own, not that of the wheel.
    """
    import hashlib

    asked = parse_requirement(origin.source)
    name, wanted = asked.name, str(asked.specifier)
    if origin.version:
        wanted = f"=={origin.version}"
    extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
    work.reporter.info(f"pip brings {name}{wanted}")
    found = os.path.join(work.stage.path, "found")
    path = _only_file(
        found, name, ["download", "--dest", found, *_hashed(name, wanted, origin, work)], work
    )
    sha256 = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if origin.sha256 and sha256 != origin.sha256:
        raise OperationError(
            f"{os.path.basename(path)}: the SHA-256 is {sha256}, expected {origin.sha256}"
        )
    if path.endswith(WHEEL):
        place = os.path.join(wheels, os.path.basename(path))
        os.rename(path, place)
    else:
        place = _only_file(wheels, name, ["wheel", "--wheel-dir", wheels, path], work)
    return place, sha256, extras


def _hashed(name: str, wanted: str, origin: Origin, work: Work) -> list[str]:
    """Return the requirement as arguments, so that pip checks its hash before it runs anything.

    pip does that for exact versions; others are checked when they are here.
    """
    if not origin.sha256 or not wanted.startswith("=="):
        return [f"{name}{wanted}"]
    place = os.path.join(work.stage.path, "requirement.txt")
    Path(place).write_text(f"{name}{wanted} --hash=sha256:{origin.sha256}\n", encoding="utf-8")
    return ["--requirement", place]


def _only_file(directory: str, name: str, arguments: list[str], work: Work) -> str:
    """Let pip put one file into `directory`; return its path."""
    import sys

    command, *others = arguments
    pip = [command, "--no-deps", *others]
    run_pip(sys.executable, pip, work.environ, work.seconds, (work.stage.descriptor,))
    files = os.listdir(directory)
    if len(files) != 1:
        raise OperationError(f"pip {command}: expected one file of {name}, found {len(files)}")
    return os.path.join(directory, files[0])


def _install(entry: Entry, extras: str, wheels: str, work: Work) -> None:
    """Install the wheel in `wheels`, then what it needs, into a copy of the environment.

    What this program itself needs stays at its versions.
    """
    constraints = os.path.join(work.stage.path, "constraints.txt")
    with open(constraints, "w", encoding="utf-8") as file:
        file.writelines(f"{name}=={version}\n" for name, version in host_requirements().items())
    copy = work.exits.enter_context(copied_environment())
    exact = f"{entry.name}=={entry.version}"
    work.reporter.info(f"pip installs {exact}")
    alone = ["install", "--no-index", "--no-deps", "--force-reinstall", "--find-links", wheels]
    run_pip(copy.python, [*alone, exact], work.environ, work.seconds, copy.held)
    if needs_more(copy.python, entry.name, extras):
        run_pip(
            copy.python,
            ["install", "--constraint", constraints, f"{entry.name}{extras}=={entry.version}"],
            work.environ,
            work.seconds,
            copy.held,
        )
    check_others(copy, entry.name)
    check_starts(copy.python, f"with {entry.name}, this program")


def needs_more(python: str, name: str, extras: str) -> bool:
    """Tell whether the distribution in that environment requires others."""
    import subprocess

    program = (
        "import importlib.metadata as m, sys; "
        "sys.exit(1 if [r for r in m.requires(sys.argv[1]) or () if 'extra ==' not in r] else 0)"
    )
    done = subprocess.run([python, "-I", "-c", program, name], check=False, capture_output=True)
    return bool(extras) or done.returncode != 0


def reinstall(entry: Entry, kept: str, work: Work) -> Entry:
    """Stage a kept wheel again, for a rollback."""
    complete_import_path()
    _install(entry, "", kept, work)
    return entry
