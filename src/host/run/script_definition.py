"""Read the definition in a script: its first comments, and a block of JSON.

    #!/bin/bash
    # Copy the database to staging.
    # /// command
    # {"args": [{"name": "tables..."}], "confirm": "Overwrite staging?"}
    # ///

Only the first 16 KiB are read. A run loads this module only for a script.
"""

from host.errors import DefinitionError, Problem
from host.run import basename
from host.run.json_file import Fields, parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MOST_READ = 16 * 1024  # bytes
_MARKS = ("#", "//", "--", ";")
_BEGIN, _END = "/// command", "///"
_SUMMARIES = ("summary:", "description:", "mise description=", "[mise] description=", "@describe ")
_NO_PROSE = (  # beginnings of lines that are for programs, not for people
    *("!", "@", "-*-", "shellcheck ", "vim:", "vi:", "ex:", "coding:", "coding=", "mise "),
    *("[mise]", "eslint", "pylint:", "noqa", "type:", "mypy:", "ruff:", "rubocop:"),
    "frozen_string",
)
_BLOCKS = {'"""': '"""', "'''": "'''", "/*": "*/"}  # delimiters of docstrings and block comments
_LICENCE = ("copyright", "(c) ", "©", "spdx-", "license", "licence")


class ScriptComments:
    """The comments that define a command, in the script or binary at `path`.

    Raises FileNotFoundError if the file is missing.
    """

    def __init__(self, path: str) -> None:
        content = _head(path)
        text = "" if b"\0" in content else content.decode(errors="backslashreplace")
        lines = text.splitlines()
        self._path = path
        self._lines = lines if _BEGIN.encode() in content else []  # [] without a block of JSON
        self._summary, self.usage = _described(lines)

    def values(self) -> "dict[str, Any]":
        """Return the keys and values of the definition. Raises DefinitionError."""
        text = block_text(self._lines, self._path)
        block = {}
        if text.strip():
            values = parse_json(self._path, text.encode("utf-8", "surrogatepass"))
            block = Fields(self._path, values).values
        name = basename(self._path)
        return {"description": self._summary, **block, "name": None, "entrypoint": name}

    @property
    def text(self) -> str:
        """The text that defines the command: summary, usage and the block of JSON."""
        block = [one.rstrip() for one in block_text(self._lines).splitlines() if one.strip()]
        return "\n".join([self._summary, self.usage, *block])

    def with_position(self, problem: Problem) -> Problem:
        """Return `problem` with the line and column of its key in the script."""
        if problem.line:
            return problem
        from host.run.json_errors import offsets_of_keys, position_of_key

        text = block_text(self._lines)
        line, column = position_of_key(text, dict(offsets_of_keys(text)), problem.key)
        return Problem(problem.path, problem.text, problem.remedy, problem.key, line, column)


def block_text(lines: "list[str]", path: str = "") -> str:
    """Return the block of JSON, or "" if there is none. Raises DefinitionError if it is not closed.

    Other lines become empty and comment marks become blanks, so lines and columns are unchanged.
    The error names `path`.
    """
    found: list[str] = []
    begun = 0
    for number, line in enumerate(lines, 1):
        mark, text = _comment(line)
        if not begun:
            begun = number if mark and text.strip() == _BEGIN else 0
            found.append("")
        elif not mark:
            break
        elif text.strip() == _END:
            return "\n".join(found)
        else:
            found.append(" " * (len(line) - len(text)) + text)
    if begun:
        remedy = f"end it with a comment line: {_END}"
        raise DefinitionError(Problem(path, "this block is not closed", remedy, line=begun))
    return ""


def _head(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(_MOST_READ)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError:
        return b""  # starting the script reports the error


def _comment(line: str) -> tuple[str, str]:
    """Return the mark and text of a comment, or "" and the whole line if it is not a comment."""
    bare = line.lstrip()
    mark = next((one for one in _MARKS if bare.startswith(one)), "")
    text = bare.removeprefix(mark)
    return mark, text.removeprefix(" ") if mark else line


def _described(lines: "list[str]") -> tuple[str, str]:
    """Return the summary and the usage in the first comments of a script; each may be ""."""
    summary = usage = prose = before = ""
    in_licence = False
    for text in _first_comments(lines):
        low = text.lower()
        key, sign, value = text.partition("=")
        has_words = any(map(str.isalnum, text))
        if not has_words or low.startswith(_LICENCE):
            in_licence = has_words and not low.startswith("spdx-")  # an SPDX tag has one line
        elif start := next((one for one in _SUMMARIES if low.startswith(one)), ""):
            summary = summary or text[len(start) :].strip().strip("\"'")
        elif sign and ":" in key and " " not in key:  # a tag such as `tool:summary=…`
            summary = summary or (value.strip().strip("\"'") if key.endswith(":summary") else "")
        elif low.startswith("usage:") or before == "usage:":
            usage = usage or (text if before == "usage:" else text[6:].strip())
        elif not (prose or in_licence or low.startswith(_NO_PROSE)):
            prose = text
        before = low
    return summary or prose, usage


def _first_comments(lines: "list[str]") -> "Iterator[str]":
    """Yield the texts of the comments and the docstring above a script's first line of code.

    A blank line between comments yields "". Blank lines in docstrings and block comments are left
    out, so that a licence stays one paragraph. Metadata (`# /// script`) is also left out.
    """
    in_block, end = False, ""
    for number, line in enumerate(lines):
        start = next((one for one in _BLOCKS if not end and line.startswith(one)), "")
        mark, text = _comment(line)
        if start or end:
            end = end or _BLOCKS[start]
            inside, closed, _ = line.removeprefix(start).partition(end)
            yield from [""] if start else []
            yield from filter(None, [inside.strip("* \t")])
            end = "" if closed else end
        elif mark and text.startswith("///"):
            in_block = text.strip() != _END
        elif in_block or (number == 0 and line.startswith("#!")) or line.startswith("<?php"):
            continue
        elif mark or not line.strip():
            yield text.lstrip("#/;").strip()
        else:
            return
