"""Plugins that are packages: real wheels, real pip and uv, each plugin in a folder of its own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tarfile
from pathlib import Path

from testing import httpserver
from testing.installation import command
from testing.packages import PLUGIN, Environment
from testing.plugin_sources import hidden, listed, plugin, registry, wheel
from testing.sweep.ground import fingerprint


def test_a_requirement_added_updated_rolled_back_removed(either: Environment) -> None:
    made = either.made
    before = fingerprint(either.python.parent.parent)
    either.acme("1.0", requires=("needed>=2",))
    wheel(either.wheels, "needed", "2.0", "", points={})
    added = plugin(made, "add", "pip:Acme.CLI")
    assert added.status == 0, added.stderr
    assert added.stdout.startswith(
        "acme-cli 1.0 (pip, Acme.CLI)\n  A test\ncommands: 1; its Python code may declare more\n"
        "    cloud disk  disk\nPython hooks: discover_commands\npackages: needed 2.0\n"
        "added acme-cli\n"
    )
    assert made.run("cloud", "disk").all == (0, "disk 1.0\n", "")
    assert made.run("cloud", "py", "x").all == (0, "py 1.0 x\n", "")
    again = plugin(made, "add", "pip:Acme.CLI")
    assert (again.status, "is already installed" in again.stdout) == (0, True)
    either.acme("2.0", "tape", requires=("needed>=2",))
    said = "acme-cli: 1.0 → 2.0\n  + cloud tape  tape\n  - cloud disk  disk\n"
    dry = plugin(made, "update", "--dry-run")
    assert (dry.status, dry.stdout) == (0, said)
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert plugin(made, "update").stdout == f"{said}updated acme-cli\n"
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    assert made.run("cloud", "disk").status == 2
    assert plugin(made, "update").stdout == "acme-cli: 2.0 is the newest version\n"
    assert plugin(made, "rollback", "acme-cli").stdout == "acme-cli: 2.0 → 1.0\n"
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert listed(made)["acme-cli"]["version"] == "1.0"
    assert plugin(made, "disable", "acme-cli").status == 0
    for words in (["cloud", "py"], ["cloud"]):
        said = "cli: unknown command cloud; plugin acme-cli is disabled\n"
        assert made.run(*words).all == (2, "", said)
    assert made.run("clouds").stderr == "cli: unknown command clouds; see: cli --help\n"
    assert "\n    cloud disk  disk\n" in plugin(made, "show", "acme-cli").stdout
    assert listed(made)["acme-cli"]["state"] == "disabled"
    assert plugin(made, "remove", "acme-cli").all == (0, "removed acme-cli\n", "")
    assert (listed(made), hidden(made)) == ({}, [])
    assert not list((made.root / "plugins/.versions").iterdir())
    assert fingerprint(either.python.parent.parent) == before


def test_a_package_below_a_category(with_uv: Environment) -> None:
    made = with_uv.made
    added = plugin(made, "add", str(with_uv.acme("1.0")), "--under", "ops")
    assert added.status == 0, added.stderr
    assert "    ops cloud disk  disk\n" in added.stdout
    assert registry(made)["acme-cli"]["scripts"] == {"under": "ops"}
    assert made.run("ops", "cloud", "disk").all == (0, "disk 1.0\n", "")
    assert made.run("ops", "cloud", "py", "x").all == (0, "py 1.0 x\n", "")
    assert made.run("cloud", "py").status == 2
    assert listed(made)["acme-cli"]["commands"] == ["ops cloud disk", "ops cloud py"]


def test_an_update_of_what_it_needs(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.acme("1.0", requires=("needed",))
    wheel(with_uv.wheels, "needed", "2.0", "", points={})
    assert plugin(made, "add", "pip:acme-cli").status == 0
    wheel(with_uv.wheels, "needed", "3.0", "", points={})
    assert plugin(made, "update").stdout == (
        "acme-cli: 1.0 → 1.0\n  ! new packages: needed 3.0\nupdated acme-cli\n"
    )
    assert plugin(made, "rollback", "acme-cli").status == 0
    assert [one["version"] for one in registry(made)["acme-cli"]["packages"]] == [
        "1.0",
        "2.0",
    ]


SHARED = """
from host import CommandDeclaration, EnvSource, SecretScheme, hookimpl

