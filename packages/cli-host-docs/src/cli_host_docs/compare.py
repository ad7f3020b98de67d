"""Compare two states of the commands; each difference has a kind.

`breaking`: a call that worked may fail or behave differently. `compatible`: every call works as
before. `text`: only descriptions change.

Commands and arguments are compared by what they *offer* (a removal is breaking), by what they
*demand* (an addition is breaking), and by their *texts*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cli_host_docs import facts
from host import Argument, Command, Definition

BREAKING, COMPATIBLE, TEXT = KINDS = ("breaking", "compatible", "text")
_EFFECTS = {"change": ["changes"], "destroy": ["changes", "destroys"]}

Change = tuple[str, str]  # kind, what changed


class Difference(NamedTuple):
    """One line of `docs diff`."""

    kind: str
    words: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {' '.join(self.words)}: {self.what}"


class _Profile(NamedTuple):
    offers: set[str]
    demands: set[str]
    texts: dict[str, Any]


def differences(old: Iterable[Command], new: Iterable[Command]) -> list[Difference]:
    """Return the differences between two lists of commands, breaking changes first."""
    before = {one.words: one.definition for one in old}
    after = {one.words: one.definition for one in new}
    aliases = {(*words[:-1], alias) for words, one in after.items() for alias in one.aliases}
    found = []
    for words in before.keys() | after.keys():
        changes: Iterable[Change]
        if words in before and words in after:
            changes = _definition(before[words], after[words])
        elif words in after:
            changes = [(COMPATIBLE, "was added")]
        elif words in aliases:
            changes = [(COMPATIBLE, "is an alias now")]
        else:
            changes = [(BREAKING, "was removed")]
        found += [Difference(kind, words, what) for kind, what in changes]
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.words, one.what))


def _definition(old: Definition, new: Definition) -> Iterator[Change]:
    yield from _changes(_profile(old), _profile(new))
    if not old.args or not new.args:
        return  # a definition without `args` accepts any arguments
    before, after = _by_key(old.args), _by_key(new.args)
    for key in before.keys() | after.keys():
        if key not in after:
            yield BREAKING, f"{facts.label(before[key])} was removed"
        elif key not in before:
            kind = BREAKING if after[key].required else COMPATIBLE
            yield kind, f"{facts.label(after[key])} was added"
        else:
            changes = _changes(_argument_profile(before[key]), _argument_profile(after[key]))
            yield from ((kind, f"{facts.label(after[key])}: {what}") for kind, what in changes)


def _by_key(arguments: Iterable[Argument]) -> dict[str, Argument]:
    """Map options by their names, and positional arguments by their positions."""
    found, place = {}, 0
    for one in arguments:
        place += not one.option
        found[one.name if one.option else str(place)] = one
    return found


def _changes(old: _Profile, new: _Profile) -> Iterator[Change]:
    for kind, removed in (
        (BREAKING, old.offers - new.offers),
        (COMPATIBLE, old.demands - new.demands),
    ):
        yield from ((kind, f"{what} was removed") for what in removed)
    for kind, added in (
        (COMPATIBLE, new.offers - old.offers),
        (BREAKING, new.demands - old.demands),
    ):
        yield from ((kind, f"{what} was added") for what in added)
    for key, text in new.texts.items():
        if text != old.texts[key]:
            yield TEXT, f"{key} was changed"


def _profile(definition: Definition) -> _Profile:
    offers = {
        "alias": definition.aliases,
        "system": definition.os or ("linux", "mac"),
        "variable": definition.envs,
    }
    demands = {
        "required variable": definition.required_envs,
        "requirement": facts.requirements(definition),
        "secret": facts.secrets(definition),
        "need for sudo on": definition.sudo_systems,
        "effect": _EFFECTS.get(definition.effects, ()),
        "question before a run": [""] if definition.confirm else (),
        "check of arguments": [""] if definition.args else (),
    }
    keys = ("name", "description", "group", "hidden", "examples", "confirm")
    return _Profile(
        _named(offers), _named(demands), {key: getattr(definition, key) for key in keys}
    )


def _argument_profile(argument: Argument) -> _Profile:
    def own(key: str) -> tuple[str, ...]:
        value = facts.value_of(argument, key, ())
        return ("",) if value is True else facts.texts(value or ())

    choices = facts.choices(argument)
    offers = {
        "use as": ["a flag" if argument.flag else "an argument with a value"],
        "short form": own("short"),
        "choice": choices,
        "ability to repeat the argument": own("repeats"),
        "negated form": own("negatable"),
        "variable": own("env"),
        "default": facts.default(argument),
    }
    demands = {
        "need to give the argument": own("required"),
        "restriction to choices": [""] if choices else (),
        "type": () if argument.type in ("", "string", "path") else [argument.type],
        "pattern": own("pattern"),
        "conflict with": own("conflicts"),
        "effect": _EFFECTS.get(facts.value_of(argument, "effects", ""), ()),
    }
    texts = {"name": argument.bare_name, "placeholder": argument.value}
    return _Profile(_named(offers), _named(demands), texts | {"description": argument.description})


def _named(values: dict[str, Any]) -> set[str]:
    return {f"the {what} {value}".rstrip() for what, found in values.items() for value in found}
