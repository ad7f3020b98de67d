"""`min_version`: what an older program does not run, and what works all the same."""

import importlib_metadata
import pytest

from testing.installation import CLI, command

OWN = importlib_metadata.version("cli-host")
SCRIPT = "#!/bin/sh\necho ran\n"
COMMAND = {"commands/a/b/command.json": command(), "commands/a/b/main.sh": SCRIPT}


@pytest.mark.parametrize("wanted", ["0", "0.0.1", OWN, None])
def test_a_program_that_is_new_enough(install, wanted):
    made = install({**COMMAND, "core/cli.json": {**CLI, "min_version": wanted}})
    assert made.run("a", "b").all == (0, "ran\n", "")


@pytest.mark.slow
def test_an_older_program_prints_what_to_type(install):
    made = install(COMMAND)
    assert made.run("a", "b").status == 0
    made.write({"core/cli.json": {**CLI, "min_version": "99.1"}})
    problem = f'"min_version": needs cli-host 99.1 or newer; this is {OWN}'
    line = f"cli: {made.root}/core/cli.json: {problem}; cli self update\n"
    for words in ("a b", "a", "", "help a b", "self list", "--safe a b"):
        assert made.run(*words.split()).all == (1, "", line), words
    assert made.run("--version").all == (0, "Test CLI 1.2.3\n", "")
    assert made.run("self", "version").status == 0
    assert made.run("self", "info").status == 0
    assert made.run("self", "init", str(made.root)).status == 0
    assert made.run("self", "update", "--help").status == 0
    doctor = made.run("self", "doctor")
    assert doctor.status == 1
    assert problem in doctor.stdout
    made.write({"core/cli.json": {**CLI, "min_version": "new"}})
    assert made.run("a", "b").stderr == (
        f'cli: {made.root}/core/cli.json: "min_version": expected a version such as 1.2\n'
    )


@pytest.mark.slow
def test_a_plugin_that_needs_a_newer_program(install):
    made = install(COMMAND)
    files = {"plugin.json": {"min_version": "99.1"}, "x/y/command.json": command()}
    files["x/y/main.sh"] = SCRIPT
    made.write({f"../p/{name}": text for name, text in files.items()})
    done = made.run("self", "plugin", "add", str(made.root.parent / "p"), "--yes")
    assert done.status == 1
    needs = f"needs cli-host 99.1 or newer; this is {OWN}; cli self update"
    assert done.stderr.endswith(f"{needs}\n")
    made.write({f"plugins/p/{name}": text for name, text in files.items()})
    done = made.run("a", "b")
    assert (done.status, done.stdout) == (0, "ran\n")
    assert needs in done.stderr
