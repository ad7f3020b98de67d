"""`self pick`: choose a command on the terminal and run it."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from builtin_plugins.self_commands.decorator import WORDS, argument, self_command
from host import Command, OperationError, Program
from host.arguments.parser import MissingArgumentsError, parse
from host.asking.prompt import ask_missing, read_line
from host.caller import caller_words
from host.catalog.contents import command_of
from host.launch.shell_file import OPTION
from host.processes.programs import find_program
from host.projects.trust import is_trusted
from host.session.lookup import find_whole
from host.session.session import Session
from host.text import encode, printable
from host.text_width import shortened, width_of

_CANCELLED = 130  # as a shell reports Ctrl-C
_NO_MATCH = 1  # the exit status of fzf
_COLUMNS = 80  # if its width is unknown
_NUMBER_WIDTH = 5  # columns of the number in front of a row
# fzf quotes {1}, the words of the row. They are plain words, so the shell only splits them.
_PREVIEW = 'set -f; words={1}; exec "$CLI_PICK_PROGRAM" $CLI_PICK_OPTIONS help $words'


@self_command(
    "pick",
    "Choose a command on the terminal and run it",
    {**WORDS, "required": False},
    argument("--print", "Print the command line instead of running it."),
    hidden=True,  # rarely needed, so only `--all` lists it
)
def pick(session: Session, words: tuple[str, ...], print: bool) -> int:
    """Choose a command on the terminal; answer its questions, see its command line, and run it.

    WORDS limit the choice to one category. If fzf is on PATH, it shows the commands and
    their help pages. Otherwise there is a numbered list, and one question: type a
    number or the words of a command, which Tab completes. Ctrl-C or Ctrl-D ends.
    """
    if not session.can_ask:
        why = session.why_not_asked
        raise OperationError(f"nothing can be picked, because {why}")

    chosen = _chosen(session, words)
    if chosen is None:
        return _CANCELLED

    if print:
        arguments = _asked_arguments(session, chosen)
        line = shlex.join([session.program, *chosen.words, *arguments])
        session.show_lines(line)
        return 0

    # A run that asks for arguments shows its line after the questions.
    if _missing(session, chosen) is None:
        _say(shlex.join([session.program, *chosen.words]))
    _run(session, chosen.words)
    return 0


def _chosen(session: Session, words: tuple[str, ...]) -> Command | None:
    """Return the command that `words` name, or let the user choose one of their category."""
    match = find_whole(session, words)
    if match.kind == "command":
        return command_of(match)

    commands = session.listed(words, deep=True).commands
    if not commands:
        raise OperationError("there is no command to pick")
    return _choose(session, commands)


def _choose(session: Session, commands: Sequence[Command]) -> Command | None:
    """Return the command that the user picks, or None if the user cancels."""
    fzf = find_program("fzf", session.environ)
    if fzf is not None:
        try:
            return _choose_in_fzf(session, fzf, commands)
        except OSError as failure:
            # An old or broken fzf: our own list serves the user better than an error.
            _say(f"fzf: {failure.strerror}")

    try:
        return _choose_in_list(session, commands)
    except EOFError:
        _say("")
        return None


def _choose_in_fzf(
    session: Session, fzf: str, commands: Sequence[Command]
) -> Command | None:
    """Let the user choose in fzf. Raises OSError if fzf cannot be used here."""
    colours = "always" if session.messages.colours(2) else "never"
    options = [*_switches(session), "--color", colours]
    environ = {
        **session.environ,
        "SHELL": "/bin/sh",  # fzf starts the preview with it
        "CLI_PICK_PROGRAM": _launcher(session),
        "CLI_PICK_OPTIONS": shlex.join(options),
    }

    argv = [
        fzf,
        "--layout=reverse",
        "--height=80%",
        "--tabstop=1",
        "--no-multi",
        "--delimiter=\t",
        "--preview",
        _PREVIEW,
        "--preview-window=down,60%,wrap",
    ]

    rows = "\n".join(_rows(session, commands))
    finished = subprocess.run(
        argv,
        input=encode(rows),
        stdout=subprocess.PIPE,
        env=environ,
        check=False,
    )

    if finished.returncode == _CANCELLED:
        return None
    if finished.returncode == _NO_MATCH:
        raise OperationError("no command was picked")

    # fzf prints the chosen row, which starts with the command's words and a tab.
    row = finished.stdout.decode("utf-8", "replace")
    first, _, _ = row.partition("\t")
    words = tuple(first.split())
    for command in commands:
        if command.words == words:
            return command
    raise OSError(0, f"failed with status {finished.returncode}")


def _choose_in_list(session: Session, commands: Sequence[Command]) -> Command | None:
    """Let the user type a number or words. Raises EOFError if the user closes the input."""
    columns = _COLUMNS
    with suppress(OSError):
        columns = os.get_terminal_size(2).columns or _COLUMNS  # some report a size of 0
    rows = _rows(session, commands, columns - _NUMBER_WIDTH)
    for number, row in enumerate(rows, 1):
        _say(f"{number:>{_NUMBER_WIDTH - 2}}  {row}".replace("\t", " "))

    names = [" ".join(command.words) for command in commands]
    text = read_line("number: ", names).strip()
    if text == "":
        return None
    if text in names:
        return commands[names.index(text)]
    if text.isdecimal() and 1 <= int(text) <= len(commands):
        return commands[int(text) - 1]
    raise OperationError(f"{text}: expected a number from 1 to {len(commands)}")


def _rows(
    session: Session, commands: Sequence[Command], columns: int | None = None
) -> list[str]:
    """Return a row for each command: its padded words, a tab, its description and marks.

    With `columns`, a row has at most that many: its description is shortened, but not its marks.
    """
    names = [" ".join(command.words) for command in commands]
    width = max(map(width_of, names), default=0)
    room = None
    if columns is not None:
        room = columns - width - len("\t ")

    rows = []
    for name, command in zip(names, commands, strict=True):
        about = _about(session, command, room)
        row = f"{name.ljust(width)}\t {about}"
        if columns is not None:
            row = shortened(row, columns)  # the name alone may be too long
        rows.append(row)
    return rows


def _about(session: Session, command: Command, columns: int | None) -> str:
    """Return a command's description and marks; only the description is shortened."""
    description = printable(command.definition.description)
    marks = ""
    for mark in command.indicators(session.terminal):
        marks += f" {mark}"
    if columns is not None:
        room = columns - width_of(marks)
        description = shortened(description, max(room, 1))
    return f"{description}{marks}".lstrip()