@hookimpl
def discover_commands(installation):
    keys = {{"name": "X", "description": "X", "entrypoint": "{package}.plugin:main"}}
    yield CommandDeclaration(("{package}", "py"), keys)

@hookimpl
def env_sources(installation):
    yield EnvSource("{package}", rank=2, provider="{package}.plugin:read")

@hookimpl
def secret_schemes(installation):
    yield SecretScheme("{scheme}", provider="{package}.plugin:secret")

def main(args):
    import shared, sys
    from host import Program
    found = Program.current().environment(Program.current().words)
    values = [f"{{name}}={{found[name].value}}" for name in ("OF_ONE", "OF_TWO")]
    print(shared.VERSION, *values, [one for one in sys.path
        if "/plugins/" in one and "/.versions/{name}/" not in one])

def read(words, environment):
    import shared
    return {{"OF_{upper}": shared.VERSION}}

def secret(references, environment):
    import shared
    return {{one: f"{{one}} {{shared.VERSION}}" for one in references}}
"""


def test_packages_with_contradicting_requirements(with_uv: Environment) -> None:
    """Each process of a plugin gets the folder of this plugin, and no other."""
    made = with_uv.made
    for version in ("1", "2"):
        top = {"shared/__init__.py": f"VERSION = 'shared {version}'\n"}
        wheel(with_uv.wheels, "shared", version, "", points={}, top=top)
    for word, requirement in (("one", "shared<2"), ("two", "shared>=2")):
        text = SHARED.format(
            package=f"plug_{word}", name=f"plug-{word}", scheme=word, upper=word.upper()
        )
        wheel(with_uv.wheels, f"plug-{word}", "1.0", text, requires=(requirement,))
        added = plugin(made, "add", f"pip:plug-{word}")
        assert added.status == 0, added.stderr
    values = "OF_ONE=shared 1 OF_TWO=shared 2 []\n"
    assert made.run("plug_one", "py").all == (0, f"shared 1 {values}", "")
    assert made.run("plug_two", "py").all == (0, f"shared 2 {values}", "")
    secrets = {"A": "one:a", "B": "two:b", "C": "run:echo c"}
    made.write(
        {
            "commands/demo/secret/command.json": command(secrets=secrets),
            "commands/demo/secret/main.sh": "echo $A, $B, $C, $OF_ONE, $OF_TWO\n",
        }
    )
    said = "one:a shared 1, two:b shared 2, c, shared 1, shared 2\n"
    assert made.run("demo", "secret").all == (0, said, "")
    assert plugin(made, "remove", "plug-two").status == 0
    gone = made.run("plug_one", "py")
    assert "shared 1" in gone.stdout or "KeyError" in gone.stderr


def test_a_package_of_the_environment_is_older_than_the_own_one(
    own_environment: Environment,
) -> None:
    """What somebody injects neither counts as what the program has nor hides the folder."""
    made, wheels = own_environment.made, own_environment.wheels
    for version in ("1", "2"):
        top = {"shared/__init__.py": f"VERSION = 'shared {version}'\n"}
        made_wheel = wheel(wheels, "shared", version, "", points={}, top=top)
        if version == "1":
            own_environment.unpack(made_wheel)
    text = "import shared\n" + PLUGIN.format(
        name="acme-cli", package="acme_cli", version="{shared.VERSION}"
    ).replace('"py {shared', 'f"py {shared')
    wheel(
        wheels,
        "acme-cli",
        "1.0",
        text,
        {"commands/a/b/command.json": command()},
        ("shared",),
    )
    assert plugin(made, "add", "pip:acme-cli").status == 0
    assert [one["name"] for one in registry(made)["acme-cli"]["packages"]] == [
        "acme-cli",
        "shared",
    ]
    assert made.run("cloud", "py").stdout == "py shared 2\n"


def test_a_package_in_the_environment(own_environment: Environment) -> None:
    made = own_environment.made
    own_environment.unpack(own_environment.acme("1.0"))
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    row = listed(made)["acme-cli"]
    assert (row["kind"], row["state"], row["version"]) == (
        "environment",
        "enabled",
        "1.0",
    )
    assert registry(made) == {}
    python = own_environment.python
    for words, does in (("update", "install --upgrade"), ("remove", "uninstall")):
        refused = plugin(made, words, "acme-cli")
        assert (refused.status, refused.stderr.splitlines()[-1].partition("; ")[2]) == (
            1,
            f"{words} it with: {python} -m pip {does} acme-cli",
        )
    (python.parent.parent / "uv-receipt.toml").touch()
    assert plugin(made, "update", "acme-cli").stderr.endswith(
        "uv tool upgrade cli-host\n"
    )
    assert plugin(made, "update").status == 0
    assert plugin(made, "disable", "acme-cli").status == 0
    assert (made.run("cloud", "py").status, listed(made)["acme-cli"]["state"]) == (
        2,
        "disabled",
    )
    assert plugin(made, "enable", "acme-cli").status == 0
    own_environment.acme("2.0", "tape")
    assert (
        plugin(made, "add", "pip:acme-cli").status == 0
    )  # the registry's package wins
    assert made.run("cloud", "py").all == (0, "py 2.0\n", "")
    assert listed(made)["acme-cli"]["kind"] == "pip"
    assert plugin(made, "remove", "acme-cli").status == 0
    assert made.run("cloud", "py").all == (0, "py 1.0\n", "")


def test_an_environment_made_again_keeps_the_packages(
    own_environment: Environment,
) -> None:
    made, library = own_environment.made, own_environment.packages
    wheel(own_environment.wheels, "needed", "2.0", "", points={})
    own_environment.acme("1.0", requires=("needed", "click>=8"))
    assert plugin(made, "add", "pip:acme-cli").status == 0
    aside = library.with_name("aside")
    library.rename(aside)
    shutil.copytree(aside, library)
    assert made.run("cloud", "py").all == (0, "py 1.0\n", "")
    assert listed(made)["acme-cli"]["state"] == "enabled"


def test_a_launcher_fits_any_version_of_python_in_its_environment(
    own_environment: Environment,
) -> None:
    """An upgrade of Python makes the environment again at the same path."""
    environment, made = own_environment.python.parent.parent, own_environment.made
    assert made.run("self", "init", str(made.home / "new"), "--name", "new").status == 0
    lines = (made.home / "new/core/new").read_text().splitlines()
    assert lines[0] == f"#!{environment}/bin/python -IS"
    [path] = [line for line in lines if line.startswith("sys.path.append(")]
    assert eval(path.removeprefix("sys.path.append"), {"sys": sys}) == str(  # noqa: S307
        own_environment.packages
    )
    assert f"python{sys.version_info[0]}.{sys.version_info[1]}" not in path


def test_a_version_of_the_program_that_does_not_fit_any_more(
    own_environment: Environment,
) -> None:
    made = own_environment.made
    own_environment.acme("1.0", requires=("click<99",))
    assert plugin(made, "add", "pip:acme-cli").status == 0
    [metadata] = own_environment.packages.glob("click-*.dist-info/METADATA")
    text = metadata.read_text()
    metadata.write_text(text.replace("\nVersion: ", "\nVersion: 99"))
    os.utime(own_environment.packages)
    row = listed(made)["acme-cli"]
    assert row["state"] == "broken"
    assert row["reason"].startswith("needs click<99, the program has 99")
    assert made.run("cloud", "py").status == 2
    failed = plugin(made, "sync")
    assert failed.status == 1
    assert " needs click<99, the program has click 99" in failed.stderr
    own_environment.acme("1.1", requires=("click>=8",))
    synced = plugin(made, "sync")
    assert synced.status == 0, synced.stderr
    assert made.run("cloud", "py").all == (0, "py 1.1\n", "")


def test_doctor_installs_broken_and_missing_packages_again(
    with_uv: Environment,
) -> None:
    made = with_uv.made
    old = with_uv.acme("1.0", requires=("click<8",))
    assert plugin(made, "add", "pip:acme-cli").status == 1
    with_uv.place(old)
    assert listed(made)["acme-cli"]["reason"].startswith(
        "needs click<8, the program has "
    )
    failed = made.run("self", "doctor", "--fix")
    assert failed.status == 1
    assert "needs click<8, the program has click 8" in failed.stderr
    with_uv.acme("1.1", requires=("click>=8",))
    for _ in ("broken", "missing"):
        fixed = made.run("self", "doctor", "--fix")
        assert (fixed.status, "fixed  " in fixed.stdout) == (0, True), fixed.stderr
        assert made.run("cloud", "py").all == (0, "py 1.1\n", "")
        shutil.rmtree(made.root / "plugins/.versions/acme-cli")
        assert listed(made)["acme-cli"]["state"] == "missing"


def test_code_that_is_compiled_for_another_python(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.acme(
        "1.0", top={"fast.cpython-34-x86_64-linux-gnu.so": "", "any.abi3.so": ""}
    )
    assert plugin(made, "add", "pip:acme-cli").status == 0
    entry = registry(made)["acme-cli"]
    assert entry["python"] is not None
    [kept] = (made.root / "plugins/.versions/acme-cli").glob("*/entry.json")
    kept.write_text(json.dumps({**entry, "python": "3.4"}))
    os.utime(made.root / "plugins")
    row = listed(made)["acme-cli"]
    assert (row["state"], row["reason"]) == (
        "broken",
        "built for Python 3.4; to install it again: cli self plugin sync",
    )
    assert plugin(made, "sync").status == 0
    assert made.run("cloud", "py").all == (0, "py 1.0\n", "")


def test_a_wheel_by_path_and_over_http(
    with_uv: Environment, site: httpserver.Site
) -> None:
    made = with_uv.made
    path = with_uv.acme(
        "1.0", scripts="[console_scripts]\nacme-tool = acme_cli.plugin:main\n"
    )
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    address = f"{site.add(f'/{path.name}', path.read_bytes())}?dl=1"
    wrong = plugin(made, "add", address, "--sha256", "0" * 64)
    assert (wrong.status, right in wrong.stderr) == (1, True)
    assert plugin(made, "add", address, "--sha256", right).status == 0
    assert registry(made)["acme-cli"]["sha256"] == right
    assert registry(made)["acme-cli"]["source"] == address
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert not (with_uv.python.parent / "acme-tool").exists()
    stays = "acme-cli: stays at 1.0; to install another version: cli self plugin add WHEEL\n"
    assert plugin(made, "update").stdout == stays
    assert plugin(made, "remove", "acme-cli").status == 0
    assert plugin(made, "add", str(path)).status == 0
    assert made.run("cloud", "disk").stdout == "disk 1.0\n"


def test_a_wheel_replaces_that_of_another_version_or_content(
    with_uv: Environment,
) -> None:
    made = with_uv.made
    first = with_uv.acme("1.0")
    assert plugin(made, "add", str(first)).status == 0
    again = plugin(made, "add", str(first))
    assert again.status == 0, again.stderr
    stays = "stays at 1.0; to install another version: cli self plugin add WHEEL; "
    assert f"is already installed; {stays}" in again.stdout
    assert plugin(made, "disable", "acme-cli").status == 0
    second = with_uv.acme("2.0", "tape")
    said = "acme-cli: 1.0 → 2.0\n  + cloud tape  tape\n  - cloud disk  disk\nupdated acme-cli\n"
    assert plugin(made, "add", str(second)).stdout.startswith(said)
    assert (made.run("cloud", "py").status, listed(made)["acme-cli"]["state"]) == (
        2,
        "disabled",
    )
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
    shutil.rmtree(made.root / "plugins/.versions/acme-cli")
    row = listed(made)["acme-cli"]
    assert (row["state"], row["reason"]) == (
        "missing",
        "its files are missing; restore them with: cli self plugin sync",
    )
    before = (made.root / "plugins/registry.json").read_bytes()
    dry = plugin(made, "sync", "--dry-run")
    assert dry.all == (0, f"acme-cli 1.0 (pip, {first})\n", "")
    synced = plugin(made, "sync")
    assert (synced.status, synced.stdout) == (
        0,
        f"acme-cli 1.0 (pip, {first})\ninstalled acme-cli\n",
    ), synced.stderr
    assert (made.root / "plugins/registry.json").read_bytes() == before
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert plugin(made, "sync").stdout == "every plugin is already installed\n"


def test_a_requirement_that_the_program_contradicts(either: Environment) -> None:
    made = either.made
    either.acme("1.0", requires=("needed>=2",))
    missing = plugin(made, "add", "pip:acme-cli")
    assert (missing.status, "needed>=2" in missing.stderr) == (1, True)
    either.acme("1.0", requires=("click<1",))
    greedy = plugin(made, "add", "pip:acme-cli")
    last = greedy.stderr.splitlines()[-1].replace(
        "acme-cli 1.0", "acme-cli"
    )  # as pip says
    assert greedy.status == 1
    assert last.startswith("cli: acme-cli needs click<1, the program has click ")
    wheel(either.wheels, "other-cli", "1.0", "", points={}, requires=("needed<2",))
    for version in ("1.0", "2.0"):
        wheel(either.wheels, "needed", version, "", points={})
    either.acme("1.0", requires=("needed>=2", "other-cli"))
    torn = plugin(made, "add", "pip:acme-cli").stderr.splitlines()[-1]
    assert "needed>=2" in torn
    assert "needed<2" in torn
    assert (listed(made), hidden(made)) == ({}, [])
    assert made.run("demo", "hi").stdout == "hi\n"


def test_an_older_version_because_of_the_program(either: Environment) -> None:
    made = either.made
    either.acme("1.0")
    either.acme("2.0", requires=("click<1",))
    added = plugin(made, "add", "pip:acme-cli")
    assert added.status == 0
    said = "warning: acme-cli: 1.0 is used instead of the newest version: acme-cli "
    assert said in added.stderr
    assert said in plugin(made, "update").stderr


def test_what_the_program_has_is_not_installed_again(either: Environment) -> None:
    made = either.made
    path = either.acme("1.0", requires=("click>=8", "requests[socks]", "cli-host"))
    wheel(either.wheels, "pysocks", "1.7.1", "", points={})
    added = plugin(made, "add", str(path))
    assert added.status == 0, added.stderr
    assert [one["name"] for one in registry(made)["acme-cli"]["packages"]] == [
        "pysocks"
    ]
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert listed(made)["acme-cli"]["state"] == "enabled"


def test_refused_wheels(with_uv: Environment, tmp_path: Path) -> None:
    made = with_uv.made
    plain = wheel(with_uv.wheels, "needed", "2.0", "", points={})
    assert (
        "it has no entry point in the group cli_host"
        in plugin(made, "add", str(plain)).stderr
    )
    own = wheel(tmp_path, "click", "99", "", points={"click": "click.plugin"})
    assert "this program itself needs it" in plugin(made, "add", str(own)).stderr
    evil = tmp_path / "evil-1.0-py3-none-any.whl"
    evil.write_bytes(b"PK\x03\x04")
    done = plugin(made, "add", str(evil))
    assert (done.status, "Traceback" in done.stderr) == (1, False)
    for text in (
        "pip:--index-url=x",
        "pip:-r x",
        "pip:a @ https://x",
        "pip:./x",
        "pip:a;b",
    ):
        assert plugin(made, "add", text).status == 2, text
    assert (listed(made), hidden(made)) == ({}, [])


def test_a_name_that_is_taken(with_uv: Environment, tmp_path: Path) -> None:
    made = with_uv.made
    with_uv.place(with_uv.acme("1.0"))
    for name, owner in (("acme-cli", "acme-cli"), ("builtin.setup", "cli-host")):
        twin = wheel(tmp_path, "a-twin", "1", "", points={name: "twin.plugin"})
        refused = plugin(made, "add", str(twin))
        assert refused.status == 1
        assert (
            f"a-twin: {owner} also has an entry point named {name}; " in refused.stderr
        )
    assert listed(made).keys() == {"acme-cli"}


FOREIGN = {
    "host/__init__.py": "host would replace the module of cli-host",
    "builtin_plugins/new.py": "builtin_plugins would replace the module of cli-host",
    "Click.py": "Click.py would replace the module of click",
    "acme_cli-1.0.data/purelib/click/core.py": "click would replace the module of click",
}


def test_a_wheel_with_a_module_of_the_program(with_uv: Environment) -> None:
    made = with_uv.made
    for file, problem in FOREIGN.items():
        path = with_uv.acme("1.0", top={file: "VERSION = 1\n"})
        refused = plugin(made, "add", str(path))
        last = refused.stderr.splitlines()[-1]
        assert (refused.status, last) == (1, f"cli: acme-cli: {problem}")
    with_uv.acme("1.0", requires=("helper",))
    wheel(with_uv.wheels, "helper", "1.0", "", points={}, top={"host/new.py": ""})
    refused = plugin(made, "add", "pip:acme-cli")
    assert refused.stderr.splitlines()[-1] == (
        "cli: acme-cli: host would replace the module of cli-host"
    )
    assert (listed(made), hidden(made)) == ({}, [])


ELSEWHERE = {
    "acme.pth": "import os; open(os.environ['HOME'] + '/pth', 'w')\n",
    "sitecustomize.py": "import os; open(os.environ['HOME'] + '/sitecustomize', 'w')\n",
    "acme_cli-1.0.data/data/lib64/python3/site-packages/host/new.py": "",
    "acme_cli-1.0.data/data/lib/new.py": "",
    "acme_cli-1.0.data/data/pyvenv.cfg": "home = /nowhere\n",
    "acme_cli-1.0.data/scripts/cli": "#!/bin/sh\n",
    "lib64/x.py": "",
    "pyvenv.cfg": "home = /nowhere\n",
}


def test_a_wheel_that_writes_elsewhere(either: Environment) -> None:
    made, venv = either.made, either.python.parent.parent
    before = fingerprint(venv)
    path = either.acme("1.0", top=ELSEWHERE)
    assert plugin(made, "add", str(path)).status == 0
    assert made.run("cloud", "py").all == (0, "py 1.0\n", "")
    assert made.run("cloud", "disk").all == (0, "disk 1.0\n", "")
    assert fingerprint(venv) == before
    assert {one.name for one in made.home.iterdir()} <= {".config", ".cache", ".local"}
    assert plugin(made, "remove", "acme-cli").status == 0
    assert not list((made.root / "plugins/.versions").iterdir())


def test_packages_that_share_a_namespace(with_uv: Environment) -> None:
    made = with_uv.made
    for name in ("team-a", "team-b"):
        text = DECLARES.format(words=(name, "x"), package=name.replace("-", "_"))
        top = {f"team/{name[-1]}.py": ""}
        assert (
            plugin(
                made, "add", str(wheel(with_uv.wheels, name, "1.0", text, top=top))
            ).status
            == 0
        )
    assert made.run("team-a", "x").stdout == "team_a\n"
    assert made.run("team-b", "x").stdout == "team_b\n"


def test_nothing_of_another_plugin_is_imported_without_need(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "imported"
    text = f"open({str(mark)!r}, 'w')\nimport time; time.sleep(5)"
    with_uv.place(wheel(with_uv.wheels, "broken-cli", "1.0", text))
    safe = made.run("--safe", "self", "plugin", "list", "--format", "json")
    assert json.loads(safe.stdout)["plugins"][0]["name"] == "broken-cli"
    for words in (["show"], ["disable"], ["enable"], ["disable"], ["remove"]):
        assert made.run("--safe", "self", "plugin", *words, "broken-cli").status == 0, (
            words
        )
    assert not mark.exists()
    assert listed(made) == {}


def test_without_pip_and_uv(with_uv: Environment) -> None:
    with_uv.acme("1.0")
    done = plugin(with_uv.made, "add", "pip:acme-cli", env={"PATH": "/usr/bin:/bin"})
    assert done.status == 1
    assert (
        "has no pip, and uv is not on PATH; install uv, or install pip with: "
        in done.stderr
    )


def test_pip_settings_that_would_install_elsewhere(environment: Environment) -> None:
    made = environment.made
    environment.acme("1.0")
    odd = {
        "PIP_USER": "1", "PIP_PREFIX": "/nowhere", "PIP_ROOT": "/nowhere", "PIP_TARGET": "/nowhere",
        "PIP_DRY_RUN": "1", "PIP_REQUIRE_HASHES": "1", "PIP_REPORT": "/nowhere",
    }  # fmt: skip
    done = plugin(made, "add", "pip:acme-cli", env=odd)
    assert done.status == 0, done.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def test_sync_brings_exactly_the_recorded_files(
    either: Environment, tmp_path: Path
) -> None:
    made = either.made
    either.acme("1.0", requires=("needed",))
    wheel(either.wheels, "needed", "1.0", "", points={})
    assert plugin(made, "add", "pip:acme-cli").status == 0
    team = tmp_path / "team.json"
    team.write_bytes((made.root / "plugins/registry.json").read_bytes())
    shutil.rmtree(made.root / "plugins")
    either.acme("2.0")
    wheel(either.wheels, "needed", "2.0", "", points={})
    synced = plugin(made, "sync", str(team))
    assert synced.status == 0, synced.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert (either.folder() / "needed-1.0.dist-info").is_dir()
    assert (
        plugin(made, "sync", str(team)).stdout == "every plugin is already installed\n"
    )
    shutil.rmtree(made.root / "plugins")
    os.unlink(either.wheels / "acme_cli-1.0-py3-none-any.whl")
    either.acme("1.0", "other")
    no_cache = {"PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1"}
    refused = plugin(made, "sync", str(team), env=no_cache)
    assert refused.status == 1
    assert listed(made) == {}


def test_sync_of_what_each_machine_builds(with_uv: Environment, tmp_path: Path) -> None:
    made, mark = with_uv.made, tmp_path / "mark"
    packed = with_uv.source(with_uv.acme("1.0"), mark)
    assert plugin(made, "add", "pip:acme-cli", "--yes").status == 0
    [package] = registry(made)["acme-cli"]["packages"]
    assert package["sha256"] == [hashlib.sha256(packed.read_bytes()).hexdigest()]
    assert package["built"] is True
    team = tmp_path / "team.json"
    team.write_bytes((made.root / "plugins/registry.json").read_bytes())
    shutil.rmtree(made.root / "plugins")
    mark.unlink()
    refused = plugin(made, "sync", str(team))
    assert (refused.status, mark.exists()) == (1, False)
    synced = plugin(made, "sync", str(team), "--yes")
    assert synced.status == 0, synced.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    shutil.rmtree(made.root / "plugins")
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(tmp_path / "acme_cli-1.0/backend.py", "acme_cli-1.0/other.py")
    no_cache = {"UV_NO_CACHE": "1"}
    assert plugin(made, "sync", str(team), "--yes", env=no_cache).status == 1
    assert listed(made) == {}


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
    "signature": (
        "from host import hookimpl\n@hookimpl\ndef env_sources(no): ...",
        "no",
    ),
    "unknown hook": (
        "from host import hookimpl\n@hookimpl\ndef discover(): ...",
        "discover",
    ),
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


def test_broken_plugins_are_listed_with_the_reason(with_uv: Environment) -> None:
    """All of them beside one that works, which none of them and nothing else may miss."""
    made = with_uv.made
    with_uv.place(with_uv.acme("1.0"))
    reasons = {}
    for number, (text, reason) in enumerate(BROKEN.values()):
        name = f"broken-{number}-cli"
        reasons[name] = reason
        with_uv.place(wheel(with_uv.wheels, name, "1.0", f"print('noise')\n{text}"))

    def check() -> None:
        rows = listed(made)
        found = {name: (rows[name]["state"], rows[name]["reason"]) for name in reasons}
        assert {
            name for name, reason in reasons.items() if reason not in found[name][1]
        } == set()
        assert {state for state, _ in found.values()} == {"broken"}, found

    check()
    first = made.run("demo", "hi")
    assert (first.status, first.stdout) == (0, "hi\n")
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    check()
    assert plugin(made, "disable", "broken-0-cli").status == 0
    for name in (
        reasons
    ):  # each of the others is asked again after a change, but not with --safe
        assert made.run("--safe", "self", "plugin", "disable", name).status == 0, name
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert {row["state"] for row in listed(made).values()} == {"enabled", "disabled"}


def test_a_slow_plugin_is_waited_for_once(with_uv: Environment, tmp_path: Path) -> None:
    made = with_uv.made
    mark = tmp_path / "mark"
    text = f"open({str(mark)!r}, 'a').write('x')\nimport time; time.sleep(99)"
    broken = wheel(with_uv.wheels, "broken-cli", "1.0", text)
    with_uv.place(with_uv.acme("1.0"))
    with_uv.place(broken)
    first = made.run("demo", "hi")
    assert (first.status, first.stdout) == (0, "hi\n")
    asked = mark.read_text()
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert mark.read_text() == asked
    row = listed(made)["broken-cli"]
    assert (row["state"], "more than 10 seconds" in row["reason"]) == ("broken", True)
    assert plugin(made, "disable", "broken-cli").status == 0
    assert listed(made)["broken-cli"]["state"] == "disabled"


def test_two_plugins_of_one_name(environment: Environment) -> None:
    made = environment.made
    acme = environment.acme("1.0")
    twin = wheel(
        environment.wheels,
        "twin-cli",
        "1.0",
        "",
        points={"acme-cli": "twin_cli.plugin"},
    )
    environment.place(acme)
    environment.place(twin)
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
    other = wheel(
        environment.wheels, "broken-cli", "1.0", f"open({str(mark)!r}, 'a').write('x')"
    )
    environment.place(acme)
    environment.place(other)
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


def test_words_that_only_running_it_tells(with_uv: Environment) -> None:
    made = with_uv.made
    assert plugin(made, "add", str(with_uv.acme("1.0"))).status == 0
    twin = _declares(with_uv, "twin-cli", "tuple('cloud py'.split())")
    refused = plugin(made, "add", str(twin))
    assert refused.status == 1
    assert (
        "cloud py is already a command of the plugin acme-cli; --force"
        in refused.stderr
    )
    assert set(registry(made)) == {"acme-cli"}
    early = _declares(with_uv, "a-cli", "tuple('cloud py'.split())")
    taking = plugin(made, "add", str(early), "--force")
    assert taking.status == 0
    assert (
        "cloud py is already a command of the plugin acme-cli; the exist"
        in taking.stderr
    )
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def test_a_package_without_hooks(with_uv: Environment) -> None:
    made = with_uv.made
    nothing = wheel(with_uv.wheels, "twin-cli", "1.0", "")
    refused = plugin(made, "add", str(nothing))
    assert (
        refused.stderr.splitlines()[-1]
        == "cli: twin-cli: contains no commands and no hooks"
    )
    assert listed(made) == {}
