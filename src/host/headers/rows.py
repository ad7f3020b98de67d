"""Split the beginning of a script into the lines of its header, each with its kind."""

from host.headers.prose_rules import is_directive, is_licence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = tuple[str, str]  # kind, text

MARKS = ("#", "//", "--", ";")
BLOCK_END = "///"
# A line of the header: its kind and its text.
COMMENT = "comment"
LOCAL = "local comment"  # about the code below it; only its tags count
SETTLED = "settled comment"  # below a line such as `set -e`
LATE = "late comment"  # below an assignment; only the tags of other tools count
DOCSTRING = "docstring"
GAP = "gap"  # an empty line of the file
CODE = "code"
SETTING = "setting"  # a line such as `set -e`
TAG = "tag"  # a dialect has read it
SKIP = "skip"  # a usage was here: a line that continues it is not the description
_DOCSTRINGS = {'"""': '"""', "'''": "'''", "/*": "*/"}
_FILE = ("This script", "This file", "This program", "This tool", "This is")
_NO_COMMENTS = ("#!", "# shellcheck")
# Lines of a shell that may stand above tags, beside assignments.
_SETTINGS = (
    "set -",
    "set +",
    "shopt -",
    "'use strict'",
    '"use strict"',
    "use strict",
    "use warnings",
)


def header_rows(lines: "Sequence[str]") -> "list[Row]":
    """Return the rows of a script's header, for dialects and for prose."""
    return _without_local_comments([*all_rows(lines)], lines)


def all_rows(lines: "Sequence[str]") -> "Iterator[Row]":
    """Yield the kind and text of each line above the first line of code; CODE ends a comment block.

    The last item is CODE if code follows directly. Blocks such as `# /// script` are left out.
    """
    in_block = False
    end = ""  # the delimiter that ends the docstring
    kind = COMMENT
    for number, line in enumerate(lines):
        start = "" if end else _beginning(line, _DOCSTRINGS)
        if start:
            yield GAP, ""
            end = _DOCSTRINGS[start]
        if end:
            inside, closed, _ = line.removeprefix(start).partition(end)
            # Blank lines stay inside, so that a licence is one paragraph.
            yield DOCSTRING, _line_of_docstring(inside, start, end)
            if closed:
                end = ""
            continue

        bare = line.lstrip()
        mark = _beginning(bare, MARKS)
        text = bare.removeprefix(mark).removeprefix(" ")
        if mark and text.startswith(BLOCK_END):
            in_block = text.strip() != BLOCK_END
        elif in_block or _begins_program(line, number):
            continue
        elif mark:
            yield kind, _text_of(bare, mark)
        elif not bare:
            yield GAP, ""
        else:
            code_kind, kind = _kinds_of(bare, kind)
            yield code_kind, bare
            if not kind:
                return


def _kinds_of(code: str, kind: str) -> tuple[str, str]:
    """Return the kind of a line of code, and of the comments below it, or "" if none count.

    A setting may have a condition: `[[ $TRACE ]] && set -x`.
    `kind` is that of the comments above.
    """
    if code.startswith(_SETTINGS) or code.endswith("set -x"):
        return SETTING, LATE if kind == LATE else SETTLED
    return CODE, LATE if _is_assignment(code) else ""


def _begins_program(line: str, number: int) -> bool:
    """Return whether a line is a shebang or PHP's first one; `number` is 0 for the first line."""
    if line.startswith("<?php"):
        return True
    return number == 0 and line.startswith("#!")


def _beginning(line: str, beginnings: "Iterable[str]") -> str:
    """Return which of `beginnings` a line has, or ""."""
    for beginning in beginnings:
        if line.startswith(beginning):
            return beginning
    return ""


def _line_of_docstring(inside: str, start: str, end: str) -> str:
    """Return a line without the stars that frame a comment in C: ` * Copy a table`."""
    if end != "*/":
        return inside
    text = inside
    if start == "/*":
        text = text.strip("*")

    bare = text.lstrip()
    if bare.startswith("*"):
        text = bare[1:]
    return text.removeprefix(" ")


