"""Check the `args` of a definition and convert them to `Argument`s."""

from host.arguments.spec import REPEATS, Argument
from host.files.json_file import EFFECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.files.json_file import Fields

TYPES = ("string", "integer", "number", "path", "file", "directory")
# Any other value of "complete" is a program in the command's folder.
COMPLETIONS = ("file", "directory", "none")

_TEXTS = ("short", "complete", "env", "pattern")  # keys whose value must not be empty
_FLAGS = ("required", "negatable", "secret", "passthrough")
_NOT_PASSED_ON = ("type", "choices", "pattern", "secret", "default", "conflicts")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_NAME = _LETTERS | frozenset("-_")
_NOT_OF_FLAGS = ("type", "choices", "required", "complete", "pattern", "secret")
_OF_OPTIONS = ("short", "value", "negatable", "effects", "repeats")


def read_declarations(
    declared: "Sequence[Fields]", folder: str, *, ours: bool = False
) -> tuple[Argument, ...]:
    """Return a command's checked arguments. Raises DefinitionError, which names the item and key.

    `folder` is the command's folder, or "" for a command that a plugin declares in code. In
    built-in plugins (`ours`), `complete` may be a Python reference.
    """
    arguments: dict[str, Argument] = {}
    last: Argument | None = None  # the previous positional argument
    taken: dict[str, str] = {}  # the argument's name for each option and each variable
    for fields in declared:
        argument = _argument(fields)
        _check_name(argument, fields)
        _check_kind(argument, fields)
        _check_values(argument, fields)
        if argument.choices_from:
            _check_program("choices", argument.choices_from, fields, folder)
        if argument.complete not in ("", *COMPLETIONS) and not ours:
            _check_program("complete", argument.complete, fields, folder)
        _check_alone(argument, fields, taken)

        if not argument.option:
            if last is not None:
                _check_order(last, argument, fields)
            last = argument
        arguments[argument.name] = argument

    # An argument may name one that is declared after it, so this comes last.
    for argument, fields in zip(arguments.values(), declared, strict=True):
        for name in argument.conflicts:
            if name not in arguments or name == argument.name:
                reason = f'"{name}" is not the name of another argument'
                raise fields.refused("conflicts", reason)
    return tuple(arguments.values())


def unchecked_arguments(declared: "Sequence[dict[str, Any]]") -> tuple[Argument, ...]:
    """Return arguments that help pages and Tab show, but that no run checks.

    Their names may have forms that `read_declarations` refuses, such as `-c`.
    """
    arguments = []
    for keys in declared:
        name = keys["name"]
        is_flag = name.startswith("-") and not keys.get("value")

        values: dict[str, Any] = dict.fromkeys(Argument.__annotations__, "")
        values.update(dict.fromkeys(_FLAGS, False))
        if not is_flag:
            values["type"] = "string"
        values["default"] = None
        values["repeats"] = name.endswith(REPEATS)
        values["conflicts"] = ()

        values.update(keys)
        values["choices"] = tuple(keys.get("choices", ()))
        arguments.append(Argument(**values))
    return tuple(arguments)


def _argument(fields: "Fields") -> Argument:
    """Return the argument that an object in `args` declares; its keys are checked one by one."""
    name = fields.filled("name", required=True)
    value = fields.filled("value")
    kind = fields.one_of("type", TYPES)
    is_flag = name.startswith("-") and not value
    if not kind and not is_flag:
        kind = "string"

    choices, program = _choices(fields)
    default: str | None = None  # an empty text is a default, too
    if fields.value("default") is not None:
        default = fields.text("default")

    repeats = fields.flag("repeats")
    if name.endswith(REPEATS):
        repeats = True

    texts: dict[str, Any] = {key: fields.filled(key) for key in _TEXTS}
    flags: dict[str, Any] = {key: fields.flag(key) for key in _FLAGS}
    return Argument(
        name=name,
        value=value,
        type=kind,
        choices=choices,
        choices_from=program,
        default=default,
        description=fields.text("description"),
        repeats=repeats,
        conflicts=fields.texts("conflicts"),
        effects=fields.one_of("effects", EFFECTS),
        **texts,
        **flags,
    )


def _choices(fields: "Fields") -> tuple[tuple[str, ...], str]:
    """Return the choices, and the program that prints them; one of the two is empty."""
    if type(fields.value("choices")) is dict:
        inner = fields.inner("choices")
        return (), inner.filled("program", required=True)
    return fields.texts("choices"), ""


