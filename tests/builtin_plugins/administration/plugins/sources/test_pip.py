"""Plugins that are distributions: real wheels, real pip, a real environment of their own."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

from testing import httpserver
from testing.installation import Made, command
from testing.machine import needs
from testing.packages import Environment, answering
from testing.plugin_sources import hidden, listed, plugin, registry, wheel


def test_a_requirement_added_updated_rolled_back_removed(environment: Environment) -> None:
    made = environment.made
    environment.acme("1.0")
    added = plugin(made, "add", "pip:acme-cli")
    assert added.status == 0, added.stderr
    assert added.stdout.startswith(
        "acme-cli 1.0 (pip, acme-cli)\n  A test\ncommands: 1; its Python code may declare more\n"
        "    cloud disk  disk\nPython hooks: discover_commands\nadded acme-cli\n"
    )
    assert made.run("cloud", "disk").all == (0, "disk 1.0\n", "")
    assert made.run("cloud", "py", "x").all == (0, "py 1.0 x\n", "")
    environment.acme("2.0", "tape")
    said = "acme-cli: 1.0 → 2.0\n  + cloud tape  tape\n  - cloud disk  disk\n"
    dry = plugin(made, "update", "--dry-run")
    assert (dry.status, dry.stdout) == (0, said)
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert plugin(made, "update").stdout == f"{said}updated acme-cli\n"
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    assert made.run("cloud", "disk").status == 2
    assert plugin(made, "rollback", "acme-cli").stdout == "acme-cli: 2.0 → 1.0\n"
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert listed(made)["acme-cli"]["version"] == "1.0"
    assert plugin(made, "disable", "acme-cli").status == 0
    for words in (["cloud", "py"], ["cloud"]):
        said = "cli: unknown category cloud; plugin acme-cli is disabled\n"
        assert made.run(*words).all == (2, "", said)
    assert made.run("clouds").stderr == "cli: unknown category clouds; see: cli --help\n"
    assert "\n    cloud disk  disk\n" in plugin(made, "show", "acme-cli").stdout
    assert listed(made)["acme-cli"]["state"] == "disabled"
    removed = plugin(made, "remove", "acme-cli")
    assert removed.stderr.splitlines()[0] == "this uninstalls the package acme-cli"
    assert removed.status == 0
    assert listed(made) == {}
    assert not environment.stage.exists()


def test_a_wheel_by_path_and_over_http(environment: Environment, site: httpserver.Site) -> None:
    made = environment.made
    path = environment.acme("1.0", scripts="[console_scripts]\nacme-tool = acme_cli.plugin:main\n")
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    address = f"{site.add(f'/{path.name}', path.read_bytes())}?dl=1"
    wrong = plugin(made, "add", address, "--sha256", "0" * 64)
    assert (wrong.status, right in wrong.stderr) == (1, True)
    assert plugin(made, "add", address, "--sha256", right).status == 0
    assert registry(made)["acme-cli"]["sha256"] == right
    assert registry(made)["acme-cli"]["source"] == address
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    tool = environment.python.parent / "acme-tool"
    assert tool.read_text().splitlines()[0] == f"#!{environment.python}"
    stays = "acme-cli: stays at 1.0; to install another version: cli self plugin add WHEEL\n"
    assert plugin(made, "update").stdout == stays
    assert plugin(made, "remove", "acme-cli").status == 0
    assert not tool.exists()
    assert plugin(made, "add", str(path)).status == 0
    assert made.run("cloud", "disk").stdout == "disk 1.0\n"


def test_a_wheel_replaces_that_of_another_version_or_content(with_uv: Environment) -> None:
    made = with_uv.made
    first = with_uv.acme("1.0")
    assert plugin(made, "add", str(first)).status == 0
    again = plugin(made, "add", str(first))
    assert (again.status, again.stderr) == (0, "")
    stays = "stays at 1.0; to install another version: cli self plugin add WHEEL; "
    assert f"is already installed; {stays}" in again.stdout
    assert plugin(made, "disable", "acme-cli").status == 0
    second = with_uv.acme("2.0", "tape")
    said = "acme-cli: 1.0 → 2.0\n  + cloud tape  tape\n  - cloud disk  disk\nupdated acme-cli\n"
    assert plugin(made, "add", str(second)).stdout.startswith(said)
    assert (made.run("cloud", "py").status, listed(made)["acme-cli"]["state"]) == (2, "disabled")
    assert plugin(made, "enable", "acme-cli").status == 0
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    with_uv.acme("2.0", "floppy")  # built again, under the same name
    assert "  + cloud floppy  floppy\n" in plugin(made, "add", str(second)).stdout
    assert made.run("cloud", "floppy").status == 0
    assert plugin(made, "rollback", "acme-cli").status == 0
    assert made.run("cloud", "tape").status == 0
    assert plugin(made, "rollback", "acme-cli").stdout == "acme-cli: 2.0 → 1.0\n"
    shown = plugin(made, "show", "acme-cli").stdout
    facts = dict(line.split(":", 1) for line in shown.splitlines()[:10])
    assert facts["version"].strip() == "1.0"
    assert facts["source"].strip() == str(first)
    assert facts["sha256"].strip() == hashlib.sha256(first.read_bytes()).hexdigest()
    _take_out(with_uv)
    assert listed(made)["acme-cli"]["state"] == "missing"
    assert "\nrestored acme-cli\n" in plugin(made, "add", str(first)).stdout
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    _take_out(with_uv)
    with_uv.unpack(second)
    found = listed(made)["acme-cli"]
    assert (found["version"], found["state"]) == ("2.0", "enabled")
    assert plugin(made, "sync").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def _take_out(environment: Environment) -> None:
    """Uninstall acme-cli as its user may, without this program."""
    for one in environment.packages.glob("acme_cli*"):
        shutil.rmtree(one)


def _forget(environment: Environment) -> None:
    """Leave no trace of acme-cli, as after `remove`."""
    _take_out(environment)
    shutil.rmtree(environment.made.root / "plugins")


def test_what_it_needs_comes_with_it_and_ours_stays(environment: Environment) -> None:
    made = environment.made
    environment.acme("1.0", requires=("needed>=2",))
    missing = plugin(made, "add", "pip:acme-cli")
    assert (missing.status, "needed>=2" in missing.stderr) == (1, True)
    assert listed(made) == {}
    wheel(environment.wheels, "needed", "2.0", "", points={})
    assert plugin(made, "add", "pip:acme-cli").status == 0
    plugin(made, "remove", "acme-cli")
    environment.acme("1.0", requires=("click<1",))
    greedy = plugin(made, "add", "pip:acme-cli")
    assert greedy.status == 1
    wheel(environment.wheels, "other-cli", "1.0", "", points={}, requires=("needed<2",))
    environment.acme("1.0", requires=("needed>=2", "other-cli"))
    torn = plugin(made, "add", "pip:acme-cli")
    for side in ("acme-cli 1.0 depends on needed>=2", "other-cli 1.0 depends on needed<2"):
        assert side in torn.stderr.splitlines()[-1]
    assert made.run("cloud", "py").status == 2
    assert made.run("demo", "hi").stdout == "hi\n"


def test_refused_wheels(environment: Environment, tmp_path: Path) -> None:
    made = environment.made
    plain = wheel(environment.wheels, "needed", "2.0", "", points={})
    assert "it has no entry point in the group cli_host" in plugin(made, "add", str(plain)).stderr
    own = wheel(tmp_path, "click", "99", "", points={"click": "click.plugin"})
    assert "this program itself needs it" in plugin(made, "add", str(own)).stderr
    evil = tmp_path / "evil-1.0-py3-none-any.whl"
    evil.write_bytes(b"PK\x03\x04")
    done = plugin(made, "add", str(evil))
    assert done.stderr == f"cli: {evil.name}: the archive is damaged or incomplete\n"
    for text in ("pip:--index-url=x", "pip:-r x", "pip:a @ https://x", "pip:./x", "pip:a;b"):
        assert plugin(made, "add", text).status == 2, text
    assert listed(made) == {}


def test_a_name_that_is_taken(environment: Environment, tmp_path: Path) -> None:
    made = environment.made
    environment.unpack(environment.acme("1.0"))
    for name, owner in (("acme-cli", "acme-cli"), ("builtin.setup", "cli-host")):
        twin = wheel(tmp_path, "a-twin", "1", "", points={name: "twin.plugin"})
        refused = plugin(made, "add", str(twin))
        assert refused.status == 1
        assert f"a-twin: {owner} also has an entry point named {name}; " in refused.stderr
    assert listed(made).keys() == {"acme-cli"}


DATA = "acme_cli-1.0.data"
FOREIGN = {
    "host/__init__.py": "host/__init__.py belongs to cli-host",
    "host/secrets/__init__.py": "host/secrets/__init__.py belongs to cli-host",
    "builtin_plugins/new.py": "builtin_plugins/new.py belongs to cli-host",
    "Click.py": "Click.py belongs to click",
    f"{DATA}/purelib/click/core.py": "click/core.py belongs to click",
    f"{DATA}/scripts/cli": "bin/cli belongs to cli-host",
    "other_cli/plugin.py": "other_cli/plugin.py belongs to other-cli",
}


def test_a_wheel_with_files_of_another_distribution(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.unpack(wheel(with_uv.wheels, "other-cli", "1.0", ""))
    for file, problem in FOREIGN.items():
        path = with_uv.acme("1.0", top={file: "VERSION = 1\n"})
        refused = plugin(made, "add", str(path))
        last = refused.stderr.splitlines()[-1]
        assert (refused.status, last) == (1, f"cli: acme-cli: {problem}; nothing was changed")
    path = with_uv.acme("1.0", recorded=("idna/__init__.py",))
    assert plugin(made, "add", str(path)).all == (
        1,
        "",
        f"cli: {path.name}: not a valid wheel: RECORD lists idna/__init__.py, which the "
        "wheel does not contain\n",
    )
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert set(listed(made)) == {"other-cli"}


def test_a_wheel_that_another_one_needs_with_files_of_this_program(
    environment: Environment,
) -> None:
    """With pip and with uv."""
    made = environment.made
    acme = environment.acme("1.0", requires=("helper",))
    wheel(environment.wheels, "helper", "1.0", "", points={}, top={"host/new.py": ""})
    said = "cli: acme-cli: host/new.py belongs to cli-host; nothing was changed"
    refused = plugin(made, "add", str(acme))
    assert (refused.status, refused.stderr.splitlines()[-1]) == (1, said)
    with environment.without_pip():
        refused = plugin(made, "add", str(acme))
    assert (refused.status, refused.stderr.splitlines()[-1]) == (1, said)
    assert listed(made) == {}


def test_packages_that_share_a_namespace(with_uv: Environment) -> None:
    made = with_uv.made
    for name in ("team-a", "team-b"):
        text = DECLARES.format(words=(name, "x"), package=name.replace("-", "_"))
        top = {f"team/{name[-1]}.py": ""}
        for version in ("1.0", "2.0"):
            path = wheel(with_uv.wheels, name, version, text, top=top)
            assert plugin(made, "add", str(path)).status == 0
    assert {row["version"] for row in listed(made).values()} == {"2.0"}
    assert plugin(made, "remove", "team-a").status == 0
    assert [one.name for one in (with_uv.packages / "team").glob("*.py")] == ["b.py"]


def test_a_package_that_took_names_of_this_program_can_be_removed(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.unpack(with_uv.acme("1.0", top={"host/new.py": ""}))
    assert plugin(made, "remove", "acme-cli").status == 0
    assert not (with_uv.packages / "host/new.py").exists()


def test_what_a_package_needs_is_shown(with_uv: Environment) -> None:
    made = with_uv.made
    wheel(with_uv.wheels, "needed", "2.0", "", points={})
    with_uv.acme("1.0", requires=("needed>=1",))
    added = plugin(made, "add", "pip:acme-cli")
    assert added.stdout.splitlines()[4:-3] == [
        "Python hooks: discover_commands",
        "needs: needed>=1",
    ]
    needs = ("needed>=1", "click>=8", "needed>=9; python_version < '3'")
    with_uv.acme("2.0", requires=needs)
    assert plugin(made, "update", "--dry-run").stdout == (
        "acme-cli: 1.0 → 2.0\n  ! new needs: click>=8\n"
    )


def test_a_wheel_that_keeps_this_program_from_starting(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.acme("1.0", top={"acme.pth": "import os; os._exit(3)\n"})
    done = plugin(made, "add", "pip:acme-cli")
    assert done.status == 1
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert listed(made) == {}


def test_a_removal_that_would_take_files_of_this_program(with_uv: Environment) -> None:
    made = with_uv.made
    assert plugin(made, "add", str(with_uv.acme("1.0"))).status == 0
    [record] = with_uv.packages.glob("acme_cli-*/RECORD")
    text = record.read_text()
    record.write_text(f"{text}host/run/process.py,,\n")
    done = plugin(made, "remove", "acme-cli")
    last = done.stderr.splitlines()[-1]
    assert (done.status, last.partition(": ")[2].partition(":")[0]) == (
        1,
        "this program without acme-cli does not start",
    )
    assert made.run("cloud", "disk").stdout == "disk 1.0\n"
    record.write_text(text)


def test_a_distribution_that_pip_installed_is_adopted(environment: Environment) -> None:
    """As after an `add` that was killed between the environment and the registry."""
    made = environment.made
    environment.unpack(environment.acme("1.0"))
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert registry(made) == {}
    added = plugin(made, "add", "pip:acme-cli")
    assert added.status == 0, added.stderr
    assert registry(made)["acme-cli"]["source"] == "acme-cli"
    again = plugin(made, "add", "pip:acme-cli")
    assert (again.status, again.stderr) == (0, "")
    assert again.stdout.endswith("remove it with: cli self plugin remove acme-cli\n")


def test_a_distribution_has_no_other_name(environment: Environment) -> None:
    made = environment.made
    path = environment.acme("1.0")
    for source in ("pip:acme-cli", str(path)):
        said = "cli: --name cannot be used with a package, which keeps its own name\n"
        assert plugin(made, "add", source, "--name", "other").all == (2, "", said)
    assert registry(made) == {}


BROKEN = {
    "import": ("import no_such_module", "ModuleNotFoundError"),
    "syntax": ("def (:", "SyntaxError"),
    "exit": ("import sys; sys.exit(3)", "SystemExit"),
    "hard exit": ("import os; os._exit(3)", "ended the process"),
    "crash": ("import os; os.kill(os.getpid(), 11)", "ended the process"),
    "signature": ("from host import hookimpl\n@hookimpl\ndef env_sources(no): ...", "no"),
    "unknown hook": ("from host import hookimpl\n@hookimpl\ndef discover(): ...", "discover"),
    "raises": (
        "from host import hookimpl\n@hookimpl\ndef discover_commands(): raise OSError('no')",
        "OSError: no",
    ),
    "returns": (
        "from host import hookimpl\n@hookimpl\ndef discover_commands(): return [42]",
        "not 42",
    ),
    "reserved": (
        "from host import *\nfrom host import hookimpl\n@hookimpl\ndef discover_commands():\n"
        "  yield CommandDeclaration(('self','x'), {})",
        "reserved",
    ),
}


def test_broken_plugins_are_listed_with_the_reason(environment: Environment) -> None:
    """All of them beside one that works, which none of them and nothing else may miss."""
    made = environment.made
    environment.unpack(environment.acme("1.0"))
    reasons = {}
    for number, (text, reason) in enumerate(BROKEN.values()):
        name = f"broken-{number}-cli"
        reasons[name] = reason
        environment.unpack(wheel(environment.wheels, name, "1.0", f"print('noise')\n{text}"))

    def check() -> None:
        rows = listed(made)
        found = {name: (rows[name]["state"], rows[name]["reason"]) for name in reasons}
        assert {name for name, reason in reasons.items() if reason not in found[name][1]} == set()
        assert {state for state, _ in found.values()} == {"broken"}, found

    check()
    first = made.run("demo", "hi")
    assert (first.status, first.stdout) == (0, "hi\n")
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    check()
    assert plugin(made, "disable", "broken-0-cli").status == 0
    for name in reasons:  # each of the others is asked again after a change, but not with --safe
        assert made.run("--safe", "self", "plugin", "disable", name).status == 0, name
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert {row["state"] for row in listed(made).values()} == {"enabled", "disabled"}


def test_a_slow_plugin_is_waited_for_once(environment: Environment, tmp_path: Path) -> None:
    made = environment.made
    mark = tmp_path / "mark"
    text = f"open({str(mark)!r}, 'a').write('x')\nimport time; time.sleep(99)"
    broken = wheel(environment.wheels, "broken-cli", "1.0", text)
    environment.unpack(environment.acme("1.0"), broken)
    first = made.run("demo", "hi")
    assert (first.status, first.stdout) == (0, "hi\n")
    asked = mark.read_text()
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert mark.read_text() == asked
    row = listed(made)["broken-cli"]
    assert (row["state"], "more than 3 seconds" in row["reason"]) == ("broken", True)
    assert plugin(made, "disable", "broken-cli").status == 0
    assert listed(made)["broken-cli"]["state"] == "disabled"


def test_recovery_without_importing(with_uv: Environment, tmp_path: Path) -> None:
    made = with_uv.made
    mark = tmp_path / "mark"
    text = f"open({str(mark)!r}, 'w')\nimport time; time.sleep(5)"
    broken = wheel(with_uv.wheels, "broken-cli", "1.0", text)
    with_uv.unpack(broken)
    safe = made.run("--safe", "self", "plugin", "list", "--format", "json")
    assert json.loads(safe.stdout)["plugins"][0]["name"] == "broken-cli"
    for words in (["show", "broken-cli"], ["disable", "broken-cli"], ["remove", "broken-cli"]):
        assert made.run("--safe", "self", "plugin", *words).status == 0, words
    assert not mark.exists()
    assert listed(made) == {}


def test_two_plugins_of_one_name(environment: Environment) -> None:
    made = environment.made
    acme = environment.acme("1.0")
    twin = wheel(environment.wheels, "twin-cli", "1.0", "", points={"acme-cli": "twin_cli.plugin"})
    environment.unpack(acme, twin)
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    rows = listed(made)
    assert rows["acme-cli"]["state"] == "enabled"
    assert rows["twin-cli"]["state"] == "broken"
    assert "another plugin has this name" in rows["twin-cli"]["reason"]


def test_a_run_imports_no_plugin_that_does_not_serve_it(
    environment: Environment, tmp_path: Path
) -> None:
    made = environment.made
    mark = tmp_path / "mark"
    acme = environment.acme("1.0")
    other = wheel(environment.wheels, "broken-cli", "1.0", f"open({str(mark)!r}, 'a').write('x')")
    environment.unpack(acme, other)
    assert made.run("cloud", "py").status == 0
    mark.unlink()
    for words in (
        ["cloud", "py"],
        ["cloud", "disk"],
        ["demo", "hi"],
        ["cloud"],
        ["self", "plugin", "list"],
    ):
        assert made.run(*words).status == 0
    assert not mark.exists()


def test_without_pip_or_outside_a_venv(environment: Environment) -> None:
    made = environment.made
    environment.acme("1.0")
    packages = environment.packages
    (packages / "pip").rename(packages / "_pip")
    try:
        done = plugin(made, "add", "pip:acme-cli")
    finally:
        (packages / "_pip").rename(packages / "pip")
    assert done.status == 1
    assert done.stderr.endswith("-m ensurepip\n")


def test_sync_brings_exactly_the_recorded_wheel(environment: Environment, tmp_path: Path) -> None:
    made = environment.made
    environment.acme("1.0")
    assert plugin(made, "add", "pip:acme-cli").status == 0
    team = tmp_path / "team.json"
    team.write_bytes((made.root / "plugins/registry.json").read_bytes())
    _forget(environment)
    environment.acme("2.0")
    assert plugin(made, "sync", str(team)).status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert plugin(made, "sync", str(team)).stdout == "every plugin is already installed\n"
    _forget(environment)
    os.unlink(environment.wheels / "acme_cli-1.0-py3-none-any.whl")
    environment.acme("1.0", "other")
    refused = plugin(made, "sync", str(team))
    assert refused.status == 1
    assert "Expected sha256" in refused.stderr
    assert listed(made) == {}


def test_sync_of_what_each_machine_builds(environment: Environment, tmp_path: Path) -> None:
    made = environment.made
    packed = environment.source(environment.acme("1.0"), tmp_path / "mark")
    assert plugin(made, "add", "pip:acme-cli").status == 0
    assert registry(made)["acme-cli"]["sha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()
    team = tmp_path / "team.json"
    team.write_bytes((made.root / "plugins/registry.json").read_bytes())
    _forget(environment)
    synced = plugin(made, "sync", str(team))
    assert synced.status == 0, synced.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    _forget(environment)
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(tmp_path / "acme_cli-1.0/backend.py", "acme_cli-1.0/other.py")
    refused = plugin(made, "sync", str(team))
    assert (refused.status, "Expected sha256" in refused.stderr) == (1, True)
    assert listed(made) == {}


def test_the_copy_that_a_killed_change_left_goes_with_the_next(with_uv: Environment) -> None:
    """Also where that next change has nothing to do; a copy that somebody holds stays."""
    made = with_uv.made
    with_uv.acme("1.0")
    assert plugin(made, "add", "pip:acme-cli").status == 0
    stage = with_uv.stage
    (stage / "bin").mkdir(parents=True)
    with open(with_uv.python.parent.parent / "pyvenv.cfg", "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert plugin(made, "update").status == 0
        assert stage.exists()
    assert plugin(made, "update").status == 0
    assert not stage.exists()


def test_kills_in_the_middle(with_uv: Environment) -> None:
    """At whatever moment it is killed, the old version runs or the new one, and it can go on.

    The moments are those at which files show that it has come so far, or just behind them.
    """
    made = with_uv.made
    with_uv.acme("1.0")
    assert plugin(made, "add", "pip:acme-cli").status == 0
    with_uv.acme("2.0")
    installed = with_uv.packages.relative_to(with_uv.python.parent.parent)
    news = installed / "acme_cli-2.0.dist-info"
    moments = {
        "it starts": made.root,
        "there is a copy": with_uv.stage,
        "the copy has Python": with_uv.stage / "bin/python",
        "uv works in the copy": with_uv.stage / news,
        "uv has done": with_uv.stage / news / "RECORD",
        "the copy is swapped in": with_uv.python.parent.parent / news / "RECORD",
    }
    for sign in moments.values():
        process = subprocess.Popen(
            [made.launcher, "self", "plugin", "update"],
            env={"PATH": os.environ["PATH"], "HOME": str(made.home), **made.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not sign.exists() and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.wait()
        for _ in range(2):
            done = made.run("cloud", "py")
            assert done.all in ((0, "py 1.0\n", ""), (0, "py 2.0\n", ""))
        assert listed(made)["acme-cli"]["state"] == "enabled"
    assert plugin(made, "update").status == 0
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    assert registry(made)["acme-cli"]["version"] == "2.0"
    assert not with_uv.stage.exists()


def _kill_at_rename(made: Made, nth: int, path: Path, *words: str) -> None:
    """Run `self plugin WORDS` and kill it at the rename of `path` with this number."""
    renames = "rename,renameat,renameat2"
    inject = f"inject={renames}:signal=KILL:when={nth}"
    kill = ["-P", str(path), "-e", f"trace={renames}", "-e", inject]
    killed = subprocess.run(
        ["strace", "-f", "-qqq", "-o", "/dev/null", *kill, made.launcher, "self", "plugin", *words],
        env={"HOME": str(made.home), **made.environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert killed.returncode in (-9, 137), killed.stderr


def test_an_update_that_is_killed(with_uv: Environment) -> None:
    """Before the registry is written, the registry gets the version that is installed."""
    made = with_uv.made
    needs("strace")
    with_uv.acme("1.0")
    assert plugin(made, "add", "pip:acme-cli").status == 0
    with_uv.acme("2.0")
    written = made.root / "plugins/.registry.json.tmp"  # with the mark, then with the new version
    for nth, version in ((1, "1.0"), (2, "2.0")):
        _kill_at_rename(made, nth, written, "update", "acme-cli")
        assert made.run("cloud", "py").stdout == f"py {version}\n"
        assert listed(made)["acme-cli"]["version"] == version
        assert registry(made)["acme-cli"]["version"] == version
        assert registry(made)["acme-cli"]["unfinished"] is False
    assert plugin(made, "update", "acme-cli").stdout == "acme-cli: 2.0 is the newest version\n"
    assert plugin(made, "rollback", "acme-cli").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def test_a_removal_that_is_killed(with_uv: Environment) -> None:
    """Before the environment is swapped, and before the registry is written."""
    made = with_uv.made
    needs("strace")
    wheels = [with_uv.acme("1.0"), with_uv.acme("2.0")]
    plugins, venv = made.root / "plugins", with_uv.python.parent.parent
    assert plugin(made, "add", str(wheels[0])).status == 0  # an earlier version, which is kept
    written = plugins / ".registry.json.tmp"  # with the mark, then without the plugin
    for place, nth, gone in ((venv, 1, False), (written, 1, False), (written, 2, True)):
        assert plugin(made, "add", str(wheels[-1])).status == 0
        assert plugin(made, "disable", "acme-cli").status == 0
        before = listed(made)
        _kill_at_rename(made, nth, place, "remove", "acme-cli")
        assert bool(list(with_uv.packages.glob("acme_cli"))) is not gone
        assert listed(made) == ({} if gone else before)
        if not gone:
            assert plugin(made, "remove", "acme-cli").status == 0
        assert (registry(made), hidden(made)) == ({}, [])
        assert not (plugins / ".removed").exists()


DECLARES = """
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    yield CommandDeclaration(
        {words},
        {{"name": "Py", "description": "P", "entrypoint": "{package}.plugin:main"}},
    )

