"""The package itself: its hook, and the commands of its page."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conftest import Cli, Collector

_PAGE = Path(__file__).parents[3] / "docs" / "tracing.md"
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_plugin_is_listed(cli: Cli) -> None:
    done = cli.run("self", "plugin", "show", "otel")
    assert (done.status, done.stderr) == (0, "")
    assert "after_run" in done.stdout


@pytest.mark.skipif(not _PAGE.exists(), reason="docs/tracing.md is the project's")
def test_commands_of_the_page(cli: Cli, collector: Collector) -> None:
    cli.script("deploy", "true")
    commands = "".join(_BLOCK.findall(_PAGE.read_text()))
    commands = commands.replace("https://collector.example.com:4318", collector.address)
    done = subprocess.run(
        ["bash", "-ec", commands],
        env=cli.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        cwd=cli.root,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [received.span.name for received in collector.received] == [
        "acme deploy"
    ] * 2
    assert collector.received[1].span.trace_id.hex() in commands


@pytest.mark.skipif(not _PAGE.exists(), reason="docs/tracing.md is the project's")
def test_the_page_names_all_attributes(cli: Cli, collector: Collector) -> None:
    cli.script("bad", "exit 3")
    cli.run("bad", CLI_RECORDED="0123456789ab:mcp:name=Editor")
    [received] = collector.received
    text = _PAGE.read_text()
    for name in received.attributes:
        assert f"`{re.sub('client.name', 'client.NAME', name)}`" in text
