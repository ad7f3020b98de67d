"""`mcp install` and `mcp uninstall`: the assistant's own command, or the entry to add by hand."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from cli_host_mcp.clients import CLIENTS
from cli_host_mcp.install import command as install
from cli_host_mcp.serve import command as serve
from conftest import Cli
from testing.installation import variables_of

_SERVER = ["/opt/my_cli", "mcp", "serve"]
_OPTIONS = ["--read-only", "db/*"]


@pytest.mark.parametrize(
    ("client", "add", "remove"),
    [
        # As these programs of 2026 take them; each was tried.
        (
            "claude-code",
            "claude mcp add --scope user acme -- /opt/my_cli mcp serve --read-only 'db/*'",
            "claude mcp remove --scope user acme",
        ),
        (
            "codex",
            "codex mcp add acme -- /opt/my_cli mcp serve --read-only 'db/*'",
            "codex mcp remove acme",
        ),
        (
            "gemini",
            "gemini mcp add --scope user acme /opt/my_cli mcp serve -- --read-only 'db/*'",
            "gemini mcp remove --scope user acme",
        ),
        (
            "vscode",
            'code --add-mcp \'{"name": "acme", "command": "/opt/my_cli", '
            '"args": ["mcp", "serve", "--read-only", "db/*"]}\'',
            None,
        ),
    ],
)
def test_the_command_of_a_client(client: str, add: str, remove: str | None) -> None:
    known = CLIENTS[client]
    assert known.add is not None
    assert shlex.join(known.add("acme", [*_SERVER, *_OPTIONS])) == add
    removed = known.remove and shlex.join(known.remove("acme"))
    assert removed == remove


@pytest.fixture
def stand_in(cli: Cli, tmp_path: Path) -> Cli:
    """An installation with a `claude` on PATH that prints its words, and ends with 3."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "claude").write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 3\n')
    (tools / "claude").chmod(0o755)
    cli.env["PATH"] = f"{tools}:{os.environ['PATH']}"
    return cli


def test_the_command_is_shown_and_runs(stand_in: Cli) -> None:
    cli = stand_in
    cli.command("show it", "true\n", effects="read")
    done = cli.run(
        "mcp", "install", "claude-code", "--name", "a b", "--", "--read-only", "show"
    )
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == (
        f"$ claude mcp add --scope user 'a b' -- {cli.file} mcp serve --read-only show\n"
        f"mcp|add|--scope|user|a b|--|{cli.file}|mcp|serve|--read-only|show|"
    )
    done = cli.run("mcp", "uninstall", "claude-code")
    assert done.returncode == 3
    assert done.stdout.endswith("\nmcp|remove|--scope|user|cli|")


def test_a_client_that_is_not_here(cli: Cli) -> None:
    done = cli.run("mcp", "install", "codex", env={"PATH": "/nowhere"})
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == (
        "cli mcp install: codex is not installed or not on PATH; "
        f"where it is: codex mcp add cli -- {cli.file} mcp serve\n"
    )


def test_a_client_without_a_command(cli: Cli) -> None:
    done = cli.run("mcp", "install", "opencode", "--name", "acme")
    path = f"{cli.home}/.config/opencode/opencode.json"
    assert (done.returncode, done.stderr) == (
        0,
        f"opencode has no command for this; add the entry to {path}:\n",
    )
    words = [cli.file, "mcp", "serve"]
    entry = {"type": "local", "command": words, "enabled": True}
    assert json.loads(done.stdout) == {"mcp": {"acme": entry}}
    done = cli.run("mcp", "uninstall", "opencode", "--name", "acme")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "cli mcp uninstall: opencode has no command for this; "
        f"remove acme from mcp in {path}\n"
    )
    assert not (cli.home / ".config").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("install",), "Missing argument 'CLIENT'"),
        (("install", "kursor"), "'kursor' is not one of 'claude-code'"),
        (("install", "cursor", "--", "--read-onyl"), "No such option"),
        (("install", "cursor", "--", "nothing/*"), "nothing/* matches no command"),
        (("uninstall", "cursor", "x"), "unexpected extra argument"),
    ],
)
def test_usage(cli: Cli, words: tuple[str, ...], said: str) -> None:
    done = cli.run("mcp", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_tab(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients, and the categories and commands one level after the other."""
    cli.command("db mend", "true\n")
    cli.command("db move", "true\n")
    ours = variables_of(cli.root, "mcp", "serve")
    for name, value in {**cli.environ, **ours}.items():
        monkeypatch.setenv(name, value)

    def offered(command: object, typed: str, *before: str) -> list[str]:
        complete = ShellComplete(command, {}, "cli", "_CLI_COMPLETE")  # type: ignore[arg-type]
        return [item.value for item in complete.get_completions([*before], typed)]

    assert offered(install, "c") == ["claude-code", "claude-desktop", "codex", "cursor"]
    assert offered(install, "db/me", "codex", "--", "--read-only") == ["db/mend"]
    assert "db" in offered(serve, "d")
    assert offered(serve, "db/m") == ["db/mend", "db/move"]
    assert offered(serve, "db/mo", "--except") == ["db/move"]
