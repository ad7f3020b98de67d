"""A third-party package, built as a wheel and installed with pip beside ours, in a real venv."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from testing.environments import build_wheel
from testing.fork_server import share_server
from testing.installation import Made, command
from testing.plugin_sources import wheel

_PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "{version}"
[project.entry-points.cli_host]
{name} = "{package}.plugin"
[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""

_PLUGIN = """
from pathlib import Path
from host import CategoryDeclaration, CommandDeclaration, CommandTree, EnvSource, SecretScheme
from host import Watch, hookimpl

@hookimpl
def discover_commands(installation):
    yield CommandTree(str(Path(__file__).parent / "commands"), plugin="acme")
    yield CategoryDeclaration(("nothing", "below"), "Empty")
    yield CategoryDeclaration(("cloud",), "Cloud", "Commands for the cloud")
    yield CommandDeclaration(("cloud", "login"), {
        "name": "Login", "description": "Get a token", "entrypoint": "acme_cli.login:main",
        "envs": {"CLOUD": "$HOME/cloud"},
    })
    yield CommandDeclaration(("cloud", "click"), {
        "name": "Click", "description": "A click command", "entrypoint": "acme_cli.login:clicked",
    })
    words = Path(installation.root, "words.txt")
    yield Watch(str(words))
    if words.exists():
        yield CommandDeclaration(("cloud", words.read_text().strip()), {
            "name": "W", "description": "From a file", "entrypoint": "acme_cli.login:main",
        })

@hookimpl
def env_sources(installation):
    yield EnvSource("team", rank=4, files=(f"{installation.config_dir}/team.env",))
    yield EnvSource("vault", rank=2.5, provider="acme_cli.vault:read", words=("cloud",))

@hookimpl
def secret_schemes(installation):
    yield SecretScheme("acme", provider="acme_cli.vault:secrets")

@hookimpl
def render_listing(listing, format, terminal):
    if format != "csv":
        return None
    return "".join(f"{' '.join(c.words)},{c.definition.name}\\n" for c in listing.commands)

@hookimpl
def is_installed(command):
    return True if command.words == ("setup", "acme-agent") else None
"""

_LOGIN = """
import os, sys
import click

def main(args):
    print("login", args, os.environ["COMMAND_CATEGORY"], os.environ.get("CLOUD"),
          os.environ.get("DB_PASSWORD"), os.environ.get("TEAM"), "pluggy" in sys.modules)
    return 7

@click.command
@click.argument("name")
@click.option("--loud", is_flag=True)
def clicked(name, loud):
    "A page of its own."
    click.echo(name.upper() if loud else name)
"""

_VAULT = """
from os import getcwd

def read(words, environment):
    return {"DB_PASSWORD": f"{'/'.join(words)} {environment['VAULT_ADDR']}"}

def secrets(references, environment):
    print("noise")
    if "acme:exit" in references:
        raise SystemExit(3)
    found = {one: f"{one[5:]} of {len(references)}" for one in references if one != "acme:none"}
    special = {"acme:bad": OSError("it is locked"), "acme:file": "FILE=f", "acme:path": getcwd()}
    return found | {one: special[one] for one in references if one in special}
"""


@dataclass
class Environment:
    """A venv with cli-host's wheel, its own `cli`, and a folder of plugin wheels."""

    python: Path
    wheels: Path

    def pip(self, *arguments: str | Path) -> None:
        subprocess.run(
            [
                self.python,
                "-m",
                "pip",
                "--quiet",
                "--disable-pip-version-check",
                *arguments,
            ],
            check=True,
            capture_output=True,
        )

    @property
    def packages(self) -> Path:
        return (
            next((self.python.parent.parent / "lib").glob("python*")) / "site-packages"
        )

    def unpack(self, wheel: Path) -> None:
        """Put in a pure wheel, as pip would, in no time."""
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.packages)

    def take_out(self, name: str) -> None:
        """Remove what `unpack` put in."""
        for path in self.packages.glob(f"{name.replace('-', '_')}*"):
            shutil.rmtree(path)


def write_plugin(
    root: Path, name: str, files: dict[str, str], version: str = "1.0"
) -> Path:
    package = name.replace("-", "_")
    for path, text in files.items():
        (root / name / package / path).parent.mkdir(parents=True, exist_ok=True)
        (root / name / package / path).write_text(text)
    (root / name / package / "__init__.py").write_text("")
    (root / name / "pyproject.toml").write_text(
        _PYPROJECT.format(name=name, package=package, version=version)
    )
    return root / name


