"""The record of a declared argument: the texts that it accepts, and its form on pages.

A run loads this module only for a command that declares arguments.
"""

from host.run.record import Record
from host.run.text import EMPTY
from host.run.words import is_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

REPEATS = "..."  # ends the name of a positional argument that repeats
TRUE = (
    "true",
    "1",
    "on",
    "yes",
)  # a flag's variable is true for these, in any letter case
FALSE = ("false", "0", "off", "no", "")  # a flag's variable is false for these

_NUMBER = frozenset("0123456789+-.eE")
_TYPES = {"integer": "a whole number", "number": "a number"}


class Argument(Record):
    """One declared argument of a command.

    name          as declared: "env" (positional), "--force" (option), "files..." (repeats)
    short         "-f", or "" if there is none
    value         the placeholder of an option's value, or "" for a flag or a positional argument
    type          "string", "integer", "number", "path", "file" or "directory", or "" for a flag
    choices       the texts that it accepts, or () for any text
    default       the text that is used if it is not given, or None
    required      whether it must be given
    complete      "file", "directory", "none", a program in the command's folder, or ""
    description   shown to people
    repeats       whether it takes any number of words, or may be given any number of times
    env           the caller's variable that is used before the default, or ""
    negatable     whether `--no-…` makes the flag false
    conflicts     names of arguments that must not be given together with this one
    pattern       a regular expression that the whole text must match, or ""
    secret        whether its text is never shown
    effects       the effects of a run with this option: "read", "change", "destroy" or ""
    choices_from  the program in the command's folder that prints the choices, or ""
    passthrough   whether its word may look like an option or be `--`; if it repeats, it takes
                  every further word unchecked
    hidden        whether it is in no output but JSON, like a hidden option of a click command
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
    repeats: bool
    env: str
    negatable: bool
    conflicts: tuple[str, ...]
    pattern: str
    secret: bool
    effects: str
    choices_from: str
    passthrough: bool = False
    hidden: bool = False

    @property
    def option(self) -> bool:
        """Whether the argument is an option: its name begins with `-`."""
        return self.name.startswith("-")

    @property
    def flag(self) -> bool:
        """Whether the argument is an option that takes no value."""
        return self.option and not self.value

    @property
    def bare_name(self) -> str:
        """The name without the `...` of a repeated positional argument."""
        return self.name.removesuffix(REPEATS)

    @property
    def negation(self) -> str:
        """The option that makes a negatable flag false, `--no-…`, or "" for any other argument."""
        return f"--no-{self.name[2:]}" if self.negatable else ""

    @property
    def variable(self) -> str:
        """The variable ARG_NAME; a repeated argument sets ARG_NAME_COUNT, ARG_NAME_1 and so on."""
        return f"ARG_{self.bare_name.lstrip('-').upper().replace('-', '_')}"

    @property
    def form(self) -> str:
        """The argument's name and placeholder: `env`, `--count N`, `--[no-]cache`."""
        name = f"--[no-]{self.name[2:]}" if self.negatable else self.name
        return f"{name} {self.value}".rstrip()

    @property
    def usage(self) -> str:
        """The argument's form in a usage line: `<env>`, `[--count N]`, `[files...]`."""
        dots = REPEATS if self.option and self.repeats else ""
        if self.required:
            return self.form + dots if self.option else f"<{self.form}>"
        return f"[{self.form}]{dots}"

    def owns(self, variable: str) -> bool:
        """Return whether `variable`, such as ARG_NAME or ARG_NAME_1, belongs to this argument."""
        name, _, last = variable.rpartition("_")
        is_numbered = self.repeats and (last == "COUNT" or is_digits(last))
        return self.variable in (variable, name if is_numbered else "")

    @property
    def expected(self) -> str:
        """The argument's valid values, for errors: the choices, or else the type and pattern."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        kind = "true or false" if self.flag else _TYPES.get(self.type, "text")
        return f"{kind} that matches {self.pattern}" if self.pattern else kind

    def accepts(self, text: str) -> bool:
        """Return whether `text` is a valid value, without checking whether a file exists."""
        # `read_declarations` has checked the type and pattern of the choices
        return text in self.choices if self.choices else self.has_form(text)

    def has_form(self, text: str) -> bool:
        """Return whether `text` is of this argument's type and matches its pattern."""
        if self.flag:
            return text.lower() in (*TRUE, *FALSE)
        check = {"integer": is_integer, "number": is_number}.get(self.type)
        if check is not None and not check(text):
            return False
        if not self.pattern:
            return True
        import re

        return re.fullmatch(self.pattern, text) is not None


def is_number(text: str) -> bool:
    """Return whether `text` is a plain decimal number, such as -1.5e3."""
    try:
        return _NUMBER.issuperset(text) and bool(text) and float(text) is not None
    except ValueError:
        return False


def is_integer(text: str) -> bool:
    return is_digits(text[1:] if text.startswith(("-", "+")) else text)


def usage_of(arguments: "Iterable[Argument]") -> str:
    """Return the arguments for a usage line: `<env> [--count N] [files...]`."""
    return " ".join([argument.usage for argument in arguments])


def term(argument: Argument) -> str:
    """Return an argument's names for a table: `env`, `-f, --force N`, `--[no-]cache`."""
    return f"{argument.short}, {argument.form}" if argument.short else argument.form


def explanation(argument: Argument) -> str:
    """Return an argument's description, with its properties in parentheses."""
    option = argument.option
    texts = (
        (option and argument.required, "required"),
        (argument.type not in ("", "string"), argument.type),
        (argument.choices, f"one of {', '.join(argument.choices)}"),
        (
            argument.choices_from,
            f"one of the lines that {argument.choices_from} prints",
        ),
        (argument.pattern, f"matches {argument.pattern}"),
        (argument.secret, "secret"),
        (option and argument.repeats, "may be repeated"),
        (
            argument.passthrough and argument.repeats,
            "passed on unchecked, options included",
        ),
        (argument.conflicts, f"not with {', '.join(argument.conflicts)}"),
        (argument.effects, f"effects: {argument.effects}"),
        (argument.env, f"env: {argument.env}"),
        (argument.default is not None, f"default: {argument.default or EMPTY}"),
    )
    facts = "; ".join([text for holds, text in texts if holds])
    return (
        f"{argument.description} ({facts})".lstrip() if facts else argument.description
    )
