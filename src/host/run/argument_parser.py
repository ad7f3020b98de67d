"""The words of a command line → the variables of the declared arguments that they give."""

import _stat
import posix

from host.errors import Problem, UsageError
from host.run.argument_spec import Argument, is_number, shown, usage_of
from host.run.process import asks_help
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_HELP = "--help"
_NOTHING: "Mapping[str, Sequence[str]]" = {}


def without(arguments: "Sequence[Argument]", environ: "Mapping[str, str]") -> dict[str, str]:
    """Return the environment less every variable that these arguments can have."""
    names = {one.variable for one in arguments}
    repeating = [one for one in arguments if one.repeats]  # one at most
    return {
        name: value
        for name, value in environ.items()
        if name not in names and not any(one.owns(name) for one in repeating)
    }


def given_variables(
    arguments: "Sequence[Argument]", args: "Sequence[str]", program: str, words: "Sequence[str]"
) -> dict[str, str]:
    """Return the variables of the arguments that the words `args` give; raises UsageError.

    A lone `--help` or `-h` gives those of an empty command line: the script answers it.
    """
    if asks_help(args):
        return variables(arguments)
    return variables(arguments, texts(arguments, args, program, words))


def texts(
    arguments: "Sequence[Argument]", args: "Sequence[str]", program: str, words: "Sequence[str]"
) -> "dict[str, list[str]]":
    """Return the texts that the words `args` give to each argument, by name; raises UsageError.

    `program` and the command's own `words` are for the error. Files and directories are
    looked at from the current directory; none is opened.
    """
    line = CommandLine(arguments, args, program, words)
    line.read()
    line.place()
    for argument in arguments:
        line.check(argument)
    return line.texts


class CommandLine:
    """The words of a command line, sorted into the `texts` of each argument by its name.

    `loose` are those that no option takes, `options` has each under both of its names.
    `waiting` is one whose value is still to come, `ended` whether no option can come any more.
    The name of the program and the words of the command are for errors, which are UsageError.
    """

    __slots__ = (
        "arguments", "command", "ended", "loose", "options", "program", "rest", "texts", "waiting",
    )  # fmt: skip

    def __init__(
        self,
        arguments: "Sequence[Argument]",
        words: "Iterable[str]",
        program: str = "",
        command: "Sequence[str]" = (),
    ) -> None:
        self.arguments = arguments
        self.program = program
        self.command = " ".join(command)
        self.options: dict[str, Argument] = {}
        for argument in arguments:
            if argument.option:
                self.options[argument.name] = argument
                self.options[argument.short or argument.name] = argument
        self.rest = list(words)
        self.rest.reverse()
        self.loose: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.waiting: Argument | None = None
        self.ended = False

    def read_typed(self) -> None:
        """Do as `read` does for a line that somebody is typing: what does not fit is left out."""
        while self.rest:
            try:
                self.read()
            except UsageError:
                pass

    def read(self) -> None:
        """Take the options; what is left over is loose. Options end at `--`."""
        while self.rest:
            word = self.rest.pop()
            if word == "--":
                self.ended = True
                self.loose += reversed(self.rest)
                self.rest.clear()
                return
            if word.startswith("--"):
                self.long(word)
            elif len(word) > 1 and word[0] == "-" and not self.is_negative(word):
                self.short(word)
            else:
                self.loose.append(word)

    def is_negative(self, word: str) -> bool:
        """Tell whether this is a number rather than options such as `-3`."""
        return is_number(word) and word[:2] not in self.options

    def long(self, word: str) -> None:
        name, equals, value = word.partition("=")
        argument = self.option(name, name)
        if equals and argument.flag:
            raise self.unfit(f"{name} takes no value", "")
        self.take(argument, value if equals else None)

    def short(self, word: str) -> None:
        """Take `-abc`: flags, of which the last may be an option whose value follows."""
        for index, letter in enumerate(word[1:], 2):
            argument = self.option(f"-{letter}", word)
            if not argument.flag:
                self.take(argument, word[index:] or None)
                return
            self.take(argument)

    def option(self, name: str, word: str) -> Argument:
        argument = self.options.get(name)
        if argument is None:
            if name in (_HELP, "-h"):
                hint = f"for help: {self.program} {self.command} {_HELP}"
                raise self.unfit(f"{name} must be the only argument", hint)
            known = [one for one in self.options if one.startswith("--")]
            raise self.unfit(f"unknown option {shown(name)}", _nearest(word, known) or None)
        return argument

    def take(self, argument: Argument, value: str | None = None) -> None:
        """Note an option; where it needs a value and has none, the next word is it."""
        if argument.flag:
            value = "true"
        elif value is None:
            if not self.rest:
                self.waiting = argument
                raise self.unfit(f"{argument.name} needs a value, {argument.value}")
            value = self.rest.pop()
        self.texts[argument.name] = [value]

    def place(self) -> None:
        """Give the loose words to the positional arguments, in order."""
        loose = self.loose
        for argument in self.arguments:
            if argument.option or not loose:
                continue
            count = len(loose) if argument.repeats else 1
            self.texts[argument.name], loose = loose[:count], loose[count:]
        if loose:
            raise self.unfit(f"{shown(loose[0])} is one word too many")

    def check(self, argument: Argument) -> None:
        """Refuse what was given for an argument, or its default, where it is no value of it."""
        name = argument.bare_name
        if argument.required and argument.name not in self.texts:
            raise self.unfit(f"{name} is missing")
        for text in () if argument.flag else _texts(argument, self.texts):
            expected = argument.expected(text)
            if expected:
                unfit = f"{name}: expected {expected}; found {shown(text)}"
                raise self.unfit(unfit, _nearest(text, argument.choices))
            reason = _why_not_there(argument, text)
            if reason:
                raise self.unfit(f"{name}: {shown(text)} {reason}", "")

    def unfit(self, text: str, hint: str | None = None) -> UsageError:
        """Return the error for words that do not fit, by default with the usage line."""
        if hint is None:
            hint = f"usage: {self.program} {self.command} {usage_of(self.arguments)}".rstrip()
        return UsageError(Problem(self.command, text, hint))


