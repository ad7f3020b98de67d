"""What a definition may declare: its `args` → checked `Argument`s."""

from host.run import EFFECTS
from host.run.argument_spec import REPEATS, Argument, numbered, shown
from host.run.expand import is_name
from host.run.json_file import NO_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.errors import DefinitionError
    from host.run.json_file import Fields

TYPES = ("string", "integer", "number", "path", "file", "directory")
COMPLETIONS = ("file", "directory", "none")  # any other is a program of the command

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_NAME = _LETTERS | frozenset("-_")
_LONGEST_NAME = 60  # characters of one in an error
_NOT_OF_FLAGS = ("type", "choices", "required", "complete", "pattern", "secret")
_OF_OPTIONS = ("short", "value", "negatable", "effects")


def read_declarations(
    declared: "Sequence[Fields]", folder: str, *, ours: bool = False
) -> tuple[Argument, ...]:
    """Return the checked arguments of a command; raises DefinitionError naming entry and key.

    `folder` is the command's, "" for one that a plugin declares in code. Those of our own plugins
    (`ours`) may be completed by their code.
    """
    found = _Declared()
    for fields in declared:
        argument = _argument(fields)
        _check_name(argument, fields)
        _check_kind(argument, fields)
        _check_values(argument, fields)
        if argument.choices_from:
            _check_program(argument.choices_from, "choices", fields, folder)
        if argument.complete not in ("", *COMPLETIONS) and not ours:
            _check_program(argument.complete, "complete", fields, folder)
        found.add(argument, fields)
    for argument, fields in zip(found.names.values(), declared, strict=True):
        for name in argument.conflicts:
            if name not in found.names or name == argument.name:
                raise fields.refused("conflicts", f"{shown(name)} is no other argument")
    return tuple(found.names.values())


def _argument(fields: "Fields") -> Argument:
    name = fields.filled("name", required=True)
    from_program = type(fields.value("choices")) is dict
    return Argument(
        name=name,
        short=fields.filled("short"),
        value=fields.filled("value"),
        type=fields.one_of("type", TYPES),
        choices=() if from_program else fields.texts("choices"),
        default=None if fields.value("default") is None else fields.text("default"),
        required=fields.flag("required"),
        complete=fields.filled("complete"),
        description=fields.text("description"),
        repeats=fields.flag("repeats") or name.endswith(REPEATS),
        env=fields.filled("env"),
        negatable=fields.flag("negatable"),
        conflicts=fields.texts("conflicts"),
        pattern=fields.filled("pattern"),
        secret=fields.flag("secret"),
        effects=fields.one_of("effects", EFFECTS),
        choices_from=fields.inner("choices").filled("program", True) if from_program else "",
    )


def _check_name(argument: Argument, fields: "Fields") -> None:
    name = argument.bare_name.removeprefix("--")
    if name[:1] not in _LETTERS or not _NAME.issuperset(name):
        expected = "expected letters, digits, - and _ (after -- for an option)"
        raise fields.refused("name", f"{expected}; found {argument.name[:_LONGEST_NAME]}")
    if argument.name == "--help":
        raise fields.refused("name", '--help is never an argument; see the key "help"')
    if not argument.option:
        for key in _OF_OPTIONS:
            if fields.value(key) not in (None, False):
                raise fields.refused(key, f'only an option has it; "name" would be --{name}')
        if argument.repeats and name == argument.name:
            raise fields.refused("repeats", f'"name" would be {name}{REPEATS}')
    elif argument.name.endswith(REPEATS):
        raise fields.refused("name", f'only a positional argument has {REPEATS}; see "repeats"')
    short = argument.short
    if short and (len(short) != 2 or short[0] != "-" or short[1] not in _LETTERS):
        raise fields.refused("short", f"expected - and a letter or digit; found {short[:8]}")
    if argument.env and not is_name(argument.env):
        raise fields.refused("env", f"{shown(argument.env)} {NO_VARIABLE}")


def _check_program(program: str, key: str, fields: "Fields", folder: str) -> None:
    where = f"the name of a program in {folder or 'the folder of the command'}, without a path"
    if not folder or "/" in program or program.startswith((".", "-")):
        words = f"one of {', '.join(COMPLETIONS)}" if key == "complete" else "an array"
        expected = f"{words}, or {where}" if folder else words
        raise fields.refused(key, f"expected {expected}; found {shown(program)}")


