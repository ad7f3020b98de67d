"""Run one `setup` action again and again, ended or failed at its 1st, 2nd, … change on disk.

Started by the tests as a program with `faults.c` preloaded; prints one JSON object:
the number of steps, of runs, and every broken promise. Each run is a fork of this
process, so it costs milliseconds.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.setup import command as setup
from builtin_plugins.setup.linux import elevated as setup_elevated
from builtin_plugins.setup.linux import install as setup_linux
from builtin_plugins.setup.linux.state import Places
from builtin_plugins.setup.settings import read_settings
from host.errors import HostError

KEPT = {
    "home/Tool/collection": "mine",
    "home/.config/Tool/settings": "mine too",
    "opt/neighbour/file": "a neighbour",
    "bin/other": "another command",
    "share/other.desktop": "another entry",
}
MENU = "share/tool.desktop"


class Ground:
    """The directory in which everything happens, and the environment that points there."""

    def __init__(self, root: Path, addresses: Mapping[str, str]) -> None:
        self.root = root
        self.addresses = addresses

    def environ(self, version: str) -> dict[str, str]:
        return {
            "PATH": f"/usr/bin:/bin:{self.root}/bin",
            "HOME": f"{self.root}/home",
            "COMMAND_NAME": "tool",
            "TOOL_INSTALL_DIR": f"{self.root}/opt/tool",
            "TOOL_BIN_DIR": f"{self.root}/bin",
            "TOOL_DESKTOP_FILE": f"{self.root}/{MENU}",
            "TOOL_DOWNLOAD_URL": self.addresses[version],
            "TOOL_LAUNCHER": "Moved" if version == "moved" else "Tool",
            # Another menu entry, so that something can break after the directories changed.
            "TOOL_CATEGORIES": "Utility;" if version == "one" else "Development;",
        }

    def clean(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for name, content in KEPT.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def version(self) -> str:
        """Return which version the command starts: "" when there is no command."""
        link = self.root / "bin/tool"
        if not os.path.lexists(link):
            return ""
        if not os.access(link, os.X_OK):
            return "dangling"
        return link.read_text().split()[-1]

    def left(self) -> list[str]:
        """Return what is there beside the kept files and the application's own."""
        found = []
        for above, directories, files in os.walk(self.root):
            if above == str(self.root / "opt/tool"):
                directories.clear()
                continue
            found += [os.path.relpath(os.path.join(above, name), self.root) for name in files]
            found += [
                os.path.relpath(os.path.join(above, name), self.root)
                for name in directories
                if name.startswith(".") and name != ".config"
            ]
        return sorted(set(found) - set(KEPT))

    def kept(self) -> bool:
        return all(
            (self.root / name).exists() and (self.root / name).read_text() == content
            for name, content in KEPT.items()
        )


def in_fork(work: Callable[[], int]) -> tuple[int, str]:
    """Do `work` in a child; return its wait status and what it said on stderr."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        os.dup2(writer, 2)
        status = 70
        try:
            status = work()
        except HostError as failure:
            os.write(2, f"error: {failure}\n".encode())
            status = failure.status
        except BaseException:  # noqa: BLE001
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        said = file.read().decode()
    return os.waitpid(child, 0)[1], said


def action(ground: Ground, name: str, target: str) -> Callable[[], int]:
    """Return the action under test: "install", "upgrade", "uninstall", or the elevated step."""
    if name == "put":
        places = Places.read("tool", ground.environ(target))
        return lambda: setup_elevated.main(
            [
                *("put", "--tool", "tool", "--install-dir", places.install_dir),
                *("--bin-dir", places.bin_dir, "--desktop-file", places.desktop_file),
                *("--tree", str(ground.root.parent / "prepared" / "new")),
            ]
        )
    options = {"install": [], "upgrade": ["--upgrade"], "uninstall": ["--uninstall"]}[name]
    return lambda: setup.run([*options, "--quiet"], ground.environ(target), "linux")


def sweep(ground: Ground, name: str, target: str, error: int, bare: bool, stride: int) -> dict:
    """Break `name` at every `stride`-th step; return figures and broken promises."""
    faults = ctypes.CDLL(None)
    before = "" if name == "install" else "one"
    after = "" if name == "uninstall" else target
    broken: list[str] = []
    runs, at, steps = 0, 1, 0
    while True:
        ground.clean()
        if before:
            status, said = in_fork(action(ground, "install", before))
            assert status == 0, said
        what = action(ground, name, target)

        def armed(what: Callable[[], int] = what, at: int = at) -> int:
            faults.faults_arm(os.fsencode(ground.root), at, error, bare)
            try:
                return what()
            finally:
                if faults.faults_seen() < at:
                    os.write(2, b"END\n")

        status, said = in_fork(armed)
        runs += 1
        ended = said.endswith("END\n")
        where = f"{name} {target} step {at}"
        broken += [f"{where}: {problem}" for problem in judge(ground, before, after, status, said)]
        again, complaint = in_fork(what)
        if again or ground.version() != after:
            broken.append(f"{where}: second run: {again} {complaint} {ground.version()!r}")
        expected = [] if name == "uninstall" else ["bin/tool", MENU]
        if ground.left() != expected or not ground.kept():
            broken.append(f"{where}: second run left {ground.left()}")
        if name == "uninstall" and (ground.root / "opt/tool").exists():
            broken.append(f"{where}: second run left the application")
        if ended:
            steps = at - 1
            break
        at += stride
    return {"steps": steps, "runs": runs, "broken": broken}


def judge(ground: Ground, before: str, after: str, status: int, said: str) -> list[str]:
    """Return the promises that a broken run did not keep."""
    problems = []
    if ground.version() not in (before, after):
        problems.append(f"the command starts {ground.version()!r}")
    if not ground.kept():
        problems.append("something that is not setup's was touched")
    if "Traceback" in said:
        problems.append(said)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in (0, 1):
        problems.append(f"status {status}")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1:
        if len(said.replace("END\n", "").splitlines()) != 1:
            problems.append(f"not one line: {said!r}")
        if before and ground.version() != before:
            problems.append(f"failed, yet the command starts {ground.version()!r}")
    return problems


def stage_prepared(ground: Ground, target: str) -> None:
    """Prepare a version as an unprivileged run does before it asks for the elevated step."""
    stage = ground.root.parent / "prepared"
    stage.mkdir()
    environ = ground.environ(target)
    settings = read_settings("tool", "Tool", environ)
    setup_linux.bring(settings, str(stage), Reporter("cli", True, False, environ))


def main() -> None:
    asked = json.loads(sys.argv[1])
    ground = Ground(Path(asked["root"]), asked["addresses"])
    if asked["action"] == "put":
        stage_prepared(ground, asked["target"])
    sys.stdout.write(
        json.dumps(
            sweep(
                ground,
                asked["action"],
                asked["target"],
                asked["error"],
                asked["bare"],
                asked["stride"],
            )
        )
    )


if __name__ == "__main__":
    main()
