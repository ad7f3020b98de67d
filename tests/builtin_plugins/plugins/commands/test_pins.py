"""What `add` changes of an installed plugin, and which words it refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command
from testing.packages import Environment
from testing.plugin_sources import (
    Repository,
    plugin,
    plugin_files,
    registry,
    write_tree,
)

Install = Callable[..., Made]


def test_another_ref_changes_the_pin(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository(tmp_path / "ops", plugin_files("demo/hi", "one"))
    repository.git("tag", "v1")
    repository.commit(plugin_files("demo/hi", "two"))
    repository.git("tag", "v2")
    repository.commit(plugin_files("demo/hi", "three"))

    def state() -> tuple[str, str | None, bool]:
        entry = registry(made)["ops"]
        return made.run("demo", "hi").stdout, entry["ref"], entry["pinned"]

    assert plugin(made, "add", repository.url, "--ref", "v1").status == 0
    assert state() == ("one\n", "v1", True)
    line = f"cli self plugin add {repository.url} --ref REF, or --ref '' for the default branch"
    assert (
        plugin(made, "update").stdout == f"ops: stays at v1; to change that: {line}\n"
    )
    again = plugin(made, "add", repository.url)
    assert (again.status, "is already installed; stays at v1" in again.stdout) == (
        0,
        True,
    )
    moved = plugin(made, "add", repository.url, "--ref", "v2")
    assert (moved.status, "\nupdated ops\n" in moved.stdout) == (0, True), moved.stderr
    assert state() == ("two\n", "v2", True)
    assert plugin(made, "add", repository.url, "--ref", "").status == 0
    assert state() == ("three\n", None, False)
    assert plugin(made, "update").stdout.endswith("is the newest version\n")
    assert plugin(made, "rollback", "ops").status == 0
    assert state() == ("two\n", "v2", True)
    named = plugin(
        made, "add", repository.url, "--ref", "v1", "--name", "old", "--force"
    )
    assert (named.status, set(registry(made))) == (0, {"ops", "old"})


def test_another_ref_of_the_same_commit(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository(tmp_path / "ops", plugin_files("demo/hi"))
    repository.git("tag", "v1")
    commit = repository.git("rev-parse", "HEAD")[:12]
    assert plugin(made, "add", repository.url).status == 0
    changed = plugin(made, "add", repository.url, "--ref", "v1")
    title = f"ops: the default branch → v1, still at {commit}\nupdated ops\n"
    assert changed.stdout.startswith(title)
    assert registry(made)["ops"]["pinned"]


def test_what_was_given_stays_when_the_pin_changes(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    repository = Repository(tmp_path / "tools", {"acme-db": "#!/bin/sh\necho db\n"})
    repository.git("tag", "v1")
    assert (
        plugin(made, "add", repository.url, "--prefix", "acme-", "--name", "t").status
        == 0
    )
    assert plugin(made, "add", repository.url, "--ref", "v1").status == 0
    assert (made.run("db").stdout, registry(made)["t"]["pinned"]) == ("db\n", True)


@pytest.mark.night
def test_another_requirement_changes_a_package(with_uv: Environment) -> None:
    made = with_uv.made
    for version in ("1.0", "2.0"):
        with_uv.acme(version)
    assert plugin(made, "add", "pip:acme-cli==1.0").status == 0
    assert (
        "; to change that: cli self plugin add pip:acme-cli\n"
        in plugin(made, "update").stdout
    )
    for requirement, version in (
        ("acme-cli", "2.0"),
        ("acme-cli<2", "1.0"),
        ("acme-cli<=1", "1.0"),
    ):
        added = plugin(made, "add", f"pip:{requirement}")
        assert (added.status, "\nupdated acme-cli\n" in added.stdout) == (0, True), (
            added.stderr
        )
        assert registry(made)["acme-cli"]["source"] == requirement
        assert made.run("cloud", "py").stdout == f"py {version}\n"


def test_a_command_with_the_words_of_a_category(
    install: Install, tmp_path: Path
) -> None:
    """Of commands/ and of another plugin; with --force, the category stays."""
    made = install()
    hello = {"command.json": command(), "main.sh": "echo hello\n"}
    made.write({f"commands/deploy/hello/{name}": text for name, text in hello.items()})
    (made.root / "commands/empty").mkdir()
    other = write_tree(tmp_path / "other", plugin_files("data/hi"))
    assert plugin(made, "add", str(other)).status == 0
    for word, owner in (
        ("deploy", "commands/"),
        ("data", "the plugin other"),
        ("empty", ""),
    ):
        scripts = write_tree(tmp_path / word / "bin", {word: "#!/bin/sh\necho mine\n"})
        refused = plugin(made, "add", str(scripts), "--name", f"my-{word}")
        if owner:
            said = f"cli: {word} is already a category of {owner}; --force adds my-{word} anyway"
            assert (refused.status, refused.stderr.startswith(said)) == (1, True), (
                refused.stderr
            )
            assert (
                plugin(
                    made, "add", str(scripts), "--name", f"my-{word}", "--force"
                ).status
                == 0
            )
        else:
            assert refused.status == 0
    assert made.run("deploy", "hello").stdout == "hello\n"
    assert made.run("data", "hi").stdout == "hi\n"
    assert made.run("empty").stdout == "mine\n"


SCRIPTS = {"acme-db": "#!/bin/sh\necho db\n", "acme-log": "#!/bin/sh\necho log\n"}
CHOICES = {
    "--under": (("--under", "ops"), ("ops", "acme-db"), {"under": "ops"}),
    "--prefix": (("--prefix", "acme-"), ("db",), {"prefix": "acme-"}),
    "--split": (("--split", "-"), ("acme", "db"), {"split": "-"}),
}


@pytest.mark.parametrize(
    ("is_repository", "options", "words", "scripts"),
    [
        pytest.param(True, *CHOICES["--under"], id="git-under"),
        pytest.param(False, *CHOICES["--prefix"], id="directory-prefix"),
        pytest.param(
            True, *CHOICES["--split"], id="git-split", marks=pytest.mark.night
        ),
        pytest.param(False, *CHOICES["--split"], id="directory-split"),
    ],
)
def test_other_words_for_the_commands_of_an_installed_plugin(
    install: Install,
    tmp_path: Path,
    *,
    is_repository: bool,
    options: tuple[str, ...],
    words: tuple[str, ...],
    scripts: dict[str, str],
) -> None:
    made = install()
    source = tmp_path / "tools"
    address = str(source)
    if is_repository:
        address = Repository(source, SCRIPTS).url
    else:
        write_tree(source, SCRIPTS)
    assert plugin(made, "add", address).status == 0
    before = registry(made)["tools"]

    changed = plugin(made, "add", address, *options)
    assert (changed.status, changed.stderr) == (0, "")
    assert changed.stdout.startswith("tools: other words for its commands")
    assert f"\n  + {' '.join(words)}\n" in changed.stdout
    assert "\n  - acme-db\n" in changed.stdout
    assert "\nupdated tools\n" in changed.stdout
    assert made.run(*words).stdout == "db\n"
    assert made.run("acme-db").status == 2
    after = registry(made)["tools"]
    assert after["scripts"] == scripts
    for key in ("commit", "path", "installedAt"):
        assert after[key] == before[key]

    assert "already installed" in plugin(made, "add", address, *options).stdout
    assert "already installed" in plugin(made, "add", address).stdout
    assert registry(made)["tools"] == after


def test_choices_are_combined_and_taken_back(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository(tmp_path / "tools", SCRIPTS)
    address = repository.url
    folders = Repository(tmp_path / "folders", plugin_files("demo/hi", "one"))

    def scripts(name: str = "tools") -> object:
        return registry(made)[name]["scripts"]

    assert plugin(made, "add", address, "--prefix", "acme-").status == 0
    assert plugin(made, "add", address, "--under", "ops").status == 0
    assert scripts() == {"prefix": "acme-", "under": "ops"}
    assert made.run("ops", "db").stdout == "db\n"
    assert plugin(made, "add", address, "--prefix", "").status == 0
    assert scripts() == {"under": "ops"}
    taken_back = plugin(made, "add", address, "--under", "", "--no-path")
    assert "commands, folders that a run appends to PATH: none" in taken_back.stdout
    assert (scripts(), registry(made)["tools"]["path"]) == ({}, [])

    assert plugin(made, "add", folders.url).status == 0
    folders.commit(plugin_files("demo/hi", "two"))
    assert plugin(made, "update", "folders").status == 0
    assert plugin(made, "add", folders.url, "--under", "ops").status == 0
    assert made.run("ops", "demo", "hi").stdout == "two\n"
    # A rollback to a version without the choice keeps it, and so does a later version.
    assert plugin(made, "rollback", "folders").status == 0
    assert made.run("ops", "demo", "hi").stdout == "one\n"
    assert plugin(made, "update", "folders").status == 0
    assert made.run("ops", "demo", "hi").stdout == "two\n"
    assert plugin(made, "add", folders.url, "--under", "").status == 0
    assert scripts("folders") is None
    assert plugin(made, "rollback", "folders").status == 0
    assert scripts("folders") is None
    assert made.run("demo", "hi").stdout == "one\n"


def test_other_words_that_cannot_be_used(install: Install, tmp_path: Path) -> None:
    made = install({"commands/ops/acme-db": "#!/bin/sh\necho mine\n"})
    source = str(write_tree(tmp_path / "tools", SCRIPTS))
    assert plugin(made, "add", source).status == 0
    before = registry(made)
    collides = plugin(made, "add", source, "--under", "ops")
    assert collides.status == 1
    assert "ops acme-db is already a command of commands/" in collides.stderr
    empty = plugin(made, "add", source, "--prefix", "other-")
    assert empty.status == 1
    assert "contains no commands" in empty.stderr
    assert registry(made) == before
    forced = plugin(made, "add", source, "--under", "ops", "--force")
    assert (forced.status, made.run("ops", "acme-db").stdout) == (0, "mine\n")
    assert made.run("ops", "acme-log").stdout == "log\n"


def test_choices_stay_when_missing_files_are_restored(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    repository = Repository(tmp_path / "tools", SCRIPTS)
    assert plugin(made, "add", repository.url, "--under", "ops").status == 0
    shutil.rmtree(made.root / "plugins/.versions")
    restored = plugin(made, "add", repository.url)
    assert (restored.status, "\nrestored tools\n" in restored.stdout) == (0, True)
    assert "    ops acme-db\n" in restored.stdout
    assert made.run("ops", "acme-db").stdout == "db\n"


def test_other_words_for_the_commands_of_a_package(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.acme("1.0")
    wheel_file = with_uv.acme("2.0")
    assert plugin(made, "add", "pip:acme-cli==1.0").status == 0
    changed = plugin(made, "add", "pip:acme-cli==1.0", "--under", "ops")
    assert (changed.status, "\nupdated acme-cli\n" in changed.stdout) == (0, True)
    assert made.run("ops", "cloud", "py").stdout == "py 1.0\n"
    # A wheel is fetched before it is known to be the same package.
    assert plugin(made, "add", str(wheel_file)).status == 0
    assert made.run("ops", "cloud", "py").stdout == "py 2.0\n"
    assert "already installed" in plugin(made, "add", str(wheel_file)).stdout
    taken_back = plugin(made, "add", str(wheel_file), "--under", "")
    assert "\nupdated acme-cli\n" in taken_back.stdout
    assert made.run("cloud", "py").stdout == "py 2.0\n"


def test_an_installed_wheel_is_recorded_for_the_team(with_uv: Environment) -> None:
    made = with_uv.made
    wheel_file = str(with_uv.acme("1.0"))
    empty = {"version": "1.0.0", "plugins": []}
    for name in ("registry.json", "registry.local.json"):
        (made.root / "plugins" / name).write_text(json.dumps(empty))
    assert plugin(made, "add", wheel_file).status == 0
    assert registry(made) == {}
    shared = plugin(made, "add", wheel_file, "--team")
    assert shared.stdout.endswith(
        "acme-cli is in plugins/registry.json; commit that file\n"
    )
    assert set(registry(made)) == {"acme-cli"}
    local = json.loads((made.root / "plugins/registry.local.json").read_text())
    assert local["plugins"] == []
    assert made.run("cloud", "py").stdout == "py 1.0\n"


def test_rollback_replaces_no_command_that_was_added_since(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    repository = Repository(tmp_path / "ops", plugin_files("demo/hi", "old"))
    assert plugin(made, "add", repository.url).status == 0
    repository.commit(plugin_files("demo/new", "new"), remove=("demo/hi",))
    assert plugin(made, "update", "ops").status == 0
    other = write_tree(tmp_path / "other", plugin_files("demo/hi", "other"))
    assert plugin(made, "add", str(other)).status == 0
    refused = plugin(made, "rollback", "ops")
    what = "demo hi is already a command of the plugin other; ops must not replace it"
    assert (refused.status, what in refused.stderr) == (1, True), refused.all
    assert made.run("demo", "hi").stdout == "other\n"
    assert plugin(made, "remove", "other").status == 0

    made.write({"commands/demo/hi/main.sh": "#!/bin/sh\necho own\n"})
    rolled_back = plugin(made, "rollback", "ops")
    what = "demo hi is already a command of commands/; the existing command is used"
    assert (rolled_back.status, what in rolled_back.stderr) == (0, True), rolled_back
    assert made.run("demo", "hi").stdout == "own\n"


@pytest.mark.night
def test_a_plugin_that_has_become_a_package(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository(tmp_path / "ops", plugin_files("demo/hi", "old"))
    assert plugin(made, "add", repository.url).status == 0
    project = {"pyproject.toml": "[project]\nname = 'ops'\nversion = '1'\n"}
    repository.commit(project, remove=("demo",))
    failed = plugin(made, "update", "ops")
    what = "is a Python package, but the registry lists ops as a plugin of kind git"
    remedy = "to add the package, first: cli self plugin remove ops"
    assert failed.all == (1, "", f"cli: {repository.url}: {what}; {remedy}\n")
    named = plugin(made, "add", repository.url, "--name", "other")
    assert "add it without --name" in named.stderr
    assert made.run("demo", "hi").stdout == "old\n"
