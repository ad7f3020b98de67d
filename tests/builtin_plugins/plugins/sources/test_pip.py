"""Plugins that are packages: real wheels, real pip and uv, each plugin in a folder of its own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from testing import httpserver
from testing.fork_server import share_server
from testing.installation import command
from testing.packages import Environment
from testing.plugin_sources import hidden, listed, plugin, registry, wheel
from testing.sweep.ground import fingerprint


def _without_compiled(venv: Path) -> bytes:
    return fingerprint(venv, "__pycache__".__eq__)


def test_a_requirement_added_updated_rolled_back_removed(
    with_uv: Environment,
) -> None:
    """The folder is complete: it also has what the program has, but not cli-host."""
    made = with_uv.made
    before = _without_compiled(with_uv.python.parent.parent)
    with_uv.acme("1.0", requires=("needed>=2", "wcwidth", "cli-host"))
    wheel(with_uv.wheels, "needed", "2.0", "", points={})
    wheel(with_uv.wheels, "wcwidth", "0.99", "", points={})
    added = plugin(made, "add", "pip:Acme.CLI")
    assert added.status == 0, added.stderr
    assert added.stdout.startswith(
        "acme-cli 1.0 (pip, Acme.CLI)\n  A test\ncommands: 1; its Python code may declare more\n"
        "    cloud disk  disk\nPython hooks: discover_commands\n"
        "packages: needed 2.0, wcwidth 0.99\nadded acme-cli\n"
    )
    distributions = {path.name for path in with_uv.folder().glob("*.dist-info")}
    names = ("acme_cli-1.0", "needed-2.0", "wcwidth-0.99")
    assert distributions == {f"{name}.dist-info" for name in names}
    assert made.run("cloud", "py", "x").all == (0, "py 1.0 x\n", "")
    again = plugin(made, "add", "pip:Acme.CLI")
    assert (again.status, "is already installed" in again.stdout) == (0, True)

    with_uv.acme("2.0", "tape", requires=("needed>=2",))
    said = "acme-cli: 1.0 → 2.0\n  + cloud tape  tape\n  - cloud disk  disk\n"
    dry = plugin(made, "update", "--dry-run")
    assert (dry.status, dry.stdout) == (0, said)
    assert plugin(made, "update").stdout == f"{said}updated acme-cli\n"
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    assert plugin(made, "update").stdout == "acme-cli: 2.0 is the newest version\n"
    assert plugin(made, "rollback", "acme-cli").stdout == "acme-cli: 2.0 → 1.0\n"
    assert made.run("cloud", "py").stdout == "py 1.0\n"

    assert plugin(made, "disable", "acme-cli").status == 0
    said = "cli: unknown command cloud; plugin acme-cli is disabled\n"
    assert made.run("cloud", "py").all == (2, "", said)
    assert "\n    cloud disk  disk\n" in plugin(made, "show", "acme-cli").stdout
    assert listed(made)["acme-cli"]["state"] == "disabled"
    assert plugin(made, "remove", "acme-cli").all == (0, "removed acme-cli\n", "")
    assert (listed(made), hidden(made)) == ({}, [])
    assert not (made.root / "plugins/.versions").exists()
    assert _without_compiled(with_uv.python.parent.parent) == before


def test_pip_finds_and_installs_a_requirement(environment: Environment) -> None:
    made = environment.made
    environment.acme("1.0", requires=("needed>=2", "wcwidth", "cli-host"))
    wheel(environment.wheels, "needed", "2.0", "", points={})
    wheel(environment.wheels, "wcwidth", "0.99", "", points={})
    added = plugin(made, "add", "pip:Acme.CLI")
    assert added.status == 0, added.stderr
    assert "\npackages: needed 2.0, wcwidth 0.99\nadded acme-cli\n" in added.stdout
    distributions = {path.name for path in environment.folder().glob("*.dist-info")}
    names = ("acme_cli-1.0", "needed-2.0", "wcwidth-0.99")
    assert distributions == {f"{name}.dist-info" for name in names}
    assert made.run("cloud", "py", "x").all == (0, "py 1.0 x\n", "")


@pytest.mark.night
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


@pytest.mark.night
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
import pluggy
from host import CommandDeclaration, EnvSource, SecretScheme, hookimpl

@hookimpl
def discover_commands(installation):
    about = f"built with {{pluggy.VERSION}}"
    keys = {{"name": "X", "description": about, "entrypoint": "{package}.plugin:main"}}
    yield CommandDeclaration(("{package}", "py"), keys)

@hookimpl
def env_sources(installation):
    yield EnvSource("{package}", rank=2, provider="{package}.plugin:read")

@hookimpl
def secret_schemes(installation):
    yield SecretScheme("{scheme}", provider="{package}.plugin:secret")

def main(args):
    import builtin_plugins, host, sys
    from builtin_plugins.library.addresses import parse
    from host import Program
    found = Program.current().environment(Program.current().words)
    values = [f"{{name}}={{found[name].value}}" for name in ("OF_ONE", "OF_TWO")]
    print(pluggy.VERSION, *values, [one for one in sys.path
        if "/plugins/" in one and "/.versions/{name}/" not in one])

def read(words, environment):
    return {{"OF_{upper}": pluggy.VERSION}}

def secret(references, environment):
    return {{one: f"{{one}} {{pluggy.VERSION}}" for one in references}}
"""


