"""Packages from git repositories: `pip:NAME @ git+ADDRESS`, cloned by our rules and built."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.plugins.python_project import is_package
from builtin_plugins.plugins.sources.parse import parse_source
from host import UsageError
from testing.installation import Made, command
from testing.packages import BACKEND, PLUGIN, Environment, answering
from testing.plugin_sources import (
    Repository,
    hidden,
    listed,
    plugin,
    plugin_files,
    registry,
    wheel,
    write_tree,
)

Install = Callable[..., Made]

PROJECT = (
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
)
BUILT = (
    "acme-cli at commit {}: no wheel; building one runs the package's own code, and the new "
    "commands are shown after the build\n"
)


class Package(Repository):
    """A repository of the package acme-cli, whose build adds to the file `mark`."""

    def __init__(self, path: Path, mark: Path) -> None:
        super().__init__(path, {})
        self.first = self.release("one", BACKEND.format(mark=str(mark)))

    def release(self, says: str, backend: str = "") -> str:
        """Commit a package whose commands print `says`, always as version 1.0."""
        text = PLUGIN.format(name="acme-cli", package="acme_cli", version=says)
        files = {f"commands/cloud/{says}/command.json": command(description=says)}
        files[f"commands/cloud/{says}/main.sh"] = f"echo {says}\n"
        wheel(
            self.path,
            "acme-cli",
            "1.0",
            text,
            files,
            requires=("needed; extra == 'more'",),
        )
        tree = {"pyproject.toml": PROJECT, "backend.py": backend} if backend else {}
        return self.commit(tree)


def test_a_package_is_added_updated_rolled_back_and_shared(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "mark"
    repository = Package(tmp_path / "acme", mark)
    first, stored = repository.first, f"acme-cli @ git+{repository.url}"
    heading = f"acme-cli 1.0 (pip, {stored}, commit {first[:12]})\n"
    refused = answering(made, "n\n", "add", f"pip:{stored}")
    assert (refused.status, refused.stdout) == (1, BUILT.format(first[:12]))
    assert not mark.exists()
    assert "Build it? [y/N] " in refused.stderr
    added = plugin(made, "add", f"pip:Acme_CLI@git+{repository.url}", "--yes")
    assert added.status == 0, added.stderr
    commands = "commands: 1; its Python code may declare more\n    cloud one  one\n"
    assert added.stdout.startswith(
        f"{BUILT.format(first[:12])}{heading}  A test\n{commands}"
    )
    entry = registry(made)["acme-cli"]
    assert (entry["kind"], entry["source"], entry["ref"]) == ("pip", stored, None)
    assert (entry["commit"], entry["sha256"], entry["version"]) == (first, None, "1.0")
    assert made.run("cloud", "py").stdout == "py one\n"
    again = plugin(made, "add", f"pip:{stored}", "--yes")
    assert (again.status, "is already installed" in again.stdout) == (0, True)
    mark.unlink()
    said = f"acme-cli: 1.0 ({first[:12]}) is the newest version\n"
    assert (plugin(made, "update").stdout, mark.exists()) == (said, False)
    second = repository.release("two")
    arrow = f"acme-cli: 1.0 ({first[:12]}) → "
    dry = plugin(made, "update", "--dry-run")
    assert (dry.stdout, mark.exists()) == (
        f"{arrow}to be built: acme-cli at commit {second[:12]}\n",
        False,
    )
    updated = plugin(made, "update", "--yes")
    change = f"{arrow}1.0 ({second[:12]})\n  + cloud two  two\n  - cloud one  one\n"
    assert updated.stdout == f"{BUILT.format(second[:12])}{change}updated acme-cli\n"
    assert made.run("cloud", "two").stdout == "two\n"
    team = tmp_path / "team.json"
    team.write_bytes((made.root / "plugins/registry.json").read_bytes())
    assert plugin(made, "rollback", "acme-cli").status == 0
    assert (registry(made)["acme-cli"]["commit"], made.run("cloud", "py").stdout) == (
        first,
        "py one\n",
    )
    repository.release("three")
    # The registry of a team decides, also when the version is the same.
    (made.root / "plugins/registry.json").write_bytes(team.read_bytes())
    assert made.run("cloud", "py").stdout == "py two\n"
    assert plugin(made, "sync").stdout == "nothing to install\n"
    assert plugin(made, "remove", "acme-cli").status == 0
    synced = plugin(made, "sync", str(team), "--yes")
    assert synced.status == 0, synced.stderr
    assert (registry(made)["acme-cli"]["commit"], made.run("cloud", "py").stdout) == (
        second,
        "py two\n",
    )
    assert hidden(made) == []


@pytest.mark.night
def test_ref_and_extras(with_uv: Environment, tmp_path: Path) -> None:
    made = with_uv.made
    repository = Package(tmp_path / "a b@c", tmp_path / "mark")
    repository.git("tag", "v1")
    repository.git("branch", "fix/#1@x")
    repository.release("two")
    wheel(with_uv.wheels, "needed", "2.0", "", points={})
    address = f"git+file://{tmp_path}/a%20b%40c"
    for ref, option, says in (
        ("", ("--ref", "v1"), "one"),
        ("@fix/%231%40x", (), "one"),
        (f"@{repository.first}", (), "one"),
    ):
        source = f"pip:acme-cli[more] @ {address}{ref}"
        done = plugin(made, "add", source, *option, "--yes")
        assert done.status == 0, done.stderr
        assert made.run("cloud", "py").stdout == f"py {says}\n"
        entry = registry(made)["acme-cli"]
        assert entry["source"] == f"acme-cli[more] @ {address}"
        kept = {"@fix/%231%40x": "fix/#1@x", "": option[-1] if option else None}
        assert entry["ref"] == kept.get(ref, ref[1:])
        stays = f"acme-cli: stays at {entry['ref']}; to change that: "
        pinned = entry["ref"] not in (None, "fix/#1@x")
        assert plugin(made, "update").stdout.startswith(stays) == pinned
        assert list(with_uv.folder().glob("needed-2.0*"))
        assert plugin(made, "remove", "acme-cli").status == 0
    empty = Repository(tmp_path / "empty", {"README": "x"})
    refused = plugin(made, "add", f"pip:acme-cli @ git+{empty.url}", "--yes")
    assert refused.stderr == (
        f"cli: acme-cli @ git+{empty.url}: there is no pyproject.toml and no setup.py\n"
    )


@pytest.mark.night
def test_sync_asks_about_all_that_it_builds(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "mark"
    repository = Package(tmp_path / "acme", tmp_path / "other")
    needed = wheel(with_uv.wheels, "needed", "2.0", "", points={})
    with_uv.source(needed, mark)
    source = f"pip:acme-cli[more] @ git+{repository.url}"
    assert plugin(made, "add", source, "--yes").status == 0
    team = tmp_path / "team.json"
    team.write_bytes((made.root / "plugins/registry.json").read_bytes())
    assert plugin(made, "remove", "acme-cli").status == 0
    mark.unlink()

    refused = plugin(made, "sync", str(team))

    assert (refused.status, mark.exists()) == (1, False)
    commit = repository.first[:12]
    assert f"acme-cli at commit {commit} and needed 2.0: no wheel" in refused.stdout


def test_nothing_of_the_repository_runs_but_its_build(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, run = with_uv.made, tmp_path / "run"
    other = Repository(tmp_path / "other", {"secret": "x"})
    repository = Package(tmp_path / "acme", tmp_path / "mark")
    repository.git("submodule", "--quiet", "add", other.url, "module")
    backend = BACKEND.format(mark=str(tmp_path / "mark"))
    backend += (
        f'open({str(run)!r}, "a").write(open("text").read())\n'
        'assert not os.path.exists(".git") and not os.listdir("module")\n'
    )
    repository.commit(
        {
            ".gitattributes": "text filter=evil\n",
            "text": "as it is",
            "backend.py": backend,
        }
    )
    (made.home / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = touch {tmp_path}/evil\n'
    )
    hooks = repository.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-upload-pack"):
        write_tree(hooks, {name: f"#!/bin/sh\ntouch {tmp_path}/evil\n"})
    done = plugin(made, "add", f"pip:acme-cli @ git+{repository.url}", "--yes")
    assert done.status == 0, done.stderr
    assert "module is a submodule; its content is not fetched" in done.stderr
    assert set(run.read_text().split("as it is")) == {""}
    assert not (tmp_path / "evil").exists()


@pytest.mark.night
def test_what_is_built_must_be_the_plugin_that_was_named(
    environment: Environment, tmp_path: Path
) -> None:
    made = environment.made
    repository = Package(tmp_path / "acme", tmp_path / "mark")
    other = plugin(made, "add", f"pip:other-cli @ git+{repository.url}", "--yes")
    assert (other.status, other.stderr.splitlines()[-1]) == (
        1,
        "cli: other-cli: the fetched package has the name acme-cli",
    )
    needed = plugin(made, "add", f"pip:click @ git+{repository.url}", "--yes")
    assert "the fetched package has the name acme-cli" in needed.stderr
    wheel(repository.path, "acme-cli", "1.0", "", points={})
    repository.commit({})
    none = plugin(made, "add", f"pip:acme-cli @ git+{repository.url}", "--yes")
    assert "is not a plugin: it has no entry point in the group cli_host" in none.stderr
    missing = plugin(made, "add", f"pip:acme-cli @ git+{repository.url}@nope", "--yes")
    assert (
        missing.stderr
        == f"cli: {repository.url}: there is no branch, tag or commit nope\n"
    )
    assert (listed(made), hidden(made)) == ({}, [])


REFUSED = {
    "a @ git+http://h.test/a": "use an https, ssh, git or file address",
    "a @ git+ext::sh": "use an https, ssh, git or file address",
    "a @ git+git@h.test:a/b": "use an https, ssh, git or file address",
    "a @ git+https://h.test/a@--upload-pack=x": "not a valid branch, tag or commit",
    "a @ git+https://h.test/a@": "expected NAME @ git+ADDRESS[@REF]",
    "a @ git+https://h.test/a#egg=b": "expected NAME @ git+ADDRESS[@REF]",
    "a @ git+https://h.test/a ; python_version > '3'": "not a requirement",
    "a @ hg+https://h.test/a": "not a requirement",
    "git+https://h.test/a": "or acme-cli @ git+https://…",
}


def test_refused_addresses(install: Install, tmp_path: Path) -> None:
    for text, said in REFUSED.items():
        with pytest.raises(UsageError, match=re.escape(said)):
            parse_source(f"pip:{text}")

    made = install()
    entries = []
    for number, text in enumerate(REFUSED):
        entry = {"name": f"a{number}", "kind": "pip", "source": text, "version": "1"}
        entries.append({**entry, "commit": "0" * 40})
    team = tmp_path / "team.json"
    team.write_text(json.dumps({"version": "1.0.0", "plugins": entries}))
    assert plugin(made, "sync", str(team), "--yes").status == 1
    assert listed(made) == {}


def test_options_that_do_not_go_with_it(install: Install) -> None:
    made, source = install(), "pip:a @ git+https://192.0.2.1/a@v1"
    for option, said in (
        (("--ref", "v2"), "cli: --ref v2: the source already names v1\n"),
        (
            ("--sha256", "0" * 64),
            "cli: --sha256 can only be used with an archive or a wheel; for git, use --ref ",
        ),
        (
            ("--name", "b"),
            "cli: --name cannot be used with a package, which keeps its own name\n",
        ),
    ):
        done = plugin(made, "add", source, *option, "--yes")
        assert (done.status, done.stderr.startswith(said)) == (2, True), done.stderr


NAMED = '[project]\nname = "acme-cli"\n'
DIRECTORIES: dict[str, dict[str, Any]] = {
    "plugin.json": {"pyproject.toml": NAMED, "demo/__init__.py": "", "plugin.json": {}},
    "a project of its tools": {"pyproject.toml": NAMED},
    "settings of tools": {"pyproject.toml": "[tool.ruff]\n", "setup.cfg": "[flake8]\n"},
    "no TOML": {"pyproject.toml": "["},
    "odd TOML": {"pyproject.toml": "tool = 3\nproject = 4\n"},
    "setup.py": {"setup.py": "setup(name='x')\n"},
    "modules beside": {
        "pyproject.toml": NAMED,
        "demo/hi/__init__.py": "",
        "lib/__init__.py": "",
    },
}


def test_a_directory_plugin_may_hold_files_of_python_tools(tmp_path: Path) -> None:
    for name, more in DIRECTORIES.items():
        tree = write_tree(tmp_path / name, plugin_files() | more)
        assert not is_package(str(tree), [("demo", "hi")]), name