@pytest.fixture(scope="module")
def environment(
    new_venv: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    root = tmp_path_factory.mktemp("third-party")
    return Environment(new_venv(root / "venv") / "bin" / "python", root / "wheels")


@pytest.fixture(scope="module")
def package(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin of a third party: a wheel that its build made."""
    files = {"plugin.py": _PLUGIN, "login.py": _LOGIN, "vault.py": _VAULT}
    files["commands/cloud/disk/command.json"] = json.dumps(command(name="Disk"))
    files["commands/cloud/disk/main.sh"] = 'echo "disk $DB_PASSWORD $COMMAND_NAME"\n'
    source = write_plugin(tmp_path_factory.mktemp("source"), "acme-cli", files)
    return build_wheel(source, environment.wheels)


@pytest.fixture(scope="module")
def first(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """An installation that `self init` made from the wheel."""
    home = tmp_path_factory.mktemp("first")
    root = home / "acme"
    made = Made(root, root / "core" / "acme", home)
    cli = environment.python.parent / "cli"
    words = ("self", "init", str(root), "--name", "acme")
    assert made.run(*words, executable=cli).status == 0
    share_server(made.launcher)
    return made


@pytest.fixture
def acme(environment: Environment, package: Path, first: Made, tmp_path: Path) -> Made:
    """A copy of the first installation, with the plugin installed by pip."""
    if not (environment.packages / "acme_cli").exists():
        environment.pip("install", "--no-deps", package)
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    root = tmp_path / "acme"
    shutil.copytree(first.root, root, symlinks=True)
    made = Made(root, root / "core" / "acme", home)
    made.write(
        {
            "config/settings.conf": "VAULT_ADDR=https://vault.test\n",
            "config/team.env": "TEAM=blue\nDB_PASSWORD=weaker\n",
            "commands/setup/acme-agent/command.json": command(),
            "commands/setup/acme-agent/main.sh": "#!/bin/sh\n",
        }
    )
    return made


def test_commands_sources_renderer_and_indicator(acme: Made) -> None:
    home = f"{acme.home}/cloud"
    password = "cloud/login https://vault.test"
    assert acme.run("cloud", "login", "--x", "a b").all == (
        7,
        f"login ['--x', 'a b'] cloud {home} {password} blue False\n",
        "",
    )
    assert acme.run("cloud", "disk").all == (
        0,
        "disk cloud/disk https://vault.test disk\n",
        "",
    )
    assert acme.run("cloud", "click", "you", "--loud").all == (0, "YOU\n", "")
    assert (
        "Usage: acme cloud click [OPTIONS] NAME"
        in acme.run("cloud", "click", "--help").stdout
    )
    assert acme.run("demo", "hello", "Ada").all == (0, "Hello, Ada!\n", "")
    assert "demo hello,Hello\n" in acme.run("self", "list", "--format", "csv").stdout
    assert "  acme-agent  Description ✓\n" in acme.run("setup").stdout
    assert "nothing" not in acme.run().stdout
    assert "  cloud  Commands for the cloud\n" in acme.run().stdout
    shown = acme.run("cloud").stdout
    assert shown.startswith("Cloud\nCommands for the cloud\n")
    assert "  disk   Description [plugin]\n" in shown
    assert "  login  Get a token [plugin]\n" in shown
    listed = json.loads(acme.run("self", "list", "--format", "json").stdout)["commands"]
    origins = {" ".join(row["path"]): (row["origin"], row["plugin"]) for row in listed}
    assert origins["cloud login"] == ("python", "acme-cli")
    assert origins["cloud disk"] == ("plugin", "acme")
    assert origins["demo hello"] == ("commands", None)


def test_relative_paths_of_a_scheme_start_at_the_definition(acme: Made) -> None:
    definition = command(secrets={"ONE": "acme:path"})
    acme.write(
        {
            "commands/a/b/command.json": definition,
            "commands/a/b/main.sh": 'echo "$ONE"\n',
        }
    )
    (acme.home / "elsewhere").mkdir()
    done = acme.run("a", "b", cwd=acme.home / "elsewhere")
    assert done.all == (0, f"{acme.root}/commands/a/b\n", "")


def test_a_scheme_of_secrets_is_asked_once(acme: Made) -> None:
    def written(**secrets: str) -> None:
        files = ["acme:file"] if "ONE" in secrets else []
        definition = command(secrets=secrets, env_files=files)
        acme.write({"commands/a/b/command.json": definition})

    acme.write({"commands/a/b/main.sh": 'echo "$ONE|$TWO|$FILE"\n'})
    written(ONE="acme:one", TWO="acme:two")
    assert acme.run("a", "b").all == (0, "one of 2|two of 2|f\n", "")
    place = f"acme: {acme.root}/commands/a/b/command.json"
    written(TWO="acme:bad", THREE="acme:none", FOUR="acme:four")
    assert acme.run("a", "b").all == (
        1,
        "",
        f'{place}: "secrets.TWO": acme:bad: OSError: it is locked\n'
        f'{place}: "secrets.THREE": acme:none: its value is not a string, or contains a NUL\n',
    )
    written(TWO="acme:exit")
    assert acme.run("a", "b").all == (
        1,
        "",
        f'{place}: "secrets.TWO": acme:exit: SystemExit: 3\n',
    )


def test_self_env_names_the_plugin(acme: Made) -> None:
    shown = acme.run("self", "env", "cloud", "login", "--show-secrets")
    assert shown.stderr == ""
    assert (
        "DB_PASSWORD         cloud/login https://vault.test"
        "  ← plugin acme-cli: vault (rank 2.5)\n" in shown.stdout
    )
    assert "shadows weaker  ← config/team.env:2 (rank 4)\n" in shown.stdout
    masked = acme.run("self", "env", "cloud", "login").stdout
    assert "vault.test" not in masked.split("VAULT_ADDR")[0]
    assert "DB_PASSWORD         ********" in masked


def test_changes_show_in_the_next_invocation(
    acme: Made, environment: Environment
) -> None:
    assert acme.run("cloud", "login").status == 7
    (acme.root / "words.txt").write_text("added\n")
    assert acme.run("cloud", "added").status == 7
    (acme.root / "words.txt").unlink()
    assert acme.run("cloud", "added").status == 2
    environment.pip("uninstall", "--yes", "acme-cli")
    assert acme.run("cloud", "login").status == 2
    assert acme.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"


def test_safe_imports_no_plugin(acme: Made) -> None:
    assert acme.run("--safe", "cloud", "login").status == 2
    assert acme.run("cloud", "login", env={"CLI_SAFE": "1"}).status == 2
    assert acme.run("--safe", "demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    assert acme.run("cloud", "login").status == 7


def test_code_in_a_pth_file(acme: Made, environment: Environment) -> None:
    noisy = environment.packages / "noisy.pth"
    noisy.write_text("import sys; print('noise'); sys.noisy = True\n")
    try:
        first = acme.run("demo", "hello", "Ada")  # builds the lock
        assert (first.status, first.stdout) == (0, "Hello, Ada!\n")
        noisy.write_text("import os; os._exit(9)\n")
        for words in (["self", "plugin", "list"], ["demo"], ["--version"]):
            assert acme.run("--safe", *words).status == 0, words
    finally:
        noisy.unlink()


@pytest.mark.night
def test_a_broken_package_is_asked_again_once_it_is_put_right(
    acme: Made, environment: Environment
) -> None:
    module = environment.packages / "acme_cli" / "plugin.py"
    good = module.read_text()
    for bad in ("raise ValueError('once')", "import os; os._exit(3)", "def (:"):
        module.write_text(bad)
        assert acme.run("cloud", "login").status == 2
        module.write_text(good)
        assert acme.run("cloud", "login").all[0] == 7


@pytest.mark.parametrize(
    ("plugin", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError"),
        ("def (:", "SyntaxError"),
        ("raise ValueError('long' * 1_000_000)", "ValueError: longlong"),
        ("import sys; sys.exit(3)", "SystemExit"),
        (
            "from host import hookimpl\n@hookimpl\ndef discover_commands(wrong): ...",
            "wrong",
        ),
        (
            "from host import hookimpl\n@hookimpl\ndef discover_comands(): ...",
            "discover_comands",
        ),
        (
            "from host import hookimpl\n@hookimpl\ndef discover_commands(): raise OSError('no')",
            "OSError: no",
        ),
        (
            "from host import hookimpl\n@hookimpl\ndef discover_commands(): return [42]",
            "CommandTree",
        ),
        ("print('noise', flush=True)\nimport os\nos.write(1, b'noise')", ""),
    ],
    ids=[
        "import",
        "syntax",
        "long",
        "exit",
        "signature",
        "unknown-hook",
        "raises",
        "returns",
        "prints",
    ],
)
@pytest.mark.sampled
def test_a_broken_plugin_harms_nobody(
    environment: Environment, acme: Made, tmp_path: Path, plugin: str, reason: str
) -> None:
    environment.unpack(wheel(tmp_path, "broken-cli", "1.0", plugin))
    try:
        first = acme.run("demo", "hello", "Ada")
        assert (first.status, first.stdout) == (0, "Hello, Ada!\n")
        if reason:
            assert "plugin broken-cli is broken: " in first.stderr
            assert reason in first.stderr
            assert (first.stderr.count("\n"), len(first.stderr) < 2_000) == (1, True)
        assert acme.run("demo", "hello", "Ada").all == (0, "Hello, Ada!\n", "")
        assert acme.run("cloud", "login").status == 7
        listing = acme.run()
        assert listing.stdout.startswith("acme 1.0.0\n")
        assert ("broken-cli" in listing.stderr) == bool(reason)
    finally:
        environment.take_out("broken-cli")


def test_the_wheel_carries_an_installation(
    environment: Environment, tmp_path: Path
) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    cli = str(environment.python.parent / "cli")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [cli, *words],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )

    root = tmp_path / ".local" / "share" / "cli"
    missing = run("demo", "hello")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == (
        f"cli: configuration file not found: {root}/core/cli.json; "
        "to make an installation, run: cli self init\n"
    )
    made = run("self", "init")
    assert made.returncode == 0
    assert run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
    shipped = {
        str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()
    }
    assert {
        "core/cli",
        "core/cli.json",
        "core/lib/logger.sh",
        "commands/demo/precedence/.env",
        "config/settings.conf.example",
        "plugins/README.md",
        ".gitignore",
    } <= shipped
    (root / "core" / "cli.json").write_text('{"name": "Mine", "version": "2.0.0"}')
    (root / "core" / "lib" / "logger.sh").unlink()
    again = run("self", "init")
    assert "1 file made" in again.stdout
    assert run("--version").stdout == "Mine 2.0.0\n"
    assert run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"
