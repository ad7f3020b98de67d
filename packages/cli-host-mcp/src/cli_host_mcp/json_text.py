"""Change one value in the text of a JSON file; comments, blanks and the order of keys stay.

json-five reads the text and reports where each value is. Only the text of the changed value is
replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import json5
from json5.loader import ModelLoader
from json5.model import JSONObject
from json5.model import Node as ModelNode

_INDENT = re.compile(r"\n([ \t]+)\"")


def document_of(text: str, *, comments: bool) -> dict[str, Any]:
    """Return the object in the text; raises ValueError if its client could not read it.

    With `comments`, the client accepts comments and commas at the end. A key that occurs twice is
    refused, because one of the two values would be lost.
    """
    if not text.strip():
        return {}
    if comments:
        document = _lenient(text)
    else:
        document = json.loads(text, object_pairs_hook=_once)
    if not isinstance(document, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - of the file
    return document


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` at the path of keys; missing objects on the path are added."""
    if not text.strip():
        for key in reversed(path):
            value = {key: value}
        document = json.dumps(value, indent=2, ensure_ascii=False)
        return f"{document}\n"

    unit = _unit(text)
    node = _object(text)
    for depth, key in enumerate(path, 1):
        names = _names(node)
        if key not in names:
            for name in reversed(path[depth:]):
                value = {name: value}
            pair = f"{_shown(key)}: {_shown(value, unit, depth)}"
            return _with_pair(text, node, pair, depth)

        child = node.values[names.index(key)]
        if depth == len(path) or not isinstance(child, JSONObject):
            start, end = _span(text, child)
            replacement = _lines(text, _shown(value, unit, depth))
            return text[:start] + replacement + text[end:]
        node = child
    return text


def without_key(text: str, path: Sequence[str]) -> str:
    """Return the text without the existing key at the path."""
    node = _object(text)
    for key in path[:-1]:
        child = node.values[_names(node).index(key)]
        if not isinstance(child, JSONObject):
            raise ValueError(f'"{key}": expected an object')  # noqa: TRY004 - of the file
        node = child

    index = _names(node).index(path[-1])
    start, _ = _span(text, node.keys[index])
    _, end = _span(text, node.values[index])

    comma = _comma(text, end)
    if comma >= 0:
        end = comma + 1
    elif index:
        # The last of several pairs: the comma before it goes, too.
        _, before = _span(text, node.values[index - 1])
        comma = _comma(text, before)
        text = text[:comma] + text[comma + 1 :]
        start -= 1
        end -= 1

    remaining = _without_blank_line(text[:start], text[end:])
    return _closed(remaining, path[:-1])


def _closed(text: str, path: Sequence[str]) -> str:
    """Return the text with `{}` in place of an object at the path that has only blanks left."""
    node = _object(text)
    for key in path:
        child = node.values[_names(node).index(key)]
        if not isinstance(child, JSONObject):
            return text
        node = child

    start, end = _span(text, node)
    inside = text[start + 1 : end - 1]
    if inside.strip() or not path:
        return text
    return text[:start] + "{}" + text[end:]


def _lenient(text: str) -> Any:
    try:
        return json5.loads(text, object_pairs_hook=_once)
    except json5.JSON5DecodeError as failure:
        words = str(failure).split()
        raise ValueError(" ".join(words)) from None


def _once(pairs: Any) -> dict[str, Any]:
    """Return a JSON object as a dict; raises ValueError for duplicate keys: one would be lost."""
    pairs = list(pairs)
    document = {str(key): value for key, value in pairs}
    if len(document) < len(pairs):
        raise ValueError("a key occurs twice")
    return document


def _object(text: str) -> JSONObject:
    node = json5.loads(text, loader=ModelLoader()).value
    if not isinstance(node, JSONObject):
        raise ValueError("expected an object")  # noqa: TRY004 - of the file
    return node


def _names(node: JSONObject) -> list[str]:
    """Return the keys of an object: strings, or names without quotes."""
    names = []
    for key in node.keys:
        name = getattr(key, "characters", None)
        if name is None:
            name = getattr(key, "name", "")
        names.append(str(name))
    return names


def _span(text: str, node: ModelNode) -> tuple[int, int]:
    """Return where the node begins and ends in the text."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def position(line: int | None, column: int | None) -> int:
        # A node that was parsed has a place; only one that was made in code would have none.
        first = starts[(line or 1) - 1]
        return first + (column or 0)

    start = position(node.lineno, node.col_offset)
    end = position(node.end_lineno, node.end_col_offset)
    return start, end


def _with_pair(text: str, node: JSONObject, pair: str, depth: int) -> str:
    """Return the text with a `"key": value` at the end of the object."""
    start, end = _span(text, node)
    close = end - 1
    unit = _unit(text)
    tail = ""
    if not node.values:
        head = text[: start + 1] + text[start + 1 : close].rstrip()
    else:
        _, last = _span(text, node.values[-1])
        # What stands between the last value and the brace may be a comment, which stays there.
        between = text[last:close].rstrip()
        if node.trailing_comma is not None:
            head = text[:last] + between
            tail = ","
        else:
            head = f"{text[:last]},{between}"

    added = f"\n{unit * depth}{pair}{tail}\n{unit * (depth - 1)}"
    return head + _lines(text, added) + text[close:]


def _comma(text: str, position: int) -> int:
    """Return the position of the comma after a value, or -1 if the object ends before one."""
    while position < len(text):
        if text.startswith("//", position):
            position = text.find("\n", position)
            if position < 0:
                return -1
        elif text.startswith("/*", position):
            position = text.index("*/", position) + 2
        elif text[position] == ",":
            return position
        elif text[position].isspace():
            position += 1
        else:
            return -1
    return -1


def _without_blank_line(before: str, after: str) -> str:
    """Join two texts; if only blanks are left of the line between them, remove that line."""
    begin = before.rfind("\n") + 1
    end = after.find("\n") + 1
    is_one_line = not begin or not end
    if is_one_line:
        return before + after

    rest = before[begin:] + after[:end]
    if rest.strip():
        return before + after
    return before[:begin] + after[end:]


def _unit(text: str) -> str:
    """Return the indentation of the file: that of its first key on a line of its own."""
    indent = _INDENT.search(text)
    if indent is None:
        return "  "
    return indent[1]


def _shown(value: Any, unit: str = "  ", depth: int = 0) -> str:
    """Return a value as JSON whose further lines are indented for `depth` objects around it."""
    shown = json.dumps(value, indent=unit, ensure_ascii=False)
    return shown.replace("\n", "\n" + unit * depth)


def _lines(text: str, added: str) -> str:
    """Return `added` with the line ends of the file `text`."""
    if "\r\n" in text:
        return added.replace("\n", "\r\n")
    return added
