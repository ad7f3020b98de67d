"""Values in the JSON that a secret contains or that a program prints."""

from __future__ import annotations

import json
from typing import Any

from cli_host_secrets.references import Content
from host import HostError


def decoded(text: str, source: str) -> Any:
    """Decode JSON; numbers are strings, with the digits of the text.

    The error names only the `source`, because the text may contain secrets.
    """
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        raise HostError(f"{source} is not JSON") from None


def text_of(value: Any, field: str) -> str:
    """Return the string at the path `field` (`a/b`) in decoded JSON, or another scalar as JSON.

    A name in the path may contain a slash, too.
    """
    value = _at(value, field)
    if isinstance(value, dict | list):
        place = field or "the secret"
        raise HostError(f"{place} is an object or a list; name one of its fields")
    if isinstance(value, str):
        return value
    return json.dumps(value)  # true, false or null


def variables_of(value: Any, field: str = "") -> dict[str, str]:
    """Return the strings of the object at the path `field`, each as `text_of` returns it.

    A null is left out. Raises HostError for anything but an object of scalars.
    """
    value = _at(value, field)
    if not isinstance(value, dict):
        place = field or "the secret"
        raise HostError(f"{place} has no names; `env_files` needs an object")

    variables = {}
    for name, item in value.items():
        if isinstance(item, dict | list):
            key = f"{field}/{name}".lstrip("/")
            raise HostError(
                f"{key} is an object or a list; `env_files` needs one value for each name"
            )
        if item is not None:
            variables[name] = text_of(item, "")
    return variables


def json_field(text: str, field: str) -> str:
    """Return `text`, or, if `field` is not "", that field of the JSON that `text` contains."""
    if not field:
        return text
    return text_of(decoded(text, "the secret"), field)


def json_variables(text: str, field: str) -> Content:
    """Return the variables in a JSON object (at the path `field`), or a text that is no object.

    A text without a field that is no JSON object is the text of a `.env` file.
    """
    if field:
        return variables_of(decoded(text, "the secret"), field)
    try:
        value = decoded(text, "the secret")
    except HostError:
        return text
    if isinstance(value, dict | list):
        return variables_of(value)
    return text


def _at(value: Any, field: str) -> Any:
    """Return the value at the path `field` in decoded JSON. Raises HostError if there is none."""
    if not field:
        return value

    rest = field.strip("/")
    while rest:
        key = _first_key(value, rest)
        rest = rest.removeprefix(key).removeprefix("/")
        value = _item(value, key)
        if value is None:
            raise HostError(f"the secret has no {field}")
    return value


def _first_key(value: Any, path: str) -> str:
    """Return the longest beginning of a path that names an item of `value`; it may contain `/`."""
    parts = path.split("/")
    for end in range(len(parts), 1, -1):
        key = "/".join(parts[:end])
        if isinstance(value, dict) and key in value:
            return key
    return parts[0]


def _item(value: Any, key: str) -> Any:
    """Return the item of an object by its name, or of a list by its number, or None."""
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list) and key.isdecimal():
        number = int(key)
        if number < len(value):
            return value[number]
    return None
