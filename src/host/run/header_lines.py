"""Split the beginning of a script into the lines of its header, each with its kind."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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
        bare = line.lstrip()
        start = next(
            (start for start in _DOCSTRINGS if not end and line.startswith(start)), ""
        )
        if start or end:
            if start:
                yield GAP, ""
            end = end or _DOCSTRINGS[start]
            inside, closed, _ = line.removeprefix(start).partition(end)
            text = inside.strip("*") if start == "/*" else inside
            if end == "*/" and text.lstrip().startswith("*"):
                text = text.lstrip()[1:]
            # Blank lines stay inside, so that a licence is one paragraph.
            yield DOCSTRING, text.removeprefix(" ") if end == "*/" else text
            end = "" if closed else end
            continue
        mark = next((mark for mark in MARKS if bare.startswith(mark)), "")
        text = bare.removeprefix(mark).removeprefix(" ")
        if mark and text.startswith(BLOCK_END):
            in_block = text.strip() != BLOCK_END
        elif (
            in_block
            or (number == 0 and line.startswith("#!"))
            or line.startswith("<?php")
        ):
            continue
        elif mark:
            yield kind, _text_of(bare, mark)
        elif not bare:
            yield GAP, ""
        else:
            yield CODE, bare
            if not bare.startswith(_SETTINGS) and not _is_assignment(bare):
                return
            kind = LATE


def without_local_comment(rows: "list[tuple[str, str]]") -> "list[tuple[str, str]]":
    """Return the rows; a comment directly above code, below an empty line, is only read for tags.

    Such a comment explains that code, not the script.
    """
    found: list[tuple[str, str]] = []
    for kind, text in rows:
        if kind != CODE:
            found.append((kind, text))
            continue
        end = len(found)
        while end and found[end - 1][0] == GAP:
            end -= 1
        start = end
        while start and found[start - 1][0] == COMMENT:
            start -= 1
        block = found[start:end]
        is_below_gap = start > 0 and found[start - 1][0] == GAP
        # A comment with empty lines at its top and bottom is the title of the function below it.
        is_title = (
            len(block) > 1 and not (block[0][1] or block[-1][1]) and _is_function(text)
        )
        if is_below_gap and (end == len(found) or is_title):
            found[start:end] = [(LOCAL, line) for _, line in block]
        found.append((GAP, ""))
    return found


def _is_assignment(code: str) -> bool:
    """Return whether a line of a shell only assigns a variable: `API_KEY=""`."""
    name, equals, value = code.partition("=")
    return (
        equals != "" and name.isidentifier() and not value.startswith(("=", "$(", "`"))
    )


def _is_function(code: str) -> bool:
    return code.startswith("function ") or code.partition("(")[2].startswith(")")


def _text_of(comment: str, mark: str) -> str:
    """Return a comment without its marks, and without the `#` that ends a line of a frame."""
    text = comment.removeprefix(mark).lstrip(mark[0])
    if text.startswith("USAGE "):  # with a blank before it, it is a word of prose
        text = f"[USAGE]{text.removeprefix('USAGE')}"
    text = text.removeprefix(" ").rstrip()
    if not text.endswith("#"):
        return text
    bare = text.rstrip("#").rstrip("-=*")
    return bare.rstrip() if bare.endswith("  ") else text
