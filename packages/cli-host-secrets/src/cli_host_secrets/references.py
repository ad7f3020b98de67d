"""Resolve references of any scheme: split them, read each secret once, and pick the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

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
    rest = rest.removeprefix("//")
    name, _, part = rest.partition("#")

    looks_like_option = name.startswith("-")
    if not name or looks_like_option or not name.isprintable():
        raise HostError(f"expected {example}")
    if field and not part:
        raise HostError(f"expected {example}")
    return name, part


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

    names = [name for name, _ in parts.values()]
    # Several references can name fields of one secret.
    texts = read_all(list(dict.fromkeys(names)))

    def part(reference: str) -> _Value:
        name, field = parts[reference]
        text = texts[name]
        if isinstance(text, Exception):
            raise text
        return pick(text, field)

    return answers | each(parts, part)
