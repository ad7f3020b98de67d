"""Check the `args` of a definition and convert them to `Argument`s."""

from host.run import EFFECTS
from host.run.argument_spec import REPEATS, Argument, expected, numbered, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.json_file import Fields

TYPES = ("string", "integer", "number", "path", "file", "directory")
COMPLETIONS = ("file", "directory", "none")  # any other value is a program in the command's folder

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_NAME = _LETTERS | frozenset("-_")
_LONGEST_NAME = 60  # characters of a name in an error
_NOT_OF_FLAGS = ("type", "choices", "required", "complete", "pattern", "secret")
_OF_OPTIONS = ("short", "value", "negatable", "effects")


def read_declarations(
    declared: "Sequence[Fields]", folder: str, *, ours: bool = False
) -> tuple[Argument, ...]:
    """Return the checked arguments of a command; raises DefinitionError with entry and key.

    `folder` is the command's folder, "" for a command that a plugin declares in code. The built-in
    plugins (`ours`) may name a Python reference as `complete`.
    """
    found: dict[str, Argument] = {}
    last: Argument | None = None  # positional argument
    taken: dict[str, Argument] = {}  # by option and by variable
    parts: dict[str, Argument] = {}  # by the variable X, if their own looks like X_1 or X_COUNT
    for fields in declared:
        argument = _argument(fields)
        _check_name(argument, fields)
        _check_kind(argument, fields)
        _check_values(argument, fields)
        if argument.choices_from:
            _check_program(argument.choices_from, "choices", fields, folder)
        if argument.complete not in ("", *COMPLETIONS) and not ours:
            _check_program(argument.complete, "complete", fields, folder)
        _check_alone(argument, fields, taken, parts)
        if not argument.option:
            if last:
                _check_order(last, argument, fields)
            last = argument
        found[argument.name] = argument
    for argument, fields in zip(found.values(), declared, strict=True):
        for name in argument.conflicts:
            if name not in found or name == argument.name:
                raise fields.refused("conflicts", f"{shown(name)} is no other argument")
    return tuple(found.values())


def _argument(fields: "Fields") -> Argument:
    name = fields.filled("name", required=True)
    from_program = type(fields.value("choices")) is dict
    value = fields.filled("value")
    is_flag = name.startswith("-") and not value
    return Argument(
        name=name,
        short=fields.filled("short"),
        value=value,
        type=fields.one_of("type", TYPES) or ("" if is_flag else "string"),
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
    name = argument.name.removeprefix("--") if argument.option else argument.bare_name
    if name[:1] not in _LETTERS or not _NAME.issuperset(name):
        wanted = "expected letters, digits, - and _ (after -- for an option)"
        raise fields.refused("name", f"{wanted}; found {argument.name[:_LONGEST_NAME]}")
    if argument.name == "--help":
        raise fields.refused("name", '--help is never an argument; see the key "help"')
    if argument.repeats and argument.name == name:
        raise fields.refused("repeats", f'"name" would be {name}{REPEATS}')
    short = argument.short
    if short and (len(short) != 2 or short[0] != "-" or short[1] not in _LETTERS):
        raise fields.refused("short", f"expected - and a letter or digit; found {short[:8]}")
    if argument.env:
        fields.check_variable("env", argument.env)


def _check_kind(argument: Argument, fields: "Fields") -> None:
    """Refuse keys that this kind of argument (flag, option or positional) cannot have."""
    keys: tuple[str, ...] = _OF_OPTIONS
    why = f'only an option has it; "name" would be --{argument.bare_name}'
    if argument.flag:
        keys = _NOT_OF_FLAGS if argument.negatable else (*_NOT_OF_FLAGS, "default")
        why = 'a flag has none; "value" makes an option take a value'
    elif argument.option:
        keys, why = ("negatable",), "only a flag has it: an option without a value"
    for key in keys:
        if fields.value(key) not in (None, False, []):
            raise fields.refused(key, why)


def _check_values(argument: Argument, fields: "Fields") -> None:
    """Refuse invalid patterns, and choices or a default that the argument does not accept."""
    if argument.pattern:
        import re

        try:
            re.compile(argument.pattern)
        except (re.error, RecursionError, OverflowError) as failure:
            raise fields.refused("pattern", f"is no regular expression: {failure}") from None
    if fields.value("choices") == [] and not argument.flag:
        raise fields.refused("choices", "must not be empty")
    for choice in argument.choices:
        if not argument.has_form(choice):
            wanted = expected(argument, ())
            raise fields.refused("choices", f"expected {wanted}, found {shown(choice)}")
    default = argument.default
    if default is None:
        return
    if argument.required or argument.secret:
        kind = "required" if argument.required else "secret"
        raise fields.refused("default", f"an argument that is {kind} has none")
    if not argument.accepts(default):
        wanted = expected(argument, argument.choices)
        raise fields.refused("default", f"expected {wanted}, found {shown(default)}")


def _check_program(program: str, key: str, fields: "Fields", folder: str) -> None:
    where = f"the name of a program in {folder or 'the folder of the command'}, without a path"
    if not folder or "/" in program or program.startswith((".", "-")):
        words = f"one of {', '.join(COMPLETIONS)}" if key == "complete" else "an array"
        wanted = f"{words}, or {where}" if folder else words
        raise fields.refused(key, f"expected {wanted}; found {shown(program)}")


def _check_alone(
    argument: Argument, fields: "Fields", taken: dict[str, Argument], parts: dict[str, Argument]
) -> None:
    """Refuse options and variables that an earlier argument has; register this argument's."""
    name, variable = argument.name, argument.variable
    options = (name if argument.option else "", argument.short, argument.negation)
    marks = [variable, *filter(None, options)]
    others = {mark: taken[mark] for mark in marks if mark in taken}
    base = numbered(variable)
    if base in taken and taken[base].repeats:
        others[variable] = taken[base]
    if argument.repeats and variable in parts:
        others[variable] = parts[variable]
    for mark, other in others.items():
        key = "short" if mark == argument.short else "name"
        raise fields.refused(key, f"{name} and {other.name} would both have {mark}")
    taken.update(dict.fromkeys(marks, argument))
    parts[base] = argument


def _check_order(last: Argument, argument: Argument, fields: "Fields") -> None:
    """Refuse a positional argument that cannot come after the `last` one."""
    if last.repeats:
        raise fields.refused("name", f"{last.name} repeats, so no {argument.name} comes after")
    if argument.required and not last.required:
        text = f"{last.name} comes before and may be left out; it must be required"
        raise fields.refused("required", text)