def test_two_packages_and_the_program_have_three_versions_of_a_library(
    with_uv: Environment,
) -> None:
    """Each process of a plugin gets the folder of this plugin, and `host` from the program.

    The process that builds the lock has loaded the program's pluggy, and forks.
    """
    made = with_uv.made
    for version in ("1.98", "1.99"):
        top = {}
        for module in (with_uv.packages / "pluggy").glob("*.py"):
            top[f"pluggy/{module.name}"] = module.read_text()
        top["pluggy/__init__.py"] += f"VERSION = 'pluggy {version}'\n"
        wheel(with_uv.wheels, "pluggy", version, "", points={}, top=top)
    for word, requirement in (("one", "pluggy<1.99"), ("two", "pluggy>=1.99")):
        text = SHARED.format(
            package=f"plug_{word}", name=f"plug-{word}", scheme=word, upper=word.upper()
        )
        wheel(with_uv.wheels, f"plug-{word}", "1.0", text, requires=(requirement,))
        added = plugin(made, "add", f"pip:plug-{word}")
        assert added.status == 0, added.stderr
        # As a linked project may have them in its directory.
        for name in ("host", "builtin_plugins"):
            (with_uv.folder(f"plug-{word}") / f"{name}.py").write_text("no = this\n")
    assert "built with pluggy 1.98" in made.run("plug_one").stdout
    assert "built with pluggy 1.99" in made.run("plug_two").stdout
    values = "OF_ONE=pluggy 1.98 OF_TWO=pluggy 1.99 []\n"
    assert made.run("plug_one", "py").all == (0, f"pluggy 1.98 {values}", "")
    assert made.run("plug_two", "py").all == (0, f"pluggy 1.99 {values}", "")
    secrets = {"A": "one:a", "B": "two:b", "C": "run:echo c"}
    made.write(
        {
            "commands/demo/secret/command.json": command(secrets=secrets),
            "commands/demo/secret/main.sh": "echo $A, $B, $C, $OF_ONE, $OF_TWO\n",
        }
    )
    said = "one:a pluggy 1.98, two:b pluggy 1.99, c, pluggy 1.98, pluggy 1.99\n"
    assert made.run("demo", "secret").all == (0, said, "")


@pytest.mark.night
def test_two_packages_may_require_a_plugin(with_uv: Environment) -> None:
    """It is their library; its commands come when it is added by its own name."""
    made = with_uv.made
    for version in ("1.0", "2.0"):
        with_uv.acme(version)
    for name, requirement in (("one", "acme-cli<2"), ("two", "acme-cli>=2")):
        text = DECLARES.format(words=(name, "x"), package=name)
        built = wheel(with_uv.wheels, name, "1.0", text, requires=(requirement,))
        added = plugin(made, "add", str(built))
        assert added.status == 0, added.stderr
        assert "cloud" not in added.stdout
    assert made.run("cloud", "py").status == 2
    assert plugin(made, "add", "pip:acme-cli").status == 0
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    assert made.run("one", "x").stdout == "one\n"
    assert {row["state"] for row in listed(made).values()} == {"enabled"}


def test_a_package_in_the_environment(own_environment: Environment) -> None:
    made = own_environment.made
    own_environment.unpack(own_environment.acme("1.0"))
    share_server(made.launcher)  # no module of this environment changes from here on
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
            f"{words} it with: {python} -I -m pip {does} acme-cli",
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


