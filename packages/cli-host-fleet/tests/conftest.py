"""An installation whose `cli` runs as users run it, and machines on which it runs commands."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import rig as rigs

FULL = os.environ.get("FULL_SWEEP") == "1"
_SHELLS = ("/usr/bin/zsh", "/usr/bin/fish", "/usr/bin/dash", "/bin/tcsh")
AT_THE_GATE = "until [[ -e /opt/gate ]]; do sleep 0.05; done"  # until the test creates the file
_CONTROL = "/tmp/clf."  # short: with 28 characters or more, fleet uses another directory


def pytest_configure() -> None:
    """Let processes start with the default signals, even if the caller ignores or blocks some."""
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # Python's own
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # no handler outlives an exec
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


@dataclass
class Done:
    """The exit status and the output of a finished `cli`."""

    status: int
    stdout: bytes
    stderr: str

    def hosts(self) -> dict[str, Any]:
        """Return the hosts of a JSON document by name."""
        return {one["host"]: one for one in json.loads(self.stdout)["hosts"]}

    def states(self) -> dict[str, str]:
        return {name: one["state"] for name, one in self.hosts().items()}


@dataclass
class Cli:
    """An installation, and the environment of its user."""

    root: Path
    home: Path
    rig: rigs.Rig
    env: dict[str, str] = field(default_factory=dict)

    def command(self, script: str, words: str = "demo do", **definition: object) -> None:
        """Write a command into the installation."""
        folder = self.root / "commands" / words.replace(" ", "/")
        folder.mkdir(parents=True, exist_ok=True)
        defined = {"name": "Do", "description": "Do it", "entrypoint": "main.sh", **definition}
        (folder / "command.json").write_text(json.dumps(defined))
        (folder / "main.sh").write_text(script)

    def argv(self, *words: str) -> list[str]:
        return [str(self.root / "core" / "cli"), "fleet", *words]

    def environ(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), **self.env, **(env or {})}

    def fleet(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        cwd: Path | None = None,
    ) -> Done:
        done = subprocess.run(
            self.argv(*words),
            env=self.environ(env),
            cwd=cwd,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=300,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def run(self, on: str, *words: str, env: Mapping[str, str] | None = None) -> Done:
        """Run `demo do` on a set of the rig's hosts; options may come first in `words`."""
        chosen = words if "demo" in words else (*words, "demo", "do")
        return self.fleet("run", *self.on(on), "--format", "json", *chosen, env=env)

    def gate(self, host: str) -> Path:
        """Remove the file that commands on this host see as /opt/gate; return its path."""
        path = self.rig.machines[host].root / "opt" / "gate"
        path.unlink(missing_ok=True)
        return path

    def on(self, on: str) -> tuple[str, ...]:
        return ("--on", on, "--ssh-config", str(self.rig.ssh_config))

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start `cli fleet …` as the leader of a process group, as a shell does."""
        return subprocess.Popen(
            self.argv(*words),
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )


def init(root: Path, home: Path) -> None:
    """Create an installation whose `cli` is that of this Python environment."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    subprocess.run(
        [sys.executable, "-m", "host", "self", "init", str(root), "--name", "cli"],
        env=environ,
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="session")
def machines() -> Iterator[rigs.Rig]:
    """Four plain machines, and faulty or special ones, each named after its peculiarity."""
    if os.geteuid() != 0:
        pytest.skip("sshd in its own namespaces needs root")
    for program in ("/usr/sbin/sshd", "/usr/bin/unshare", "/usr/bin/sudo"):
        if not os.access(program, os.X_OK):
            pytest.skip(f"{program} is missing")
    made = rigs.open_rig(f"web{number:02}" for number in range(1, 5))
    made.add("nobash", faults=rigs.NO_BASH, login="/bin/sh")
    made.add("noroom", faults=rigs.NO_ROOM)
    made.add("noexec", faults=rigs.NO_EXEC)
    made.add("noexecs", faults=rigs.NO_EXEC_AT_HOME)
    made.add("nosudo", faults=rigs.NO_SUDO)
    for shell in filter(os.path.exists, _SHELLS):
        made.add(os.path.basename(shell), login=shell)
    noisy = made.add("noisy", settings=f"Banner {made.directory}/banner")
    (made.directory / "banner").write_text("Keep out\n")
    (noisy.root / "root" / ".bashrc").write_text("echo loud; echo louder >&2; cd /opt\n")
    made.wait()
    made.describe("down", rigs.free_port())
    made.describe("behind", 22, "ProxyJump down")
    made.describe("beyond", rigs.free_port(), "ProxyJump web01")
    made.describe("unknown", 22, "HostName nowhere.invalid")
    made.describe("stranger", made.machines["web03"].port, "HostKeyAlias stranger")
    made.describe("impostor", made.machines["web03"].port, "HostKeyAlias impostor")
    key = (made.machines["web04"].root / "host_key.pub").read_text()
    with (made.directory / "known_hosts").open("a") as known:
        known.write(f"impostor {key}")
    yield made
    made.close()


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation for tests to copy."""
    place = tmp_path_factory.mktemp("made-once")
    init(place / "acme", place)
    return place / "acme"


@pytest.fixture
def cli(tmp_path: Path, machines: rigs.Rig, made_once: Path) -> Iterator[Cli]:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copytree(made_once, tmp_path / "acme", symlinks=True)
    runtime = Path(f"{_CONTROL}{os.getpid()}.{abs(hash(tmp_path)) % 10**6}")
    runtime.mkdir(mode=0o700)
    made = Cli(tmp_path / "acme", home, machines, {"XDG_RUNTIME_DIR": str(runtime)})
    yield made
    for socket in (runtime / "cli-fleet").glob("*"):
        subprocess.run(
            ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "x"],
            check=False,
            capture_output=True,
        )
    subprocess.run(["rm", "-rf", runtime], check=True)


@pytest.fixture
def until() -> Callable[..., None]:
    return rigs.wait_for
