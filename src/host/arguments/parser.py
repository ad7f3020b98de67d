"""Parse the words of a command line into the variables of the declared arguments."""

import _stat
import posix

from host.arguments.spec import TRUE, Argument, is_number, usage_of
from host.errors import Problem, UsageError
from host.files.json_file import EFFECTS
from host.text import EMPTY, encode
from host.words import asks_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


HIDDEN = "********"  # shown in place of a secret


class MissingArgumentsError(UsageError):
    """The command line is valid, except that required arguments are missing."""

    def __init__(self, error: UsageError, line: "CommandLine") -> None:
        super().__init__(error.problem)
        self.line = line


def parse(
    arguments: "Sequence[Argument]",
    args: "Sequence[str] | None",
    program: str = "",
    words: "Sequence[str]" = (),
    environ: "Mapping[str, str] | None" = None,
) -> "CommandLine":
    """Parse and check the arguments `args` of a command. Raises UsageError.

    If `args` is None, or is only `--help` or `-h`, nothing is parsed or checked. `program` and the
    command's `words` are for errors; `environ` is the caller's environment.
    """
    if args is not None and asks_help(args):
        args = None

    line = CommandLine(arguments, args or (), program, words)
    line.read()
    line.assign_loose()
    if environ is not None:
        line.add_callers(environ)
    if args is not None:
        line.check()
    return line


