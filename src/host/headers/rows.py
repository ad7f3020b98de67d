"""Split the beginning of a script into the lines of its header, each with its kind."""

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
    return without_local_comment([*all_rows(lines)])


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

    `kind` is that of the comments above.
    """
    if code.startswith(_SETTINGS):
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


def without_local_comment(rows: "list[Row]") -> "list[Row]":
    """Return the rows; a comment about the code directly below it is only read for tags.

    Such a comment stands below an empty line, and is not the first one of the file. Below a line
    such as `set -e`, it is any comment directly above code.
    """
    result: list[Row] = []
    for kind, text in rows:
        if kind not in (CODE, SETTING):
            result.append((kind, text))
            continue

        # The block of comments above the code is `result[start:end]`.
        end = _begin_of_kind((GAP,), result, len(result))
        start = _begin_of_kind((COMMENT, SETTLED), result, end)
        if _is_local(result, start, end, kind, text):
            for index in range(start, end):
                _, line = result[index]
                result[index] = (LOCAL, line)
        result.append((GAP, ""))
    return [(COMMENT if kind == SETTLED else kind, text) for kind, text in result]


def _is_local(rows: "list[Row]", start: int, end: int, kind: str, code: str) -> bool:
    """Return whether the comments `rows[start:end]` are about the code below them."""
    if start == end or kind == SETTING:
        return False
    is_adjacent = end == len(rows)
    last_kind, _ = rows[end - 1]
    if last_kind == SETTLED:
        return is_adjacent

    above = [above_kind for above_kind, _ in rows[:start]]
    if not above or above[-1] != GAP:
        return False
    is_first = not {COMMENT, DOCSTRING}.intersection(above)
    if is_adjacent and (not is_first or _is_named(code)):
        return True
    return _is_title(rows[start:end], code)


def _begin_of_kind(kinds: "tuple[str, ...]", rows: "list[Row]", end: int) -> int:
    """Return where the rows of these kinds begin that end before the index `end`."""
    begin = end
    while begin > 0 and rows[begin - 1][0] in kinds:
        begin -= 1
    return begin


def _is_title(block: "list[Row]", code: str) -> bool:
    """Return whether a comment is the title of the function below it.

    Such a comment has empty lines at its top and bottom.
    """
    if len(block) < 2:
        return False
    if not _is_function(code):
        return False

    _, first = block[0]
    _, last = block[-1]
    return first == "" and last == ""


def _is_assignment(code: str) -> bool:
    """Return whether a line of a shell only assigns a variable: `API_KEY=""`."""
    name, equals, value = code.partition("=")
    if not equals or not name.isidentifier():
        return False
    return not value.startswith(("=", "$(", "`"))  # a comparison, or a program runs


def _is_named(code: str) -> bool:
    """Return whether a line begins a function or sets a constant, which the comment is about."""
    name, equals, _ = code.partition("=")
    return _is_function(code) or (
        equals != "" and name.isidentifier() and name.isupper()
    )


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
