"""The prompt for required arguments that are missing, on a terminal (CONTRACT 12)."""

from __future__ import annotations

import os
import shlex
import sys

from host.cli.completion import DIRECTORIES, NONE, read_typed, values_of
from host.errors import UsageError
from host.run.argument_parser import CommandLine
from host.run.argument_spec import Argument
from host.run.argument_text import explanation
from host.run.confirm import is_attended
from host.run.environment import RUN
from host.run.interrupts import RaisedInterrupts
from host.run.text import decode, encode, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from host.run.argument_parser import MissingArgumentsError
    from host.run.command import Definition

_MASK = "********"
_LONGEST_LINE = 4096  # bytes; what a terminal hands on at once


def ask_missing(
    missing: MissingArgumentsError,
    definition: Definition,
    args: Sequence[str],
    environ: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """Ask for what is missing; return the whole words and the variables of all arguments.

    Raises `missing` itself where nobody can be asked, or if the user gives no answer.
    """
    if environ.get("CI") or RUN in environ or not is_attended():
        raise missing
    line = missing.line
    _say(f"{line.program}: {missing.what}")
    asked = [one for one in definition.args if one.required and one.name not in line.texts]
    with RaisedInterrupts():
        for argument in asked:
            line.texts[argument.name] = _answers(line, definition, argument, missing)
    line.check()
    words = _whole_line(line, asked, args)
    shown = masked_words(definition.args, words)
    _say(shlex.join([line.program, *line.command.split(), *shown]))
    return words, line.variables()


def _answers(
    line: CommandLine, definition: Definition, argument: Argument, missing: UsageError
) -> list[str]:
    """Return the text of an argument, or the texts of one that repeats."""
    about = explanation(argument)
    ends = " (an empty line ends)" if argument.repeats else ""
    _say(f"{argument.bare_name}: {about}{ends}" if about or ends else argument.bare_name)
    offer = values_of(argument, definition, lambda *_: ())
    if argument.choices_from and offer.candidates:
        _say("  " + "  ".join(word for word, _ in offer.candidates))
    found: list[str] = []
    while True:
        text = _read(f"{argument.bare_name}: ", argument, definition, missing)
        if not text and found:
            return found
        if not text:
            continue
        try:
            line.check_text(argument, text)
        except UsageError as error:
            _say(error.problem.text)
            continue
        found.append(text)
        if not argument.repeats:
            return found


def _read(prompt: str, argument: Argument, definition: Definition, missing: UsageError) -> str:
    try:
        if argument.secret:
            return _read_hidden(prompt)
        return _read_line(prompt, lambda text: _candidates(argument, definition, text))
    except EOFError:
        os.write(2, b"\n")
        raise missing from None


def _candidates(argument: Argument, definition: Definition, text: str) -> list[str]:
    """Return what can stand for the `text` that is typed so far: as Tab offers it in a shell."""
    offer = values_of(argument, definition, lambda *_: ())
    found = [word for word, _ in offer.candidates if word.startswith(text)]
    if offer.beside == NONE:
        return found
    import glob

    paths = glob.glob(glob.escape(os.path.expanduser(text)) + "*")
    paths = [f"{path}/" if os.path.isdir(path) else path for path in sorted(paths)]
    return found + [one for one in paths if offer.beside != DIRECTORIES or one.endswith("/")]


def _read_line(prompt: str, candidates: Callable[[str], list[str]]) -> str:
    """Read a line, edited and completed by readline; stdout may be a pipe, so it is stderr."""
    try:
        import readline
    except ImportError:
        readline = None  # type: ignore[assignment]  # some builds of Python lack it
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        if readline:
            found: list[str] = []

            def complete(text: str, state: int) -> str | None:
                if not state:
                    found[:] = candidates(text)
                return found[state] if state < len(found) else None

            readline.set_completer(complete)
            readline.set_completer_delims("\n")
            libedit = "libedit" in (readline.__doc__ or "")
            readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
            readline.set_auto_history(False)
        return input(prompt)
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


def _read_hidden(prompt: str) -> str:
    """Read a line that the terminal does not echo."""
    import termios

    before = termios.tcgetattr(0)
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    os.write(2, encode(prompt))
    try:
        termios.tcsetattr(0, termios.TCSAFLUSH, quiet)
        text = os.read(0, _LONGEST_LINE)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        os.write(2, b"\n")
    if not text.endswith(b"\n"):
        raise EOFError
    return decode(text[:-1])


def _whole_line(line: CommandLine, asked: Iterable[Argument], args: Sequence[str]) -> list[str]:
    """Return the words as if the answers had been typed, too; secrets are in ARG_… alone."""
    options: list[str] = []
    loose: list[str] = []
    for argument in asked:
        texts = () if argument.secret else line.texts[argument.name]
        if not argument.option:
            loose += texts
            continue
        for text in texts:
            joined = text.startswith("-")
            options += [f"{argument.name}={text}"] if joined else [argument.name, text]
    if line.ended:
        end = args.index("--")
        return [*args[:end], *options, *args[end:], *loose]
    ends = any(one.startswith("-") and not line.is_negative(one) for one in loose)
    return [*args, *options, *(["--"] if ends else []), *loose]


def _say(text: str) -> None:
    os.write(2, encode(printable(text) + "\n"))


def masked_words(arguments: Sequence[Argument], args: Sequence[str]) -> list[str]:
    """Return the words of a command line with `********` for each text of a secret argument."""
    every = [Argument(**{**vars(one), "repeats": one.option or one.repeats}) for one in arguments]
    line = CommandLine(every, args)  # has all values of an option, not only the last
    read_typed(line)
    try:
        line.place()
    except UsageError:
        pass
    secrets = [text for one in arguments if one.secret for text in line.texts.get(one.name, ())]
    return [_masked(word, [one for one in secrets if one]) for word in args]


def _masked(word: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        if word == secret or (word.startswith("-") and word.endswith(secret)):
            return word.removesuffix(secret) + _MASK
    return word
