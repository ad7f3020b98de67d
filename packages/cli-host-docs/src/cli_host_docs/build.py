"""`docs build`: pages in a directory, and a list of commands in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cli_host_docs.facts import visible_commands
from cli_host_docs.formats import FORMATS, MADE, markdown_blocks
from cli_host_docs.pages import make_man_pages, make_pages, overview
from cli_host_docs.version_date import date_of_version
from host import Command, OperationError, Program, UsageError

_DATE = re.compile(r'(?<= 1 ")[\d-]*(?=" "[^"]*" "User commands"$)', re.MULTILINE)
BEGIN, END = "<!-- commands begin -->", "<!-- commands end -->"


def main(arguments: Sequence[str]) -> int:
    """Write stale files; return the exit status, which is 1 if a definition is invalid."""
    program = Program.current()
    own_command = program.find(program.words)
    values = program.arguments(own_command, arguments)
    output = values.get("ARG_OUTPUT", "")
    file = values.get("ARG_INJECT", "")
    texts = _texts(program, values, output, file)
    # The definitions were read now, with a warning for each that is invalid.
    lacks_commands = bool(program.messages.warned)

    stale = []
    for path, text in texts.items():
        if not _is_same(_read(path), text):
            stale.append(path)

    for path in stale:
        _write(path, texts[path], Path(output))
    program.messages.line(f"files: {len(texts)}, changed: {len(stale)}")
    return 1 if lacks_commands else 0


def _texts(
    program: Program, values: dict[str, str], output: str, file: str
) -> dict[Path, str | None]:
    """Map each file to its text, or to None if it is an obsolete page. Raises UsageError."""
    form = values["ARG_FORMAT"]
    if not output and not file:
        raise UsageError("nothing to write; give --output DIR or --inject FILE")
    if file and form != "markdown":
        raise UsageError("--inject requires --format markdown")

    commands = _chosen(program, values)
    texts: dict[Path, str | None] = {}
    if output:
        texts |= _pages(program, commands, form, Path(output))
    if file:
        list_of_commands = markdown_blocks(overview(program, commands))
        path = Path(file)
        texts[path] = _injected(path, list_of_commands)
    return texts


def _chosen(program: Program, values: dict[str, str]) -> list[Command]:
    """Return the commands in the categories that the user names, or all commands."""
    commands = visible_commands(program)
    count = int(values["ARG_CATEGORY_COUNT"])
    names = []
    for number in range(1, count + 1):
        names.append(values[f"ARG_CATEGORY_{number}"])
    if not names:
        return commands

    categories = {command.words[0] for command in commands}
    for name in names:
        if name not in categories:
            raise UsageError(f"{name}: there is no such category")
    return [command for command in commands if command.words[0] in names]


def _pages(
    program: Program, commands: Sequence[Command], form: str, output: Path
) -> dict[Path, str | None]:
    """Map each page's path to its text, or to None if it is an obsolete page to remove."""
    path_of, text_of = FORMATS[form]
    if form == "man":
        pages = make_man_pages(program, commands, date_of_version(program.root))
    else:
        pages = make_pages(program, commands)

    texts: dict[Path, str | None] = {}
    for page in pages:
        path = output / path_of(page)
        if path in texts:
            what = f"{path}: two pages would have this name"
            raise OperationError(what, "use another --format")
        # The user may have pages of the same name, which must not be lost.
        if path.exists() and not _is_made(path):
            what = f"{path} was not made by `docs build`"
            raise OperationError(what, "choose another --output")
        texts[path] = text_of(page)

    for path in _obsolete(output, texts):
        texts[path] = None
    return texts


def _obsolete(output: Path, pages: Mapping[Path, object]) -> list[Path]:
    """Return the pages of an earlier call that are no longer among `pages`."""
    endings = {path.suffix for path in pages}
    obsolete = []
    for path in output.rglob("*"):
        if path in pages or path.suffix not in endings:
            continue
        if path.is_file() and _is_made(path):
            obsolete.append(path)
    return obsolete


def _is_made(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        # In a page of HTML, the first line is the doctype.
        beginning = file.readline() + file.readline()
    return MADE in beginning


def _injected(file: Path, text: str) -> str:
    """Return the file's content with `text` between its markers; raises OperationError."""
    former = _read(file) or ""
    parts = re.fullmatch(f"(.*{BEGIN}).*({END}.*)", former, re.DOTALL)
    if parts is None:
        raise OperationError(f"{file} has no markers", f"add two lines: {BEGIN}, {END}")
    return f"{parts[1]}\n\n{text}\n{parts[2]}"


def _read(path: Path) -> str | None:
    """Return the text of a file, or None if there is no file. Raises OperationError."""
    try:
        if not path.exists():
            return None
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise OperationError(f"{path}: {failure}") from None


def _is_same(old: str | None, new: str | None) -> bool:
    """Return whether a file needs no change. The date of a man page alone is no change."""
    if old is None or new is None:
        return old == new
    old_without_date = _DATE.sub("", old, count=1)
    new_without_date = _DATE.sub("", new, count=1)
    return old_without_date == new_without_date


def _write(path: Path, text: str | None, output: Path) -> None:
    """Write a file, or remove it and the folders below `output` that it leaves empty."""
    try:
        if text is None:
            path.unlink()
            _remove_empty(path.parent, output)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
    except OSError as failure:
        raise OperationError(f"{path}: {failure.strerror}") from None


def _remove_empty(folder: Path, output: Path) -> None:
    while folder != output and output in folder.parents:
        try:
            folder.rmdir()
        except OSError:
            return  # other files are in it
        folder = folder.parent