def _check_kind(argument: Argument, fields: "Fields") -> None:
    """Refuse keys that are not for a flag, or for a flag only."""
    if not argument.flag:
        argument.type = argument.type or "string"
        if argument.negatable:
            raise fields.refused("negatable", "only a flag has it: an option without a value")
        return
    for key in _NOT_OF_FLAGS if argument.negatable else (*_NOT_OF_FLAGS, "default"):
        if fields.value(key) not in (None, False, []):
            raise fields.refused(key, 'a flag has none; "value" makes an option take a value')


def _check_values(argument: Argument, fields: "Fields") -> None:
    """Refuse choices, patterns and defaults that do not fit."""
    if argument.pattern:
        _check_pattern(argument.pattern, fields)
    if fields.value("choices") == [] and not argument.flag:
        raise fields.refused("choices", "must not be empty")
    if len(set(argument.choices)) < len(argument.choices):
        raise fields.refused("choices", "contains the same text twice")
    for choice in argument.choices:
        if not argument.has_form(choice):
            raise _misfit(argument, "choices", choice, fields)
    if argument.default is not None:
        _check_default(argument, argument.default, fields)


def _check_pattern(pattern: str, fields: "Fields") -> None:
    import re

    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as failure:
        raise fields.refused("pattern", f"is no regular expression: {failure}") from None


def _check_default(argument: Argument, default: str, fields: "Fields") -> None:
    if argument.required or argument.secret:
        kind = "required" if argument.required else "secret"
        raise fields.refused("default", f"an argument that is {kind} has none")
    if not argument.accepts(default):
        raise _misfit(argument, "default", default, fields)


def _misfit(argument: Argument, key: str, text: str, fields: "Fields") -> "DefinitionError":
    from host.run.argument_text import expected

    wanted = expected(argument, choices=() if key == "choices" else argument.choices)
    return fields.refused(key, f"expected {wanted}, found {shown(text)}")


class _Declared:
    """The arguments so far: by name, and by what each of them must have alone."""

    __slots__ = ("names", "numbered", "optional", "repeating", "taken")

    def __init__(self) -> None:
        self.names: dict[str, Argument] = {}
        self.taken: dict[str, Argument] = {}  # by short, by `--no-…`, by variable
        self.numbered: dict[str, Argument] = {}  # whose variable looks like a repeated one's
        self.repeating: Argument | None = None
        self.optional: Argument | None = None  # the first positional one that may be left out

    def add(self, argument: Argument, fields: "Fields") -> None:
        """Take an argument in; raises DefinitionError where it cannot stand after the others."""
        name, variable, taken = argument.name, argument.variable, self.taken
        if name in self.names:
            raise fields.refused("name", f"{name} stands there twice")
        if argument.short in taken:
            raise fields.refused(
                "short", f"{taken[argument.short].name} has {argument.short} already"
            )
        for option in (name, argument.negation):
            other = taken.get(option) or (option != name and self.names.get(option))
            if option.startswith("-") and other:
                raise fields.refused("name", f"{other.name} has {option} already")
        base = numbered(variable)
        repeated = taken.get(base) if base else None
        other = taken.get(variable) or (repeated if repeated and repeated.repeats else None)
        if other is None and argument.repeats:
            other = self.numbered.get(variable)
        if other:
            text = f"{name} and {other.name} would have the same variable, {variable}"
            raise fields.refused("name", text)
        if not argument.option:
            self._add_positional(argument, fields)
        self.names[name] = taken[variable] = self.numbered[base] = argument
        for option in filter(None, (argument.short, argument.negation)):
            taken[option] = argument

    def _add_positional(self, argument: Argument, fields: "Fields") -> None:
        name, repeating, optional = argument.name, self.repeating, self.optional
        if repeating:
            raise fields.refused("name", f"{repeating.name} repeats, so no {name} comes after")
        if argument.required and optional:
            text = f"{optional.name} comes before and may be left out; it must be required"
            raise fields.refused("required", text)
        if argument.repeats:
            self.repeating = argument
        if not argument.required:
            self.optional = optional or argument
