"""How arguments read: in usage lines, in tables and in errors.

A run loads this only if its words do not fit.
"""

import os
import stat

from host.errors import Problem, UsageError
from host.run.argument_spec import Argument, shown
from host.run.text import EMPTY, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from host.run.argument_parser import CommandLine

_MOST_SHOWN = 12  # choices in an error
_TYPES = {"integer": "a whole number", "number": "a number"}


def expected(argument: Argument, choices: "Sequence[str] | None" = None) -> str:
    """Return what the text of an argument must be; `choices` take the place of its own."""
    choices = argument.choices if choices is None else choices
    if choices:
        more = ", …" if len(choices) > _MOST_SHOWN else ""
        return f"one of {', '.join(choices[:_MOST_SHOWN])}{more}"
    if argument.flag:
        return "true or false"
    kind = _TYPES.get(argument.type, "text")
    return f"{kind} that matches {argument.pattern}" if argument.pattern else kind


def misfit(argument: Argument, text: str, fits: bool) -> tuple[str, str]:
    """Return what is wrong with a text that is no value of an argument, and the remedy.

    If it `fits`, it is the path of nothing that such an argument takes.
    """
    name = argument.bare_name
    if fits:
        return f"{name}: {shown(text)} {_why_not_there(text)}", ""
    if argument.secret:
        return f"{name}: expected {expected(argument)}", ""
    what = f"{name}: expected {expected(argument)}; found {shown(text)}"
    return what, nearest(text, argument.choices)


def _why_not_there(path: str) -> str:
    try:
        mode = os.stat(encode(path)).st_mode
    except FileNotFoundError:
        return "is not there"
    except OSError as failure:
        return f"cannot be used: {failure.strerror}"
    return "is a directory" if stat.S_ISDIR(mode) else "is no directory"


def unknown_option(line: "CommandLine", name: str, word: str) -> tuple[str, str | None]:
    """Return what is wrong with an option of `word` that is not declared, and the remedy."""
    if name in ("--help", "-h"):
        hint = f"for help: {line.program} {line.command} --help"
        return f"{name} must be the only argument", hint
    known = [one for one in line.options if one.startswith("--")]
    return f"unknown option {shown(name)}", nearest(word, known) or None


def unfit(line: "CommandLine", text: str, hint: str | None) -> UsageError:
    """Return the error for words that do not fit: see `CommandLine.unfit`."""
    if hint is None:
        hint = f"usage: {line.program} {line.command} {usage_of(line.arguments)}".rstrip()
    return UsageError(Problem(line.command, text, hint))


def nearest(word: str, names: "Sequence[str]") -> str:
    """Return the remedy for a word that is like one of `names` or begins it; else ""."""
    from host.run.suggestions import closest

    begun = [one for one in names if word.strip("-") and one.startswith(word)]
    near = [*closest(word, names), *begun]
    return f"did you mean {near[0]}?" if near else ""


def usage_of(arguments: "Iterable[Argument]") -> str:
    """Return the arguments as they stand in a usage line: `<env> [--count N] [files...]`."""
    return " ".join([one.usage for one in arguments])


def term(argument: Argument) -> str:
    """Return how an argument stands in a table: `env`, `-f, --force N`, `--[no-]cache`."""
    name = f"--[no-]{argument.name[2:]}" if argument.negatable else argument.name
    names = f"{argument.short}, {name}" if argument.short else name
    return f"{names} {argument.value}".rstrip()


def explanation(argument: Argument) -> str:
    """Return what an argument is for, and in brackets what it takes."""
    option = argument.option
    texts = (
        (argument.choices, f"one of {', '.join(argument.choices)}"),
        (argument.choices_from, f"one of the lines that {argument.choices_from} prints"),
        (argument.pattern, f"matches {argument.pattern}"),
        (argument.secret, "secret"),
        (option and argument.repeats, "may be repeated"),
        (argument.conflicts, f"not with {', '.join(argument.conflicts)}"),
        (argument.effects, f"effects: {argument.effects}"),
        (argument.env, f"env: {argument.env}"),
        (argument.default is not None, f"default: {argument.default or EMPTY}"),
    )
    facts = ["required"] if option and argument.required else []
    facts += [argument.type] if argument.type not in ("", "string") else []
    facts += [text for holds, text in texts if holds]
    if not facts:
        return argument.description
    return f"{argument.description} ({'; '.join(facts)})".lstrip()
