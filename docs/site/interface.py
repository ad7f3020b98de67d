"""The page of the public names of `host`, made of their docstrings when the site is built."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import host
from host import HostError, Record, errors, hookspecs, testing

_MORE = r"(?:^ {4,}\S.*\n)*"
_COLUMNS = re.compile(
    rf"(?:^\S.*? {{2,}}\S.*\n{_MORE}(?:^\S.*\n{_MORE})?){{2,}}", re.MULTILINE
)
_QUOTED = re.compile(r"""(: |-> )(['"])(.*?)\2""")  # an annotation in quotes


def interface_page() -> Iterator[str]:
    """Yield the parts of the page: the hooks, errors, records and other names of `host`."""
    yield "# The Python interface\n\n"
    yield f"{_doc(host)}\n"

    yield f"\n## Hooks\n\n{_doc(hookspecs)}\n"
    for name, value in vars(hookspecs).items():
        if hasattr(value, "cli_host_spec"):
            yield from _function("###", name, value)

    yield f"\n## Errors\n\n{_doc(errors)}\n"
    yield "\n## Records and other names\n"
    for name in sorted(host.__all__):
        yield from _section(name, getattr(host, name))

    yield "\n## Tests\n\nThese names are in `host.testing`.\n\n"
    yield f"{_doc(testing)}\n"
    for name in testing.__all__:
        yield from _section(name, getattr(testing, name))


def _section(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield from _class(name, value)
    elif inspect.isfunction(value):
        yield from _function("###", name, value)


def _class(name: str, value: Any) -> Iterator[str]:
    yield f"\n### `{name}`\n\n"
    if issubclass(value, Record):
        fields = "".join(f"    {line}\n" for line in _fields(value))
        fields = fields or "    ...\n"
        yield f"```python\nclass {name}:\n{fields}```\n\n"
    elif issubclass(value, HostError):
        base = value.__base__.__name__
        yield f"```python\nclass {name}({base}):\n    status = {value.status}\n```\n\n"
    yield f"{_doc(value)}\n"

    for attribute, member in vars(value).items():
        if attribute.startswith("_"):
            continue
        # A class method is wrapped.
        target = getattr(member, "__func__", member)
        if isinstance(target, property):
            yield from _property(name, attribute, target)
        elif inspect.isfunction(target):
            yield from _function("####", f"{name}.{attribute}", target)


def _property(owner: str, name: str, target: property) -> Iterator[str]:
    getter: Any = target.fget
    annotation = inspect.signature(getter).return_annotation
    kind = inspect.formatannotation(annotation).strip("'")
    yield f"\n#### `{owner}.{name}`\n\n```python\n{name}: {kind}\n```\n"
    yield f"\n{_doc(target)}\n"


def _function(level: str, name: str, function: Any) -> Iterator[str]:
    short = name.rpartition(".")[2]
    yield f"\n{level} `{name}`\n\n```python\ndef {short}{_signature(function)}\n```\n"
    yield f"\n{_doc(function)}\n"


def _fields(record: type[Record]) -> Iterator[str]:
    for name, annotation in record.__annotations__.items():
        if name.startswith("_"):
            continue
        kind = annotation
        if not isinstance(kind, str):
            kind = inspect.formatannotation(kind)
        default = f" = {getattr(record, name)!r}" if hasattr(record, name) else ""
        yield f"{name}: {kind}{default}"


def _signature(function: Any) -> str:
    return _QUOTED.sub(r"\1\3", str(inspect.signature(function)))


def _doc(value: object) -> str:
    """Return the docstring of a module, class, function or property as Markdown."""
    return _prose(inspect.getdoc(value) or "")


def _prose(docstring: str) -> str:
    """Return a docstring as Markdown, with text after `::` as Python and columns as a table."""
    lines: list[str] = []
    is_code = False
    for line in _COLUMNS.sub(_table, docstring + "\n").splitlines():
        is_indented = line.startswith("    ")
        if is_code and line and not is_indented:
            lines += ["```", ""]
            is_code = False
        if not is_code and is_indented and lines[-1] == "":
            lines.append("```text")
            is_code = True
        if not is_code and line.endswith("::"):
            lines += [line[:-1], "", "```python"]
            is_code = True
            continue
        lines.append(line.removeprefix("    ") if is_code else line)
    if is_code:
        lines.append("```")

    text = "\n".join(lines)
    text = text.replace("```python\n\n[", "```toml\n\n[")
    # No empty lines at the ends of a block.
    text = re.sub(r"\n{2,}```\n", "\n```\n", text)
    return re.sub(r"```(\w+)\n\n+", r"```\1\n", text)


def _table(columns: re.Match[str]) -> str:
    """Return the matched lines, each a name and its meaning, as a Markdown table."""
    rows: list[tuple[str, str]] = []
    first = columns[0].splitlines()[0]
    meaning_of_first = re.split(" {2,}", first, maxsplit=1)[1]
    right = len(first) - len(meaning_of_first)

    for line in columns[0].splitlines():
        columns_of_line = re.match(r"(\S.*?) {2,}(\S.*)", line)
        if line.startswith(" "):
            name, meaning = rows[-1]
            rows[-1] = name, f"{meaning} {line.strip()}"
        elif columns_of_line:
            rows.append((columns_of_line[1], columns_of_line[2]))
        else:  # a name that fills its column is not followed by two spaces
            rows.append((line[:right].strip(), line[right:]))

    lines = ["| name | meaning |", "|---|---|"]
    for name, meaning in rows:
        names = ", ".join(f"`{part}`" for part in name.split(", "))
        escaped = meaning.replace("|", "\\|")
        lines.append(f"| {names} | {escaped} |")
    return "\n".join(lines) + "\n"
