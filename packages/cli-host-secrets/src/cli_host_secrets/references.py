"""Functions that the modules of all schemes share: parse references, read values, pick fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from host import HostError

Answer = str | Exception
Answers = dict[str, Answer]


def split(reference: str, example: str, *, field: bool = False) -> tuple[str, str]:
    """Return the name and the field of `scheme:name#field`; `example` is shown in the error.

    A name that begins with `-` is refused, because programs would treat it as an option. If
    `field` is true, a reference without a field is refused.
    """
    name, _, wanted = reference.partition(":")[2].removeprefix("//").partition("#")
    if not name or name[0] == "-" or not name.isprintable() or (field and not wanted):
        raise HostError(f"expected {example}")
    return name, wanted


def text_of(value: Any, field: str) -> str:
    """Return the string at the path `field` (`a/b`) in decoded JSON, or another scalar as JSON."""
    for key in field.strip("/").split("/") if field else ():
        if isinstance(value, list) and key.isdecimal():
            value = dict(enumerate(value)).get(int(key))
        else:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            raise HostError(f"the secret has no {field}")
    if isinstance(value, dict | list):
        raise HostError(f"{field or 'the secret'} is an object or a list; name one of its fields")
    return value if isinstance(value, str) else json.dumps(value)


def decoded(text: str, source: str) -> Any:
    """Decode JSON. The error names only its `source`, because the text may contain secrets."""
    try:
        return json.loads(text)
    except ValueError:
        raise HostError(f"{source} is not JSON") from None


def each(names: Iterable[str], read: Callable[[str], str], at_once: int = 8) -> Answers:
    """Map each name to what `read` returns, or to the HostError that it raises.

    `at_once` is the number of parallel calls; it must be 1 if `read` may prompt.
    """

    def answer(name: str) -> tuple[str, Answer]:
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
    pick: Callable[[str, str], str],
    *,
    field: bool = False,
) -> Answers:
    """Resolve references: read each named secret once, then `pick` each field from its text.

    `read_all` returns the texts of the secrets with the given names. `example` and `field` are
    passed to `split`.
    """
    answers: Answers = {}
    wanted = {}
    for one in references:
        try:
            wanted[one] = split(one, example, field=field)
        except HostError as failure:
            answers[one] = failure
    texts = read_all(list(dict.fromkeys(name for name, _ in wanted.values())))

    def part(reference: str) -> str:
        name, field = wanted[reference]
        text = texts[name]
        if isinstance(text, Exception):
            raise text
        return pick(text, field)

    return answers | each(wanted, part)


def json_field(text: str, field: str) -> str:
    """Return `text`, or, if `field` is not "", that field of the JSON that `text` contains."""
    return text_of(decoded(text, "the secret"), field) if field else text
