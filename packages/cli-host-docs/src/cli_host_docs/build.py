"""`docs build`: pages in a directory, a list of commands in a file, or a check of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cli_host_docs.facts import visible_commands
from cli_host_docs.formats import FORMATS, MADE, markdown_blocks
from cli_host_docs.pages import make_man_pages, make_pages, overview
from cli_host_docs.version_date import date_of_version
from host import Command, OperationError, Program, UsageError

_DATE = re.compile(r'(?<= 1 ")[\d-]*(?=" "[^"]*" "User commands"$)', re.MULTILINE)
BEGIN, END = "<!-- commands begin -->", "<!-- commands end -->"


def main(arguments: Sequence[str]) -> int:
    """Write stale files or, with `--check`, report them; return the exit status."""
    program = Program.current()
    given = program.arguments(program.find(program.words), arguments)
    form = given["ARG_FORMAT"]
    output = given.get("ARG_OUTPUT")
    file = given.get("ARG_INJECT")
    if not output and not file:
        raise UsageError("nothing to write; give --output DIR or --inject FILE")
    if file and form != "markdown":
        raise UsageError("--inject requires --format markdown")
    commands = _chosen(program, given)

    texts: dict[Path, str | None] = {}
    if output:
        texts |= _pages(program, commands, form, Path(output))
    if file:
        texts[Path(file)] = _injected(
            Path(file), markdown_blocks(overview(program, commands))
        )

    stale = [path for path, text in texts.items() if not _is_same(_read(path), text)]
    if given["ARG_CHECK"] == "true":
        if stale:
            names = ", ".join(map(str, sorted(stale)))
            raise OperationError(
                f"stale: {names}", "run the same command without --check"
            )
        return 0
    for path in stale:
        _write(path, texts[path], Path(output or "."))
    program.messages.line(f"files: {len(texts)}, changed: {len(stale)}")
    return 0


def _chosen(program: Program, given: dict[str, str]) -> list[Command]:
    names = [
        given[f"ARG_CATEGORY_{n}"]
        for n in range(1, int(given["ARG_CATEGORY_COUNT"]) + 1)
    ]
    commands = visible_commands(program)
    categories = {command.words[0] for command in commands}
    for name in names:
        if name not in categories:
            raise UsageError(f"{name}: there is no such category")
    if not names:
        return commands
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
            raise OperationError(
                f"{path}: two pages would have this name", "use another --format"
            )
        if path.exists() and not _is_made(path):
            raise OperationError(
                f"{path} was not made by `docs build`", "choose another --output"
            )
        texts[path] = text_of(page)

    endings = {path.suffix for path in texts}
    for path in output.rglob("*"):
        if (
            path not in texts
            and path.suffix in endings
            and path.is_file()
            and _is_made(path)
        ):
            texts[path] = None
    return texts


def _is_made(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return any(MADE in file.readline() for _ in range(2))


def _injected(file: Path, text: str) -> str:
    """Return the file's content with `text` between its markers; raises OperationError."""
    parts = re.fullmatch(f"(.*{BEGIN}).*({END}.*)", _read(file) or "", re.DOTALL)
    if parts is None:
        raise OperationError(f"{file} has no markers", f"add two lines: {BEGIN}, {END}")
    return f"{parts[1]}\n\n{text}\n{parts[2]}"


def _read(path: Path) -> str | None:
    """Return the text of a file, or None if there is no file. Raises OperationError."""
    try:
        return path.read_bytes().decode("utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as failure:
        raise OperationError(f"{path}: {failure}") from None


def _is_same(old: str | None, new: str | None) -> bool:
    """Return whether a file needs no change. The date of a man page alone is no change."""
    if old is None or new is None:
        return old == new
    return _DATE.sub("", old, count=1) == _DATE.sub("", new, count=1)


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
