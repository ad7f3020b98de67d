"""Declared arguments: the `args` of a definition → checked records.

A run loads this for a command that declares arguments, and for no other.
"""

from host.run import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from host.run.json_file import Fields

TYPES = ("string", "integer", "number", "path", "file", "directory")
COMPLETIONS = ("file", "directory", "none")  # any other is a program of the command

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_NAME = _LETTERS | frozenset("-_")
_REPEATS = "..."
_LONGEST_SHOWN = 60  # characters of a word in an error
_MOST_SHOWN = 12  # choices in an error


class Argument(Record):
    """One declared argument of a command.

    name          as declared: "env" (positional), "--force" (option), "files..." (repeats)
    short         "-f", or "" for none
    value         the placeholder of an option's value; "" for a flag and for a positional one
    type          "string", "integer", "number", "path", "file" or "directory"; "" for a flag
    choices       the texts that it takes, () for any
    default       the text that stands for an absent one, None for none
    required      whether it must be given
    complete      "file", "directory", "none", a program in the command's folder, or ""
    description   shown to people
    """

    name: str
    short: str
    value: str
    type: str
    choices: tuple[str, ...]
    default: str | None
    required: bool
    complete: str
    description: str

    @property
    def option(self) -> bool:
        """Whether it is an option: its name begins with `-`."""
        return self.name.startswith("-")

    @property
    def flag(self) -> bool:
        """Whether it is an option that takes no value."""
        return self.option and not self.value

    @property
    def repeats(self) -> bool:
        """Whether it takes any number of words."""
        return self.name.endswith(_REPEATS)

    @property
    def bare_name(self) -> str:
        """Return its name without the `...` of one that repeats."""
        return self.name.removesuffix(_REPEATS)

    @property
    def variable(self) -> str:
        """Return the name of its variable; one that repeats has `_COUNT`, `_1` … after it."""
        return f"ARG_{self.bare_name.lstrip('-').upper().replace('-', '_')}"

    def owns(self, variable: str) -> bool:
        """Tell whether a variable is one that this argument can have."""
        name, _, last = variable.rpartition("_")
        return variable == self.variable or (
            self.repeats and name == self.variable and (last == "COUNT" or is_digits(last))
        )

    def expected(self, text: str) -> str:
        """Return what was expected where `text` is no value of this argument, else ""."""
        if self.choices and text not in self.choices:
            more = ", …" if len(self.choices) > _MOST_SHOWN else ""
            return f"one of {', '.join(self.choices[:_MOST_SHOWN])}{more}"
        return self.expected_type(text)

    def expected_type(self, text: str) -> str:
        """Return what was expected where `text` is not of this argument's type, else ""."""
        if self.type == "integer" and not is_integer(text):
            return "a whole number"
        return "a number" if self.type == "number" and not is_number(text) else ""

    @property
    def usage(self) -> str:
        """Return how it stands in a usage line: `<env>`, `[files...]`, `[--count N]`."""
        text = f"{self.name} {self.value}" if self.value else self.name
        if self.required:
            return text if self.option else f"<{text}>"
        return f"[{text}]"


def usage_of(arguments: "Iterable[Argument]") -> str:
    return " ".join([one.usage for one in arguments])


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
        if argument.flag:
            _check_flag(fields)
        else:
            argument.type = argument.type or "string"
            _check_values(argument, fields)
            _check_default(argument, fields)
        if argument.complete not in ("", *COMPLETIONS) and not ours:
            _check_program(argument, fields, folder)
        found.add(argument, fields)
    return tuple(found.names.values())


def _argument(fields: "Fields") -> Argument:
    return Argument(
        name=fields.filled("name", required=True),
        short=fields.filled("short"),
        value=fields.filled("value"),
        type=fields.one_of("type", TYPES),
        choices=fields.texts("choices"),
        default=None if fields.value("default") is None else fields.text("default"),
        required=fields.flag("required"),
        complete=fields.filled("complete"),
        description=fields.text("description"),
    )


def _check_name(argument: Argument, fields: "Fields") -> None:
    name = argument.bare_name.removeprefix("--")
    if name[:1] not in _LETTERS or not _NAME.issuperset(name):
        raise fields.refused(
            "name",
            "expected letters, digits, - and _ (after -- for an option); "
            f"found {argument.name[:_LONGEST_SHOWN]}",
        )
    if argument.name == "--help":
        raise fields.refused("name", '--help is never an argument; see the key "help"')
    if argument.option:
        if argument.repeats:
            raise fields.refused("name", f"only a positional argument has {_REPEATS}")
    elif argument.short or argument.value:
        key = "short" if argument.short else "value"
        raise fields.refused(key, f'only an option has one; "name" would be --{name}')
    short = argument.short
    if short and (len(short) != 2 or short[0] != "-" or short[1] not in _LETTERS):
        raise fields.refused("short", f"expected - and a letter or digit; found {short[:8]}")