def _missing(session: Session, chosen: Command) -> MissingArgumentsError | None:
    """Return what a run without arguments has to ask for, or None."""
    declared = chosen.definition.args
    try:
        parse(declared, (), session.program, chosen.words, session.run_environ)
    except MissingArgumentsError as missing:
        return missing
    return None


def _asked_arguments(session: Session, chosen: Command) -> list[str]:
    """Ask for the missing arguments, as a run does, and return the arguments.

    A secret is not printed, so the run itself asks. It also asks if its project is not trusted yet,
    because the choices of an argument may come from a program of the project.
    """
    definition = chosen.definition
    missing = _missing(session, chosen)
    if missing is None:
        return []

    for declared in definition.args:
        if declared.secret and declared.required:
            return []
    if definition.project is not None and not is_trusted(definition):
        return []

    words, _ = ask_missing(
        missing,
        definition,
        (),
        session.environ,
        may_ask=session.may_ask,
        shows_line=False,
    )
    return words


def _run(session: Session, words: Sequence[str]) -> None:
    """Replace this process with an ordinary run of the command."""
    launcher = _launcher(session)
    argv = [launcher]
    if session.shell_file:
        argv += [OPTION, session.shell_file]
    argv += _switches(session)
    argv += words

    environ = {}
    for name, value in session.environ.items():
        environ[encode(name)] = encode(value)
    encoded = [encode(word) for word in argv]
    os.execve(launcher, encoded, environ)


def _switches(session: Session) -> list[str]:
    """Return the global options of this call that a run takes, too."""
    switches = []
    if session.safe:
        switches.append("--safe")
    if session.assume_yes:
        switches.append("--yes")
    return switches


def _launcher(session: Session) -> str:
    """Return the path of the program as the user called it. Raises MissingError."""
    called = os.path.abspath(caller_words()[0])
    is_launcher = os.path.basename(called) == session.program
    if is_launcher and os.access(called, os.X_OK):
        return called

    # The call was another one, such as `python -m host`.
    return Program(session).executable


def _say(text: str) -> None:
    os.write(2, encode(f"{printable(text)}\n"))
