"""`mcp install`: other people's configuration files stay whole."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from cli_host_mcp.clients import CLIENTS
from cli_host_mcp.configuration import edited
from conftest import Cli

_ENTRY = {"command": "/opt/cli", "args": ["mcp", "serve"]}


def test_what_is_there_is_kept() -> None:
    text = '{\n    "theme": "ü",\n    "mcpServers": {"other": {"command": "x"}},\n    "n": 1.0\n}\n'
    found = edited(CLIENTS["cursor"], text, "cli", _ENTRY)
    assert json.loads(found) == {
        "theme": "ü",
        "mcpServers": {"other": {"command": "x"}, "cli": _ENTRY},
        "n": 1.0,
    }
    assert list(json.loads(found)) == ["theme", "mcpServers", "n"]
    assert '\n    "theme": "ü",\n' in found
    assert found.endswith("}\n")
    assert edited(CLIENTS["cursor"], found, "cli", _ENTRY) == found
    other = {**_ENTRY, "args": ["mcp", "serve", "demo"]}
    changed = json.loads(edited(CLIENTS["cursor"], found, "cli", other))
    assert changed["mcpServers"]["cli"] == other


def test_toml_is_appended_to() -> None:
    text = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'
    found = edited(CLIENTS["codex"], text, "my cli", _ENTRY)
    assert found.startswith(text)
    assert tomllib.loads(found)["mcp_servers"] == {"other": {"command": "y"}, "my cli": _ENTRY}
    assert edited(CLIENTS["codex"], found, "my cli", _ENTRY) == found


@pytest.mark.parametrize(
    ("client", "text", "said"),
    [
        ("cursor", "{ // mine\n}", "Expecting property name"),
        ("cursor", "[]", "expected an object"),
        ("cursor", '{"mcpServers": []}', "expected an object"),
        ("cursor", '{"a": 1, "a": 2}', "a key stands there twice"),
        ("cursor", '{"mcpServers": {"cli": {"command": "/else"}}}', "another server called cli"),
        ("codex", "[mcp_servers.cli]\ncommand = 'else'\n", "another server called cli"),
        ("codex", "model = ", "Invalid value"),
    ],
)
def test_what_cannot_be_edited_is_left(client: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        edited(CLIENTS[client], text, "cli", _ENTRY)


def test_as_a_user(cli: Cli) -> None:
    """Found clients get it; a mode and a link stay, a broken file too, in one line."""
    real = cli.home / "dotfiles.json"
    real.write_text('{"mcpServers": {}}')
    real.chmod(0o640)
    for folder in (".cursor", ".gemini", ".config/zed"):
        (cli.home / folder).mkdir(parents=True)
    (cli.home / ".cursor/mcp.json").symlink_to(real)
    (cli.home / ".config/zed/settings.json").write_text("{ // mine\n}")
    done = cli.run("mcp", "install", "--", "--read-only", "show")
    assert done.returncode == 1
    assert done.stdout == (
        f"cursor: cli was written to {cli.home}/.cursor/mcp.json; start the assistant anew\n"
        f"gemini: cli was written to {cli.home}/.gemini/settings.json; start the assistant anew\n"
    )
    assert done.stderr.startswith(f"cli mcp install: {cli.home}/.config/zed/settings.json: ")
    assert done.stderr.count("\n") == 1
    entry = {"command": cli.file, "args": ["mcp", "serve", "--read-only", "show"]}
    assert json.loads(real.read_text()) == {"mcpServers": {"cli": entry}}
    assert (cli.home / ".cursor/mcp.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert os.listdir(cli.home / ".gemini") == ["settings.json"]
    assert (cli.home / ".config/zed/settings.json").read_text() == "{ // mine\n}"
    again = cli.run("mcp", "install", "--client", "gemini", "--", "--read-only", "show")
    assert again.stdout == f"gemini: {cli.home}/.gemini/settings.json has cli already\n"
    printed = cli.run("mcp", "install", "--client", "claude-code", "--name", "acme", "--print")
    place, _, document = printed.stdout.partition("\n")
    assert place == f"claude-code: {cli.home}/.mcp.json"
    assert json.loads(document) == {
        "mcpServers": {
            "acme": {"type": "stdio", "command": cli.file, "args": ["mcp", "serve"]},
        }
    }
    assert not Path(cli.home, ".mcp.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--client", "cursr"),
            "--client cursr: unknown; did you mean cursor?; known: ",
        ),
        (("--print", "--", "--read-onl"), "mcp serve: No such option '--read-onl'"),
    ],
)
def test_usage(cli: Cli, words: tuple[str, ...], said: str) -> None:
    done = cli.run("mcp", "install", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"cli mcp install: {said}")
    assert done.stderr.count("\n") == 1
