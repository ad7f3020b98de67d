"""Turn the parameters of a click command into a JSON Schema, and JSON into a command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cli_host_mcp.arguments import (
    array,
    check_keys,
    earlier_value,
    limited_key,
    object_of,
    text_of,
)
from cli_host_mcp.problem import CallError
from host import ClickCommand, ClickParameter, printable

_NOT_IN_KEY = re.compile(r"[^A-Za-z0-9_.-]+")


def schema_of(part: ClickCommand) -> dict[str, Any]:
    """Return the JSON Schema of the input object: the parameters of all levels."""
    properties = {}
    required = []
    for key, parameter in _by_key(part).items():
        properties[key] = _property(parameter)
        if parameter.required:
            required.append(key)
    return object_of(properties, required)


def _by_key(part: ClickCommand) -> dict[str, ClickParameter]:
    """Return the parameters of a call by their keys; one of an inner level is `WORD.KEY`."""
    by_key: dict[str, ClickParameter] = {}
    for parameter in part.parameters:
        if parameter.hidden and not parameter.required:
            continue
        key = _key(parameter)
        if key in by_key and parameter.depth:
            key = limited_key(f"{part.words[parameter.depth - 1]}.{key}")
        by_key.setdefault(key, parameter)
    return by_key


def _key(parameter: ClickParameter) -> str:
    name = parameter.name
    if parameter.option:
        name = _called(parameter.names).lstrip("-") or name
    return limited_key(_NOT_IN_KEY.sub("_", name))


def _called(names: Sequence[str]) -> str:
    """Return the name with which a call gives an option: the first long one."""
    for name in names:
        if name.startswith("--"):
            return name
    return names[0]


def _property(parameter: ClickParameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.kind, **parameter.bounds}
    choices = [choice for choice in parameter.choices if choice]
    if choices:
        schema = {"type": "string", "enum": choices}
    if parameter.counts:
        schema = {"type": "integer", "minimum": 0}
    if parameter.size > 1:
        size = parameter.size
        schema = {"type": "array", "items": schema, "minItems": size, "maxItems": size}
    if parameter.repeats:
        schema = {"type": "array", "items": schema}
        if parameter.required:
            schema["minItems"] = 1

    remark = "secret" if parameter.secret else ""
    description = ", ".join(filter(None, [parameter.help, remark]))
    if description:
        schema["description"] = printable(description)
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema


def words_of(part: ClickCommand, given: Mapping[str, Any]) -> list[str]:
    """Return the words behind those of the declared command, in click's order.

    On each level come the options as `--option=value`, then `--` and the arguments, so that no
    value can become an option. Raises CallError for invalid input; what is missing, click reports.
    """
    by_key = _by_key(part)
    check_keys(given, [*by_key])

    words: list[str] = []
    for depth in range(len(part.words) + 1):
        positionals: list[str] = []
        omitted = ""
        for key, parameter in by_key.items():
            if parameter.depth != depth:
                continue
            value = given.get(key)
            if parameter.option:
                if value is not None:
                    words += _option(key, parameter, value)
            elif value is None or value == []:
                omitted = omitted or key
            elif omitted:
                raise CallError(f"{key} cannot be given without {omitted}")
            else:
                positionals += _values(key, parameter, value)
        if positionals:
            words += ["--", *positionals]
        words += part.words[depth : depth + 1]
    return words


def words_before(
    part: ClickCommand, key: str, others: Mapping[str, str]
) -> list[str] | None:
    """Return the words before the value of the parameter `key`, or None if it takes none."""
    words: list[str] = []
    by_key = _by_key(part)
    for depth in range(len(part.words) + 1):
        positionals: list[str] = []
        for other, parameter in by_key.items():
            if parameter.depth != depth:
                continue
            if other == key and parameter.option:
                is_switch = parameter.flag or parameter.counts
                return None if is_switch else [*words, _called(parameter.names)]
            if other == key:
                return words + positionals
            if not parameter.option:
                positionals.append(earlier_value(other, others))
        words += [*positionals, *part.words[depth : depth + 1]]
    return None


def _option(key: str, parameter: ClickParameter, value: Any) -> list[str]:
    """Return the words of an option with its value, or with each of its values."""
    name = _called(parameter.names)
    if parameter.flag:
        if not isinstance(value, bool):
            raise CallError(f"{key}: expected true or false")
        if value:
            return [name]
        return [_called(parameter.negations)] if parameter.negations else []
    if parameter.counts:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if not is_count:
            raise CallError(f"{key}: expected a number from 0")
        return [name] * value

    words: list[str] = []
    for first, *others in _groups(key, parameter, value):
        # A short name takes its value without `=`, and an empty one only as a word of its own.
        if len(name.lstrip("-")) > 1 or name.startswith("--"):
            words.append(f"{name}={first}")
        elif first:
            words.append(f"{name}{first}")
        else:
            words += [name, first]
        words += others
    return words


def _values(key: str, parameter: ClickParameter, value: Any) -> Iterator[str]:
    for group in _groups(key, parameter, value):
        yield from group


def _groups(key: str, parameter: ClickParameter, value: Any) -> Iterator[list[str]]:
    """Yield the words of each value of a parameter, which may have several values."""
    values = array(key, value) if parameter.repeats else [value]
    for item in values:
        parts = [item]
        if parameter.size > 1:
            parts = array(key, item)
            if len(parts) != parameter.size:
                what = f"expected {parameter.size} values; found {len(parts)}"
                raise CallError(f"{key}: {what}")
        yield [_text(key, parameter, part) for part in parts]


def _text(key: str, parameter: ClickParameter, value: Any) -> str:
    if parameter.kind == "boolean" and isinstance(value, bool):
        return str(value).lower()
    return text_of(key, value)