class CommandLine:
    """A parsed command line; `texts` has the texts of each argument by the argument's name.

    A repeating argument with `passthrough` gets all words that follow the words of the positional
    arguments before it; another one gets the next word, even if it looks like an option.

    `loose` has the words that are neither options nor their values. `options` has each option
    under all its names. `names` has the name of each argument for messages: its own, or that of
    the caller's variable that sets it. `waiting` is an option whose value is missing at the end of
    the line. `ended` is true if every further word would be loose, as after `--`.
    """

    def __init__(
        self,
        arguments: "Sequence[Argument]",
        args: "Iterable[str]",
        program: str = "",
        words: "Sequence[str]" = (),
    ) -> None:
        self.arguments = arguments
        self.program = program
        self.command = " ".join(words)
        self.names = {argument.name: argument.bare_name for argument in arguments}

        self.options: dict[str, Argument] = {}
        positional: list[Argument] = []
        for argument in arguments:
            if argument.option:
                for name in (argument.name, argument.short, argument.negation):
                    if name:
                        self.options[name] = argument
            else:
                positional.append(argument)

        # After so many loose words, the next may be any word.
        self.any_form_after: list[int] = []
        self.passed_after = -1  # after so many, every word is passed on; -1 for never
        for index, argument in enumerate(positional):
            if argument.passthrough:
                self.any_form_after.append(index)
                if argument.repeats and argument is positional[-1]:
                    self.passed_after = index

        self.rest = [*args][::-1]  # the words that are not read yet, the next one last
        self.loose: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.waiting: Argument | None = None
        self.ended = False

    def read(self) -> None:
        """Parse the options; all other words become `loose`. Options end at `--`."""
        while len(self.loose) != self.passed_after:
            if not self.rest:
                return
            word = self.rest.pop()

            if len(self.loose) in self.any_form_after:
                self.loose.append(word)
            elif word == "--":
                break
            elif word.startswith("--"):
                self.long(word)
            elif self.looks_short(word):
                self.short(word)
            else:
                self.loose.append(word)

        self._end_options()

    def _end_options(self) -> None:
        """Make all remaining words `loose`, even those that look like options."""
        self.ended = True
        self.loose += reversed(self.rest)
        self.rest.clear()

    def looks_short(self, word: str) -> bool:
        """Return whether a word has short options; `-` alone is often stdin."""
        if not word.startswith("-") or word == "-":
            return False
        return not self.is_negative(word)

    def is_negative(self, word: str) -> bool:
        """Return whether a word is a negative number, and not a declared option such as `-3`."""
        return is_number(word) and word[:2] not in self.options

    def is_option(self, word: str) -> bool:
        """Return whether a word is an option, so it cannot be the value of the option before it."""
        name = word[:2]
        if name == "--":
            name = word.partition("=")[0]
        if name in ("--", "--help"):
            return True
        return name in self.options

    def long(self, word: str) -> None:
        name, equals, value = word.partition("=")
        argument = self.option(name, name)
        if equals:
            self.take(argument, name, value)
        else:
            self.take(argument, name)

    def short(self, word: str) -> None:
        """Parse short options in one word, such as `-abc`; only the last may have a value."""
        for index, letter in enumerate(word[1:], 2):
            name = f"-{letter}"
            argument = self.option(name, word)
            rest = word[index:]
            if argument.flag and not rest.startswith("="):
                self.take(argument, name)
                continue

            # `-n5`, `-n=5`, or `-n` with the value in the next word.
            if rest:
                self.take(argument, name, rest.removeprefix("="))
            else:
                self.take(argument, name)
            return

    def option(self, name: str, word: str) -> Argument:
        """Return the option `name` in a word. Raises UsageError if there is none."""
        argument = self.options.get(name)
        if argument is not None:
            return argument

        from host.suggestions import did_you_mean

        long_options = [option for option in self.options if option.startswith("--")]
        remedy = did_you_mean(word, long_options)
        if not remedy:
            remedy = self.usage
        raise self.unfit(f"unknown option {self.unplaced(name)}", remedy)

    def take(self, argument: Argument, name: str, value: str | None = None) -> None:
        """Store the option `name`; if it needs a value and `value` is None, use the next word."""
        if argument.flag:
            if value is not None:
                raise self.unfit(f"{name} takes no value")
            value = "false" if name == argument.negation else "true"
        elif value is None:
            if not self.rest:
                self.waiting = argument  # Tab completes the value
                raise self._needs_value(argument)
            if self.is_option(self.rest[-1]):
                raise self._needs_value(argument)
            value = self.rest.pop()

        if argument.repeats:
            self.texts.setdefault(argument.name, []).append(value)
        else:
            self.texts[argument.name] = [value]

    def _needs_value(self, argument: Argument) -> UsageError:
        name = argument.name
        return self.unfit(f"{name} needs a value: {name}={argument.value}", self.usage)

    def assign_loose(self) -> None:
        """Assign the loose words to the positional arguments, in order."""
        loose = self.loose
        for argument in self.arguments:
            if not loose:
                return
            if argument.option:
                continue
            count = len(loose) if argument.repeats else 1
            self.texts[argument.name] = loose[:count]
            loose = loose[count:]

        if loose:
            word = self.unplaced(loose[0]) or EMPTY
            raise self.unfit(f"unexpected argument {word}", self.usage)

    def add_callers(self, environ: "Mapping[str, str]") -> None:
        """Set arguments from the caller's variables (`env`), unless the command line sets them."""
        for argument in self.arguments:
            if argument.name in self.texts:
                continue
            text = environ.get(argument.env)
            if text is not None:
                self.texts[argument.name] = [text]
                self.names[argument.name] = argument.env

    def values(self, argument: Argument) -> "Sequence[str]":
        """Return the texts of an argument, or its default, or ()."""
        if argument.name in self.texts:
            return self.texts[argument.name]
        if argument.default is not None:
            return (argument.default,)
        return ()

    def check(self) -> None:
        """Raise UsageError for invalid values and conflicts, or else for missing arguments."""
        missing = []
        for argument in self.arguments:
            for text in self.values(argument):
                self.check_text(argument, text)
            if argument.required and argument.name not in self.texts:
                missing.append(argument.bare_name)
            if argument.conflicts and self.is_given(argument):
                self.check_conflicts(argument)

        # The user can be asked for missing arguments, but not for the faults above.
        if missing:
            names = ", ".join(missing)
            verb = "is" if len(missing) == 1 else "are"
            error = self.unfit(f"{names} {verb} missing", self.usage)
            raise MissingArgumentsError(error, self)

    def check_conflicts(self, argument: Argument) -> None:
        """Raise UsageError if an argument is given that conflicts with `argument`."""
        name = self.names[argument.name]
        for other in self.arguments:
            if other.name in argument.conflicts and self.is_given(other):
                both = f"{name} and {self.names[other.name]}"
                raise self.unfit(f"{both} cannot be given together")

    def check_text(self, argument: Argument, text: str) -> None:
        """Raise UsageError for a text that the argument does not accept."""
        name = self.names[argument.name]

        # The default was checked when the declaration was read.
        if text != argument.default and not argument.accepts(text):
            from host.suggestions import did_you_mean

            shown = self.shown(argument, text) or EMPTY
            what = f"{name}: expected {argument.expected}; found {shown}"
            raise self.unfit(what, did_you_mean(text, argument.choices))

        # A path need not exist: the command may make it.
        if argument.type in ("file", "directory"):
            fault = _fault(argument.type, text)
            if fault:
                shown = self.shown(argument, text) or EMPTY
                raise self.unfit(f"{name}: {shown}: {fault}")

    def shown(self, argument: Argument, text: str) -> str:
        """Return a text of an argument as messages show it: masked if it is secret.

        It is secret, too, if it comes from a variable of the caller with a secret name.
        """
        if argument.secret:
            return HIDDEN
        name = self.names[argument.name]
        if name == argument.env:
            from host.secret_names import is_secret

            if is_secret(name):
                return HIDDEN
        return text

    def unplaced(self, word: str) -> str:
        """Return a word that belongs to no argument as messages show it.

        If any argument is secret, the word may be its text: a key begins with `-----BEGIN`.
        """
        if any(argument.secret for argument in self.arguments):
            return HIDDEN
        return word

    def is_given(self, argument: Argument) -> bool:
        """Return whether the caller set an argument or, for a flag, set it to true."""
        texts = self.texts.get(argument.name, [])
        if argument.flag:
            return any(map(_is_true, texts))
        return texts != []

    def effects(self, usual: str) -> str:
        """Return the strongest of the effects `usual` and those of the given options."""
        effects = [usual]
        for argument in self.arguments:
            if argument.effects and self.is_given(argument):
                effects.append(argument.effects)
        return max(effects, key=EFFECTS.index)

    @property
    def usage(self) -> str:
        arguments = usage_of(self.arguments)
        return f"usage: {self.program} {self.command} {arguments}".rstrip()

    def unfit(self, text: str, remedy: str = "") -> UsageError:
        """Return the error for an invalid command line; `text` describes the mistake."""
        return UsageError(Problem(self.command, text, remedy))

    def variables(self) -> dict[str, str]:
        """Return the variables of the arguments by name."""
        variables: dict[str, str] = {}
        for argument in self.arguments:
            name = argument.variable
            values = self.values(argument)
            if argument.flag:
                values = [_truth(text) for text in values]

            if argument.repeats:
                variables[f"{name}_COUNT"] = str(len(values))
                for number, text in enumerate(values, start=1):
                    variables[f"{name}_{number}"] = text
            elif values:
                variables[name] = values[0]
            elif argument.flag:
                variables[name] = "false"
        return variables


def _is_true(text: str) -> bool:
    return text.lower() in TRUE


def _truth(text: str) -> str:
    """Return "true" or "false" for the text of a flag; a caller's variable may say "yes"."""
    if _is_true(text):
        return "true"
    return "false"


def _fault(kind: str, path: str) -> str:
    """Return why `path` is not an existing file or directory (`kind`), or "" if it is."""
    try:
        is_directory = _stat.S_ISDIR(posix.stat(encode(path)).st_mode)
    except OSError as failure:
        return failure.strerror or str(failure)

    if kind == "directory" and not is_directory:
        return "not a directory"
    if kind == "file" and is_directory:
        return "is a directory"
    return ""


def read_typed(line: CommandLine) -> None:
    """Parse an unfinished command line, and skip invalid words."""
    while True:
        try:
            line.read()
        except UsageError:
            continue  # without the invalid word
        return
