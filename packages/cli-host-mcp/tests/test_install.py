"""`mcp install` and `mcp uninstall`: assistants' configuration files stay intact."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from cli_host_mcp.clients import CLIENTS
from cli_host_mcp.configuration import edited, existing, without
from cli_host_mcp.json_text import document_of, with_value, without_key
from conftest import Cli, made

SAMPLES = Path(__file__).parent / "client_files"
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
    assert tomllib.loads(found)["mcp_servers"] == {
        "other": {"command": "y"},
        "my cli": _ENTRY,
    }
    assert edited(CLIENTS["codex"], found, "my cli", _ENTRY) == found
    assert without(CLIENTS["codex"], found, "my cli") == text


_CODEX = """\
# mine
model = "x" # why

# of cli
[mcp_servers.cli]
command = "/opt/cli" # here
args = ["mcp", "serve", "demo"]
enabled = false
[mcp_servers.cli.env]
A = "b"

# of other
[mcp_servers.other]
command = "y"
"""


def test_comments_and_other_keys_stay_when_toml_is_changed() -> None:
    expected = _CODEX.replace(', "demo"', "")
    assert edited(CLIENTS["codex"], _CODEX, "cli", _ENTRY) == expected
    expected = f"{_CODEX[: _CODEX.index('[mcp')]}{_CODEX[_CODEX.index('# of other') :]}"
    assert without(CLIENTS["codex"], _CODEX, "cli") == expected


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {cli = {command = "/opt/cli", args = ["mcp", "serve", "x"]}} # c\n[z]\n',
        '[mcp_servers]\ncli = {command = "/opt/cli", args = ["mcp", "serve", "x"]}\n# z\n[z]\n',
        'mcp_servers.cli.command = "/opt/cli"\nz = 1\nmcp_servers.cli.args = ["mcp", "serve"]\n',
        '[mcp_servers.a]\nb = 1\n[z]\n# c\n[mcp_servers.cli]\r\ncommand = "/opt/cli"\n'
        'args = ["mcp", "serve"]\n# end',
    ],
)
def test_every_form_of_toml(text: str) -> None:
    before = tomllib.loads(text)
    entry = {**_ENTRY, "args": ["mcp", "serve", "--read-only"]}
    changed = edited(CLIENTS["codex"], text, "cli", entry)
    others = {key: one for key, one in before["mcp_servers"].items() if key != "cli"}
    assert tomllib.loads(changed) == {**before, "mcp_servers": {**others, "cli": entry}}
    removed = without(CLIENTS["codex"], changed, "cli")
    assert {"mcp_servers": {}, **tomllib.loads(removed)} == {
        **before,
        "mcp_servers": others,
    }
    assert existing(CLIENTS["codex"], removed, "cli", "/opt/cli") is None
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in removed.splitlines() if line.startswith("#")] == comments


@pytest.mark.parametrize(
    ("client", "text", "said"),
    [
        ("cursor", "{ // mine\n}", "Expecting property name"),
        ("cursor", "[]", "expected an object"),
        ("cursor", '{"mcpServers": []}', "expected an object"),
        ("cursor", '{"a": 1, "a": 2}', "a key occurs twice"),
        (
            "cursor",
            '{"mcpServers": {"cli": {"command": "/else"}}}',
            "another server is called cli",
        ),
        (
            "cursor",
            '{"mcpServers": {"cli": {"command": "/opt/cli"}}}',
            "another server is called cli",
        ),
        (
            "cursor",
            '{"mcpServers": {"cli": {"command": "/opt/cli", "args": ["db", "mcp", "serve"]}}}',
            "another server is called cli",
        ),
        (
            "cursor",
            '{"mcpServers": {"cli": "/opt/cli"}}',
            "another server is called cli",
        ),
        (
            "codex",
            "[mcp_servers.cli]\ncommand = 'else'\n",
            "another server is called cli",
        ),
        (
            "codex",
            "mcp_servers = {}\n",
            "its list of servers has a form that cannot be edited",
        ),
        ("codex", "model = ", "Invalid value"),
    ],
)
def test_what_cannot_be_edited_is_left(client: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        edited(CLIENTS[client], text, "cli", _ENTRY)


@pytest.mark.parametrize(
    ("client", "file"),
    [("cursor", ".cursor/mcp.json"), ("codex", ".codex/config.toml")],
)
def test_an_existing_entry_is_never_widened_without_options(
    tmp_path: Path, client: str, file: str
) -> None:
    cli = made(tmp_path)
    cli.command("show it", "true\n", effects="read")
    path = cli.home / file
    call = ("mcp", "install", "--client", client)
    cli.run(*call, "--", "--read-only", "show/i*")
    narrow = path.read_text()
    assert '"--read-only"' in narrow
    done = cli.run(*call)
    assert (done.returncode, done.stderr, path.read_text()) == (0, "", narrow)
    assert done.stdout == (
        f"{client}: {path} already has cli with --read-only 'show/i*'; "
        f"to serve all commands: cli mcp uninstall --client {client} && "
        f"cli mcp install --client {client}\n"
    )
    printed = cli.run(*call, "--print").stdout
    assert printed == f"{client}: {path}\n{narrow}"
    assert cli.run(*call, "--name", "acme").returncode == 0  # a second entry
    assert (
        cli.run("mcp", "uninstall", "--client", client, "--name", "acme").returncode
        == 0
    )
    done = cli.run(*call, "--", "--read-only", "show/i*")
    assert (
        done.stdout == f"{client}: {path} already has cli with --read-only 'show/i*'\n"
    )
    done = cli.run(*call, "--", "show")
    assert (
        done.stdout == f"{client}: cli was written to {path}; restart the assistant\n"
    )
    assert "read-only" not in path.read_text()
    done = cli.run("mcp", "uninstall")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{client}: cli was removed from {path}\n"
    assert "cli" not in path.read_text()
    cli.run(*call)
    assert "show" not in path.read_text()
    assert '"serve"' in path.read_text()


def test_uninstall_leaves_what_is_not_its_own(tmp_path: Path) -> None:
    cli = made(tmp_path)
    cursor, gemini = cli.home / ".cursor/mcp.json", cli.home / ".gemini/settings.json"
    zed = cli.home / ".config/zed/settings.json"
    for path in (cursor, gemini, zed):
        path.parent.mkdir(parents=True)
    foreign = '{"mcpServers": {"cli": {"command": "/else", "args": ["mcp", "serve"]}}}'
    cursor.write_text(foreign)
    zed.write_bytes(b"{} \xff")
    done = cli.run("mcp", "uninstall")
    assert (done.returncode, done.stdout) == (1, f"gemini: {gemini} has no entry cli\n")
    hint = "the file was not changed; cli mcp install --print shows the entry to edit by hand"
    assert done.stderr == (
        f"cli mcp uninstall: {cursor}: another server is called cli; "
        f"choose a different name with --name; {hint}\n"
        f"cli mcp uninstall: {zed}: not UTF-8; {hint}\n"
    )
    assert cursor.read_text() == foreign
    assert not gemini.exists()
    done = cli.run("mcp", "uninstall", "--client", "curser")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "cli mcp uninstall: --client curser: unknown; did you mean"
    )


def test_as_a_user(cli: Cli) -> None:
    """All clients found are configured; modes, links and broken files stay unchanged."""
    real = cli.home / "dotfiles.json"
    real.write_text('{"mcpServers": {}}')
    real.chmod(0o640)
    for folder in (".cursor", ".gemini", ".config/zed"):
        (cli.home / folder).mkdir(parents=True)
    (cli.home / ".cursor/mcp.json").symlink_to(real)
    (cli.home / ".config/zed/settings.json").write_text("{ // mine\n")
    done = cli.run("mcp", "install", "--", "--read-only", "show")
    assert done.returncode == 1
    assert done.stdout == (
        f"cursor: cli was written to {cli.home}/.cursor/mcp.json; restart the assistant\n"
        f"gemini: cli was written to {cli.home}/.gemini/settings.json; restart the assistant\n"
    )
    assert done.stderr.startswith(
        f"cli mcp install: {cli.home}/.config/zed/settings.json: "
    )
    assert done.stderr.count("\n") == 1
    entry = {"command": cli.file, "args": ["mcp", "serve", "--read-only", "show"]}
    assert json.loads(real.read_text()) == {"mcpServers": {"cli": entry}}
    assert (cli.home / ".cursor/mcp.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert os.listdir(cli.home / ".gemini") == ["settings.json"]
    assert (cli.home / ".config/zed/settings.json").read_text() == "{ // mine\n"
    again = cli.run("mcp", "install", "--client", "gemini", "--", "--read-only", "show")
    assert again.stdout == (
        f"gemini: {cli.home}/.gemini/settings.json already has cli with --read-only show\n"
    )
    printed = cli.run(
        "mcp", "install", "--client", "claude-code", "--name", "acme", "--print"
    )
    place, _, document = printed.stdout.partition("\n")
    assert place == f"claude-code: {cli.home}/.mcp.json"
    assert json.loads(document) == {
        "mcpServers": {
            "acme": {"type": "stdio", "command": cli.file, "args": ["mcp", "serve"]},
        }
    }
    assert not Path(cli.home, ".mcp.json").exists()


@pytest.mark.parametrize("client", CLIENTS)
def test_real_files_keep_all_but_the_entry(client: str) -> None:
    """The samples are files as these programs and their users write them."""
    [sample] = SAMPLES.glob(f"{client}.*")
    text = sample.read_text()
    known = CLIENTS[client]
    entry = known.entry(["/opt/cli", "mcp", "serve"])
    added = edited(known, text, "cli", entry)
    assert existing(known, added, "cli", "/opt/cli") == entry
    others = [
        line for line in text.splitlines() if line.strip() not in ("", "}", "},", "]")
    ]
    kept = iter(added.splitlines())
    assert all(
        any(line.rstrip(",") == other.rstrip(",") for other in kept) for line in others
    )
    narrow = known.entry(["/opt/cli", "mcp", "serve", "--read-only"])
    changed = edited(known, added, "cli", narrow)
    assert existing(known, changed, "cli", "/opt/cli") == narrow
    assert edited(known, changed, "cli", entry) == added
    removed = without(known, changed, "cli")
    assert removed.split() == text.split() or removed.replace(",", "").split() == (
        text.replace(",", "").split()
    )


_EDITS = {
    "an empty object": ("{}", '{\n  "servers": {\n    "cli": 1\n  }\n}'),
    "an empty list with a comment": (
        '{\n\t"servers": {\n\t\t// none\n\t}\n}\n',
        '{\n\t"servers": {\n\t\t// none\n\t\t"cli": 1\n\t}\n}\n',
    ),
    "a comment behind the last one": (
        '{"servers": {\n  "a": 1 // x, y\n}}',
        '{"servers": {\n  "a": 1, // x, y\n    "cli": 1\n  }}',
    ),
    "commas at the end": (
        '{\n  "servers": {\n    "a": {},\n  }, /* , */\n}\n',
        '{\n  "servers": {\n    "a": {},\n    "cli": 1,\n  }, /* , */\n}\n',
    ),
    "Windows": (
        '{\r\n  "a": 1\r\n}',
        '{\r\n  "a": 1,\r\n  "servers": {\r\n    "cli": 1\r\n  }\r\n}',
    ),
}


@pytest.mark.parametrize(("before", "after"), _EDITS.values(), ids=[*_EDITS])
def test_json_with_comments(before: str, after: str) -> None:
    assert with_value(before, ["servers", "cli"], 1) == after
    removed = without_key(after, ["servers", "cli"])
    empty = {"servers": {}}
    expected = {**empty, **document_of(before, comments=True)}
    assert document_of(removed, comments=True) == expected


def test_an_entry_of_a_cloned_repository_gives_no_rights(tmp_path: Path) -> None:
    cli = made(tmp_path)
    cli.command("show it", "true\n", effects="read")
    path = cli.home / ".mcp.json"
    env = {"LD_PRELOAD": "/x.so", "CLI_TRUST": "/", "CLI_YES": "1"}
    entry = {"type": "stdio", "command": cli.file, "args": ["mcp", "serve", "show"]}
    path.write_text(
        json.dumps({"mcpServers": {"cli": {**entry, "env": env, "trust": True}}})
    )
    done = cli.run("mcp", "install", "--client", "claude-code")
    assert done.stdout == (
        f"claude-code: cli was written to {path}; removed from the entry: env, trust; "
        "restart the assistant\n"
    )
    assert json.loads(path.read_text()) == {"mcpServers": {"cli": entry}}
    wide = {**entry, "args": ["mcp", "serve", "--confirm", "never", "--allow-sudo"]}
    path.write_text(json.dumps({"mcpServers": {"cli": wide}}))
    done = cli.run("mcp", "install", "--client", "claude-code")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the entry cli has --confirm never and --allow-sudo, which " in done.stderr
    done = cli.run("mcp", "install", "--client", "claude-code", "--", "show")
    assert json.loads(path.read_text()) == {"mcpServers": {"cli": entry}}


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    cli = made(tmp_path)
    private = tmp_path / "outside.json"
    private.write_text("{}")
    project = cli.home / "shop"
    project.mkdir()
    (project / ".mcp.json").symlink_to(private)
    (project / ".cursor").symlink_to(tmp_path)
    for client in ("claude-code", "cursor-project"):
        for word in ("install", "uninstall"):
            done = cli.run("mcp", word, "--client", client, cwd=project)
            assert (done.returncode, done.stdout) == (1, "")
            assert "it leads out of this directory, to " in done.stderr
    assert private.read_text() == "{}"
    assert not (tmp_path / "mcp.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--client", "cursr"),
            "--client cursr: unknown; did you mean cursor?; known: ",
        ),
        (("--print", "--", "--read-onl"), "mcp serve: No such option '--read-onl'"),
        (
            ("--client", "cursor", "--", "shwo"),
            "shwo matches no command; did you mean show",
        ),
        (
            ("--client", "cursor", "--", "--except", "x/*", "show"),
            "x/* matches no command",
        ),
    ],
)
def test_usage(cli: Cli, words: tuple[str, ...], said: str) -> None:
    done = cli.run("mcp", "install", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"cli mcp install: {said}")
    assert done.stderr.count("\n") == 1