def _without_local_comments(rows: "list[Row]", lines: "Sequence[str]") -> "list[Row]":
    """Return the rows; a comment about the code directly below it is only read for tags.

    Such a comment stands below an empty line. The first one of the file is about it only above a
    function, or if `lines` have two more. Below a line such as `set -e`, it is any comment directly
    above code.
    """
    result: list[Row] = []
    for kind, text in rows:
        if kind not in (CODE, SETTING):
            result.append((kind, text))
            continue

        # The block of comments above the code is `result[start:end]`.
        end = _begin_of_kind((GAP,), result, len(result))
        start = _begin_of_kind((COMMENT, SETTLED), result, end)
        if _is_local(result, start, end, kind, text, lines):
            for index in range(start, end):
                _, line = result[index]
                result[index] = (LOCAL, line)
        result.append((GAP, ""))
    return [(COMMENT if kind == SETTLED else kind, text) for kind, text in result]


def _is_local(
    rows: "list[Row]",
    start: int,
    end: int,
    kind: str,
    code: str,
    lines: "Sequence[str]",
) -> bool:
    """Return whether the comments `rows[start:end]` are about the code below them."""
    if start == end or kind == SETTING:
        return False
    is_adjacent = end == len(rows)
    last_kind, _ = rows[end - 1]
    if last_kind == SETTLED:
        return is_adjacent

    above = rows[:start]
    if not above or above[-1][0] != GAP:
        return False
    block = [text for _, text in rows[start:end]]
    if not is_adjacent:
        return _is_title(block, code)
    if _has_header(above) or _is_function(code):
        return True
    is_about_file = "" in block or block[0].startswith(_FILE)
    return not is_about_file and _are_steps_explained(lines)


def _has_header(rows: "Sequence[Row]") -> bool:
    """Return whether a comment is neither a licence nor for programs."""
    block: list[str] = []
    for kind, text in [*rows, (GAP, "")]:
        if kind in (COMMENT, DOCSTRING):
            block.append(text.lower())
            continue
        is_licence_here = any(map(is_licence, block))
        if not is_licence_here and not all(map(is_directive, filter(None, block))):
            return True
        block = []
    return False


def _are_steps_explained(lines: "Sequence[str]") -> bool:
    """Return whether several comments, each below an empty line, stand directly above code."""
    count = 0
    above = ""
    is_comment = False  # of which the line above is the last
    for line in lines:
        begins = line.startswith(MARKS) and not line.startswith(_NO_COMMENTS)
        if line and is_comment and not begins:
            count += 1
        is_comment = begins and (is_comment or above.strip() == "")
        above = line
    return count > 2


def _begin_of_kind(kinds: "tuple[str, ...]", rows: "list[Row]", end: int) -> int:
    """Return where the rows of these kinds begin that end before the index `end`."""
    begin = end
    while begin > 0 and rows[begin - 1][0] in kinds:
        begin -= 1
    return begin


def _is_title(block: "list[str]", code: str) -> bool:
    """Return whether a comment is the title of the function below it.

    Such a comment is one line with empty ones at its top and bottom.
    """
    is_framed = len(block) > 2 and block[0] == "" and block[-1] == ""
    return is_framed and len(list(filter(None, block))) == 1 and _is_function(code)


def _is_assignment(code: str) -> bool:
    """Return whether a line of a shell only assigns a variable: `API_KEY=""`."""
    name, equals, value = code.partition("=")
    if not equals or not name.isidentifier():
        return False
    return not value.startswith(("=", "$(", "`"))  # a comparison, or a program runs


def _is_function(code: str) -> bool:
    if code.startswith("function "):
        return True
    _, _, after = code.partition("(")
    return after.startswith(")")


def _text_of(comment: str, mark: str) -> str:
    """Return a comment without its marks, and without the `#` that ends a line of a frame."""
    text = comment.removeprefix(mark).lstrip(mark[0])
    if text.startswith(("/ ", "? ", "# ")):  # `#/ Usage: …`, `##? Copy a table`
        text = text[1:]
    if text.startswith("USAGE "):  # with a blank before it, it is a word of prose
        text = f"[USAGE]{text.removeprefix('USAGE')}"
    text = text.removeprefix(" ").rstrip()
    if not text.endswith("#"):
        return text

    bare = text.rstrip("#").rstrip("-=*")
    is_framed = comment.startswith("##") or bare.endswith("  ")
    return bare.rstrip() if is_framed else text
