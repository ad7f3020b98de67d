"""Simulated machines: each is an `sshd` with its own host name, accounts, keys and files.

Each runs in its own mount and UTS namespaces (`unshare -m -u`, which needs root) on a port of
127.0.0.1. All machines see all processes: a test finds its own by an argument that only it uses.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PASSWORD = "correct horse"

_SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {root}/host_key
PidFile none
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
StrictModes no
MaxStartups 100
PrintMotd no
AuthorizedKeysFile .ssh/authorized_keys
{settings}
"""
_NAMESPACE = """
set -e
hostname "$1"
root=$2
mount --make-rprivate /
for path in {kept}; do mkdir -p "$root$path" && mount --rbind "$path" "$root$path"; done
for path in root home opt tmp; do mount --rbind "$root/$path" "/$path"; done
for file in passwd group shadow sudoers; do mount --bind "$root/etc/$file" "/etc/$file"; done
{faults}
exec /usr/sbin/sshd -D -f "$root/sshd_config" -E "$root/log"
"""
NO_BASH = "mount --bind /dev/null /usr/bin/bash"
NO_SUDO = "mount --bind /dev/null /usr/bin/sudo"
# On ext4, creating a file checks each inode that was freed in the last minute. Twenty machines on
# one file system would mostly measure that.
IN_MEMORY = "mount -t tmpfs tmpfs /tmp"
NO_EXEC = "mount -t tmpfs -o noexec tmpfs /tmp"
NO_EXEC_AT_HOME = f"{NO_EXEC}; mount -o remount,bind,noexec /root"
NO_ROOM = "mount -t tmpfs -o size=16k tmpfs /tmp"


@dataclass
class Machine:
    """One host; `root` holds its /root, /home, /opt and /tmp, and its files in /etc."""

    name: str
    port: int
    root: Path
    faults: str = ""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        namespace = _NAMESPACE.format(faults=self.faults, kept=_kept())
        argv = [
            "unshare",
            "-m",
            "-u",
            "sh",
            "-c",
            namespace,
            "sh",
            self.name,
            self.root,
        ]
        self.process = subprocess.Popen(argv)

    def has(self, pid: int) -> bool:
        """Return whether a process runs on this machine."""
        if self.process is None:
            return False
        try:
            namespaces = [
                os.readlink(f"/proc/{each}/ns/mnt") for each in (pid, self.process.pid)
            ]
        except FileNotFoundError:  # it has just ended
            return False
        return namespaces[0] == namespaces[1]

    def leftovers(self) -> list[str]:
        """Return the names of files that runs left in the machine's /tmp."""
        return sorted(path.name for path in (self.root / "tmp").glob("cli-fleet*"))


