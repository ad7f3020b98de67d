"""What `add` changes of an installed plugin, and which words it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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


def test_another_requirement_changes_a_package(with_uv: Environment) -> None:
    made = with_uv.made
    for version in ("1.0", "2.0"):
        with_uv.acme(version)
    assert plugin(made, "add", "pip:acme-cli==1.0").status == 0
    assert (
        "; to change that: cli self plugin add pip:acme-cli==1.0"
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