@pytest.mark.night
def test_doctor_installs_broken_and_missing_packages_again(
    with_uv: Environment,
) -> None:
    """Code that another Python has compiled is broken; that of a stable interface is not."""
    made = with_uv.made
    compiled = {"fast.cpython-34-x86_64-linux-gnu.so": "", "any.abi3.so": ""}
    with_uv.acme("1.0", top=compiled)
    assert plugin(made, "add", "pip:acme-cli").status == 0
    entry = registry(made)["acme-cli"]
    [kept] = (made.root / "plugins/.versions/acme-cli").glob("*/entry.json")
    kept.write_text(json.dumps({**entry, "python": "3.4"}))
    os.utime(made.root / "plugins")
    row = listed(made)["acme-cli"]
    assert (row["state"], row["reason"]) == (
        "broken",
        "built for Python 3.4; to install it again: cli self plugin sync",
    )
    for _ in ("broken", "missing"):
        fixed = made.run("self", "doctor", "--fix")
        assert (fixed.status, "fixed  " in fixed.stdout) == (0, True), fixed.stderr
        assert made.run("cloud", "py").all == (0, "py 1.0\n", "")
        shutil.rmtree(made.root / "plugins/.versions/acme-cli")
        assert listed(made)["acme-cli"]["state"] == "missing"


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


@pytest.mark.night
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
    with_uv.acme("2.0", "floppy")  # built again, under the same name
    assert "  + cloud floppy  floppy\n" in plugin(made, "add", str(second)).stdout
    assert made.run("cloud", "floppy").status == 0
    assert plugin(made, "rollback", "acme-cli").status == 0
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
    synced = plugin(made, "sync")
    assert synced.status == 0, synced.stderr
    assert synced.stdout.startswith(f"acme-cli 1.0 (pip, {first})\n  A test\n")
    assert synced.stdout.endswith("\ninstalled acme-cli\n")
    assert (made.root / "plugins/registry.json").read_bytes() == before
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def test_a_requirement_outside_the_ranges_of_the_program(either: Environment) -> None:
    """The installer's own words say why, all of them."""
    made = either.made
    for version in ("0.1", "99"):
        wheel(either.wheels, "click", version, "", points={})
    either.acme("1.0", requires=("click<1",))
    refused = plugin(made, "add", "pip:acme-cli")
    first, *said = refused.stderr.splitlines()[1:]
    called = "pip install" if either.has_pip else "uv pip compile"
    assert (refused.status, first) == (
        1,
        f"cli: {called} for acme-cli: exit status 1; it said:",
    )
    assert all(line.startswith("  ") for line in said)
    assert "click<1" in "".join(said)
    assert "click>=8" in "".join(said)
    assert (listed(made), hidden(made)) == ({}, [])


def test_refused_wheels(with_uv: Environment, tmp_path: Path) -> None:
    made = with_uv.made
    plain = wheel(with_uv.wheels, "needed", "2.0", "", points={})
    assert (
        "it has no entry point in the group cli_host"
        in plugin(made, "add", str(plain)).stderr
    )
    own = wheel(tmp_path, "cli-host", "99", "", points={"x": "click.plugin"})
    for source in (str(own), "pip:cli_host"):
        assert "cli-host is this program" in plugin(made, "add", source).stderr
    module = with_uv.acme("1.0", top={"host.pyc": ""})
    assert plugin(made, "add", str(module)).stderr.splitlines()[-1] == (
        "cli: acme-cli: host.pyc would take the place of a module of cli-host"
    )
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
    before = _without_compiled(venv)
    path = either.acme("1.0", top=ELSEWHERE)
    assert plugin(made, "add", str(path)).status == 0
    assert made.run("cloud", "py").all == (0, "py 1.0\n", "")
    assert made.run("cloud", "disk").all == (0, "disk 1.0\n", "")
    assert _without_compiled(venv) == before
    assert {one.name for one in made.home.iterdir()} <= {".config", ".cache", ".local"}
    assert plugin(made, "remove", "acme-cli").status == 0
    assert not (made.root / "plugins/.versions").exists()


@pytest.mark.night
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


def test_settings_that_would_install_elsewhere_or_something_else(
    either: Environment, tmp_path: Path
) -> None:
    made, mark = either.made, tmp_path / "mark"
    either.source(either.acme("2.0"), mark)
    either.acme("1.0")
    odd = {
        "PIP_USER": "1", "PIP_PREFIX": "/nowhere", "PIP_ROOT": "/nowhere", "PIP_TARGET": "/nowhere",
        "PIP_DRY_RUN": "1", "PIP_REQUIRE_HASHES": "1", "PIP_REPORT": "/nowhere",
        "PIP_NO_BINARY": ":all:", "PIP_PLATFORM": "win32", "PIP_PYTHON_VERSION": "2.7",
        "UV_TARGET": "/nowhere", "UV_PYTHON": "/nowhere", "UV_WORKING_DIR": "/nowhere",
        "UV_NO_BINARY": "1", "UV_REQUIRE_HASHES": "1", "UV_OVERRIDE": "/nowhere",
    }  # fmt: skip
    done = plugin(made, "add", "pip:acme-cli", env=odd)
    assert done.status == 0, done.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert not mark.exists()


