"""Compare two states of the commands; each difference has a kind.

`breaking`: a call that worked may fail or behave differently. `compatible`: every call works as
before. `text`: only descriptions change.

Commands and arguments are compared by what they *offer* (a removal is breaking), by what they
*demand* (an addition is breaking), and by their *texts*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cli_host_docs import facts
from cli_host_docs.versions import accepts_all
from host import Argument, Command, Definition

BREAKING, COMPATIBLE, TEXT = KINDS = ("breaking", "compatible", "text")
_EFFECTS = {"change": ["change"], "destroy": ["change", "destroy"]}

Change = tuple[str, str]  # kind, what changed


class Difference(NamedTuple):
    """One line of `docs diff`."""

    kind: str
    words: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {' '.join(self.words)}: {self.what}"


class _Profile(NamedTuple):
    """What a command or argument offers and demands, each as phrases, and its texts."""

    offers: set[str]
    demands: set[str]
    texts: dict[str, Any]


def differences(old: Iterable[Command], new: Iterable[Command]) -> list[Difference]:
    """Return the differences between two lists of commands, breaking changes first."""
    before = {command.words: command.definition for command in old}
    after = {command.words: command.definition for command in new}
    aliases = _aliases(after)

    result: list[Difference] = []
    for words in before.keys() | after.keys():
        changes: Iterable[Change]
        if words not in before:
            changes = [(COMPATIBLE, "was added")]
        elif words in after:
            changes = _definition(before[words], after[words])
        elif words in aliases:
            changes = [(COMPATIBLE, "is an alias now")]
        else:
            changes = [(BREAKING, "was removed")]
        for kind, what in changes:
            result.append(Difference(kind, words, what))
    return sorted(result, key=_place)


def _aliases(definitions: Mapping[tuple[str, ...], Definition]) -> set[tuple[str, ...]]:
    """Return the words by which commands can be called, too."""
    aliases = set()
    for words, definition in definitions.items():
        for alias in definition.aliases:
            aliases.add((*words[:-1], alias))
    return aliases


def _place(difference: Difference) -> tuple[int, tuple[str, ...], str]:
    return KINDS.index(difference.kind), difference.words, difference.what


def _definition(old: Definition, new: Definition) -> Iterator[Change]:
    yield from _changes(_profile(old), _profile(new))
    yield from _other_values(old, new)
    yield from _requirements(old, new)

    # A definition without `args` accepts any arguments.
    if old.args and new.args:
        yield from _arguments(old.args, new.args)


def _arguments(old: Iterable[Argument], new: Iterable[Argument]) -> Iterator[Change]:
    before = _by_key(old)
    after = _by_key(new)
    for key in before.keys() | after.keys():
        if key not in after:
            yield BREAKING, f"{facts.label(before[key])} was removed"
            continue

        argument = after[key]
        label = facts.label(argument)
        if key in before:
            for kind, what in _argument(before[key], argument):
                yield kind, f"{label} {what}"
        elif argument.required:
            yield BREAKING, f"{label} was added"
        else:
            yield COMPATIBLE, f"{label} was added"


def _argument(old: Argument, new: Argument) -> Iterator[Change]:
    yield from _changes(_argument_profile(old), _argument_profile(new))
    if new.secret == old.secret:
        return
    if new.secret:
        yield COMPATIBLE, "is now secret"
    else:
        yield COMPATIBLE, "is no longer secret"


def _other_values(old: Definition, new: Definition) -> Iterator[Change]:
    """Yield what both states have, with another value; values are never shown."""
    before = _envs(old)
    after = _envs(new)
    for name in before.keys() & after.keys():
        if before[name] != after[name]:
            yield BREAKING, f"sets {name} to another value"

    for name in old.secrets.keys() & new.secrets.keys():
        if old.secrets[name] != new.secrets[name]:
            yield BREAKING, f"takes the secret {name} from another reference"

    if old.entrypoint != new.entrypoint:
        script = new.entrypoint or "nothing"
        yield BREAKING, f"now runs {script}"


def _envs(definition: Definition) -> dict[str, str]:
    """Return the variables of the command and of the categories above it."""
    values: dict[str, str] = {}
    for level in definition.chain:
        values |= level.envs
    return values


def _requirements(old: Definition, new: Definition) -> Iterator[Change]:
    """Yield the changes of required programs: breaking if a version that worked may not work."""
    before = _versions(old)
    after = _versions(new)
    for program in before.keys() | after.keys():
        if program not in after:
            yield COMPATIBLE, f"no longer needs the program {program}{before[program]}"
        elif program not in before:
            yield BREAKING, f"now needs the program {program}{after[program]}"
        elif before[program] != after[program]:
            kind = BREAKING
            if accepts_all(after[program], before[program]):
                kind = COMPATIBLE
            yield kind, f"now needs the program {program}{after[program]}"


def _versions(definition: Definition) -> dict[str, str]:
    """Return the required programs, with their constraints, such as `>=1.6`."""
    return {need.program: need.version for need in definition.requires}


def _by_key(arguments: Iterable[Argument]) -> dict[str, Argument]:
    """Map options by their names, and positional arguments by their positions."""
    by_key = {}
    position = 0
    for argument in arguments:
        if argument.option:
            by_key[argument.name] = argument
        else:
            position += 1
            by_key[str(position)] = argument
    return by_key


def _changes(old: _Profile, new: _Profile) -> Iterator[Change]:
    for phrase in old.offers - new.offers:
        yield BREAKING, _with("no longer", phrase)
    for phrase in new.offers - old.offers:
        yield COMPATIBLE, _with("now", phrase)

    for phrase in old.demands - new.demands:
        yield COMPATIBLE, _with("no longer", phrase)
    for phrase in new.demands - old.demands:
        yield BREAKING, _with("now", phrase)

    for key, text in new.texts.items():
        if text != old.texts[key]:
            yield TEXT, f"has a new {key}"


def _with(adverb: str, phrase: str) -> str:
    """Return `phrase` with `adverb`: "no longer sets A", but "may no longer be repeated"."""
    verb, _, rest = phrase.partition(" ")
    if verb in ("is", "may", "can"):
        return f"{verb} {adverb} {rest}"
    return f"{adverb} {phrase}"


def _profile(definition: Definition) -> _Profile:
    limits = definition.supervision
    env_files: list[str] = []
    for level in definition.chain:
        env_files += level.env_files
    secrets = []
    for name, reference in definition.secrets.items():
        if not reference.optional:  # without an optional one, the command runs, too
            secrets.append(name)
    time_limit = None
    if limits.seconds:
        time_limit = limits.timeout

    offers = {
        "has the alias": definition.aliases,
        "runs on": definition.os or ("linux", "mac"),
        "sets": _envs(definition),
        "reads the variables of": env_files,
    }
    demands = {
        "needs the variable": definition.required_envs,
        "needs the secret": secrets,
        "needs sudo on": definition.sudo_systems,
        "has the effect": _EFFECTS.get(definition.effects, ()),
        "asks for confirmation": _if(definition.confirm),
        "checks its arguments": _if(definition.args),
        "starts other commands": _if(definition.starts_commands),
        "has the time limit": _text(time_limit),
        "excludes other runs": _if(limits.exclusive),
        "is moved to": _text(definition.moved_to),
    }
    texts = {
        "name": definition.name,
        "description": definition.description,
        "group": definition.group,
        "place in listings": definition.hidden,
        "list of examples": definition.examples,
        "question": definition.confirm,
        "answer to --help": definition.help,
        "deprecation": definition.deprecated,
    }
    return _Profile(_phrases(offers), _phrases(demands), texts)


def _argument_profile(argument: Argument) -> _Profile:
    kind = argument.type
    if kind in ("string", "path"):
        kind = ""  # every text is valid

    offers = {
        "is a flag": _if(argument.flag),
        "takes a value": _if(not argument.flag),
        "has the short form": _text(argument.short),
        "accepts": argument.choices,
        "may be repeated": _if(argument.repeats),
        "passes on every further word": _if(argument.passthrough),
        "has a negated form": _if(argument.negatable),
        "can be set by": _text(argument.env),
        "has the default": facts.default(argument),
    }
    demands = {
        "is required": _if(argument.required),
        "accepts only its choices": _if(argument.choices),
        "has the type": _text(kind),
        "has the pattern": _text(argument.pattern),
        "conflicts with": argument.conflicts,
        "has the effect": _EFFECTS.get(argument.effects, ()),
    }
    texts = {
        "name": argument.bare_name,
        "placeholder": argument.value,
        "description": argument.description,
    }
    return _Profile(_phrases(offers), _phrases(demands), texts)


def _if(holds: object) -> list[str]:
    """Return the object of a phrase that is the verb alone, or none."""
    if holds:
        return [""]
    return []


def _text(text: str | None) -> list[str]:
    """Return the object of a phrase, or none if the text is empty."""
    if text:
        return [text]
    return []


def _phrases(values: dict[str, Any]) -> set[str]:
    """Return each verb with each of its values; with the value "", the verb stands alone."""
    phrases = set()
    for verb, objects in values.items():
        for value in objects:
            phrases.add(f"{verb} {value}".rstrip())
    return phrases
