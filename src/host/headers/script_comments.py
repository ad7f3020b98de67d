"""Read the definition in a script: its first comments, and a block of JSON.

    #!/bin/bash
    # Copy the database to staging.
    # /// command
    # {"args": [{"name": "tables..."}], "confirm": "Overwrite staging?"}
    # ///

Only the first 16 KiB are read. A run loads this module only for a script.
"""

from host.errors import DefinitionError, Problem
from host.files.json_file import Fields, parse_json
from host.files.paths import basename

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.headers.prose import Prose

_MOST_READ = 16 * 1024  # bytes
_MARKS = ("#", "//", "--", ";")
_BEGIN = "/// command"
_END = "///"


class ScriptComments:
    """The comments that define a command, in the script or binary at `path`.

    usage        the lines of the script's usage
    words        a free text that describes the arguments in place of declared ones, or ""
    is_checked   whether a run checks the arguments that tags declare
    has_block    whether it has a block of JSON
    has_arguments  whether tags declare arguments, and the block of JSON does not
    ignored      the tags that have no equivalent

    Raises FileNotFoundError if the file is missing.
    """

    def __init__(self, path: str) -> None:
        content = _head(path)
        lines: list[str] = []
        is_binary = b"\0" in content
        if not is_binary:
            lines = content.decode(errors="backslashreplace").splitlines()

        self._path = path
        # Most scripts have no block of JSON, so their lines need not be searched again.
        self._lines = lines if _BEGIN.encode() in content else []
        self.has_block = any(map(_begins_block, self._lines))
        self._prose: Prose | None = None
        self._values: dict[str, Any] = {"description": ""}
        self._effective: Sequence[str] = ()

        self.usage = ""
        self.words = ""
        self.is_checked = True
        self.has_arguments = False
        self.ignored: Sequence[str] = ()

        if lines:
            self._read_header(lines)

    def _read_header(self, lines: "list[str]") -> None:
        from host.headers.dialects import Header

        name = basename(self._path)
        header = Header(name, lines)
        if any(text for _, text in header.rows):
            from host.headers.prose import Prose

            self._prose = Prose(header.rows, name)
            self._values["description"] = self._prose.description
        self._values |= header.values
        self._effective = header.effective
        self.usage = "\n".join(header.usage)
        self.words = header.words
        self.is_checked = header.is_checked
        self.has_arguments = "args" in header.values
        self.ignored = header.ignored

    def values(self) -> "dict[str, Any]":
        """Return the keys and values of the definition. Raises DefinitionError."""
        keys = dict(self._values)
        for key, value in self._block().items():
            if value is None:
                continue  # null is the same as an absent key
            keys[key] = value
            if key == "args":
                # The block's arguments take the place of those of the tags.
                self.is_checked = True
                self.has_arguments = False

        # The block of a script cannot set these two.
        keys["name"] = None
        keys["entrypoint"] = basename(self._path)
        return keys

    def _block(self) -> "dict[str, Any]":
        """Return the keys and values of the block of JSON. Raises DefinitionError."""
        text = block_text(self._lines, self._path)
        if not text.strip():
            return {}
        content = text.encode("utf-8", "surrogatepass")
        return Fields(self._path, parse_json(self._path, content)).values

    @property
    def paragraphs(self) -> "list[list[str]]":
        """The lines of the header for a help page that begins with the description."""
        if self._prose is None:
            return []
        return self._prose.paragraphs(self._values["description"])

    @property
    def text(self) -> str:
        """The text that defines the command: summary, usage, effective tags, the block of JSON."""
        parts = [self._values["description"], self.usage, *self._effective]
        for line in block_text(self._lines).splitlines():
            if line.strip():
                parts.append(line.rstrip())
        return "\n".join(parts)

    def with_position(self, problem: Problem) -> Problem:
        """Return `problem` with the line and column of its key in the script."""
        if problem.line:
            return problem
        from host.files.json_errors import offsets_of_keys, position_of_key

        text = block_text(self._lines)
        offsets = dict(offsets_of_keys(text))
        line, column = position_of_key(text, offsets, problem.key)
        return Problem(
            problem.path, problem.text, problem.remedy, problem.key, line, column
        )


def block_text(lines: "list[str]", path: str = "") -> str:
    """Return the block of JSON, or "" if there is none. Raises DefinitionError if it is not closed.

    Other lines become empty and comment marks become blanks, so lines and columns are unchanged.
    The error names `path`.
    """
    result: list[str] = []
    begun = 0  # the number of the line that begins the block
    for number, line in enumerate(lines, 1):
        mark, text = _comment(line)
        if not begun:
            if _begins_block(line):
                begun = number
            result.append("")
        elif not mark:
            break
        elif text.strip() == _END:
            return "\n".join(result)
        else:
            blanks = " " * (len(line) - len(text))
            result.append(blanks + text)
    if not begun:
        return ""

    what = "this block is not closed"
    remedy = f"end it with a comment line: {_END}"
    raise DefinitionError(Problem(path, what, remedy, line=begun))


def _begins_block(line: str) -> bool:
    mark, text = _comment(line)
    return mark != "" and text.strip() == _BEGIN


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
    for mark in _MARKS:
        if bare.startswith(mark):
            return mark, bare.removeprefix(mark).removeprefix(" ")
    return "", line
