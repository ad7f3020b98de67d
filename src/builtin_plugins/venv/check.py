"""Whether a changed copy of the environment may take the original's place."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping
from typing import Any

import importlib_metadata
from packaging.utils import canonicalize_name

from builtin_plugins.venv.copy import VenvCopy
from host import OperationError

_SECONDS = 60.0  # for one start of this program
# What every version answers with "cli-host X.Y.Z": the one door by which an old version looks
# at a new one. No installation is named, so that none can get in the way.
_DOOR = ("host", "--safe", "self", "version")


def ask(
    python: str,
    *arguments: str,
    failing: str,
    environ: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> str:
    """Return what `python -I -m ARGUMENTS` prints, with `environ` or without any installation.

    Raises an OperationError that begins with `failing` when it fails or takes too long.
    """
    try:
        done = subprocess.run(
            [python, "-I", "-m", *arguments],
            env=environ or {**os.environ, "CLI_DIR": os.devnull, "GLOBAL_CONFIG_FILE": ""},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise OperationError(f"{failing}: no answer within {seconds:g} seconds") from None
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise OperationError(f"{failing}: {' '.join(last)}")
    return done.stdout.decode("utf-8", "replace").strip()


def check_starts(python: str, what: str) -> str:
    """Return the version of this program that starts in that environment; `what` is new there.

    Raises OperationError when none does.
    """
    said = ask(python, *_DOOR, failing=f"{what} does not start")
    return said.rpartition(" ")[2]


def check_others(copy: VenvCopy, name: str, only: set[str] | None = None) -> None:
    """Raise OperationError when the change of distribution `name` changed a file of another.

    `only` are the distributions to look at, canonical names, None for all. One that pip
    brought in another version is as it should be.
    """
    before, after = _installed(copy.prefix), _installed(copy.path)
    for owner, distribution in before.items():
        there = after.get(owner)
        if owner == name or (only is not None and owner not in only):
            continue
        if there is not None and there.version != distribution.version:
            continue
        for file in _files(distribution, copy.prefix):
            if not _is_same(os.path.join(copy.prefix, file), os.path.join(copy.path, file)):
                culprits = (
                    one
                    for one, found in after.items()
                    if one != owner and file in _files(found, copy.path)
                )
                raise OperationError(
                    f"{next(culprits, name)}: {file} is a file of {owner} too, which would be "
                    "broken; nothing was changed"
                )


def _installed(prefix: str) -> dict[str, Any]:
    """Return the distributions that the environment at `prefix` itself holds."""
    place = sysconfig.get_path("purelib", vars={"base": prefix})
    found = importlib_metadata.distributions(path=[place])
    return {canonicalize_name(str(one.metadata["Name"])): one for one in found}


def _files(distribution: Any, prefix: str) -> Iterator[str]:
    """Yield the files that a distribution records and that are there, relative to `prefix`."""
    for file in distribution.files or ():
        path = os.path.relpath(str(file.locate()), prefix)
        if not path.startswith("..") and not path.endswith(".pyc"):
            yield path


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False)
    except FileNotFoundError:
        return not os.path.lexists(one)