@dataclass
class Rig:
    """Machines and an ssh_config to reach them; `directory` is outside /tmp."""

    directory: Path
    machines: dict[str, Machine] = field(default_factory=dict)
    _blocks: list[list[str]] = field(default_factory=list)

    @property
    def ssh_config(self) -> Path:
        return self.directory / "ssh_config"

    def add(
        self,
        name: str,
        *,
        faults: str = "",
        settings: str = "",
        login: str = "/bin/bash",
    ) -> Machine:
        """Make a machine; `faults` are shell lines for its namespace, `settings` sshd's."""
        machine = Machine(name, free_port(), self.directory / name, faults)
        self._furnish(machine, settings, login)
        self.machines[name] = machine
        self.describe(name, machine.port)
        key = (machine.root / "host_key.pub").read_text().rsplit(" ", 1)[0]
        with (self.directory / "known_hosts").open("a") as known:
            known.write(f"[127.0.0.1]:{machine.port} {key}\n")
        return machine

    def describe(self, name: str, port: int, *settings: str) -> None:
        """Add a host to ssh_config; ssh uses the first value, so the block for all comes last."""
        self._blocks.append([f"Host {name}", f"Port {port}", *settings])
        everybody = [
            "Host *",
            "HostName 127.0.0.1",
            "User root",
            f"IdentityFile {self.directory}/key",
            "IdentitiesOnly yes",
            f"UserKnownHostsFile {self.directory}/known_hosts",
        ]
        blocks = [*self._blocks, everybody]
        self.ssh_config.write_text(
            "".join("\n  ".join(block) + "\n" for block in blocks)
        )

    def _furnish(self, machine: Machine, settings: str, login: str) -> None:
        root = machine.root
        for path in ("root/.ssh", "home/deploy/.ssh", "opt", "tmp", "etc"):
            (root / path).mkdir(parents=True)
        (root / "tmp").chmod(0o1777)
        keygen(root / "host_key")
        for home in ("root", "home/deploy"):
            shutil.copy(
                self.directory / "key.pub", root / home / ".ssh" / "authorized_keys"
            )
        etc = root / "etc"
        (etc / "passwd").write_text(
            f"root:x:0:0::/root:{login}\nsshd:x:102:65534::/run/sshd:/usr/sbin/nologin\n"
            f"deploy:x:1500:1500::/home/deploy:{login}\n"
        )
        (etc / "group").write_text("root:x:0:\ndeploy:x:1500:\nnogroup:x:65534:\n")
        (etc / "shadow").write_text(f"root:*:1::::::\ndeploy:{_password()}:1::::::\n")
        (etc / "sudoers").write_text("Defaults use_pty\nroot ALL=(ALL) ALL\n")
        (etc / "sudoers").chmod(0o440)
        subprocess.run(
            ["chown", "-R", "1500:1500", root / "home" / "deploy"], check=True
        )
        (root / "sshd_config").write_text(
            _SSHD.format(port=machine.port, root=root, settings=settings)
        )

    def start(self, *names: str) -> None:
        """Start these machines if they do not run, and wait until they listen."""
        started = [self.machines[name] for name in names]
        started = [machine for machine in started if machine.process is None]
        for machine in started:
            machine.start()
        for machine in started:
            wait_for(lambda port=machine.port: listens(port), f"sshd of {machine.name}")

    def close(self) -> None:
        for machine in self.machines.values():
            if machine.process is not None:
                machine.process.terminate()
                machine.process.wait()
        shutil.rmtree(self.directory)


def open_rig(names: Iterable[str] = (), faults: str = "") -> Rig:
    """Create a rig with a client key, an ssh_config and a machine of each name, all alike."""
    os.makedirs("/run/sshd", exist_ok=True)
    rig = Rig(Path(tempfile.mkdtemp(prefix="cli-fleet-rig.", dir="/var/tmp")))
    rig.directory.chmod(0o755)
    keygen(rig.directory / "key")
    for name in names:
        rig.add(name, faults=faults)
    rig.start(*rig.machines)
    return rig


@functools.cache
def _password() -> str:
    """Return PASSWORD as /etc/shadow has it."""
    argv = ["openssl", "passwd", "-6", PASSWORD]
    return subprocess.run(
        argv, capture_output=True, text=True, check=True
    ).stdout.strip()


def _kept() -> str:
    """Return the directories of this Python that a machine's own directories would hide."""
    hidden = ("/root/", "/home/", "/opt/", "/tmp/")
    return " ".join(
        path for path in {sys.prefix, sys.base_prefix} if path.startswith(hidden)
    )


@contextlib.contextmanager
def opened(*names: str) -> Iterator[Rig]:
    """Yield a rig for one test, and end its machines."""
    rig = open_rig(names)
    try:
        yield rig
    finally:
        rig.close()


def keygen(path: Path) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True
    )


_ports = itertools.count(20000 + os.getpid() * 128 % 12000)


def free_port() -> int:
    """Return an unused port below the range from which the kernel assigns ports."""
    for port in _ports:
        with socket.socket() as server, contextlib.suppress(OSError):
            server.bind(("127.0.0.1", port))
            return port
    raise AssertionError


def listens(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition: object, what: str, seconds: float = 120) -> None:
    """Wait until `condition()` is true; fail after `seconds`."""
    end = time.monotonic() + seconds
    pause = 0.01
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(pause)
        pause = min(2 * pause, 0.2)  # to look takes time from what is waited for


def running(mark: str) -> list[int]:
    """Return the ids of the other processes that have `mark` in their argv."""
    wanted = mark.encode()
    others = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    others.remove(os.getpid())
    return [pid for pid in others if wanted in argv_of(pid)]


def argv_of(pid: int) -> bytes:
    """Return the words of a process, each ended by NUL, or nothing if it has just ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def end(pids: Iterable[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
