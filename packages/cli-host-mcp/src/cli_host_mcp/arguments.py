"""Turn declared arguments into a JSON Schema, and an assistant's JSON into a command line."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from cli_host_mcp.problem import CallError, closest
from host import Definition, printable

WORDS = "words"  # the schema's property for a command that declares no arguments
_THERE = {
    "file": "a file that exists",
    "directory": "a directory that exists",
    "path": "a path",
}


def schema_of(definition: Definition) -> dict[str, Any]:
    """Return the JSON Schema of the input object for a call of the command."""
    arguments = offered_arguments(definition)
    if takes_words(definition):
        return object_of({WORDS: _words_property(definition)}, [])
    properties = {}
    for argument in arguments:
        properties[key_of(argument)] = _property(
            argument, _words_of_value(definition, argument)
        )
    required = [key_of(argument) for argument in arguments if _is_required(argument)]
    return object_of(properties, required)


def _words_property(definition: Definition) -> dict[str, Any]:
    """Return the schema of the words; a script's comment may describe them, without any check."""
    description = "The command's arguments, one string each, as on a command line"
    usage = (
        " ".join(argument.usage for argument in definition.shown_args)
        or definition.words
    )
    if usage:
        description = f"{description}: {printable(usage)}"
    return {"type": "array", "items": {"type": "string"}, "description": description}


def offered_arguments(definition: Definition) -> Sequence[Any]:
    """Return the arguments that an assistant may give: also those of a click command."""
    return [argument for argument in definition.known_args if not argument.hidden]


def takes_words(definition: Definition) -> bool:
    """Return whether a call gives the words of the command line, because nothing declares them."""
    return not definition.known_args and not definition.parser


def _words_of_value(definition: Definition, argument: Any) -> int:
    """Return how many words the value of an option has: click's placeholder has one for each."""
    if definition.parser != "click" or not argument.option:
        return 1
    return len(argument.value.split()) or 1


def _is_required(argument: Any) -> bool:
    """Return whether the argument is required and its variable (`env`) is unset in the server."""
    return bool(argument.required and argument.env not in os.environ)


def key_of(argument: Any) -> str:
    name: str = argument.bare_name
    return name.removeprefix("--")


def words_of(definition: Definition, given: Mapping[str, Any]) -> list[str]:
    """Return the words of the command line; raises CallError for invalid input.

    Each value is one word, whatever it contains. A value cannot become an option: a positional
    value must not begin with `-`, and `=` joins an option to a value that begins with `-`. For a
    click command, `--` ends the options.
    """
    arguments = offered_arguments(definition)
    known = [WORDS] if takes_words(definition) else list(map(key_of, arguments))
    for key in given:
        if key not in known:
            near = closest(key, known)
            raise CallError(
                f"unknown argument {key}{near}; known: {', '.join(known) or 'none'}"
            )
    present = {key: value for key, value in given.items() if value is not None}
    if takes_words(definition):
        return [_text(WORDS, word) for word in _list(WORDS, present.get(WORDS, []))]
    required = filter(_is_required, arguments)
    missing = [key_of(argument) for argument in required if not _has(present, argument)]
    if (
        missing and not definition.parser
    ):  # click itself finds out, also from other variables
        raise CallError(f"missing arguments: {', '.join(missing)}")
    options = _options(definition, arguments, present)
    positionals = _positionals(definition, arguments, present)
    if definition.parser == "click" and any(
        word.startswith("-") for word in positionals
    ):
        positionals = [
            "--",
            *positionals,
        ]  # such as the options of a command that it starts
    return [*options, *positionals]


def object_of(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _property(argument: Any, count: int) -> dict[str, Any]:
    """Return the schema of an argument; an option whose value has several words is an array."""
    description = ", ".join(filter(None, [argument.description, *_remarks(argument)]))
    schema = _value_schema(argument)
    if count > 1:
        schema = {
            "type": "array",
            "items": schema,
            "minItems": count,
            "maxItems": count,
        }
    if argument.repeats:
        schema = {"type": "array", "items": schema}
        if argument.required:
            schema["minItems"] = 1
    if description:
        schema["description"] = printable(description)
    if argument.default is not None and ("enum" not in schema or argument.default):
        default = _default(schema["type"], argument.default)
        # A click command may show any text as its default, several values in one text, too.
        if default is not None and count == 1:
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
    conflicts = [
        name.removeprefix("--").removesuffix("...") for name in argument.conflicts
    ]
    remarks = {
        _THERE.get(argument.type, ""): True,
        "secret": argument.secret,
        f"not together with {', '.join(conflicts)}": conflicts,
        f'changes the effects of the command to "{argument.effects}"': argument.effects,
    }
    return [text for text, holds in remarks.items() if holds]


def _default(kind: str, text: str) -> Any:
    if kind == "boolean":
        return text.lower() in ("true", "1", "on", "yes")
    if kind == "array":
        return [text]
    if kind not in ("integer", "number"):
        return text
    try:
        number = int(text) if kind == "integer" else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _has(present: Mapping[str, Any], argument: Any) -> bool:
    return bool(present.get(key_of(argument), []) != [])


def _options(
    definition: Definition, arguments: Sequence[Any], present: Mapping[str, Any]
) -> list[str]:
    words = []
    for argument in arguments:
        key = key_of(argument)
        value = present.get(key)
        if not argument.option or value is None:
            continue
        items = _list(key, value) if argument.repeats else [value]
        for item in items:
            if argument.flag:
                words += _flag(argument, item)
            else:
                words += _option(argument, item, _words_of_value(definition, argument))
    return words


def _flag(argument: Any, value: Any) -> list[str]:
    if not isinstance(value, bool):
        raise CallError(f"{key_of(argument)}: expected true or false")
    if value:
        return [argument.name]
    return [argument.negation] if argument.negatable else []


def _option(argument: Any, value: Any, count: int) -> list[str]:
    """Return the words of an option with a value of `count` words."""
    key = key_of(argument)
    if count > 1:
        texts = [_text(key, part) for part in _list(key, value)]
        if len(texts) != count:
            raise CallError(f"{key}: expected {count} values; found {len(texts)}")
        return [
            argument.name,
            *texts,
        ]  # click takes that many words, whatever they begin with
    text = _text(key, value)
    if not text.startswith("-"):
        return [argument.name, text]
    if argument.name.startswith("--"):
        return [f"{argument.name}={text}"]
    return [f"{argument.name}{text}"]  # in `-n=-5`, the value is `=-5`


def _positionals(
    definition: Definition, arguments: Sequence[Any], present: Mapping[str, Any]
) -> list[str]:
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
        for before in skipped:
            text = os.environ.get(before.env, before.default)
            if text is None:
                raise CallError(f"{key} cannot be given without {key_of(before)}")
            words.append(text)
        skipped = []
        items = _list(key, present[key]) if argument.repeats else [present[key]]
        for item in items:
            text = _text(key, item)
            if text.startswith("-") and definition.parser != "click":
                raise CallError(
                    f"{key}: a value must not begin with -; found {text[:60]}"
                )
            words.append(text)
    return words


def _list(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise CallError(f"{key}: expected an array, one string for each word")
    return value


def _text(key: str, value: Any) -> str:
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