def test_settings_of_uv_build_nothing_before_the_question(
    with_uv: Environment, tmp_path: Path
) -> None:
    """Those of a project around the installation do not apply; those of the user are named."""
    made, mark = with_uv.made, tmp_path / "mark"
    with_uv.source(with_uv.acme("2.0"), mark)
    with_uv.acme("1.0")
    builds = 'no-binary-package = ["acme-cli"]\n'
    project = f'[project]\nname = "team"\nversion = "1"\n[tool.uv]\n{builds}'
    made.write({"pyproject.toml": project, "plugins/uv.toml": builds})
    assert plugin(made, "add", "pip:acme-cli").status == 0
    assert listed(made)["acme-cli"]["version"] == "1.0"

    config = made.home / ".config/uv/uv.toml"
    found = config.read_text()
    config.write_text(f"{found}[pip]\nemit-index-url = true\n")  # no option of a build
    assert plugin(made, "update", "acme-cli", "--dry-run").status == 0
    for setting, option in (
        (builds, "--no-binary acme-cli"),
        ('[pip]\nonly-binary = [":none:"]\n', "--only-binary :all:"),
    ):
        config.write_text(f"{found}{setting}")
        refused = plugin(made, "update", "acme-cli")
        assert refused.status == 1
        assert refused.stderr.splitlines()[-1] == (
            f"cli: the settings of uv change what may be built: {option}; "
            "remove them from uv.toml, or set UV_NO_CONFIG=1"
        )
    assert not mark.exists()


def test_sync_brings_exactly_the_recorded_versions_and_files(
    either: Environment, tmp_path: Path
) -> None:
    made = either.made
    either.acme("1.0", requires=("needed",))
    needed = wheel(either.wheels, "needed", "1.0", "", points={})
    assert plugin(made, "add", "pip:acme-cli").status == 0
    recorded = {one["name"]: one for one in registry(made)["acme-cli"]["packages"]}
    assert recorded["needed"] == {
        "name": "needed",
        "version": "1.0",
        "sha256": [hashlib.sha256(needed.read_bytes()).hexdigest()],
        "file": needed.name,
        "url": needed.as_uri(),
        "built": False,
    }
    team = tmp_path / "team.json"
    team.write_bytes((made.root / "plugins/registry.json").read_bytes())
    shutil.rmtree(made.root / "plugins")
    either.acme("2.0")
    wheel(either.wheels, "needed", "2.0", "", points={})
    # On another system, or with another Python, another file fits.
    needed.rename(needed.with_name("needed-1.0-py2.py3-none-any.whl"))
    synced = plugin(made, "sync", str(team))
    assert synced.status == 0, synced.stderr
    other = "acme-cli: this system needs other files than recorded of needed\n"
    assert other in synced.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert (either.folder() / "needed-1.0.dist-info").is_dir()
    assert registry(made)["acme-cli"]["packages"] == [*recorded.values()]
    again = plugin(made, "sync", str(team))
    assert again.stdout == "nothing to install\n"

    shutil.rmtree(made.root / "plugins")
    either.acme("1.0", "other")
    refused = plugin(made, "sync", str(team))
    assert refused.status == 1
    assert "acme_cli-1.0-py3-none-any.whl: the SHA-256 is " in refused.stderr
    assert listed(made) == {}


@pytest.mark.night
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
    assert listed(made)["broken-0-cli"]["state"] == "disabled"


@pytest.mark.night  # it waits for the limit, 10 seconds
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


def test_two_plugins_of_one_name(with_uv: Environment) -> None:
    made = with_uv.made
    acme = with_uv.acme("1.0")
    twin = wheel(
        with_uv.wheels,
        "twin-cli",
        "1.0",
        "",
        points={"acme-cli": "twin_cli.plugin"},
    )
    with_uv.place(acme)
    with_uv.place(twin)
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    rows = listed(made)
    assert rows["acme-cli"]["state"] == "enabled"
    assert rows["twin-cli"]["state"] == "broken"
    assert "another plugin has this name" in rows["twin-cli"]["reason"]


def test_a_run_imports_no_plugin_that_does_not_serve_it(
    with_uv: Environment, tmp_path: Path
) -> None:
    made = with_uv.made
    mark = tmp_path / "mark"
    acme = with_uv.acme("1.0")
    other = wheel(
        with_uv.wheels, "broken-cli", "1.0", f"open({str(mark)!r}, 'a').write('x')"
    )
    with_uv.place(acme)
    with_uv.place(other)
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


@pytest.mark.night
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
