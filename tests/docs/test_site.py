"""The documentation site: it builds strictly, leads nowhere that is not there, asks nobody."""

from __future__ import annotations

import html
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import host
from host import hookspecs
from testing import httpserver
from testing.environments import made_once
from testing.installation import PROJECT

# Attributes that a browser follows by itself, other than links that a reader clicks.
_LOADED = {"src", "srcset", "data", "poster", "background"}
pytestmark = pytest.mark.night  # building the site takes half a minute

_CSS_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class _Page(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.loaded += [value for name, value in values.items() if name in _LOADED]
        if tag == "link" and values.get("rel") not in (
            "canonical",
            "prev",
            "next",
            "edit",
        ):
            self.loaded.append(values["href"])
        elif tag in ("a", "area") and "href" in values:
            self.links.append(values["href"])


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, new_venv: Callable[[Path], Path]
) -> Path:
    """The site, built once for all workers."""
    return made_once(tmp_path_factory, "documentation", partial(_build, new_venv))


def _build(new_venv: Callable[[Path], Path], target: Path) -> None:
    if not (PROJECT / ".venv-docs").exists():
        new_venv(PROJECT / ".venv-docs")  # which docs/build takes as it is: it has pip
    done = subprocess.run(
        ["bash", PROJECT / "docs" / "build", target],
        env={**os.environ, "PYTHON": sys.executable, "PIP_COMPILE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {page: _Page(page.read_text()) for page in site.rglob("*.html")}


def test_links_lead_to_pages_and_anchors_that_are_there(
    pages: dict[Path, _Page],
) -> None:
    wrong = []
    for file, page in pages.items():
        if file.name == "404.html":
            continue  # it can be shown anywhere, so its links have the site's address
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (
                (file.parent / unquote(parts.path)).resolve() if parts.path else file
            )
            target = target / "index.html" if target.is_dir() else target
            there = target in pages or target.is_file()
            if not there or (
                parts.fragment and parts.fragment not in pages[target].anchors
            ):
                wrong.append(f"{file.name}: {link}")
    assert wrong == []


def test_the_one_line_of_a_release_leads_to_the_first_command(
    site: Path, packages: Path, offline: dict[str, str], tmp_path: Path
) -> None:
    """Only the host of the address is another."""
    page = (PROJECT / "docs/how-to/install.md").read_text()
    line = re.search(
        r"^(curl --proto '=https' -LsSf (https:\S+/)install\.sh \| sh .*)$",
        page,
        re.MULTILINE,
    )
    assert line
    home, tools = tmp_path / "home", tmp_path / "tools"
    home.mkdir()
    tools.mkdir()
    (tools / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tools / "python3").chmod(0o755)
    environ = {
        **offline,
        "HOME": str(home),
        "PATH": f"{home}/.local/bin:{tools}:/usr/bin:/bin",
    }
    with httpserver.running() as server:
        server.add("/install.sh", (site / "install.sh").read_bytes())
        typed = (
            line[1].replace(line[2], server.address + "/").replace("=https", "=http")
        )
        typed += " && acme demo hello"
        for _ in range(2):
            done = subprocess.run(
                ["sh", "-c", typed],
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, "")
            assert len(done.stdout.splitlines()) == 3
            assert done.stdout.splitlines()[-1].startswith("Hello, ")
    assert (home / ".local/share/man/man1/acme.1").is_symlink()
    assert sorted(os.listdir(home / ".local/share")) == [
        "acme",
        "cli-host-environment",
        "man",
    ]


def test_links_into_the_repository_lead_to_files(pages: dict[Path, _Page]) -> None:
    blob = "https://github.com/cli-host/cli-host/blob/main/"
    links: set[str] = set()
    for page in pages.values():
        links.update(link for link in page.links if link.startswith(blob))
    assert links
    for link in links:
        assert (PROJECT / link.removeprefix(blob).partition("#")[0]).exists(), link


def test_no_page_asks_another_server(site: Path, pages: dict[Path, _Page]) -> None:
    outside = [
        f"{file.name}: {asset}"
        for file, page in pages.items()
        if file.name != "404.html"
        for asset in page.loaded
        if urlsplit(asset).netloc
    ]
    for style in site.rglob("*.css"):
        for first, second in _CSS_URL.findall(style.read_text()):
            if urlsplit(first or second).netloc:
                outside.append(f"{style.name}: {first or second}")
    assert outside == []


def test_the_reference_is_complete(site: Path) -> None:
    interface = (site / "interface.html").read_text()
    for name in host.__all__:
        if name != "hookimpl":  # a marker, shown in each hook's example
            assert f'<h3 id="{name.lower()}">' in interface, name
    text = re.sub(r"<[^>]*>", "", interface)
    assert "width: int = 80" in text
    assert "def sections(self)" in text
    specs = [
        name
        for name, value in vars(hookspecs).items()
        if hasattr(value, "cli_host_spec")
    ]
    assert [name for name in specs if f'<h3 id="{name}">' not in interface] == []
    words = (site / "self.html").read_text()
    declared = []
    for plugin in entry_points(group="cli_host"):
        discover_commands = getattr(plugin.load(), "discover_commands", None)
        if discover_commands and not inspect.signature(discover_commands).parameters:
            declared += discover_commands()
    unlisted = ("add", "launcher", "lock", "news", "pick", "publish-installer")
    hidden: set[tuple[str, ...]] = {(), *((word,) for word in unlisted)}
    shown = [command for command in declared if command.words[1:] not in hidden]
    for command in shown:
        assert f'id="cli-{"-".join(command.words)}"' in words, command.words
    assert len(shown) > 25


def test_the_copy_button_gives_what_a_reader_types(site: Path) -> None:
    copied = re.findall(
        r'data-copy="([^"]*)"', (site / "coming-from/task.html").read_text()
    )
    assert len(copied) == 1
    lines = html.unescape(copied[0]).splitlines()
    assert lines[:3] == [
        "cli self init ~/acme --name acme >/dev/null && cd ~/acme",
        "mkdir -p commands/db/backup",
        "cat > commands/db/backup/command.json <<'EOF'",
    ]
    assert "status 1" not in lines
    assert "EOF" in lines


def test_pipes_in_tables_have_no_backslash(site: Path) -> None:
    text = (site / "reference.html").read_text()
    assert "<code>cli self completion bash|zsh|fish" in text
    for page in site.rglob("*.html"):
        for cell in re.findall(r"<td.*?</td>", page.read_text(), re.DOTALL):
            assert "\\|" not in cell, (page.name, cell)


def test_llms_txt_lists_every_page_with_a_sentence(site: Path) -> None:
    text = (site / "llms.txt").read_text()
    listed = re.findall(r"^- \[.+\]\((.+)\): \S.*\S$", text, re.MULTILINE)
    pages = {str(page.relative_to(site)) for page in site.rglob("*.html")} - {
        "404.html"
    }
    assert {
        urlsplit(address).path.removeprefix("/cli-host/") for address in listed
    } == pages
    assert len(listed) == len(re.findall(r"^- ", text, re.MULTILINE))


def test_the_landing_page_has_the_first_commands_and_a_button(
    pages: dict[Path, _Page],
) -> None:
    [landing] = [file for file in pages if file.name == "index.html"]
    text = html.unescape(re.sub(r"<[^>]*>", "", landing.read_text()))
    assert "bash install.sh --name acme\nacme self plugin add ~/bin\nacme\n" in text
    assert re.search(
        r'<a class="md-button [^>]*href="tutorial.html"', landing.read_text()
    )
