"""What `--version` says, with an installation and without one."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from pathlib import Path

import importlib_metadata
import pytest

from testing.installation import Made, command

Install = Callable[..., Made]
OWN = f"cli-host {importlib_metadata.version('cli-host')}\n"


@pytest.mark.parametrize(
    "words", [["--version"], ["-V"], ["self", "version"]], ids=" ".join
)
def test_the_version_with_and_without_an_installation(
    install: Install, tmp_path: Path, words: list[str]
) -> None:
    made = install()
    assert made.run(*words).all == (0, "Test CLI 1.2.3\n", "")
    nowhere = {"CLI_DIR": str(tmp_path / "nowhere")}
    assert made.run(*words, env=nowhere).all == (0, OWN, "")
    assert made.run("--safe", *words, env=nowhere).all == (0, OWN, "")
    made.write({"core/cli.json": "{"})
    assert made.run(*words).status == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ops", "--version"], "no such option '--version'; see: cli ops --help"),
        (["ops", "-V"], "no such option '-V'; see: cli ops --help"),
        (["ops", "--all", "hi"], "unexpected argument hi; see: cli ops --help"),
        (["--", "ops", "hi"], "no such option '--'; see: cli --help"),
        (["--all", "--", "ops"], "no such option '--'; see: cli --help"),
        (["ops", "--", "hi"], "no such option '--'; see: cli ops --help"),
        (["help", "--", "ops"], "no such option '--'; see: cli --help"),
    ],
    ids=str,
)
def test_an_option_where_it_does_not_belong(
    install: Install, words: list[str], said: str
) -> None:
    made = install({"commands/ops/hi/command.json": command()})
    assert made.run(*words).all == (2, "", f"cli: {said}\n")


@pytest.mark.slow
def test_the_version_as_json(install: Install, tmp_path: Path) -> None:
    made = install()
    shown = json.loads(made.run("self", "version", "--format", "json").stdout)
    assert shown == {
        "name": "Test CLI",
        "version": "1.2.3",
        "host": OWN.split()[1],
        "python": platform.python_version(),
        "installation": str(made.root),
    }
    nowhere = {"CLI_DIR": str(tmp_path / "nowhere")}
    shown = json.loads(
        made.run("self", "version", "--format", "json", env=nowhere).stdout
    )
    assert (shown["name"], shown["installation"]) == (None, None)
    assert shown["host"] == OWN.split()[1]
