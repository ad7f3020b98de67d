"""Typed access to the keys of a JSON object, for whatever reads a definition."""

from host.errors import DefinitionError
from host.run.expand import is_name
from host.run.json_files import Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any
_MOST_UNKNOWN = 100  # unknown keys that are compared with ours


class Fields:
    """Typed access to the keys of one JSON object; each method raises DefinitionError.

    A key that is null counts as absent. `known` are the keys that were asked for.
    """

    __slots__ = ("known", "path", "values")

    def __init__(self, path: str, values: "Any") -> None:
        self.path = path
        if not isinstance(values, dict):
            raise DefinitionError(f"{path}: expected an object, found {_kind(values)}")
        self.values = values
        self.known: set[str] = set()

    def value(self, key: str) -> "Any":
        """Return what stands under `key`, None where it is absent or null."""
        self.known.add(key)
        return self.values.get(key)

    def extra(self) -> "dict[str, Any]":
        """Return what stands under keys that nobody asked for."""
        if self.values.keys() <= self.known:
            return {}
        return {key: _plain(one) for key, one in self.values.items() if key not in self.known}

    def misspelt(self) -> tuple[str, ...]:
        """Return a line for each key that looks like a misspelt one of those asked for."""
        foreign = [key for key in self.extra() if not key.startswith(("x-", "_", "$"))]
        if not foreign:
            return ()
        from host.run.misspelt import meant

        missing = sorted(self.known - self.values.keys())
        likely = [(key, meant(key, missing)) for key in foreign[:_MOST_UNKNOWN]]
        return tuple(
            f'{self.path}: unknown key "{key}"; did you mean "{ours}"?'
            for key, ours in likely
            if ours
        )

    def wrong(self, key: str, expected: str, value: "Any") -> DefinitionError:
        return self.refused(key, f"expected {expected}, found {_kind(value)}")

    def refused(self, key: str, reason: str) -> DefinitionError:
        return DefinitionError(f'{self.path}: "{key}": {reason}')

    def text(self, key: str, required: bool = False) -> str:
        value = self.value(key)
        if value is None and required and key not in self.values:
            raise DefinitionError(f'{self.path}: "{key}" is missing; expected a string')
        if value is None and not required:
            return ""
        if type(value) is not str:
            raise self.wrong(key, "a string", value)
        return self.clean(key, value)

    def filled(self, key: str, required: bool = False) -> str:
        """Return a text that may be absent but not empty."""
        value = self.text(key, required)
        if not value and self.values.get(key) is not None:
            raise self.refused(key, "expected some text, found an empty string")
        return value

    def one_of(self, key: str, allowed: "Sequence[str]") -> str:
        """Return one of the texts `allowed`, "" where the key is absent."""
        value = self.filled(key)
        if value and value not in allowed:
            raise self.refused(key, f"expected one of {', '.join(allowed)}; found {value[:40]}")
        return value

    def clean(self, key: str, value: str) -> str:
        """Refuse what no file name or variable can hold."""
        try:
            if b"\0" not in value.encode():
                return value
        except UnicodeEncodeError:  # half a character, as an escape
            pass
        raise self.refused(key, "holds a character that is not allowed")

    def flag(self, key: str, expected: str = "true or false") -> bool:
        value = self.value(key)
        if value is not None and value is not True and value is not False:
            raise self.wrong(key, expected, value)
        return value is True

    def flag_or_systems(self, key: str, system: str) -> bool:
        if isinstance(self.value(key), list):
            return system in self.texts(key)
        return self.flag(key, "true, false or an array of system names")

    def texts(self, key: str) -> tuple[str, ...]:
        items = self.array(key, "an array of strings")
        for item in items:
            if type(item) is not str:
                raise self.refused(key, f"expected an array of strings, found {_kind(item)} in it")
        return tuple([self.clean(key, item) for item in items])

    def array(self, key: str, expected: str) -> "list[Any]":
        value = self.value(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(key, expected, value)
        return value

    def variables(self, key: str) -> dict[str, str]:
        value = self.value(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(key, "an object of strings", value)
        found: dict[str, str] = {}
        for name, item in value.items():
            if not is_name(name):
                raise self.refused(
                    key, f'"{name}" cannot name a variable; use letters, digits and _'
                )
            if item is True or item is False:
                found[name] = "true" if item else "false"
            elif isinstance(item, str):
                found[name] = self.clean(f"{key}.{name}", str(item))
            elif item is not None:
                raise self.wrong(f"{key}.{name}", "a string, number or boolean", item)
        return found

    def records(self, key: str, members: dict[str, bool]) -> "tuple[dict[str, Any], ...]":
        """Return an array of objects; `members` are their string keys, true when required."""
        inner = self.objects(key)
        for one in inner:
            for member, required in members.items():
                one.text(member, required)
        return tuple([one.values for one in inner])

    def objects(self, key: str) -> "list[Fields]":
        """Return the fields of each object of an array; the path of each names its place."""
        return [
            Fields(f'{self.path}: "{key}[{index}]"', item)
            for index, item in enumerate(self.array(key, "an array of objects"))
        ]

    def condition(self, key: str) -> dict[str, str]:
        value = self.value(key)
        if value is None:
            return {}
        members = ("command", "path")
        if not isinstance(value, dict) or sum(value.get(one) is not None for one in members) != 1:
            raise self.wrong(key, '{"command": NAME} or {"path": PATH}', value)
        inner = Fields(f'{self.path}: "{key}"', value)
        return {one: inner.text(one) for one in members if value.get(one) is not None}


def _plain(value: "Any") -> "Any":
    """Return a parsed value with its numbers as numbers; its depth is bounded by the parser."""
    if isinstance(value, Number):
        try:
            return int(value)
        except ValueError:
            return float(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _kind(value: "Any") -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, Number):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"
