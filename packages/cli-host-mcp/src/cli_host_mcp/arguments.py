"""Turn declared arguments into a JSON Schema, and an assistant's JSON into a command line."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from cli_host_mcp.problem import CallError, closest
from host import Definition, printable

EFFECTS = ("read", "change", "destroy")  # the mildest first
WORDS = "words"  # the schema's property for a command that declares no arguments
HASH_DIGITS = 24  # 96 bits, so that collisions cannot be found
_LONGEST_KEY = 64
_PATHS = {
    "file": "a file that exists",
    "directory": "a directory that exists",
    "path": "a path",
}


def schema_of(definition: Definition) -> dict[str, Any]:
    """Return the JSON Schema of the input object for a call of the command."""
    if takes_words(definition):
        return object_of({WORDS: _words_property(definition)}, [])

    properties = {}
    required = []
    for argument in definition.args:
        key = key_of(argument)
        properties[key] = _property(argument)
        if _is_required(argument):
            required.append(key)
    return object_of(properties, required)


def _words_property(definition: Definition) -> dict[str, Any]:
    """Return the schema of the words; a script's comment may describe them, without any check."""
    description = "The command's arguments, one string each, as on a command line"
    usages = [argument.usage for argument in definition.shown_args]
    usage = " ".join(usages)
    if not usage:
        usage = definition.words
    if usage:
        description = f"{description}: {printable(usage)}"
    return {"type": "array", "items": {"type": "string"}, "description": description}


def takes_words(definition: Definition) -> bool:
    """Return whether a call gives the words of the command line, because nothing declares them."""
    return not definition.args


def _is_required(argument: Any) -> bool:
    """Return whether the argument is required and its variable (`env`) is unset in the server."""
    if argument.env in os.environ:
        return False
    return bool(argument.required)


def key_of(argument: Any) -> str:
    """Return the name of an argument's property."""
    name: str = argument.bare_name
    return limited_key(name.removeprefix("--"))


def limited_key(name: str) -> str:
    """Return the name of a property, which clients limit to 64 characters."""
    if len(name) <= _LONGEST_KEY:
        return name
    return with_hash(name, name, _LONGEST_KEY)


def with_hash(readable: str, hashed: str, longest: int) -> str:
    """Return as much of `readable` as fits before a hash of `hashed`, with 96 bits."""
    digest = hashlib.sha256(hashed.encode()).hexdigest()
    room = longest - HASH_DIGITS - 1
    return f"{readable[:room]}-{digest[:HASH_DIGITS]}"


def words_of(definition: Definition, given: Mapping[str, Any]) -> list[str]:
    """Return the words of the command line; raises CallError for invalid input.

    Each value is one word, whatever it contains. A value cannot become an option: a positional
    value must not begin with `-`, and `=` joins an option to a value that begins with `-`.
    """
    # Many models send null for an argument that they leave out.
    present = {key: value for key, value in given.items() if value is not None}

    if takes_words(definition):
        check_keys(given, [WORDS])
        words = array(WORDS, present.get(WORDS, []))
        return [text_of(WORDS, word) for word in words]

    arguments = definition.args
    keys = [key_of(argument) for argument in arguments]
    check_keys(given, keys)
    _check_required(arguments, present)
    return _options(arguments, present) + _positionals(arguments, present)


def words_before(
    definition: Definition, key: str, others: Mapping[str, str]
) -> list[str] | None:
    """Return the words before the value of the argument `key`, or None if it takes none."""
    words: list[str] = []
    for argument in definition.args:
        if key_of(argument) == key:
            if argument.flag:
                return None
            return [argument.name] if argument.option else words
        if not argument.option:
            words.append(earlier_value(key_of(argument), others))
    return None


def earlier_value(key: str, others: Mapping[str, str]) -> str:
    """Return the word of an earlier argument, `-` if it is unknown; it is never an option."""
    value = others.get(key, "")
    if not value or value.startswith("-"):
        return "-"
    return value