def _check_flag(fields: "Fields") -> None:
    """Refuse what an option without a value cannot have."""
    for key in ("type", "choices", "default", "required", "complete"):
        if fields.value(key) not in (None, False, []):
            raise fields.refused(key, 'a flag has none; "value" makes an option take a value')


def _check_values(argument: Argument, fields: "Fields") -> None:
    if not argument.choices and fields.value("choices") is not None:
        raise fields.refused("choices", "expected some, found an empty array")
    if len(set(argument.choices)) < len(argument.choices):
        raise fields.refused("choices", "one of them stands there twice")
    for choice in argument.choices:
        expected = argument.expected_type(choice)
        if expected:
            raise fields.refused("choices", f"expected {expected}, found {shown(choice)}")


def _check_default(argument: Argument, fields: "Fields") -> None:
    if argument.default is None:
        return
    if argument.required:
        raise fields.refused("default", "an argument that is required has none")
    expected = argument.expected(argument.default)
    if expected:
        raise fields.refused("default", f"expected {expected}, found {shown(argument.default)}")


def _check_program(argument: Argument, fields: "Fields", folder: str) -> None:
    program = argument.complete
    ours = ", ".join(COMPLETIONS)
    if not folder:
        raise fields.refused("complete", f"expected one of {ours}; found {shown(program)}")
    if "/" in program or program.startswith((".", "-")):
        raise fields.refused(
            "complete", f"expected one of {ours}, or a program's name in {folder} without a path"
        )


class _Declared:
    """The arguments so far, by what each of them must have alone."""

    __slots__ = ("names", "optional", "repeating", "shorts", "variables")

    def __init__(self) -> None:
        self.names: dict[str, Argument] = {}
        self.shorts: dict[str, Argument] = {}
        self.variables: dict[str, Argument] = {}
        self.repeating: Argument | None = None
        self.optional: Argument | None = None  # the first positional one that may be left out

    def add(self, argument: Argument, fields: "Fields") -> None:
        """Take an argument in; raises DefinitionError where it cannot stand after the others."""
        short = self.shorts.get(argument.short)
        if argument.short and short:
            raise fields.refused("short", f"{short.name} has {argument.short} already")
        if argument.name in self.names:
            raise fields.refused("name", f"{argument.name} stands there twice")
        variable = argument.variable
        other = self._with_variable_of(argument)
        if other:
            raise fields.refused(
                "name", f"{argument.name} and {other.name} would have the same variable, {variable}"
            )
        if not argument.option:
            self._add_positional(argument, fields)
        self.names[argument.name] = self.shorts[argument.short] = argument
        self.variables[variable] = argument

    def _with_variable_of(self, argument: Argument) -> Argument | None:
        same = self.variables.get(argument.variable)
        if same:
            return same
        if self.repeating and self.repeating.owns(argument.variable):
            return self.repeating
        if argument.repeats:  # one of them does
            return next((one for name, one in self.variables.items() if argument.owns(name)), None)
        return None

    def _add_positional(self, argument: Argument, fields: "Fields") -> None:
        repeating, optional = self.repeating, self.optional
        if repeating:
            raise fields.refused(
                "name", f"{repeating.name} repeats, so no {argument.name} comes after"
            )
        if argument.required and optional:
            raise fields.refused(
                "required",
                f"{optional.name} comes before and may be left out; it must be required",
            )
        if argument.repeats:
            self.repeating = argument
        if not argument.required:
            self.optional = optional or argument


def is_number(text: str) -> bool:
    """Tell whether this is a decimal number as every language reads it, such as -1.5e3."""
    mantissa, mark, exponent = text.replace("E", "e", 1).partition("e")
    whole, _, fraction = _unsigned(mantissa).partition(".")
    return is_digits(whole + fraction) and (not mark or is_integer(exponent))


def is_integer(text: str) -> bool:
    return is_digits(_unsigned(text))


def _unsigned(text: str) -> str:
    return text[1:] if text.startswith(("-", "+")) else text


def is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def shown(text: str) -> str:
    """Return a word as errors show it: never empty, never long."""
    if len(text) > _LONGEST_SHOWN:
        return f"{text[:_LONGEST_SHOWN]}…"
    return text or '""'
