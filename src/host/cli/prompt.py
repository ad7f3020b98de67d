"""Prompt on a terminal for required arguments that are missing."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence

from host.cli.completion import NONE, read_typed, values_of
from host.errors import UsageError
from host.run.argument_parser import HIDDEN, CommandLine, MissingArgumentsError
from host.run.argument_spec import Argument, explanation
from host.run.definition import Definition
from host.run.interrupts import RaisedInterrupts
from host.run.nested import outer_runs
from host.run.questions import can_ask
from host.run.text import encode, printable


def ask_missing(
    missing: MissingArgumentsError,
    definition: Definition,
    args: Sequence[str],
    environ: Mapping[str, str],
    *,
    may_ask: bool,
    shows_line: bool = True,
) -> tuple[list[str], dict[str, str]]:
    """Ask for the missing arguments; return the words with the answers, and the variables.

    With `shows_line`, the whole command line is shown after the answers. Raises `missing` if no
    user can be asked, or if the user gives no answer.
    """
    if outer_runs(environ) or not can_ask(may_ask=may_ask):
        raise missing
    line = missing.line
    _say(f"{line.program}: {missing.what}")
    required = [argument for argument in definition.args if argument.required]
    asked = [argument for argument in required if argument.name not in line.texts]
    with RaisedInterrupts():
        for argument in asked:
            line.texts[argument.name] = [_answer(line, definition, argument, missing)]
    line.check()
    words = _whole_line(line, asked, args)
    if shows_line:
        shown = _whole_line(line, asked, masked_words(definition.args, args))
        _say(shlex.join([line.program, *line.command.split(), *shown]))
    return words, line.variables()


def _answer(
    line: CommandLine, definition: Definition, argument: Argument, missing: UsageError
) -> str:
    """Ask for one argument; return its text."""
    name = argument.bare_name
    about = explanation(argument)
    _say(f"{name}: {about}" if about else name)
    offer = values_of(argument, definition)
    words = [word for word, _ in offer.candidates]
    if argument.choices_from and words:
        _say("  " + "  ".join(words))
    while True:
        try:
            if argument.secret:
                text = _read_secret(f"{name}: ")
            else:
                text = read_line(f"{name}: ", None if offer.beside != NONE else words)
        except EOFError:
            os.write(2, b"\n")
            raise missing from None
        try:
            line.check_text(argument, text)
            if text:
                return text
        except UsageError as error:
            _say(error.problem.text)


def _read_secret(prompt: str) -> str:
    import getpass

    return getpass.getpass(prompt)


def read_line(prompt: str, words: Sequence[str] | None) -> str:
    """Read a line from the terminal; Tab completes `words`, or paths if `words` is None.

    Raises EOFError for Ctrl-D, and KeyboardInterrupt for Ctrl-C within `RaisedInterrupts`.
    """
    import readline

    def complete(text: str, index: int) -> str | None:
        fitting = [word for word in words or () if word.startswith(text)]
        return fitting[index] if index < len(fitting) else None

    readline.set_completer(None if words is None else complete)  # None completes paths
    readline.set_completer_delims("\n")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    readline.set_auto_history(False)
    saved = os.dup(1)
    os.dup2(2, 1)  # stdout may be a pipe, and `input` uses readline only on a terminal
    try:
        return input(prompt)
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


def _whole_line(
    line: CommandLine, asked: Sequence[Argument], args: Sequence[str]
) -> list[str]:
    """Return the command line that the user would type to give the same answers, except secrets.

    Secret answers are passed only in ARG_… variables. To keep every position right, a
    positional argument before an answer is included even if its value is from the environment.
    """
    options: list[str] = []
    for argument in asked:
        if argument.option and not argument.secret:
            for text in line.texts[argument.name]:
                joined = text.startswith("-")
                options += (
                    [f"{argument.name}={text}"] if joined else [argument.name, text]
                )
    positional = [argument for argument in line.arguments if not argument.option]
    asked_positional = [argument for argument in asked if not argument.option]
    last = max(
        [positional.index(argument) + 1 for argument in asked_positional], default=0
    )
    loose: list[str] = []
    ends_options = False
    for argument in positional[len(line.loose) : last]:
        if argument.secret:
            continue
        for text in line.texts[argument.name]:
            loose.append(text)
            is_option = text.startswith("-") and not line.is_negative(text)
            ends_options = ends_options or (is_option and not argument.passthrough)
    if line.ended and positional and positional[-1].passthrough:
        return [*options, *args, *loose]  # behind the words, options would be passed on
    if line.ended:
        end = args.index("--")
        return [*args[:end], *options, *args[end:], *loose]
    if ends_options:
        loose.insert(0, "--")
    return [*args, *options, *loose]


def _say(text: str) -> None:
    os.write(2, encode(printable(text) + "\n"))


def masked_words(arguments: Sequence[Argument], args: Sequence[str]) -> list[str]:
    """Return the words of a command line with `********` in place of each secret text."""
    # an option that repeats keeps all of its values
    repeating = [
        argument.replaced(repeats=argument.option or argument.repeats)
        for argument in arguments
    ]
    line = CommandLine(repeating, args)
    read_typed(line)
    try:
        line.assign_loose()
    except UsageError:
        pass
    secrets: list[str] = []
    for argument in arguments:
        if argument.secret:
            secrets += line.texts.get(argument.name, ())
    return [word if word == "--" else _masked(word, secrets) for word in args]


def _masked(word: str, secrets: Sequence[str]) -> str:
    for secret in filter(None, secrets):
        if word == secret or (word.startswith("-") and word.endswith(secret)):
            return word.removesuffix(secret) + HIDDEN
    return word
