"""Prompt on a terminal for required arguments that are missing."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence

from host.arguments.parser import CommandLine, MissingArgumentsError
from host.arguments.secret_words import masked_words
from host.arguments.spec import Argument, explanation
from host.asking.terminal import can_ask
from host.catalog.definition import Definition
from host.errors import UsageError
from host.processes.own_interrupts import RaisedInterrupts
from host.tab.candidates import NONE, values_of
from host.text import encode, printable
from host.variables.nested import outer_runs


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

    asked = []
    for argument in definition.args:
        if argument.required and argument.name not in line.texts:
            asked.append(argument)
    with RaisedInterrupts():
        for argument in asked:
            answer = _answer(line, definition, argument, missing)
            line.texts[argument.name] = [answer]
    line.check()

    words = _whole_line(line, asked, args)
    if shows_line:
        masked_args = masked_words(definition, args)
        shown = _whole_line(line, asked, masked_args, is_shown=True)
        command = line.command.split()
        _say(shlex.join([line.program, *command, *shown]))
    return words, line.variables()


def _answer(
    line: CommandLine, definition: Definition, argument: Argument, missing: UsageError
) -> str:
    """Ask for one argument; return its text."""
    name = argument.bare_name
    meaning = explanation(argument)
    if meaning:
        _say(f"{name}: {meaning}")
    else:
        _say(name)

    # Fixed choices are part of the explanation; those of a program are shown here.
    offer = values_of(argument, definition)
    candidates = [word for word, _ in offer.candidates]
    if argument.choices_from and candidates:
        _say("  " + "  ".join(candidates))

    completed: list[str] | None = candidates
    if offer.beside != NONE:
        completed = None  # Tab completes paths

    while True:
        try:
            if argument.secret:
                text = _read_secret(f"{name}: ")
            else:
                text = read_line(f"{name}: ", completed)
        except EOFError:
            os.write(2, b"\n")
            raise missing from None

        try:
            line.check_text(argument, text)
        except UsageError as error:
            _say(error.problem.text)
        else:
            if text:
                return text


def _read_secret(prompt: str) -> str:
    import getpass

    return getpass.getpass(prompt)


def read_line(prompt: str, words: Sequence[str] | None) -> str:
    """Read a line from the terminal; Tab completes `words`, or paths if `words` is None.

    Raises EOFError for Ctrl-D, and KeyboardInterrupt for Ctrl-C within `RaisedInterrupts`.
    """
    import readline

    candidates = words or ()

    def complete(text: str, index: int) -> str | None:
        fitting = [word for word in candidates if word.startswith(text)]
        if index < len(fitting):
            return fitting[index]
        return None

    if words is None:
        readline.set_completer(None)  # readline itself completes paths
    else:
        readline.set_completer(complete)
    readline.set_completer_delims("\n")

    # On macOS, Python's readline is libedit, which has another notation.
    documentation = readline.__doc__ or ""
    if "libedit" in documentation:
        readline.parse_and_bind("bind ^I rl_complete")
    else:
        readline.parse_and_bind("tab: complete")
    readline.set_auto_history(False)

    # stdout may be a pipe, and `input` uses readline only on a terminal.
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        return input(prompt)
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)


def _whole_line(
    line: CommandLine,
    asked: Sequence[Argument],
    args: Sequence[str],
    *,
    is_shown: bool = False,
) -> list[str]:
    """Return the command line that the user would type to give the same answers, except secrets.

    Secret answers are passed only in ARG_… variables. To keep every position right, a
    positional argument before an answer is included even if its value is from the environment.
    With `is_shown`, the value of a secret variable is masked.
    """
    options = _option_words(line, asked)

    # The positional arguments from the first that is not on the line to the last answer.
    positional = [argument for argument in line.arguments if not argument.option]
    end = 0
    for argument in asked:
        if not argument.option:
            end = max(end, positional.index(argument) + 1)

    loose: list[str] = []
    needs_dashes = False
    for argument in positional[len(line.loose) : end]:
        if argument.secret:
            continue
        for text in line.texts[argument.name]:
            shown = line.shown(argument, text)
            loose.append(shown if is_shown else text)
            if _looks_like_option(line, argument, text):
                needs_dashes = True

    if not line.ended:
        if needs_dashes:
            loose.insert(0, "--")
        return [*args, *options, *loose]

    # Behind the words of the line, options would be passed on.
    if positional and positional[-1].passthrough:
        return [*options, *args, *loose]

    # Only `--` ends the options otherwise.
    dashes = args.index("--")
    before = args[:dashes]
    behind = args[dashes:]
    return [*before, *options, *behind, *loose]


def _looks_like_option(line: CommandLine, argument: Argument, text: str) -> bool:
    """Return whether the text of a positional argument would be taken for an option."""
    if argument.passthrough:
        return False
    return text.startswith("-") and not line.is_negative(text)


def _option_words(line: CommandLine, asked: Sequence[Argument]) -> list[str]:
    """Return the words of the options that were asked for, without secrets."""
    words: list[str] = []
    for argument in asked:
        if not argument.option or argument.secret:
            continue
        for text in line.texts[argument.name]:
            # As a word of its own, such a value would be taken for an option.
            if text.startswith("-"):
                words.append(f"{argument.name}={text}")
            else:
                words += [argument.name, text]
    return words


def _say(text: str) -> None:
    os.write(2, encode(printable(text) + "\n"))
