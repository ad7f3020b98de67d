"""The ground of a sweep: an installation that is updated, a package's or a checkout.

pip and the new version's first start, which are programs of their own, are played by `_pip`,
`_newest` and `_ask`, so that a run takes a fraction of a second; everything else is real.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builtin_plugins.program import update
from builtin_plugins.program.launcher import renew_own_files
from builtin_plugins.program.venv import copy
from builtin_plugins.program.venv.copy import VenvCopy
from host.__main__ import main as run_main
from testing.sweep.ground import Ground, Outcome, fingerprint

NEW = "2.0.0"


def _site_packages(prefix: Path) -> Path:
    return next((prefix / "lib").glob("python*")) / "site-packages"


def _version(prefix: Path) -> str:
    """Return the version of this program that an environment says it has; all, if several."""
    metadata = sorted(_site_packages(prefix).glob("cli_host-*/METADATA"))
    return " ".join(path.parent.name.removesuffix(".dist-info") for path in metadata)


def _pip(changed: VenvCopy, *_: Any) -> None:
    """Do to an environment what pip would: take the old distribution out, put the new one in."""
    packages = _site_packages(Path(changed.path))
    for old in packages.glob("cli_host-*"):
        shutil.rmtree(old)
    information = packages / f"cli_host-{NEW}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: cli-host\nVersion: {NEW}\n"
    )
    library = packages / "host/skeleton/core/lib/logger.sh"
    library.unlink()
    library.write_text(f"# {NEW}\n")


def _newest(*_: object) -> str:
    """Name the newest version, as pip finds it on the index."""
    return NEW


def _ask(python: str, *arguments: str, **__: Any) -> str:
    """Answer as the program in an environment does: its version, or after it renewed its files."""
    if "launcher" in arguments:
        warnings: list[str] = []
        renew_own_files(arguments[-1], warnings.append)
        return "\n".join(warnings)
    return f"cli-host {_version(Path(python).parents[1]).removeprefix('cli_host-')}"


class Update(Ground):
    """A directory with the installation `root` and its environment, put back from `before`."""

    one_line = False

    def __init__(self, root: str, before: str) -> None:
        super().__init__(Path(root))
        self.before = before
        self.root = self.place / "root"
        self.launcher = self.root / "core/cli"
        VenvCopy.install = _pip  # type: ignore[method-assign]
        copy.run_python = _ask
        update.newest_version = _newest

    def restore(self) -> None:
        subprocess.run(["rm", "-rf", self.place], check=True)
        subprocess.run(["cp", "-a", self.before, self.place], check=True)

    def change(self) -> int:
        sys.argv = [str(self.launcher), "self", "update", "--yes"]
        return run_main()

    def state(self) -> dict[str, Any]:
        return self.ask(self._key, self._asked) | {"left": self._left()}

    def _key(self) -> bytes:
        """Return what the answers rest on: all files, of git's own what names a state."""
        files = fingerprint(self.place, _is_no_matter)
        git = self.root / ".git"
        if not git.exists():
            return files
        heads = b"".join(
            path.read_bytes() for path in (git / "HEAD", *git.glob("packed-refs"))
        )
        return b"".join(
            [files, heads, fingerprint(git / "refs"), *_entries(git / "index")]
        )

    def _asked(self) -> dict[str, Any]:
        """Return what a command of the user's says, the version, and the files under git."""
        done = subprocess.run(
            [self.launcher, "own", "hi"], capture_output=True, text=True, check=False
        )
        return {
            "command": done.stdout + done.stderr,
            "version": _version(Path(sys.prefix)),
            "library": (self.root / "core/lib/logger.sh").read_text(),
            "checkout": _tracked(self.root),
        }

    def _left(self) -> list[str]:
        """Return the names in the ground, all files of the installation, and those in .git.

        What is staged there and in the environment's copy may stay until the next change;
        the lock is as if it were not there.
        """
        names = [f"ground {name}" for name in os.listdir(self.place)]
        for above, directories, files in os.walk(self.root):
            directories[:] = [
                name for name in directories if not name.startswith((".venv", ".git"))
            ]
            inside = os.path.relpath(above, self.root)
            names += [os.path.join(inside, name) for name in directories + files]
        names += [path.name for path in (self.root / ".git").glob("[!c]*")]
        return sorted(set(names) - {"./cli.lock"})

    def like(self, state: Any, other: Any) -> bool:
        return all(state[key] == other[key] for key in state if key != "left")

    def broken(self, old: Any, new: Any, state: Any, outcome: Outcome) -> Iterator[str]:
        assert old["version"] != new["version"] == f"cli_host-{NEW}", (old, new)
        said = state["checkout"].get("status", "")
        if "cli-stage" in said or ".tmp" in said:
            yield f"git sees what is only ours: {said}"
        if state["command"] != old["command"] or state["version"] not in (
            old["version"],
            new["version"],
        ):
            yield f"does not work: {state} {old}"
        if outcome.failed and not self.like(state, old):
            yield f"failed, yet is not the old state: {state} {outcome.err!r}"

    def unsettled(self, new: Any, state: Any, again: Outcome) -> Iterator[str]:
        del state
        now = self.state()
        if again.status or now != new:
            yield f"{again} {set(now['left']) ^ set(new['left'])} {now}"


def _is_no_matter(name: str) -> bool:
    return name in (".git", "cli.lock") or name.endswith(".cli-stage")


def _entries(index: Path) -> Iterator[bytes]:
    """Yield what the index holds of each file, without the times of the file on disk."""
    data = index.read_bytes()
    assert data[:8] == b"DIRC\0\0\0\2", data[:8]
    at = 12
    for _ in range(int.from_bytes(data[8:12])):
        end = data.index(b"\0", at + 62)
        yield data[at + 24 : at + 28] + data[at + 40 : end]
        at += (end - at) // 8 * 8 + 8


def _tracked(root: Path) -> dict[str, object]:
    """Return the branch, what git says of its files, and the files that an update may change."""
    if not (root / ".git").exists():
        return {}

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=True
        ).stdout

    files = {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode)
        for path in [
            *(root / name for name in ("NEWS", "notes", "run.sh", "node")),
            *root.glob("[dn]o*/**/*"),
        ]
        if path.is_file()
    }
    status = git("--no-optional-locks", "status", "--porcelain")
    return files | {"branch": git("rev-parse", "HEAD"), "status": status}


make = Update
