"""Generate pages from the code and from files outside `docs` when the site is built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from builtin_plugins.administration.templates import fill_template

_PROJECT = Path(__file__).parents[2]
_TAKEN = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "code-of-conduct.md": "CODE_OF_CONDUCT.md",
}
_TEXTS: dict[
    str, tuple[str, str, str]
] = {}  # title, address and first sentence of each page
_LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]*)(#[^)\s]*)?\)")
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r'<div class="language-console highlight">')
_CELL = re.compile(r"<td.*?</td>", re.DOTALL)
_ROWS = re.compile("^(?:Categories|Commands):$", re.MULTILINE)
_SKIPPED = re.compile(
    r"^---\n.*?^---$|^```.*?^```$|^<.*?>$|^#.*?$|^[|>!-].*?$", re.MULTILINE | re.DOTALL
)
_MARKUP = re.compile(r"!?\[([^]]*)\]\([^)]*\)(?:\{[^}]*\})?|[*_]{2}")
_SUB_COMMAND = re.compile(r"^  ([a-z][a-z-]*)  ", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of `docs`."""
    for target, source in _TAKEN.items():
        files.append(
            _generated(config, target, (_PROJECT / source).read_text(encoding="utf-8"))
        )
    files.append(_generated(config, "self.md", "".join(self_page())))
    files.append(_generated(config, "install.sh", installer(config.site_url or "")))
    return files


def installer(address: str) -> str:
    """Return install.sh for the site at `address`: it installs the program and runs `self init`."""
    values = {
        "WHAT": "cli-host",
        "ADDRESS": f"{address}install.sh",
        "INIT": '"$env/bin/cli" self init "$@"',
    }
    return fill_template("installer", **values)["install.sh"]


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt: the pages with their addresses and first sentences, for language models."""
    lines = [f"# {config.site_name}\n\n> {config.site_description}\n"]
    for section in config.nav or ():
        [(title, pages)] = section.items()
        lines.append(f"\n## {title}\n\n")
        lines += [
            f"- [{name}]({config.site_url}{url}): {text}\n"
            for name, url, text in _listed(pages)
        ]
    Path(config.site_dir, "llms.txt").write_text("".join(lines), encoding="utf-8")


def _listed(nav: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the title, address and first sentence of each page in a section of the navigation."""
    if isinstance(nav, str):
        yield _TEXTS[nav]
        return
    entries = nav.values() if isinstance(nav, dict) else nav
    for entry in entries:
        yield from _listed(entry)


def _generated(config: MkDocsConfig, name: str, content: str) -> File:
    return File.generated(config, name, content=content)


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Make links lead to the site's pages or, for files outside the site, to the repository."""
    name = page.file.src_uri
    title = page.title if isinstance(page.title, str) else name
    prose = " ".join(_MARKUP.sub(r"\1", _SKIPPED.sub("", markdown)).split())
    _TEXTS[name] = title, page.file.url, re.split(r"(?<=[.])\s", prose, maxsplit=1)[0]
    source = _TAKEN.get(name, f"docs/{name}")

    pages = {original: page_name for page_name, original in _TAKEN.items()}

    def target(link: re.Match[str]) -> str:
        begin, written, anchor = link[1], link[2], link[3] or ""
        path = os.path.normpath(os.path.join(os.path.dirname(source), written))
        on_site = pages.get(path, path.removeprefix("docs/"))
        is_page = path in pages or path.startswith("docs/")
        if is_page and files.get_file_from_path(on_site):
            return f"{begin}{os.path.relpath(on_site, os.path.dirname(name) or '.')}{anchor})"
        if not (_PROJECT / path).exists():
            return link[0]  # mkdocs reports it
        return f"{begin}{config.repo_url}/blob/main/{path}{anchor})"

    return _LINK.sub(target, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the copy button of a console block copy only commands, and show pipes in tables."""
    sessions = iter(_CONSOLE.findall(page.markdown or ""))

    def copied(block: re.Match[str]) -> str:
        return f'{block[0][:-1]} data-copy="{escape(commands_of(next(sessions)))}">'

    # GitHub needs a backslash before a pipe in a table, and Markdown for Python shows it in code.
    html = _CELL.sub(lambda cell: cell[0].replace("\\|", "|"), html)
    return _SHOWN.sub(copied, html)


def commands_of(session: str) -> str:
    """Return the lines that a reader types: those after `$ ` and their continuations after `> `."""
    typed: list[str] = []
    going_on = False
    for line in session.splitlines():
        going_on = line.startswith("$ ") or (going_on and line.startswith("> "))
        if going_on:
            typed.append(line[2:])
    return "\n".join(typed) + "\n"


def self_page() -> Iterator[str]:
    """Yield the parts of the page with the help text of every `self` command."""
    yield "# The `self` commands\n\nThis page shows the help page of each `self` command.\n"
    with tempfile.TemporaryDirectory() as directory:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": directory,
            "COLUMNS": "80",
        }
        root = os.path.join(directory, "installation")

        def output(*words: str) -> str:
            called = [sys.executable, "-m", "host", *words]
            return subprocess.run(
                called, env=environ, capture_output=True, text=True, check=True
            ).stdout

        output("self", "init", root, "--name", "cli")
        environ["CLI_DIR"] = root

        def walk(words: tuple[str, ...]) -> Iterator[str]:
            text = re.sub(r"\S*__main__\.py", "cli", output(*words, "--help"))
            if len(words) > 1:
                yield f"\n{'#' * min(len(words), 3)} `cli {' '.join(words)}`\n"
                yield f"\n```text\n{text}```\n"
            _, *below = _ROWS.split(text, maxsplit=1)
            for word in _SUB_COMMAND.findall("".join(below)):
                yield from walk((*words, word))

        yield from walk(("self",))
