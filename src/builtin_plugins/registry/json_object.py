"""Read the JSON files of plugins, and check their values."""

from __future__ import annotations

from host import PluginError, Problem, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_object(path: str) -> dict[str, Any]:
    """Return the JSON object in the file at `path`.

    Raises FileNotFoundError, and HostError with the position if the file is not a JSON object.
    """
    values = read_json(path)
    if not isinstance(values, dict):
        raise PluginError(Problem(path, "expected an object"))
    return values


def typed(
    path: str, values: dict[str, Any], key: str, kind: type, expected: str
) -> Any:
    """Return the value of `key`, or None if it is absent or null.

    Raises PluginError, which names `path`, the key and `expected`, if the type is not `kind`.
    """
    value = values.get(key)
    if value is not None and type(value) is not kind:
        raise PluginError(Problem(path, f"expected {expected}", key=key))
    return value


def text(path: str, values: dict[str, Any], key: str) -> str:
    """Return the string at `key`, or "" if it is absent or null.

    Raises PluginError if the value is not a string, or for what `text_fault` returns.
    """
    value: str | None = typed(path, values, key, str, "a string")
    if value is None:
        return ""
    fault = text_fault(value)
    if fault:
        raise PluginError(Problem(path, fault, key=key))
    return value


def text_fault(value: str) -> str:
    """Return why no path or argument can be `value`, or "" if one can."""
    if "\0" in value:
        return "contains a NUL character"
    try:
        # A path that is no UTF-8 has the surrogates of `os.fsdecode`.
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "contains a lone surrogate"
    return ""