def _check_name(argument: Argument, fields: "Fields") -> None:
    name = argument.bare_name
    if argument.option:
        name = argument.name.removeprefix("--")
    is_valid = name[:1] in _LETTERS and _NAME.issuperset(name)
    if not is_valid:
        what = "expected letters, digits, - and _ (after -- for an option)"
        raise fields.refused("name", f"{what}; found {argument.name}")
    # The caller gets help with `--help`, whatever the command declares (SPEC 2.8).
    if argument.name == "--help":
        raise fields.refused("name", '--help cannot be declared; see the key "help"')

    short = argument.short
    if short:
        letter = short.removeprefix("-")
        if short != f"-{letter}" or letter not in _LETTERS:
            reason = f"expected - and a letter or digit; found {short}"
            raise fields.refused("short", reason)
    if argument.env:
        fields.check_variable("env", argument.env)


def _check_kind(argument: Argument, fields: "Fields") -> None:
    """Refuse keys that this kind of argument (flag, option or positional) cannot have."""
    keys: tuple[str, ...]
    if argument.flag:
        kind = 'a flag (an option without "value")'
        keys = _NOT_OF_FLAGS
        if not argument.negatable:  # nothing could make it false
            keys = (*keys, "default")
    elif argument.option:
        kind = "an option with a value"
        keys = ("negatable",)
    else:
        kind = "a positional argument"
        keys = _OF_OPTIONS

    if argument.passthrough:
        if argument.option:
            reason = "only a positional argument can have this key"
            raise fields.refused("passthrough", reason)
        if argument.repeats:
            kind = "an argument that passes words on"
            keys = (*keys, *_NOT_PASSED_ON)

    for key in keys:
        if fields.value(key) not in (None, False, []):
            raise fields.refused(key, f"{kind} cannot have this key")


def _check_values(argument: Argument, fields: "Fields") -> None:
    """Refuse invalid patterns, and choices or a default of another type, or not among the choices.

    Only lint compares them with the pattern, which costs a child process for each.
    """
    if argument.pattern:
        import re

        try:
            re.compile(argument.pattern)
        except (re.error, RecursionError, OverflowError) as failure:
            reason = f"invalid regular expression: {failure}"
            raise fields.refused("pattern", reason) from None

    if fields.value("choices") == [] and not argument.flag:
        raise fields.refused("choices", "must not be empty")
    for choice in argument.choices:
        if not argument.has_type(choice):
            reason = f'"{choice}" does not match the type'
            raise fields.refused("choices", reason)

    if argument.default is None:
        return
    if argument.required or argument.secret:
        reason = "a required or secret argument cannot have this key"
        raise fields.refused("default", reason)
    is_valid = argument.has_type(argument.default)
    if argument.choices:
        is_valid = argument.default in argument.choices
    if not is_valid:
        reason = f'expected {argument.expected}, found "{argument.default}"'
        raise fields.refused("default", reason)


def _check_program(key: str, program: str, fields: "Fields", folder: str) -> None:
    """Refuse a name that is not one of a file directly in the command's folder."""
    is_name = "/" not in program and not program.startswith((".", "-"))
    if not folder or not is_name:
        reason = f'"{program}" is not the name of a program in the command\'s folder'
        raise fields.refused(key, reason)


def _check_alone(argument: Argument, fields: "Fields", taken: dict[str, str]) -> None:
    """Refuse an argument if another has its option or variable; otherwise add these to `taken`."""
    marks = [argument.variable]
    if argument.option:
        marks += [argument.name, argument.short, argument.negation]

    for mark in marks:
        if not mark:
            continue
        if mark in taken:
            key = "short" if mark == argument.short else "name"
            reason = f"{argument.name} and {taken[mark]} both have {mark}"
            raise fields.refused(key, reason)
        taken[mark] = argument.name


def _check_order(last: Argument, argument: Argument, fields: "Fields") -> None:
    """Refuse a positional argument that cannot come after the `last` one."""
    if last.repeats:
        reason = f"{last.name} repeats, so no positional argument may follow"
        raise fields.refused("name", reason)
    if argument.required and not last.required:
        reason = f"the optional {last.name} comes before this required argument"
        raise fields.refused("required", reason)
