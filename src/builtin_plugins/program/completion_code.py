"""`self completion`: print or install the code that a shell needs.

The words that Tab offers come from `host.tab.candidates`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.library.files.atomic import write_file
from builtin_plugins.program.shells import SHELLS, path_of, shell_of
from builtin_plugins.self_commands.decorator import argument, self_command
from builtin_plugins.self_commands.templates import fill_template
from host import HostError
from host.catalog.catalog import Catalog
from host.catalog.contents import contents
from host.session.definition_index import DefinitionIndex
from host.session.session import Session


@self_command(
    "completion",
    "Set up Tab completion for your shell",
    argument(
        "shell", required=True, choices=["bash", "zsh", "fish", "nushell", "elvish"]
    ),
    argument("--install", "Set up completion for every new shell."),
    argument("--uninstall", "Undo --install.", conflicts=["--install", "--key"]),
    argument(
        "--key",
        "Also bind Ctrl-G to `self pick`, which puts a command line into the prompt.",
    ),
)
def completion(
    session: Session, shell: str, install: bool, uninstall: bool, key: bool
) -> None:
    """Print or install the code that lets SHELL complete this program's commands.

    Without an option, the code is printed; load it into the current shell with eval or
    source. If the installation has commands that change the calling shell, the code for
    bash, zsh and fish contains the function that they need.
    """
    program = session.program
    environ = session.environ
    path = start_up_file(shell, program, environ)

    if install:
        install_completion(shell, program, environ, key=key)
        session.show_lines(f"installed in {path}; open a new shell")
    elif uninstall:
        remove_completion(shell, program, environ)
        session.show_lines(f"removed from {path}")
    else:
        code = completion_code(shell, program, key=key)
        if has_shell_commands(session):
            # Not every shell has a template for the function.
            code += fill_template("shell_function", NAME=program).get(shell, "")
        session.show(code)


def completion_code(shell: str, program: str, *, key: bool = False) -> str:
    """Return the code that lets a shell complete the program's commands.

    With `key`, the code also binds Ctrl-G to `self pick`.
    """
    code = fill_template("completion", NAME=program)[shell]
    if key:
        code += fill_template("key", NAME=program)[shell]
    return code


def has_shell_commands(session: Session) -> bool:
    """Return whether a command of the installation changes the calling shell.

    Problems are not reported, because a start-up file of the shell calls this.
    """
    try:
        index = DefinitionIndex(session.installation)
        catalog = Catalog(session.lock_for_inspection, index.read_definition)
        listing = contents(catalog, (), deep=True)
        if not session.safe:
            index.save()

        # A category may have an entrypoint, and so be a command as well.
        names = [command.words for command in listing.commands]
        for category in listing.categories:
            if category.runnable:
                names.append(category.words)

        for words in names:
            definition = catalog.find(words).definition
            if definition is not None and definition.shell:
                return True
    except HostError:
        return False
    return False


def start_up_file(shell: str, program: str, environ: Mapping[str, str]) -> str:
    """Return the start-up file that loads completion; some shells have a file for each program."""
    return path_of(SHELLS[shell].file, program, environ)


def completes(shell: str, program: str, environ: Mapping[str, str]) -> bool:
    """Return whether the shell loads completion when it starts; False if a file is unreadable."""
    for path in _files(shell, program, environ):
        with suppress(OSError):
            if _has_our_lines(path, program):
                return True
    return False


def uncompleted_shell(program: str, environ: Mapping[str, str]) -> str:
    """Return the caller's shell if it can complete `program`, but does not yet; otherwise ""."""
    shell = shell_of(environ)
    if not shell:
        return ""
    if completes(shell, program, environ):
        return ""
    return shell


def install_completion(
    shell: str, program: str, environ: Mapping[str, str], *, key: bool = False
) -> None:
    """Add completion for new shells; with `key`, also the key for `self pick`. Raises OSError."""
    path = start_up_file(shell, program, environ)
    code = _code_of_file(shell, program, key=key).encode()
    ours = code.splitlines(keepends=True)

    # An earlier version used another file; the code must not be loaded twice.
    for file in _files(shell, program, environ):
        if file != path:
            _remove_lines(file, program)

    lines = ours
    # If the shell's file has no line that loads the code, the whole file is ours.
    if SHELLS[shell].line:
        before = _lines(path)
        if set(ours).issubset(before):
            return
        lines = _others(before, program) + ours

    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_file(os.path.realpath(path), b"".join(lines))


def _others(lines: list[bytes], program: str) -> list[bytes]:
    """Return the lines that are not the program's, each with a line break."""
    others = [line for line in lines if not _is_ours(line, program)]
    if others and not others[-1].endswith(b"\n"):
        others[-1] += b"\n"
    return others


def remove_completion(shell: str, program: str, environ: Mapping[str, str]) -> None:
    """Remove completion for new shells; delete a file in which nothing is left. Raises OSError."""
    for file in _files(shell, program, environ):
        if SHELLS[shell].line:
            _remove_lines(file, program)
        elif _has_our_lines(file, program):
            os.unlink(file)


def _remove_lines(path: str, program: str) -> None:
    lines = _lines(path)
    others = [line for line in lines if not _is_ours(line, program)]
    if others == lines:
        return

    # A file of its own, such as acme.fish, exists only for this line.
    is_own_file = os.path.basename(path).startswith(f"{program}.")
    if is_own_file and not others:
        os.unlink(path)
    else:
        write_file(os.path.realpath(path), b"".join(others))


def _files(shell: str, program: str, environ: Mapping[str, str]) -> Iterator[str]:
    for file in (SHELLS[shell].file, SHELLS[shell].former):
        if file:
            yield path_of(file, program, environ)


def _lines(path: str) -> list[bytes]:
    try:
        return Path(path).read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []


def _code_of_file(shell: str, program: str, *, key: bool) -> str:
    """Return what the start-up file contains for a program: a line, or the whole code."""
    line = SHELLS[shell].line
    if not line:
        return completion_code(shell, program, key=key)

    options = " --key" if key else ""
    loads = line.format(program=program, options=options)
    return f"{loads} {_mark(program).decode()}\n"


def _mark(program: str) -> bytes:
    return f"# completion of {program}".encode()


def _is_ours(line: bytes, program: str) -> bool:
    text = line.rstrip(b"\n")
    mark = _mark(program)
    if text == mark:
        return True
    return text.endswith(mark) and b"self completion" in text


def _has_our_lines(path: str, program: str) -> bool:
    return any(_is_ours(line, program) for line in _lines(path))
