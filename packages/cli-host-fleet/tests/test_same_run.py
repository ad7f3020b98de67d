"""What a script gets on a host is what it gets here, but for what the host decides (Linux).

How a script ends by a signal is in test_faults, and an empty stdin, too.
"""

from __future__ import annotations

import os
import subprocess

from conftest import Cli
from testing.probe import SCRIPT, STATUS, read_report, variables

ARGUMENTS = [b"a b", b"two\nlines", b"", b"-x", b"--", b"\xff\xfe", b"$HOME", b"*"]
# What a login sets.
LOGIN = {
    b"HOME": b"/root",
    b"LOGNAME": b"root",
    b"PWD": b"/root",
    b"SHELL": b"/bin/bash",
    b"SHLVL": b"2",  # the shell of the login is the first
    b"USER": b"root",
    b"_": b"/usr/bin/env",
}
LOGIN_WITHOUT_VALUES = (b"MAIL", b"PATH", b"SSH_CLIENT", b"SSH_CONNECTION")


def test_what_a_script_gets(cli: Cli) -> None:
    cli.command(SCRIPT, envs={"SET": "two\nlines", "EMPTY": ""})
    words = ["demo", "do", *map(os.fsdecode, ARGUMENTS)]
    data = cli.home / "data"
    data.write_bytes(b"some\0data\n")
    with data.open() as stdin:
        done = subprocess.run(
            [cli.root / "core/cli", *words],
            env=cli.environ(),
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    here = read_report(cli.home)
    result = cli.run("web01", "--stdin", str(data), *words).hosts()["web01"]
    there = read_report(cli.rig.machines["web01"].root / "root")

    printed = (done.returncode, done.stdout, done.stderr)
    assert printed[0] == STATUS
    assert (result["status"], result["stdout"], result["stderr"]) == printed

    # The folder that fleet makes and removes, the directory of the login, and a process group.
    root, place = os.fsencode(cli.root), variables(there["environment"])[b"CLI_DIR"]
    for name in ("names", "command line"):
        here[name] = here[name].replace(root, place)
    here["names"] = here["names"].replace(os.fsencode(os.getcwd()), b"/root")
    here["directory"] = b"/root\n"
    here["group"] = here["process"] = there["process"]
    group, _, rest = there["group"].partition(b" ")
    assert rest.endswith(b" 0 -1\n")
    there["group"] = group

    # A host has no CLI_RUN: its variables are those of this run only.
    mine = variables(here["exported"])
    not_there = {b"CLI_RUN", *map(os.fsencode, cli.environ())}
    expected = {
        name: value.replace(root, place)
        for name, value in mine.items()
        if name not in not_there
    }
    environment = variables(there["exported"])
    expected |= LOGIN | {name: environment[name] for name in LOGIN_WITHOUT_VALUES}
    assert environment == expected
    names = {*here["shell"].splitlines()} - not_there
    assert {*there["shell"].splitlines()} == {
        *names,
        *(*LOGIN, *LOGIN_WITHOUT_VALUES),
    }

    # Only the shell's start: the library is loaded once.
    started = variables(there["environment"])
    assert started.pop(b"BASH_ENV") == place + b"/core/lib/init.sh"
    assert started.pop(b"CLI_HOST_INIT").startswith(there["process"] + b":cli:")
    del expected[b"_"]
    assert started == {**expected, b"SHLVL": b"1"}

    descriptors = dict(row.split(b" ", 1) for row in there["descriptors"].splitlines())
    assert descriptors.keys() == {b"0", b"1", b"2", b"255"}

    compared = set(here) - {"exported", "shell", "environment", "descriptors"}
    for name in compared:
        assert (name, there[name]) == (name, here[name])
