"""Split the beginning of a script into the lines of its header, each with its kind."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


MARKS = ("#", "//", "--", ";")
BLOCK_END = "///"
# A line of the header: its kind and its text.
COMMENT = "comment"
LOCAL = "local comment"  # about the code below it; only its tags count
# after a line such as `set -e`; only the tags of other tools count
LATE = "late comment"
DOCSTRING = "docstring"
GAP = "gap"  # an empty line of the file
CODE = "code"
_DOCSTRINGS = {'"""': '"""', "'''": "'''", "/*": "*/"}
# Lines of a shell that may stand above tags, beside assignments.
_SETTINGS = ("set -", "set +", "shopt -")


def header_lines(lines: "Sequence[str]") -> "Iterator[tuple[str, str]]":
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
            yield CODE, bare
            may_stand_above_tags = bare.startswith(_SETTINGS) or _is_assignment(bare)
            if not may_stand_above_tags:
                return
            kind = LATE


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


def without_local_comment(rows: "list[tuple[str, str]]") -> "list[tuple[str, str]]":
    """Return the rows; a comment directly above code, below an empty line, is only read for tags.

    Such a comment explains that code, not the script.
    """
    result: list[tuple[str, str]] = []
    for kind, text in rows:
        if kind != CODE:
            result.append((kind, text))
            continue

        # The block of comments above the code is `result[start:end]`.
        end = _begin_of_kind(GAP, result, len(result))
        start = _begin_of_kind(COMMENT, result, end)
        if _begin_of_kind(GAP, result, start) < start:  # it is below an empty line
            is_adjacent = end == len(result)
            if is_adjacent or _is_title(result[start:end], text):
                for index in range(start, end):
                    _, line = result[index]
                    result[index] = (LOCAL, line)
        result.append((GAP, ""))
    return result


def _begin_of_kind(kind: str, rows: "list[tuple[str, str]]", end: int) -> int:
    """Return where the rows of one kind begin that end before the index `end`."""
    begin = end
    while begin > 0 and rows[begin - 1][0] == kind:
        begin -= 1
    return begin


def _is_title(block: "list[tuple[str, str]]", code: str) -> bool:
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


def _is_function(code: str) -> bool:
    if code.startswith("function "):
        return True
    _, _, after = code.partition("(")
    return after.startswith(")")


def _text_of(comment: str, mark: str) -> str:
    """Return a comment without its marks, and without the `#` that ends a line of a frame."""
    text = comment.removeprefix(mark).lstrip(mark[0])
    if text.startswith("USAGE "):  # with a blank before it, it is a word of prose
        text = f"[USAGE]{text.removeprefix('USAGE')}"
    text = text.removeprefix(" ").rstrip()
    if not text.endswith("#"):
        return text

    bare = text.rstrip("#").rstrip("-=*")
    if bare.endswith("  "):
        return bare.rstrip()
    return text
