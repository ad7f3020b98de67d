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
    form, output, file = given["ARG_FORMAT"], given.get("ARG_OUTPUT"), given.get("ARG_INJECT")
    if not output and not file:
        raise UsageError("nothing to write; give --output DIR or --inject FILE")
    if file and form != "markdown":
        raise UsageError("--inject requires --format markdown")
    commands = _chosen(program, given)
    wanted: dict[Path, str | None] = {}
    if output:
        wanted |= _pages(program, commands, form, Path(output))
    if file:
        wanted[Path(file)] = _injected(Path(file), markdown_blocks(overview(program, commands)))
    stale = [path for path, text in wanted.items() if not _is_same(_read(path), text)]
    if given["ARG_CHECK"] == "true":
        if stale:
            names = ", ".join(map(str, sorted(stale)))
            raise OperationError(f"stale: {names}", "run the same command without --check")
        return 0
    for path in stale:
        _write(path, wanted[path], Path(output or "."))
    program.messages.line(f"files: {len(wanted)}, changed: {len(stale)}")
    return 0


def _chosen(program: Program, given: dict[str, str]) -> list[Command]:
    names = [given[f"ARG_CATEGORY_{n}"] for n in range(1, int(given["ARG_CATEGORY_COUNT"]) + 1)]
    commands = visible_commands(program)
    for name in names:
        if name not in {one.words[0] for one in commands}:
            raise UsageError(f"{name}: there is no such category")
    return [one for one in commands if not names or one.words[0] in names]


def _pages(
    program: Program, commands: Sequence[Command], form: str, output: Path
) -> dict[Path, str | None]:
    """Map each page's path to its text, or to None if it is an obsolete page to remove."""
    path_of, text_of = FORMATS[form]
    if form == "man":
        pages = make_man_pages(program, commands, date_of_version(program.root))
    else:
        pages = make_pages(program, commands)
    found = [(output / path_of(page), text_of(page)) for page in pages]
    wanted: dict[Path, str | None] = dict(found)
    if len(wanted) < len(found):
        paths = [path for path, _ in found]
        twice = next(path for path in paths if paths.count(path) > 1)
        raise OperationError(f"{twice}: two pages would have this name", "use another --format")
    for path in wanted:
        if path.exists() and not _is_made(path):
            raise OperationError(f"{path} was not made by `docs build`", "choose another --output")
    endings = {path.suffix for path in wanted}
    existing = (one for one in output.rglob("*") if one.suffix in endings and one.is_file())
    return {**{path: None for path in existing if _is_made(path)}, **wanted}


def _is_made(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return any(MADE in file.readline() for _ in range(2))


def _injected(file: Path, text: str) -> str:
    """Return the file's content with `text` between its markers; raises OperationError."""
    found = re.fullmatch(f"(.*{BEGIN}).*({END}.*)", _read(file) or "", re.DOTALL)
    if found is None:
        raise OperationError(f"{file} has no markers", f"add two lines: {BEGIN}, {END}")
    return f"{found[1]}\n\n{text}\n{found[2]}"


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
