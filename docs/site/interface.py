"""Write docs/interface.md, the reference of the public names of `host`, from their docstrings.

After a change to such a docstring, run: python docs/site/interface.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import host
from host import HostError, Record, errors, hookspecs

PAGE = Path(__file__).parents[1] / "interface.md"

_MORE = r"(?:^ {4,}\S.*\n)*"
_COLUMNS = re.compile(rf"(?:^\S.*? {{2,}}\S.*\n{_MORE}(?:^\S.*\n{_MORE})?){{2,}}", re.MULTILINE)
_MADE = "<!-- Made from docstrings by docs/site/interface.py; change those. -->\n\n"


def interface_page() -> Iterator[str]:
    """Yield the page of the public names of `host`: hooks, and the records that they return."""
    yield _MADE
    yield "# The Python interface\n\n"
    yield f"{_prose(inspect.getdoc(host) or '')}\n"
    yield f"\n## Hooks\n\n{_prose(inspect.getdoc(hookspecs) or '')}\n"
    for name, value in vars(hookspecs).items():
        if hasattr(value, "cli_host_spec"):
            yield from _function("###", name, value)
    yield f"\n## Errors\n\n{_prose(inspect.getdoc(errors) or '')}\n"
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
        fields = "".join(f"    {line}\n" for line in _fields(value)) or "    ...\n"
        yield f"```python\nclass {name}:\n{fields}```\n\n"
    elif issubclass(value, HostError):
        base = value.__base__.__name__
        yield f"```python\nclass {name}({base}):\n    status = {value.status}\n```\n\n"
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
        if not name.startswith("_"):
            text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
            yield f"{name}: {text}{default}"


def _signature(function: Any) -> str:
    return str(inspect.signature(function)).replace("'", "")


def _prose(docstring: str) -> str:
    """Return a docstring as Markdown: text after `::` is Python, columns become a table."""
    lines: list[str] = []
    code = False
    for line in _COLUMNS.sub(_table, docstring + "\n").splitlines():
        if code and line and not line.startswith("    "):
            lines += ["```", ""]
            code = False
        if not code and line.startswith("    ") and lines[-1] == "":
            lines.append("```text")
            code = True
        if not code and line.endswith("::"):
            lines += [line[:-1], "", "```python"]
            code = True
            continue
        lines.append(line.removeprefix("    ") if code else line)
    text = "\n".join([*lines, "```"] if code else lines)
    text = text.replace("```python\n\n[", "```toml\n\n[")
    return re.sub(r"```(\w+)\n\n+", r"```\1\n", re.sub(r"\n{2,}```\n", "\n```\n", text))


def _table(columns: re.Match[str]) -> str:
    """Return a Markdown table of lines that consist of a name and its meaning."""
    rows: list[tuple[str, str]] = []
    first = columns[0].splitlines()[0]
    right = len(first) - len(re.split(" {2,}", first, maxsplit=1)[1])
    for line in columns[0].splitlines():
        found = re.match(r"(\S.*?) {2,}(\S.*)", line)
        if line.startswith(" "):
            rows[-1] = rows[-1][0], f"{rows[-1][1]} {line.strip()}"
        elif found:
            rows.append((found[1], found[2]))
        else:  # the name is as wide as its column
            rows.append((line[:right].strip(), line[right:]))
    lines = ["| name | meaning |", "|---|---|"]
    for name, meaning in rows:
        names = ", ".join(f"`{one}`" for one in name.split(", "))
        lines.append(f"| {names} | {meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text("".join(interface_page()), encoding="utf-8")
