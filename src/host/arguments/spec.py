"""The record of a declared argument: the texts that it accepts, and its form on pages.

A run loads this module only for a command that declares arguments.
"""

from host.record_base import Record
from host.text import EMPTY
from host.words import is_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REPEATS = "..."  # ends the name of a positional argument that repeats
# The texts, in any letter case, for which a flag's variable is true, and those for false.
TRUE = ("true", "1", "on", "yes")
FALSE = ("false", "0", "off", "no", "")

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
        if self.negatable:
            return f"--no-{self.name[2:]}"
        return ""

    @property
    def variable(self) -> str:
        """The variable ARG_NAME; a repeated argument sets ARG_NAME_COUNT, ARG_NAME_1 and so on."""
        name = self.bare_name.lstrip("-").upper()
        return f"ARG_{name.replace('-', '_')}"

    @property
    def form(self) -> str:
        """The argument's name and placeholder: `env`, `--count N`, `--[no-]cache`."""
        name = self.name
        if self.negatable:
            name = f"--[no-]{name[2:]}"
        return f"{name} {self.value}".rstrip()

    @property
    def usage(self) -> str:
        """The argument's form in a usage line: `<env>`, `[--count N]`, `[files...]`."""
        if self.option:
            dots = REPEATS if self.repeats else ""
            if self.required:
                return f"{self.form}{dots}"
            return f"[{self.form}]{dots}"

        if self.required:
            return f"<{self.form}>"
        return f"[{self.form}]"

    def owns(self, variable: str) -> bool:
        """Return whether `variable`, such as ARG_NAME or ARG_NAME_1, belongs to this argument."""
        if variable == self.variable:
            return True
        if not self.repeats:
            return False

        name, _, last = variable.rpartition("_")
        if name != self.variable:
            return False
        return last == "COUNT" or is_digits(last)

    @property
    def expected(self) -> str:
        """The argument's valid values, for errors: the choices, or else the type and pattern."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.flag:
            return "true or false"  # a flag cannot have a pattern
        kind = _TYPES.get(self.type, "text")
        if self.pattern:
            return f"{kind} that matches {self.pattern}"
        return kind

    def accepts(self, text: str) -> bool:
        """Return whether `text` is a valid value, without checking whether a file exists."""
        if (
            self.choices
        ):  # `read_declarations` has checked their type, and lint their pattern
            return text in self.choices
        return self.has_form(text)

    def has_form(self, text: str) -> bool:
        """Return whether `text` is of this argument's type and matches its pattern."""
        if not self.has_type(text):
            return False
        if not self.pattern:
            return True
        from host.arguments.pattern import matches  # imports `re` (10 ms)

        return matches(self.pattern, text)

    def has_type(self, text: str) -> bool:
        """Return whether `text` is of this argument's type."""
        if self.flag:
            return text.lower() in (*TRUE, *FALSE)
        return _has_type(self.type, text)


def _has_type(kind: str, text: str) -> bool:
    if kind == "integer":
        return is_integer(text)
    if kind == "number":
        return is_number(text)
    return True


def is_number(text: str) -> bool:
    """Return whether `text` is a plain decimal number, such as -1.5e3."""
    if not _NUMBER.issuperset(text):
        return False  # `float` also accepts "nan", "1_000" and digits of other scripts
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_integer(text: str) -> bool:
    if text.startswith(("-", "+")):
        text = text[1:]
    return is_digits(text)


def usage_of(arguments: "Iterable[Argument]") -> str:
    """Return the arguments for a usage line: `<env> [--count N] [files...]`."""
    return " ".join([argument.usage for argument in arguments])


def term(argument: Argument) -> str:
    """Return an argument's names for a table: `env`, `-f, --force N`, `--[no-]cache`."""
    if argument.short:
        return f"{argument.short}, {argument.form}"
    return argument.form


def explanation(argument: Argument) -> str:
    """Return an argument's description, with its properties in parentheses."""
    facts = "; ".join([*_facts_of_value(argument), *_facts_of_use(argument)])
    if not facts:
        return argument.description
    return f"{argument.description} ({facts})".lstrip()


def _facts_of_value(argument: Argument) -> "Iterator[str]":
    """Yield what a value must be."""
    # The usage shows which positional arguments are required or repeated.
    if argument.option and argument.required:
        yield "required"
    if argument.type not in ("", "string"):
        yield argument.type
    if argument.choices:
        yield f"one of {', '.join(argument.choices)}"
    if argument.choices_from:
        yield f"one of the lines that {argument.choices_from} prints"
    if argument.pattern:
        yield f"matches {argument.pattern}"
    if argument.secret:
        yield "secret"


def _facts_of_use(argument: Argument) -> "Iterator[str]":
    """Yield how the argument can be given, and what happens otherwise."""
    if argument.option and argument.repeats:
        yield "may be repeated"
    if argument.passthrough and argument.repeats:
        yield "passed on unchecked, options included"
    if argument.conflicts:
        yield f"not with {', '.join(argument.conflicts)}"
    if argument.effects:
        yield f"effects: {argument.effects}"
    if argument.env:
        yield f"env: {argument.env}"
    if argument.default is not None:
        default = argument.default or EMPTY
        yield f"default: {default}"