def main(args):
    print("{package}")
"""


def _declares(environment: Environment, name: str, words: str) -> Path:
    package = name.replace("-", "_")
    text = DECLARES.format(words=words, package=package)
    return wheel(environment.wheels, name, "1.0", text)


def test_a_command_of_a_distribution_that_no_lock_tells_of(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.unpack(with_uv.acme("1.0"))
    made.write({"mine/cloud/py/command.json": command(), "mine/cloud/py/main.sh": "echo mine"})
    for force in ([], ["--force"]):
        done = plugin(made, "add", str(made.root / "mine"), *force)
        assert (done.status, done.stderr) == (
            1,
            "cli: cloud py is already a command of the plugin acme-cli; mine must not replace it; "
            "disable or remove one of the two plugins\n",
        )
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    twin = _declares(with_uv, "twin-cli", "('cloud', 'py')")
    refused = plugin(made, "add", str(twin))
    assert (refused.status, refused.stderr.splitlines()[-1]) == (
        1,
        "cli: cloud py is already a command of the plugin acme-cli; --force adds twin-cli "
        "anyway, but the existing command still runs",
    )
    assert plugin(made, "add", str(twin), "--force").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def test_a_package_whose_import_changes_the_directory_of_packages(with_uv: Environment) -> None:
    """uv compiles nothing, so importing a module there makes `__pycache__`; a plugin may write."""
    made = with_uv.made
    assert not (with_uv.packages / "__pycache__").exists()
    writes = (
        "import pathlib, random\npathlib.Path(__file__).with_suffix(f'.{random.random()}').touch()"
    )
    for name, more in (("single", ""), ("writing", writes)):
        text = DECLARES.format(words=(name, "py"), package=name)
        module = text.replace(f"{name}.plugin:", f"{name}:")
        points = {f"{name}-cli": name}
        path = wheel(
            with_uv.wheels, f"{name}-cli", "1", "", points=points, top={f"{name}.py": more + module}
        )
        added = plugin(made, "add", str(path))
        assert (added.status, added.stderr) == (0, f"installing {name}-cli==1\n")
        assert made.run(name, "py").all == (0, f"{name}\n", "")


def test_words_that_only_running_it_tells(with_uv: Environment) -> None:
    made = with_uv.made
    assert plugin(made, "add", str(with_uv.acme("1.0"))).status == 0
    twin = _declares(with_uv, "twin-cli", "tuple('cloud py'.split())")
    refused = plugin(made, "add", str(twin))
    assert refused.status == 1
    assert "cloud py is already a command of the plugin acme-cli; --force" in refused.stderr
    assert set(registry(made)) == {"acme-cli"}
    early = _declares(with_uv, "a-cli", "tuple('cloud py'.split())")
    taking = plugin(made, "add", str(early), "--force")
    assert taking.status == 1
    assert "a-cli must not replace it" in taking.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def test_a_package_without_hooks(with_uv: Environment) -> None:
    made = with_uv.made
    nothing = wheel(with_uv.wheels, "twin-cli", "1.0", "")
    refused = plugin(made, "add", str(nothing))
    assert refused.stderr.splitlines()[-1] == "cli: twin-cli: contains no commands and no hooks"
    assert listed(made) == {}


def test_installations_that_share_an_environment_are_named(
    with_uv: Environment, tmp_path: Path
) -> None:
    """Before a change of what they have, too, and only those that start with it still."""
    made, environ = with_uv.made, with_uv.made.environ
    roots = [tmp_path / name for name in ("one", "a sister", "gone", "elsewhere")]
    installations = [Made(root, root / "core/cli", made.home, environ) for root in roots]
    for root in roots:
        cli = with_uv.python.parent / "cli"
        assert made.run("self", "init", str(root), executable=cli).status == 0
    shutil.rmtree(roots[2])
    moved = installations[3].launcher
    moved.write_text(moved.read_text().replace(str(with_uv.python.parent.parent), "/other"))
    one, sister = installations[:2]
    path, named = with_uv.acme("1.0"), "in the installations that share this environment: "
    warning = f"cli: warning: this also {{}} acme-cli {named}"

    def warned(by: Made, *words: str) -> str:
        done = plugin(by, *words)
        assert done.status == 0, done.stderr
        return "".join(line for line in done.stderr.splitlines() if "warning" in line)

    assert warned(one, "add", str(path)) == ""
    assert sister.run("cloud", "py").stdout == "py 1.0\n"
    changes, removes = (f"{warning.format(does)}{roots[1]}" for does in ("changes", "removes"))
    with_uv.acme("2.0")
    with_uv.acme("2.0").rename(with_uv.wheels / "acme_cli-2.0-1-py3-none-any.whl")
    assert warned(one, "add", str(with_uv.wheels / "acme_cli-2.0-1-py3-none-any.whl")) == changes
    assert warned(one, "rollback", "acme-cli") == changes
    # What adds a package is known from then on, even if its environment was made anew.
    (with_uv.python.parent.parent / "cli-host-installations").write_text(f"{roots[1]}\n")
    assert warned(one, "add", "pip:acme-cli==2.0") == changes
    with_uv.acme("3.0")
    by_sister = warning.format("changes") + str(roots[0])
    assert warned(sister, "update", "--dry-run", "acme-cli") == by_sister
    assert warned(sister, "remove", "acme-cli") == f"{warning.format('removes')}{roots[0]}"
    assert one.run("cloud", "py").status == 2
    assert warned(one, "sync") == ""
    stopped = answering(one, "n\n", "remove", "acme-cli")
    assert (stopped.status, removes in stopped.stderr) == (1, True)
    assert one.run("cloud", "py").status == 0
    # Who makes the environment anew loses the record; installations in the usual place are found.
    usual = made.home / ".local/share/usual"
    cli = with_uv.python.parent / "cli"
    assert made.run("self", "init", str(usual), executable=cli).status == 0
    (with_uv.python.parent.parent / "cli-host-installations").unlink()
    assert warned(one, "remove", "acme-cli") == f"{warning.format('removes')}{usual}"


def test_a_package_is_not_imported_to_disable_or_remove_it(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "imported"
    with_uv.unpack(wheel(tmp_path, "acme-cli", "1.0", f"open({str(mark)!r}, 'w')\n"))
    for words in (["disable", "acme-cli"], ["enable", "acme-cli"], ["remove", "acme-cli", "--yes"]):
        (made.root / "cli.lock").unlink(missing_ok=True)
        done = plugin(made, *words)
        assert (done.status, mark.exists()) == (0, False), done.stderr
    assert listed(made) == {}
