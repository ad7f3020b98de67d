"""Read strict JSON from files, with typed access; errors name the file, and the key or line."""

from _json import make_scanner

from host.errors import DefinitionError, Problem
from host.files.paths import read_regular, shipped
from host.text import text_of
from host.words import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

# values of the key "effects", the mildest first
EFFECTS = ("read", "change", "destroy")
_BLANKS = " \n\t\r"


def read_json(path: str) -> "Any":
    """Return the JSON value in the regular file at `path`; a BOM is accepted.

    Raises FileNotFoundError, and DefinitionError with line and column for anything that is not
    strict JSON. Duplicate keys and NaN are not strict JSON::

        facts = read_json(f"{installation.config_dir}/hosts.json")
    """
    return parse_json(path, read_regular(path, DefinitionError))


class NotStrictError(ValueError):
    """Raised for a duplicate key or a constant such as NaN; `args` has a message and the token."""


class Number(float):
    """A number with a fraction or exponent, such as 3.10; `str` returns it as written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def parse_json(path: str, content: bytes) -> "Any":
    """Return the JSON value in `content`, like `read_json`; `path` is for errors."""
    text = text_of(path, content, DefinitionError)
    what = token = ""
    try:
        # Call the C scanner directly, because importing `json` takes 7 ms.
        start = len(text) - len(text.lstrip(_BLANKS))
        value, end = make_scanner(_Rules)(text, start)  # type: ignore[arg-type]
        if not text[end:].strip(_BLANKS):
            return value
    except NotStrictError as error:
        what, token = error.args
    except (StopIteration, ValueError, SystemError, RecursionError):
        pass  # these exceptions have no useful message; `syntax_error` finds the mistake
    from host.files.json_errors import syntax_error

    raise syntax_error(path, text, what, token) from None


class _Rules:
    """The attributes that the C scanner of the `json` module reads."""

    strict = True
    object_hook = array_hook = None
    parse_float = Number
    parse_int = int

    @staticmethod
    def object_pairs_hook(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
        values = dict(pairs)
        if len(values) == len(pairs):
            return values

        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                what = f'the key "{key}" occurs twice in one object'
                raise NotStrictError(what, key)
            seen.add(key)
        return values

    @staticmethod
    def parse_constant(name: str) -> "Any":
        raise NotStrictError(f"{name} is not JSON; expected a number", name)


class Fields:
    """Typed access to the keys of one JSON object. An invalid value raises DefinitionError.

    A null value is the same as an absent key. `known` has the keys that were read, for `extra`.
    `key` is the path of the object in its file, or "" for the whole file.
    """

    def __init__(self, path: str, values: "Any", key: str = "") -> None:
        self.path = path
        if not isinstance(values, dict):
            what = f"expected an object, found {_kind(values)}"
            raise DefinitionError(Problem(path, what, key=key))
        self._inside = f"{key}." if key else ""
        self.values = values
        self.known: set[str] = set()

    def value(self, key: str) -> "Any":
        """Return the value of `key`, or None if it is absent or null."""
        self.known.add(key)
        return self.values.get(key)

    def extra(self) -> "dict[str, Any]":
        """Return the values of all keys that were not read."""
        values = self.values
        return {key: values[key] for key in values if key not in self.known}

    def misspelt(self, schema: str, inner: str = "") -> tuple[Problem, ...]:
        """Return a problem for each unknown key that resembles a known one.

        The keys of `core/schema/<schema>.schema.json` are known. `inner` names an object in that
        file, as its `$defs` do: misspelt("command", "argument").
        """
        unread = [key for key in self.extra() if not key.startswith(("x-", "_", "$"))]
        if not unread:
            return ()
        from host.suggestions import SURELY, closest

        keys = _keys_in_schema(schema, inner)
        problems = []
        for key in unread:
            if key in keys:  # some keys are read only in some cases
                continue
            near = closest(key, keys, SURELY)
            if near:
                remedy = f'did you mean "{near[0]}"?'
                problems.append(self.problem(key, "unknown key", remedy))
        return tuple(problems)

    def problem(self, key: str, text: str, remedy: str = "") -> Problem:
        return Problem(self.path, text, remedy, f"{self._inside}{key}")

    def wrong(self, key: str, expected: str, value: "Any") -> DefinitionError:
        return self.refused(key, f"expected {expected}, found {_kind(value)}")

    def refused(self, key: str, reason: str) -> DefinitionError:
        return DefinitionError(self.problem(key, reason))

    def typed(self, key: str, kind: type, expected: str) -> "Any":
        """Return the value of `key`, which must be of type `kind`, or None if the key is absent.

        `expected` describes the type in errors.
        """
        value = self.value(key)
        # not `isinstance`, because True is an int, too
        if value is not None and type(value) is not kind:
            raise self.wrong(key, expected, value)
        return value

    def text(self, key: str, required: bool = False) -> str:
        value = self.typed(key, str, "a string")
        if value is None and required:
            raise self.refused(key, "missing; expected a string")
        if not value:
            return ""
        return self.clean(key, value)

    def filled(self, key: str, required: bool = False) -> str:
        """Return the text of `key`, which must not be empty, or "" if the key is absent."""
        value = self.text(key, required)
        is_present = self.values.get(key) is not None
        if is_present and not value:
            raise self.refused(key, "must not be empty")
        return value

    def one_of(self, key: str, allowed: "Sequence[str]") -> str:
        """Return the value of `key`, which must be one of `allowed`, or "" if the key is absent."""
        value = self.filled(key)
        # messages show only the beginning of a long value
        if value and value not in allowed:
            reason = f"expected one of {', '.join(allowed)}; found {value[:40]}"
            raise self.refused(key, reason)
        return value

    def clean(self, key: str, value: str) -> str:
        """Return `value`; refuse a NUL or lone surrogate, which no variable can contain."""
        try:
            if b"\0" not in value.encode():
                return value
        except UnicodeEncodeError:  # an escaped lone surrogate
            pass
        reason = "contains a NUL or lone surrogate, which is not allowed"
        raise self.refused(key, reason)

    def check_variable(self, key: str, name: str) -> None:
        """Raise DefinitionError if `name` cannot name a variable."""
        if not is_name(name):
            reason = f'"{name}" cannot name a variable; use letters, digits and _'
            raise self.refused(key, reason)

    def flag(self, key: str, expected: str = "true or false") -> bool:
        return self.typed(key, bool, expected) is True

    def texts(self, key: str) -> tuple[str, ...]:
        texts = []
        for item in self.array(key, "an array of strings"):
            if type(item) is not str:
                reason = f"expected an array of strings, found {_kind(item)} in it"
                raise self.refused(key, reason)
            texts.append(self.clean(key, item))
        return tuple(texts)

    def array(self, key: str, expected: str) -> "list[Any]":
        return self.typed(key, list, expected) or []

    def variables(self, key: str) -> dict[str, str]:
        values: dict[str, str] = {}
        items = self.typed(key, dict, "an object of strings") or {}
        for name, item in items.items():
            self.check_variable(key, name)
            # JSON has its own spelling: `str(True)` would be "True"
            if item is True:
                values[name] = "true"
            elif item is False:
                values[name] = "false"
            elif isinstance(item, str | int | float):
                values[name] = self.clean(f"{key}.{name}", str(item))
            elif item is not None:
                raise self.wrong(f"{key}.{name}", "a string, number or boolean", item)
        return values

    def objects(self, key: str) -> "list[Fields]":
        """Return the fields of each object in the array under `key`."""
        objects = []
        for index, item in enumerate(self.array(key, "an array of objects")):
            place = f"{self._inside}{key}[{index}]"
            objects.append(Fields(self.path, item, place))
        return objects

    def inner(self, key: str) -> "Fields":
        """Return the fields of the object under `key`; they are empty if the key is absent."""
        value = self.value(key)
        if value is None:
            value = {}
        return Fields(self.path, value, f"{self._inside}{key}")


def _keys_in_schema(schema: str, inner: str) -> "Collection[str]":
    """Return the keys of a kind of file, or of an object in it, from the program's own schemas."""
    described = read_json(shipped(f"core/schema/{schema}.schema.json"))
    if inner:
        described = described["$defs"][inner]
    keys: Collection[str] = described["properties"].keys()
    return keys


def _kind(value: "Any") -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int | float):
        return "a number"
    kinds = {list: "an array", str: "a string", type(None): "null"}
    return kinds.get(type(value), "an object")
