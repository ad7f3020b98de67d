"""Which tests `test WORDS` runs, and what Tab offers."""

from __future__ import annotations

import os

import pytest

from conftest import Cli

_PASSES = '@test "{}" {{ true; }}\n'


@pytest.fixture
def tree(cli: Cli) -> Cli:
    """Tests at every place where they can be; each has the name of its place."""
    cli.command("db backup", "echo saved")
    cli.command("db copy", "echo copied")
    cli.write("commands/deploy.sh", "#!/bin/sh\n# Deploy\necho deployed\n")
    for place in (
        "commands/db/backup/test",
        "commands/db/backup/more/deep",
        "commands/db/all",
        "commands/deploy",
        "tests/db/copy",
        "tests/smoke",
    ):
        cli.tests(f"{place}.bats", _PASSES.format(place))
    cli.tests("commands/node_modules/x/never.bats", _PASSES.format("never"))
    cli.tests("commands/.hidden/never.bats", _PASSES.format("never"))
    return cli


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (
            [],
            [
                *[
                    "commands/db/all",
                    "commands/db/backup/more/deep",
                    "commands/db/backup/test",
                ],
                *["commands/deploy", "tests/db/copy", "tests/smoke"],
            ],
        ),
        (
            ["db"],
            [
                *[
                    "commands/db/all",
                    "commands/db/backup/more/deep",
                    "commands/db/backup/test",
                ],
                "tests/db/copy",
            ],
        ),
        (["db", "backup"], ["commands/db/backup/more/deep", "commands/db/backup/test"]),
        (["db", "copy"], ["tests/db/copy"]),
        (["deploy"], ["commands/deploy"]),
        (["smoke"], ["tests/smoke"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_the_tests_of_words(tree: Cli, words: list[str], places: list[str]) -> None:
    assert sorted(tree.chosen(*words)) == places


def test_tests_of_plugins(cli: Cli) -> None:
    plugin = cli.home / "tools"
    cli.command("db backup", "true")
    for name, text in {
        "ship/all/command.json": '{"name": "A", "description": "A", "entrypoint": "main.sh"}',
        "ship/all/main.sh": "echo shipped",
        "ship/all/test.bats": '@test "beside" { run acme ship all; assert_output shipped; }',
        "tests/ship/all.bats": '@test "in tests" { true; }',
        "checks/other.bats": '@test "elsewhere" { true; }',
    }.items():
        file = plugin / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'load "$CLI_TEST_LIB"\n{text}\n' if name.endswith("bats") else text
        )
    scripts = cli.home / "scripts"
    scripts.mkdir()
    (scripts / "acme-logs-tail").write_text("#!/bin/sh\n# Tail\necho tail\n")
    (scripts / "acme-logs-tail").chmod(0o755)
    text = 'load "$CLI_TEST_LIB"\n@test "split" { run acme logs tail; assert_output tail; }\n'
    (scripts / "acme-logs-tail.bats").write_text(text)
    assert cli.run("self", "plugin", "add", str(plugin)).status == 0
    added = cli.run(
        "self", "plugin", "add", str(scripts), "--prefix", "acme-", "--split", "-"
    )
    assert (added.status, "bats" in added.stdout + added.stderr) == (0, False)

    assert len(cli.chosen("ship")) == 2
    assert len(cli.chosen("logs", "tail")) == 1
    status, outcomes = cli.outcome()
    ran = ["ok beside", "ok elsewhere", "ok in tests", "ok split"]
    assert (status, sorted(outcomes)) == (0, ran)


def test_a_test_file_is_no_command(cli: Cli) -> None:
    cli.command("db backup", "true")
    cli.write("commands/db/backup.bats", '#!/usr/bin/env bats\nload "$CLI_TEST_LIB"\n')
    listing = cli.run("self", "list")
    assert "bats" not in listing.stdout + listing.stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["db"], 1, "there are no tests of db"),
        ([], 1, "there are no tests"),
        (["db", "bakcup"], 2, "backup"),
        (["nothing"], 2, "nothing"),
        (["--jobs", "0"], 2, "--jobs"),
        (["--format", "xml"], 2, "pretty"),
        (["--env", "A=1", "db"], 2, "--env"),
    ],
    ids=[
        "no test below",
        "no test",
        "misspelt",
        "unknown",
        "jobs",
        "format",
        "variable",
    ],
)
def test_errors(cli: Cli, words: list[str], status: int, message: str) -> None:
    cli.command("db backup", "true")
    if "--env" in words:
        cli.tests("tests/db.bats", _PASSES.format("x"))
    done = cli.run("test", *words)
    assert (done.status, done.stdout) == (status, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_error_shows_where_to_write_a_test(cli: Cli) -> None:
    cli.command("db backup", "true")
    done = cli.run("test", "db", "backup")
    assert f"{cli.root}/tests/db/backup.bats" in done.stderr


def test_tab_completes_words(tree: Cli) -> None:
    def offered(*words: str) -> list[str]:
        done = tree.run("--complete", "fish", "test", *words)
        return [line.partition("\t")[0] for line in done.stdout.splitlines()[1:]]

    top = offered("")
    assert {"db", "deploy"} <= {*top}
    assert {"self", "test", "help"}.isdisjoint(top)
    assert offered("db", "") == ["backup", "copy"]
    assert offered("db", "backup", "") == []
    assert "--filter" in offered("--")
    assert os.listdir(tree.home) == []
