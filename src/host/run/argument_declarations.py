"""Check the `args` of a definition and convert them to `Argument`s."""

from host.run.argument_spec import REPEATS, Argument
from host.run.json_file import EFFECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.run.json_file import Fields

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
    found: dict[str, Argument] = {}
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
            if last:
                _check_order(last, argument, fields)
            last = argument
        found[argument.name] = argument
    for argument, fields in zip(found.values(), declared, strict=True):
        for name in argument.conflicts:
            if name not in found or name == argument.name:
                raise fields.refused(
                    "conflicts", f'"{name}" is not the name of another argument'
                )
    return tuple(found.values())


def unchecked_arguments(declared: "Sequence[dict[str, Any]]") -> tuple[Argument, ...]:
    """Return arguments that help pages and Tab show, but that no run checks.

    Their names may have forms that `read_declarations` refuses, such as `-c`.
    """
    arguments = []
    for keys in declared:
        values: dict[str, Any] = dict.fromkeys(Argument.__annotations__, "")
        is_flag = keys["name"].startswith("-") and not keys.get("value")
        values |= {"default": None, "type": "" if is_flag else "string"}
        values |= dict.fromkeys(_FLAGS, False)
        values |= {"repeats": keys["name"].endswith(REPEATS), "conflicts": ()}
        values |= {**keys, "choices": tuple(keys.get("choices", ()))}
        arguments.append(Argument(**values))
    return tuple(arguments)


def _argument(fields: "Fields") -> Argument:
    name = fields.filled("name", required=True)
    from_program = type(fields.value("choices")) is dict
    value = fields.filled("value")
    is_flag = name.startswith("-") and not value
    texts: dict[str, Any] = {key: fields.filled(key) for key in _TEXTS}
    flags: dict[str, Any] = {key: fields.flag(key) for key in _FLAGS}
    return Argument(
        name=name,
        value=value,
        type=fields.one_of("type", TYPES) or ("" if is_flag else "string"),
        choices=() if from_program else fields.texts("choices"),
        choices_from=fields.inner("choices").filled("program", True)
        if from_program
        else "",
        default=None if fields.value("default") is None else fields.text("default"),
        description=fields.text("description"),
        repeats=fields.flag("repeats") or name.endswith(REPEATS),
        conflicts=fields.texts("conflicts"),
        effects=fields.one_of("effects", EFFECTS),
        **texts,
        **flags,
    )


def _check_name(argument: Argument, fields: "Fields") -> None:
    name = argument.name.removeprefix("--") if argument.option else argument.bare_name
    if name[:1] not in _LETTERS or not _NAME.issuperset(name):
        what = "expected letters, digits, - and _ (after -- for an option)"
        raise fields.refused("name", f"{what}; found {argument.name}")
    if argument.name == "--help":
        raise fields.refused("name", '--help cannot be declared; see the key "help"')
    short = argument.short
    if short and (len(short) != 2 or short[0] != "-" or short[1] not in _LETTERS):
        raise fields.refused(
            "short", f"expected - and a letter or digit; found {short}"
        )
    if argument.env:
        fields.check_variable("env", argument.env)


def _check_kind(argument: Argument, fields: "Fields") -> None:
    """Refuse keys that this kind of argument (flag, option or positional) cannot have."""
    kind = "a positional argument"
    keys: tuple[str, ...] = _OF_OPTIONS
    if argument.flag:
        kind = 'a flag (an option without "value")'
        keys = _NOT_OF_FLAGS if argument.negatable else (*_NOT_OF_FLAGS, "default")
    elif argument.option:
        kind, keys = "an option with a value", ("negatable",)
    if argument.passthrough:
        if argument.option:
            raise fields.refused(
                "passthrough", "only a positional argument can have this key"
            )
        if argument.repeats:
            kind = "an argument that passes words on"
            keys += _NOT_PASSED_ON
    for key in keys:
        if fields.value(key) not in (None, False, []):
            raise fields.refused(key, f"{kind} cannot have this key")


def _check_values(argument: Argument, fields: "Fields") -> None:
    """Refuse invalid patterns, and choices or a default that the argument does not accept."""
    if argument.pattern:
        import re

        try:
            re.compile(argument.pattern)
        except (re.error, RecursionError, OverflowError) as failure:
            raise fields.refused(
                "pattern", f"invalid regular expression: {failure}"
            ) from None
    if fields.value("choices") == [] and not argument.flag:
        raise fields.refused("choices", "must not be empty")
    for choice in argument.choices:
        if not argument.has_form(choice):
            raise fields.refused(
                "choices", f'"{choice}" does not match the type or pattern'
            )
    if argument.default is None:
        return
    if argument.required or argument.secret:
        raise fields.refused(
            "default", "a required or secret argument cannot have this key"
        )
    if not argument.accepts(argument.default):
        wanted = f'expected {argument.expected}, found "{argument.default}"'
        raise fields.refused("default", wanted)


def _check_program(key: str, program: str, fields: "Fields", folder: str) -> None:
    if not folder or "/" in program or program.startswith((".", "-")):
        reason = f'"{program}" is not the name of a program in the command\'s folder'
        raise fields.refused(key, reason)


def _check_alone(argument: Argument, fields: "Fields", taken: dict[str, str]) -> None:
    """Refuse an argument if another has its option or variable; otherwise add these to `taken`."""
    option = argument.name if argument.option else ""
    for mark in (argument.variable, option, argument.short, argument.negation):
        if mark in taken:
            key = "short" if mark == argument.short else "name"
            raise fields.refused(
                key, f"{argument.name} and {taken[mark]} both have {mark}"
            )
        if mark:
            taken[mark] = argument.name


def _check_order(last: Argument, argument: Argument, fields: "Fields") -> None:
    """Refuse a positional argument that cannot come after the `last` one."""
    if last.repeats:
        raise fields.refused(
            "name", f"{last.name} repeats, so no positional argument may follow"
        )
    if argument.required and not last.required:
        text = f"the optional {last.name} comes before this required argument"
        raise fields.refused("required", text)
