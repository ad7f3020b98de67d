"""An installation whose `cli` runs as users run it, and machines on which it runs commands."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import rig as rigs
from testing.fork_server import import_too, started
from testing.installation import Installed, builder
from testing.signals import reset_signals

import_too(
    "click",
    "ClusterShell.NodeUtils",
    "ClusterShell.Engine.Factory",
    "ClusterShell.Worker.Worker",
)

FULL = os.environ.get("FULL_SWEEP") == "1"
rare = pytest.mark.skipif(not FULL, reason="a rare case; set FULL_SWEEP=1")
SHELLS = ("/usr/bin/zsh", "/usr/bin/fish", "/usr/bin/dash", "/bin/tcsh")
# until the test creates the file
AT_THE_GATE = "until [[ -e /opt/gate ]]; do sleep 0.05; done"
MEET = f">/opt/here; {AT_THE_GATE}\n"  # until commands on all hosts are here: see `Cli.meeting`
# short: with a path of 28 characters or more, fleet uses another directory
_CONTROL = "clf."


def pytest_configure() -> None:
    reset_signals()


@dataclass
class Done:
    """The exit status and the output of a finished `cli`."""

    status: int
    stdout: bytes
    stderr: str

    def hosts(self) -> dict[str, Any]:
        """Return the hosts of a JSON document by name."""
        return {result["host"]: result for result in json.loads(self.stdout)["hosts"]}

    def states(self) -> dict[str, str]:
        return {name: result["state"] for name, result in self.hosts().items()}

    def outputs(self) -> list[str]:
        """Return what each host of a JSON document printed on stdout."""
        return [result["stdout"] for result in self.hosts().values()]


@dataclass
class Cli(Installed):
    """An installation, and the environment of its user."""

    rig: rigs.Rig
    env: dict[str, str] = field(default_factory=dict)
    keep: str = "1h"  # connections are kept for all tests, and no test meets the end of their time

    def command(
        self, script: str, words: str = "demo do", **definition: object
    ) -> None:
        """Write a command into the installation."""
        folder = self.root / "commands" / words.replace(" ", "/")
        folder.mkdir(parents=True, exist_ok=True)
        defined = {
            "name": "Do",
            "description": "Do it",
            "entrypoint": "main.sh",
            **definition,
        }
        (folder / "command.json").write_text(json.dumps(defined))
        (folder / "main.sh").write_text(script)

    def argv(self, word: str, *words: str) -> list[str]:
        connects = word != "hosts" and "--ssh-config" in words
        keeping = ["--keep-connections", self.keep] if self.keep and connects else []
        return [str(self.installed.launcher), "fleet", word, *keeping, *words]

    def environ(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            **self.env,
            **(env or {}),
        }

    def fleet(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        cwd: Path | None = None,
    ) -> Done:
        _, *rest = self.argv(*words)
        done = self.installed.run(*rest, env=self.environ(env), cwd=cwd, input=stdin)
        stdout, stderr = done.stdout.encode(errors="surrogateescape"), done.stderr
        return Done(
            done.status,
            stdout,
            stderr.encode(errors="surrogateescape").decode(errors="replace"),
        )

    def run(self, on: str, *words: str, env: Mapping[str, str] | None = None) -> Done:
        """Run `demo do` on a set of the rig's hosts; options may come first in `words`."""
        chosen = words if "demo" in words else (*words, "demo", "do")
        return self.fleet("run", *self.on(on), "--format", "json", *chosen, env=env)

    def gate(self, host: str) -> Path:
        """Remove the file that commands on this host see as /opt/gate; return its path."""
        path = self.rig.machines[host].root / "opt" / "gate"
        path.unlink(missing_ok=True)
        return path

    def meeting(self, *hosts: str) -> Callable[[], None]:
        """Return a function that waits until the commands of all these hosts run MEET.

        Then they go on at the same time, so they end together on a busy machine, too.
        """
        gates = [self.gate(host) for host in hosts]
        places = [gate.with_name("here") for gate in gates]
        for place in places:
            place.unlink(missing_ok=True)

        def meet() -> None:
            rigs.wait_for(
                lambda: all(place.exists() for place in places), "all are at the gate"
            )
            for gate in gates:
                gate.touch()

        return meet

    def on(self, on: str) -> tuple[str, ...]:
        """Return the options that select hosts; those that are named run from now on."""
        named = {*re.findall(r"\w+", on)} & {*self.rig.machines}
        self.rig.start(*named)
        return ("--on", on, "--ssh-config", str(self.rig.ssh_config))

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start `cli fleet …` as a fork, for a test that sends it no signal."""
        return self.lead(
            *words, argv=started(self.argv(*words), self.environ()), **options
        )

    def lead(
        self, *words: str, argv: Sequence[str] = (), **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start `cli fleet …` as the leader of a process group, as a shell does."""
        return subprocess.Popen(
            argv or self.argv(*words),
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
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
    for shell in filter(os.path.exists, SHELLS):
        made.add(os.path.basename(shell), login=shell)
    noisy = made.add("noisy", settings=f"Banner {made.directory}/banner")
    (made.directory / "banner").write_text("Keep out\n")
    (noisy.root / "root" / ".bashrc").write_text(
        "echo loud; echo louder >&2; cd /opt\n"
    )
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


@contextlib.contextmanager
def _runtime_directory() -> Iterator[Path]:
    """Yield a directory for the sockets of kept connections; close the connections at the end."""
    directory = Path(tempfile.mkdtemp(prefix=_CONTROL, dir="/tmp"))
    yield directory
    for socket in (directory / "cli-fleet").glob("*"):
        argv = ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "x"]
        subprocess.run(argv, check=False, capture_output=True)
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def connections(machines: rigs.Rig) -> Iterator[Path]:
    """The directory of the connections that are kept for all tests; `machines` end after them."""
    with _runtime_directory() as directory:
        yield directory


@pytest.fixture
def cli(tmp_path: Path, machines: rigs.Rig, connections: Path) -> Cli:
    made = builder(tmp_path)()
    (made.root / "config").mkdir()
    return Cli(made, machines, {"XDG_RUNTIME_DIR": str(connections)})


@pytest.fixture
def nothing_kept(cli: Cli) -> Iterator[Cli]:
    """An installation without kept connections, which keeps them for 60 s by default."""
    with _runtime_directory() as directory:
        cli.env["XDG_RUNTIME_DIR"] = str(directory)
        cli.keep = ""
        yield cli


@pytest.fixture
def until() -> Callable[..., None]:
    return rigs.wait_for