def _texts(argument: Argument, texts: "Mapping[str, Sequence[str]]") -> "Sequence[str]":
    """Return what was given for an argument, else its default, else nothing."""
    found = texts.get(argument.name)
    if found is None:
        return () if argument.default is None else (argument.default,)
    return found


def variables(
    arguments: "Iterable[Argument]", texts: "Mapping[str, Sequence[str]]" = _NOTHING
) -> dict[str, str]:
    """Return the variables of the arguments with these texts: by default, of no words at all."""
    found: dict[str, str] = {}
    for argument in arguments:
        name = argument.variable
        values = _texts(argument, texts)
        if argument.repeats:
            found[f"{name}_COUNT"] = str(len(values))
            for number, text in enumerate(values, 1):
                found[f"{name}_{number}"] = text
        elif argument.flag:
            found[name] = "true" if values else "false"
        elif values:
            found[name] = values[0]
    return found


def _why_not_there(argument: Argument, path: str) -> str:
    """Return what keeps `path` from being a file or directory that is there, "" for nothing."""
    if argument.type not in ("file", "directory"):
        return ""
    try:
        mode = posix.stat(encode(path)).st_mode
    except FileNotFoundError:
        return "is not there"
    except OSError as failure:
        return f"cannot be used: {failure.strerror}"
    if _stat.S_ISDIR(mode) == (argument.type == "directory"):
        return ""
    return "is no directory" if argument.type == "directory" else "is a directory"


def _nearest(word: str, names: "Sequence[str]") -> str:
    """Return what to do about a word that is none of `names` but like or begins one; else ""."""
    from host.run.suggestions import closest

    begun = [one for one in names if word.strip("-") and one.startswith(word)]
    near = [*closest(word, names), *begun]
    return f"did you mean {near[0]}?" if near else ""
