"""Resources, completion, log messages and changes of the list, in both protocols."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError, types

from conftest import MODES, Assistant, Cli, connected, made, until

_STAGES = "#!/bin/sh\nprintf 'stage-a\\nstage-b\\nprod\\n'\n"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = made(tmp_path_factory.mktemp("resources"))
    stages = {"program": "stages"}
    args = [
        {"name": "stage", "choices": stages},
        {"name": "size", "choices": ["small", "large"]},
        {"name": "--region", "value": "R", "choices": ["eu", "us"]},
        {"name": "--pin", "value": "PIN", "secret": True},
    ]
    cli.command(
        "app deploy", "echo one; sleep 0.3; echo two\n", effects="destroy", args=args
    )
    cli.command("app never", "true\n", **{"x-mcp": "never"})
    below = [{"name": "kind", "choices": stages}]
    cli.command("app deploy small", "true\n", args=below, **{"x-mcp": "never"})
    for folder in ("app/deploy", "app/deploy/small"):
        program = cli.root / "commands" / folder / "stages"
        program.write_text(_STAGES)
        program.chmod(0o755)
    skill = cli.home / "team/skills/deploying/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: How \x1b[2Jwe deploy\n---\n\x1b[2JAsk.\n")
    (cli.home / "team/hooks.py").write_text("")
    (cli.home / "team/plugin.json").write_text('{"hooks": "hooks.py"}')
    added = cli.run("self", "plugin", "add", "./team", env={"CLI_YES": "1"})
    assert added.returncode == 0, added
    return cli


@pytest.fixture(scope="module", params=MODES)
def client(small: Cli, request: pytest.FixtureRequest) -> Any:
    with connected(small, request.param, "app", log_level="info") as found:
        yield found


def read(client: Assistant, uri: str) -> str:
    [content] = client.portal.call(client.client.read_resource, uri).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


def test_the_list_of_commands(client: Assistant) -> None:
    listed = client.portal.call(client.client.list_resources).resources
    uris = [str(resource.uri) for resource in listed]
    assert uris == ["cli://commands", "cli://skill/deploying"]
    assert json.loads(read(client, "cli://commands")) == {
        "commands": [
            {
                "tool": "app__deploy",
                "words": ["app", "deploy"],
                "name": "App Deploy",
                "description": "Do app deploy",
                "effects": "destroy",
                "help": "cli://help/app/deploy",
            }
        ]
    }


def test_a_skill_of_a_plugin(client: Assistant) -> None:
    _, skill = client.portal.call(client.client.list_resources).resources
    assert skill.title == "A skill of the plugin team"
    assert skill.description == r"How \x1b[2Jwe deploy"
    text = read(client, "cli://skill/deploying")
    assert text == "---\ndescription: How \\x1b[2Jwe deploy\n---\n\\x1b[2JAsk.\n"


def test_a_help_page(client: Assistant, small: Cli) -> None:
    page = small.run("help", "app", "deploy").stdout
    assert read(client, "cli://help/app/deploy") == page
    assert read(client, "cli://help/app%2Fdeploy") == page


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("cli://help/app/never", "unknown command app never"),
        ("cli://help/self/env", "unknown command self env"),
        ("cli://help/..%2Fapp", "unknown command ../app"),
        ("cli://commands/x", "there is no resource cli://commands/x"),
        ("cli://skill/x", "there is no resource cli://skill/x"),
        ("file:///etc/passwd", "there is no resource file:///etc/passwd"),
    ],
)
def test_what_cannot_be_read(client: Assistant, uri: str, said: str) -> None:
    with pytest.raises(MCPError, match=said):
        read(client, uri)


@pytest.mark.parametrize(
    ("name", "value", "others", "expected"),
    [
        ("words", "app/d", {}, ["app/deploy"]),
        ("words", "app/n", {}, []),
        ("argument", "", {"words": "app/deploy"}, ["stage", "size", "region", "pin"]),
        ("argument", "", {"words": "app/never"}, []),
        (
            "value",
            "s",
            {"words": "app/deploy", "argument": "stage"},
            ["stage-a", "stage-b"],
        ),
        ("value", "", {"words": "app/deploy", "argument": "size"}, ["small", "large"]),
        # These words name a command that is not offered.
        (
            "value",
            "",
            {"words": "app/deploy", "argument": "size", "stage": "small"},
            [],
        ),
        ("value", "e", {"words": "app/deploy", "argument": "region"}, ["eu"]),
        ("value", "", {"words": "app/deploy", "argument": "pin"}, []),
    ],
)
def test_completion_is_that_of_tab(
    client: Assistant,
    name: str,
    value: str,
    others: dict[str, str],
    expected: list[str],
) -> None:
    template = "cli://candidates/{words}/{argument}/{value}"
    found = client.portal.call(client.client.list_resource_templates).resource_templates
    assert template in [listed.uri_template for listed in found]
    ref = types.ResourceTemplateReference(uri=template)
    argument = {"name": name, "value": value}
    done = client.portal.call(client.client.complete, ref, argument, others)
    assert done.completion.values == expected


def test_candidates_can_be_read(client: Assistant) -> None:
    assert json.loads(read(client, "cli://candidates/app/deploy/region/u")) == ["us"]


def test_lines_are_logged_if_the_client_asks(client: Assistant) -> None:
    if client.client.protocol_version == "2025-11-25":
        client.call("app__deploy")
        assert client.logged == []
        client.portal.call(client.client.set_logging_level, "info")
    client.logged.clear()
    client.call("app__deploy")
    # The last notification may arrive behind the result.
    until(lambda: len(client.logged) >= 2)
    assert client.logged == ["deploy info: one", "deploy info: two"]


def test_changes_are_announced(tmp_path: Path) -> None:
    cli = made(tmp_path)
    cli.command("app one", "true\n")
    cli.command("app two", "true\n")
    with connected(cli, "2025-11-25", "app") as client:
        assert set(client.tools()) == {"app__one", "app__two"}
        shutil.rmtree(cli.root / "commands/app/two")
        until(lambda: any(_is_change(message) for message in client.messages), 30)
        assert set(client.tools()) == {"app__one"}
        cli.command("app one", "true\n", description="Another text")
        client.messages.clear()
        until(lambda: any(_is_change(message) for message in client.messages), 30)
        cli.command("app three", "true\n")
        assert set(client.tools()) == {
            "app__one"
        }  # the list was made when the server started
    with connected(cli, "2026-07-28", "app") as client:
        client.tools()
        changed = client.portal.start_task_soon(_listen, client)
        cli.command("app one", "true\n", description="A third text")
        assert changed.result(30) == "ToolsListChanged"


def test_changes_of_the_list_of_commands_are_announced(tmp_path: Path) -> None:
    cli = made(tmp_path)
    cli.command("app one", "true\n")
    with connected(cli, "2025-11-25", "app") as client:
        client.portal.call(client.client.subscribe_resource, "cli://commands")
        with pytest.raises(MCPError, match="only those of cli://commands"):
            client.portal.call(client.client.subscribe_resource, "cli://help/app/one")
        cli.command("app one", "true\n", description="Another text")
        until(lambda: any(_is_update(message) for message in client.messages), 30)
        client.portal.call(client.client.unsubscribe_resource, "cli://commands")
    with connected(cli, "2026-07-28", "app") as client:
        changed = client.portal.start_task_soon(_change_while_listening, client, cli)
        assert changed.result(30) == "ResourceUpdated cli://commands"


async def _change_while_listening(client: Assistant, cli: Cli) -> str:
    uris = ["cli://commands", "cli://help/app/one"]
    async with client.client.listen(resource_subscriptions=uris) as subscription:
        cli.command("app one", "true\n", description="A third text")
        async for event in subscription:
            return f"{type(event).__name__} {event.uri}"
    return ""


async def _listen(client: Assistant) -> str:
    async with client.client.listen(tools_list_changed=True) as subscription:
        async for event in subscription:
            return type(event).__name__
    return ""


def _is_update(message: Any) -> bool:
    is_update = isinstance(message, types.ResourceUpdatedNotification)
    return is_update and str(message.params.uri) == "cli://commands"


def _is_change(message: Any) -> bool:
    return isinstance(message, types.ToolListChangedNotification)
