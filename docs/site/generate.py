"""Generate pages from the code and from files outside `docs` when the site is built."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from builtin_plugins.self_commands.templates import fill_template

_PROJECT = Path(__file__).parents[2]
_TAKEN = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "code-of-conduct.md": "CODE_OF_CONDUCT.md",
}
# What links to these modules lead to: the page that is made of their docstrings.
_DOCUMENTED = dict.fromkeys(
    (
        "src/host/__init__.pyi",
        "src/host/hookspecs.py",
        "src/host/program.py",
        "src/host/testing/__init__.py",
    ),
    "interface.md",
)
# Title, address and first sentence of each page.
_TEXTS: dict[str, tuple[str, str, str]] = {}
_INTERFACE = runpy.run_path(str(_PROJECT / "docs/site/interface.py"))
_LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]*)(#[^)\s]*)?\)")
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r'<div class="language-console highlight">')
_CELL = re.compile(r"<td.*?</td>", re.DOTALL)
_ROWS = re.compile("^(?:Categories|Commands|Subcommands):$", re.MULTILINE)
_SKIPPED = re.compile(
    r"^---\n.*?^---$|^```.*?^```$|^<.*?>$|^#.*?$|^[|>!-].*?$", re.MULTILINE | re.DOTALL
)
_MARKUP = re.compile(r"!?\[([^]]*)\]\([^)]*\)(?:\{[^}]*\})?|[*_]{2}")
_SUB_COMMAND = re.compile(r"^  ([a-z][a-z-]*)  ", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of `docs`."""
    for target, source in _TAKEN.items():
        text = (_PROJECT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=text))

    generated = {
        "self.md": "".join(self_page()),
        "interface.md": "".join(_INTERFACE["interface_page"]()),
        "install.sh": installer(config.site_url or ""),
    }
    for name, text in generated.items():
        files.append(File.generated(config, name, content=text))
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
        for name, address, sentence in _listed(pages):
            lines.append(f"- [{name}]({config.site_url}{address}): {sentence}\n")
    Path(config.site_dir, "llms.txt").write_text("".join(lines), encoding="utf-8")


def _listed(nav: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the title, address and first sentence of each page in a section of the navigation."""
    if isinstance(nav, str):
        yield _TEXTS[nav]
        return
    entries = nav.values() if isinstance(nav, dict) else nav
    for entry in entries:
        yield from _listed(entry)


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Make links lead to the site's pages or, for files outside the site, to the repository."""
    name = page.file.src_uri
    title = page.title if isinstance(page.title, str) else name
    _TEXTS[name] = title, page.file.url, _first_sentence(markdown)

    source = _TAKEN.get(name, f"docs/{name}")
    pages = {original: page_name for page_name, original in _TAKEN.items()}
    pages |= _DOCUMENTED

    def target(link: re.Match[str]) -> str:
        begin, written, anchor = link.groups(default="")
        path = os.path.normpath(os.path.join(os.path.dirname(source), written))

        on_site = pages.get(path, path.removeprefix("docs/"))
        is_page = path in pages or path.startswith("docs/")
        if is_page and files.get_file_from_path(on_site):
            address = os.path.relpath(on_site, os.path.dirname(name) or ".")
            return f"{begin}{address}{anchor})"

        if not (_PROJECT / path).exists():
            return link[0]  # mkdocs reports it
        return f"{begin}{config.repo_url}/blob/main/{path}{anchor})"

    return _LINK.sub(target, markdown)


def _first_sentence(markdown: str) -> str:
    """Return the first sentence of a page's prose, without markup."""
    prose = _MARKUP.sub(r"\1", _SKIPPED.sub("", markdown))
    text = " ".join(prose.split())
    return re.split(r"(?<=[.])\s", text, maxsplit=1)[0]


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the copy button of a console block copy only commands, and show pipes in tables."""
    sessions = iter(_CONSOLE.findall(page.markdown or ""))

    def with_commands(block: re.Match[str]) -> str:
        commands = escape(commands_of(next(sessions)))
        return f'{block[0][:-1]} data-copy="{commands}">'

    # GitHub needs a backslash before a pipe in a table, and Markdown for Python shows it in code.
    html = _CELL.sub(lambda cell: cell[0].replace("\\|", "|"), html)
    return _SHOWN.sub(with_commands, html)


def commands_of(session: str) -> str:
    """Return the lines that a reader types: those after `$ ` and their continuations after `> `."""
    typed: list[str] = []
    continues = False
    for line in session.splitlines():
        # In the output of a command, `> ` is no continuation.
        continues = line.startswith("$ ") or (continues and line.startswith("> "))
        if continues:
            typed.append(line[2:])
    return "\n".join(typed) + "\n"


def self_page() -> Iterator[str]:
    """Yield the parts of the page with the help text of every `self` command."""
    yield "# The `self` commands\n\nThis page shows the help page of each `self` command.\n"
    with tempfile.TemporaryDirectory() as directory:
        root = os.path.join(directory, "installation")
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": directory,
            "COLUMNS": "80",
        }
        _output(environ, "self", "init", root, "--name", "cli")
        environ["CLI_DIR"] = root
        yield from _help_pages(environ, ("self",))


def _help_pages(environ: Mapping[str, str], words: tuple[str, ...]) -> Iterator[str]:
    """Yield a section with the help page of a command, then those of the commands below it."""
    text = _output(environ, *words, "--help")
    text = re.sub(r"\S*__main__\.py", "cli", text)
    if len(words) > 1:
        level = "#" * min(len(words), 3)
        yield f"\n{level} `cli {' '.join(words)}`\n"
        yield f"\n```text\n{text}```\n"

    # The rows of commands and categories are the last parts of a page.
    _, *rows = _ROWS.split(text, maxsplit=1)
    for word in _SUB_COMMAND.findall("".join(rows)):
        yield from _help_pages(environ, (*words, word))


def _output(environ: Mapping[str, str], *words: str) -> str:
    argv = [sys.executable, "-m", "host", *words]
    finished = subprocess.run(
        argv, env=environ, capture_output=True, text=True, check=True
    )
    return finished.stdout
