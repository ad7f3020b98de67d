"""`cli fleet run` against clush and against ssh in xargs, on twenty sshd of this machine.

All with connections that ssh keeps, and all warm: what is compared is what each adds. Root
needed. Started by bench/fleet, which makes the environment.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_PROJECT = Path(__file__).parents[1]
sys.path += [str(_PROJECT / "bench"), str(_PROJECT / "packages/cli-host-fleet/tests")]

from timing import Timed, measure, table  # noqa: E402 - from a folder beside

import rig as rigs  # noqa: E402


def installation(root: Path, home: Path) -> Path:
    """Make an installation with `demo noop` and `demo flood`; return its `cli`."""
    init = [sys.executable, "-m", "host", "self", "init", root, "--name", "cli"]
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    subprocess.run(init, env=env, check=True, stdout=subprocess.DEVNULL)

    for word, script in (("noop", "#!/bin/sh\n"), ("flood", 'yes | head -c "$1"\n')):
        folder = root / "commands/demo" / word
        folder.mkdir(parents=True)
        definition = {
            "name": word,
            "description": "For a measurement",
            "entrypoint": "main.sh",
        }
        (folder / "command.json").write_text(json.dumps(definition))
        (folder / "main.sh").write_text(script)
        (folder / "main.sh").chmod(0o755)
    return root / "core/cli"


def candidates(cli: Path, config: Path, work: Path, hosts: int) -> list[Timed]:
    on = f"web[01-{hosts:02}]"
    env = {"PATH": os.environ["PATH"], "HOME": str(work), "XDG_RUNTIME_DIR": str(work)}

    # fleet keeps connections by itself; the others get the same from ssh's configuration.
    shared = work / "shared"
    keep = f"  ControlMaster auto\n  ControlPath {work}/%C\n  ControlPersist 60s\n"
    shared.write_text(config.read_text() + keep)

    clush = [str(Path(sys.executable).with_name("clush")), "-w", on, "-f", str(hosts)]
    fleet = [str(cli), "fleet", "run", "--on", on, "--ssh-config", str(config)]
    ssh = f"ssh -F {shared} -oBatchMode=yes -oLogLevel=ERROR"
    names = " ".join(f"web{number:02}" for number in range(1, hosts + 1))
    each = f"printf '%s\\n' {names} | xargs -P {hosts} -I@ {ssh} @ true"
    return [
        Timed("clush", [*clush, "-o", f"-F {shared}", "true"], env),
        Timed("cli fleet run", [*fleet, "demo", "noop"], env),
        Timed("ssh in xargs", ["sh", "-c", each], env),
    ]


def peak(cli: Path, config: Path, work: Path, megabytes: int) -> float:
    """Return the controller's largest resident size in MiB while a host prints so much."""
    fleet = [str(cli), "fleet", "run", "--on", "web01", "--ssh-config", str(config)]
    command = ["demo", "flood", f"{megabytes}000000"]
    env = {"PATH": os.environ["PATH"], "HOME": str(work), "XDG_RUNTIME_DIR": str(work)}
    finished = subprocess.run(
        ["/usr/bin/env", "time", "-v", *fleet, *command],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )

    size = re.search(r"Maximum resident set size \(kbytes\): (\d+)", finished.stderr)
    return int(size[1]) / 1024 if size else 0.0


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args(argv)

    names = (f"web{number:02}" for number in range(1, options.hosts + 1))
    rig = rigs.open_rig(names, rigs.IN_MEMORY)
    try:
        with tempfile.TemporaryDirectory(prefix="fb.", dir="/tmp") as place:
            work = Path(place)
            cli = installation(work / "acme", work)

            timed = candidates(cli, rig.ssh_config, work, options.hosts)
            measure(timed, options.runs)
            title = f"a command that does nothing on {options.hosts} hosts"
            print(table(title, timed, timed[0]))

            for megabytes in (1, 10, 100):
                mebibytes = peak(cli, rig.ssh_config, work, megabytes)
                print(f"  {megabytes:>4} MB of output: {mebibytes:6.1f} MiB at most")
    finally:
        rig.close()


if __name__ == "__main__":
    main(sys.argv[1:])
