"""Functions that the modules of all schemes share: parse references, read values, pick fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from host import HostError

Answer = str | Exception
Answers = dict[str, Answer]
# What a reference in `env_files` gives: the text of a `.env` file, or variables by name.
Content = str | dict[str, str]
Contents = dict[str, Content | Exception]

_Value = TypeVar("_Value")


def split(reference: str, example: str, *, field: bool = False) -> tuple[str, str]:
    """Return the name and the field of `scheme:name#field`; `example` is shown in the error.

    A name that begins with `-` is refused, because programs would treat it as an option. If
    `field` is true, a reference without a field is refused.
    """
    _, _, rest = reference.partition(":")
    name, _, part = rest.removeprefix("//").partition("#")

    looks_like_option = name.startswith("-")
    if not name or looks_like_option or not name.isprintable():
        raise HostError(f"expected {example}")
    if field and not part:
        raise HostError(f"expected {example}")
    return name, part


def text_of(value: Any, field: str) -> str:
    """Return the string at the path `field` (`a/b`) in decoded JSON, or another scalar as JSON."""
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


def _at(value: Any, field: str) -> Any:
    """Return the value at the path `field` in decoded JSON. Raises HostError if there is none."""
    if not field:
        return value

    for key in field.strip("/").split("/"):
        value = _item(value, key)
        if value is None:
            raise HostError(f"the secret has no {field}")
    return value


def _item(value: Any, key: str) -> Any:
    """Return the item of an object by its name, or of a list by its number, or None."""
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list) and key.isdecimal():
        number = int(key)
        return value[number] if number < len(value) else None
    return None


def decoded(text: str, source: str) -> Any:
    """Decode JSON; numbers are strings, with the digits of the text.

    The error names only the `source`, because the text may contain secrets.
    """
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        raise HostError(f"{source} is not JSON") from None


def each(
    names: Iterable[str], read: Callable[[str], _Value], at_once: int = 8
) -> dict[str, _Value | Exception]:
    """Map each name to what `read` returns, or to the HostError that it raises.

    `at_once` is the number of parallel calls; it must be 1 if `read` may prompt.
    """

    def answer(name: str) -> tuple[str, _Value | Exception]:
        try:
            return name, read(name)
        except HostError as failure:
            return name, failure

    with ThreadPoolExecutor(at_once) as threads:
        return dict(threads.map(answer, names))


def pick_each(
    references: Sequence[str],
    example: str,
    read_all: Callable[[Sequence[str]], Answers],
    pick: Callable[[str, str], _Value],
    *,
    field: bool = False,
) -> dict[str, _Value | Exception]:
    """Resolve references: read each named secret once, then `pick` each field from its text.

    `read_all` returns the texts of the secrets with the given names. `example` and `field` are
    passed to `split`.
    """
    answers: dict[str, _Value | Exception] = {}
    parts = {}  # the name and the field of each valid reference
    for reference in references:
        try:
            parts[reference] = split(reference, example, field=field)
        except HostError as failure:
            answers[reference] = failure

    # Several references can name fields of one secret.
    names = dict.fromkeys(name for name, _ in parts.values())
    texts = read_all(list(names))

    def part(reference: str) -> _Value:
        name, field = parts[reference]
        text = texts[name]
        if isinstance(text, Exception):
            raise text
        return pick(text, field)

    return answers | each(parts, part)


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
