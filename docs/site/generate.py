"""Pages that are made when the site is built, from the code and from files outside `docs`."""

from __future__ import annotations

import inspect
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

import host
from host import hookspecs
from host.records import Record

_PROJECT = Path(__file__).parents[2]
_TAKEN = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "code-of-conduct.md": "CODE_OF_CONDUCT.md",
}
_LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]*)(#[^)\s]*)?\)")
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r'<div class="language-console highlight">')
_COLUMNS = re.compile(r"(?:^\S.*? {2,}\S.*\n(?:^\S.*\n)?){2,}", re.MULTILINE)
_SUB_COMMAND = re.compile(r"^  ([a-z][a-z-]*)  ", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of `docs`."""
    for target, source in _TAKEN.items():
        files.append(_generated(config, target, (_PROJECT / source).read_text(encoding="utf-8")))
    files.append(_generated(config, "self.md", "".join(self_page())))
    files.append(_generated(config, "interface.md", "".join(interface_page())))
    return files


def _generated(config: MkDocsConfig, name: str, content: str) -> File:
    return File.generated(config, name, content=content)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at pages where there is one, and at the repository where there is none."""
    name = page.file.src_uri
    source = _TAKEN.get(name, f"docs/{name}")

    def target(found: re.Match[str]) -> str:
        wanted = os.path.normpath(os.path.join(os.path.dirname(source), found[2]))
        anchor = found[3] or ""
        pages = {taken: made for made, taken in _TAKEN.items()}
        inside = pages.get(wanted, wanted.removeprefix("docs/"))
        if files.get_file_from_path(inside) and (wanted in pages or wanted.startswith("docs/")):
            return f"{found[1]}{os.path.relpath(inside, os.path.dirname(name) or '.')}{anchor})"
        if not (_PROJECT / wanted).exists():
            return found[0]  # mkdocs says that it leads nowhere
        return f"{found[1]}{config.repo_url}/blob/main/{wanted}{anchor})"

    return _LINK.sub(target, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the copy button of a session give its commands, without prompts and outputs."""
    sessions = iter(_CONSOLE.findall(page.markdown or ""))

    def copied(found: re.Match[str]) -> str:
        return f'{found[0][:-1]} data-copy="{escape(commands_of(next(sessions)))}">'

    return _SHOWN.sub(copied, html)


def commands_of(session: str) -> str:
    """Return what a reader types of a session: after `$ `, and after `> ` where that goes on."""
    typed: list[str] = []
    going_on = False
    for line in session.splitlines():
        going_on = line.startswith("$ ") or (going_on and line.startswith("> "))
        if going_on:
            typed.append(line[2:])
    return "\n".join(typed) + "\n"


def self_page() -> Iterator[str]:
    """Yield the page of every `self` word: what each shows for `--help`."""
    yield "# The `self` commands\n\nEach as the program itself tells it, for `--help`.\n"
    with tempfile.TemporaryDirectory() as directory:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": directory,
            "COLUMNS": "80",
        }
        root = os.path.join(directory, "installation")

        def said(*words: str) -> str:
            called = [sys.executable, "-m", "host", *words]
            return subprocess.run(
                called, env=environ, capture_output=True, text=True, check=True
            ).stdout

        said("self", "init", root, "--name", "cli")
        environ["CLI_DIR"] = root

        def walk(words: tuple[str, ...]) -> Iterator[str]:
            text = re.sub(r"\S*__main__\.py", "cli", said(*words, "--help"))
            if len(words) > 1:
                yield f"\n{'#' * min(len(words), 3)} `cli {' '.join(words)}`\n"
                yield f"\n```text\n{text}```\n"
            _, _, below = text.partition("\nCommands:\n")
            for word in _SUB_COMMAND.findall(below):
                yield from walk((*words, word))

        yield from walk(("self",))


def interface_page() -> Iterator[str]:
    """Yield the page of the public names of `host`: hooks, and the records that they return."""
    yield "# The Python interface\n\n"
    yield f"{_prose(inspect.getdoc(host) or '')}\n"
    yield f"\n## Hooks\n\n{_prose(inspect.getdoc(hookspecs) or '')}\n"
    for name, value in vars(hookspecs).items():
        if hasattr(value, "cli_host_spec"):
            yield from _function("###", name, value)
    yield "\n## Records and other names\n"
    for name in sorted(host.__all__):
        value = getattr(host, name)
        if inspect.isclass(value):
            yield from _class(name, value)
        elif inspect.isfunction(value):
            yield from _function("###", name, value)


def _class(name: str, value: Any) -> Iterator[str]:
    yield f"\n### `{name}`\n\n"
    if issubclass(value, Record):
        fields = "".join(f"    {line}\n" for line in _fields(value))
        yield f"```python\nclass {name}:\n{fields}```\n\n"
    elif issubclass(value, Exception):
        yield f"```python\nclass {name}({value.__base__.__name__})\n```\n\n"
    yield f"{_prose(inspect.getdoc(value) or '')}\n"
    for method, function in vars(value).items():
        wanted = getattr(function, "__func__", function)
        if method.startswith("_"):
            continue
        if isinstance(wanted, property):
            kind = inspect.formatannotation(inspect.signature(wanted.fget).return_annotation).strip(
                "'"
            )
            yield f"\n#### `{name}.{method}`\n\n```python\n{method}: {kind}\n```\n"
            yield f"\n{_prose(inspect.getdoc(wanted) or '')}\n"
        elif inspect.isfunction(wanted):
            yield from _function("####", f"{name}.{method}", wanted)


def _function(level: str, name: str, function: Any) -> Iterator[str]:
    short = name.rpartition(".")[2]
    yield f"\n{level} `{name}`\n\n```python\ndef {short}{_signature(function)}\n```\n"
    yield f"\n{_prose(inspect.getdoc(function) or '')}\n"


def _fields(record: type[Record]) -> Iterator[str]:
    for name, kind in record.__annotations__.items():
        default = f" = {getattr(record, name)!r}" if hasattr(record, name) else ""
        yield f"{name}: {kind}{default}"


def _signature(function: Any) -> str:
    return str(inspect.signature(function)).replace("'", "")


def _prose(docstring: str) -> str:
    """Return a docstring as Markdown: what follows `::` is Python, columns stay columns."""
    lines: list[str] = []
    code = False
    for line in _COLUMNS.sub(r"```text\n\g<0>```\n", docstring + "\n").splitlines():
        if code and line and not line.startswith("    "):
            lines += ["```", ""]
            code = False
        if not code and line.endswith("::"):
            lines += [line[:-1], "", "```python"]
            code = True
            continue
        lines.append(line.removeprefix("    ") if code else line)
    text = "\n".join([*lines, "```"] if code else lines)
    return re.sub(r"```(\w+)\n\n+", r"```\1\n", re.sub(r"\n{2,}```\n", "\n```\n", text))