def check_keys(given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise CallError for a key that is not one of `known`."""
    for key in given:
        if key not in known:
            near = closest(key, known)
            listed = ", ".join(known) or "none"
            raise CallError(f"unknown argument {key}{near}; known: {listed}")


def _check_required(arguments: Sequence[Any], present: Mapping[str, Any]) -> None:
    """Raise CallError if a required argument is missing."""
    missing = []
    for argument in arguments:
        if _is_required(argument) and not _has(present, argument):
            missing.append(key_of(argument))
    if missing:
        raise CallError(f"missing arguments: {', '.join(missing)}")


def strongest_effects(definition: Definition) -> str:
    """Return the effects that a call can have: an option may raise those of the command.

    A command that starts others may destroy something, because its caller chooses what it starts.
    """
    if definition.starts_commands:
        return "destroy"

    effects = [definition.effects]
    for argument in definition.args:
        if argument.effects:
            effects.append(argument.effects)
    return max(effects, key=EFFECTS.index)


def object_of(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _property(argument: Any) -> dict[str, Any]:
    """Return the schema of an argument."""
    schema = _value_schema(argument)
    if argument.repeats:
        schema = {"type": "array", "items": schema}
        if argument.required:
            schema["minItems"] = 1

    texts = [argument.description, *_remarks(argument)]
    description = ", ".join(filter(None, texts))
    if description:
        schema["description"] = printable(description)

    default = _default(schema, argument.default)
    if default is not None:
        schema["default"] = default
    return schema


def _value_schema(argument: Any) -> dict[str, Any]:
    """Return the schema of one value of an argument."""
    # Some clients refuse a whole server whose schema has an empty choice.
    choices = [text for text in argument.choices if text]
    if argument.flag:
        schema: dict[str, Any] = {"type": "boolean"}
    elif choices:
        schema = {"type": "string", "enum": choices}
    elif argument.type in ("integer", "number"):
        schema = {"type": argument.type}
    else:
        schema = {"type": "string"}

    if argument.pattern:
        schema["pattern"] = f"^(?:{argument.pattern})$"
    return schema


def _remarks(argument: Any) -> list[str]:
    """Return the constraints of an argument that the schema cannot express."""
    conflicts = []
    for name in argument.conflicts:
        conflicts.append(name.removeprefix("--").removesuffix("..."))

    remarks = []
    if argument.type in _PATHS:
        remarks.append(_PATHS[argument.type])
    if argument.secret:
        remarks.append("secret")
    if conflicts:
        remarks.append(f"not together with {', '.join(conflicts)}")
    if argument.effects:
        remarks.append(f'changes the effects of the command to "{argument.effects}"')
    return remarks


def _default(schema: Mapping[str, Any], text: str | None) -> Any:
    """Return an argument's default in the type of its schema, or None if it has none."""
    if text is None:
        return None
    # The empty text is no choice, see `_value_schema`.
    if not text and "enum" in schema:
        return None

    kind = schema["type"]
    if kind == "boolean":
        return text.lower() in ("true", "1", "on", "yes")
    if kind == "array":
        return [text]
    if kind in ("integer", "number"):
        return _number(kind, text)
    return text


def _number(kind: str, text: str) -> int | float | None:
    """Return the number that a text shows, or None if it shows none."""
    try:
        if kind == "integer":
            return int(text)
        number = float(text)
    except ValueError:
        return None

    # JSON has no NaN and no infinity.
    if not math.isfinite(number):
        return None
    return number


def _has(present: Mapping[str, Any], argument: Any) -> bool:
    """Return whether the call has a value for an argument; an empty array is none."""
    value = present.get(key_of(argument), [])
    return bool(value != [])


def _options(arguments: Sequence[Any], present: Mapping[str, Any]) -> list[str]:
    """Return the words of all options, each with its value."""
    words = []
    for argument in arguments:
        value = present.get(key_of(argument))
        if not argument.option or value is None:
            continue

        for item in _items(argument, value):
            if argument.flag:
                words += _flag(argument, item)
            else:
                words += _option(argument, item)
    return words


def _items(argument: Any, value: Any) -> list[Any]:
    """Return the values that a call has for an argument; one that repeats takes an array."""
    if argument.repeats:
        return array(key_of(argument), value)
    return [value]


def _flag(argument: Any, value: Any) -> list[str]:
    """Return the word of a flag; false needs one only if the flag can be negated."""
    if not isinstance(value, bool):
        raise CallError(f"{key_of(argument)}: expected true or false")
    if value:
        return [argument.name]
    if argument.negatable:
        return [argument.negation]
    return []


def _option(argument: Any, value: Any) -> list[str]:
    """Return the words of an option with its value."""
    text = text_of(key_of(argument), value)
    if text.startswith("-"):
        return [f"{argument.name}={text}"]
    return [argument.name, text]


def _positionals(arguments: Sequence[Any], present: Mapping[str, Any]) -> list[str]:
    """Return the words of the positional arguments.

    An argument omitted before a given one is filled in from its variable or with its default.
    """
    words: list[str] = []
    skipped: list[Any] = []
    for argument in arguments:
        if argument.option:
            continue
        if not _has(present, argument):
            skipped.append(argument)
            continue

        key = key_of(argument)
        words += _filled_in(skipped, key)
        skipped = []
        for item in _items(argument, present[key]):
            word = text_of(key, item)
            # The parser of the program would take it for an option.
            if word.startswith("-"):
                what = f"{key}: a value must not begin with -; found {word[:60]}"
                raise CallError(what)
            words.append(word)
    return words


def _filled_in(skipped: Sequence[Any], key: str) -> list[str]:
    """Return the words of the arguments that were left out before the argument `key`."""
    words = []
    for argument in skipped:
        text = os.environ.get(argument.env, argument.default)
        if text is None:
            raise CallError(f"{key} cannot be given without {key_of(argument)}")
        if argument.env in os.environ and text.startswith("-"):
            what = f"{argument.env}: a value must not begin with -"
            raise CallError(f"{what}, if {key} is given")
        words.append(text)
    return words


def array(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise CallError(f"{key}: expected an array, one string for each word")
    return value


def text_of(key: str, value: Any) -> str:
    """Return the word for a string or a number. Raises CallError for anything else."""
    # JSON does not distinguish 3 and 3.0, and some models send the latter.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CallError(f"{key}: expected a string or a number")

    text = str(value)
    if "\0" in text:
        raise CallError(f"{key}: an argument must not contain NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CallError(f"{key}: contains an unpaired surrogate") from None
    return text
