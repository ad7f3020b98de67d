"""Read a script's header: the comments and the docstring above its first line of code.

    #!/bin/sh
    # Summary: Copy a table to staging        <- a tag
    # Usage: copy TABLE                        <- the usage
    #
    # Stops the replication while it copies.   <- prose

`host.headers.header_lines` splits the file into lines, `header_tags` recognizes tags, and
`header_prose` what is no description. `host.headers.script_tags` says what the tags mean. A run
loads these modules for each command in a script, so they use no regular expressions.
"""

from host.headers.header_lines import (
    COMMENT,
    DOCSTRING,
    GAP,
    LATE,
    LOCAL,
    header_lines,
    without_local_comment,
)
from host.headers.header_prose import (
    begins_examples,
    continues,
    first_sentence,
    is_address,
    is_directive,
    is_heading,
    is_licence,
    is_origin,
    is_prose,
)
from host.headers.header_tags import ARGC, SUB, SUMMARIES, tag_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.headers.header_tags import Tag

# Tags that the next lines describe further.
_OVER_LINES = ("arg", "option", "flag", "env")
_USAGE_INDENT = "  "
_MOST_BLANK_LINES = 2  # in a usage
# Between a script's name and its summary.
_DASHES = (" - ", ": ", " -- ", " : ", " \u2013 ", " \u2014 ")
_SKIP = "skip"  # a usage was here: up to an empty line, nothing is the description


class Header:
    """The header of a script.

    tags         its tags in order: (dialect, name, value)
    usage        the lines of its usage, without `Usage:`
    description  the first sentence of its prose, or ""
    """

    def __init__(self, lines: "Sequence[str]", name: str) -> None:
        self.tags: list[Tag] = []
        self.usage: list[str] = []
        self._name = name.lower()
        self._owner = ""  # the name of the tag in the line above
        self._in_licence = False  # in a paragraph of a licence's text
        self._has_licence = False  # directly below a licence
        self._rows: list[tuple[str, str]] = []  # (kind, text) of each line for people
        self._read(without_local_comment([*header_lines(lines)]))
        self.description = self._first_sentence()

    def _read(self, rows: "list[tuple[str, str]]") -> None:
        index = 0
        while index < len(rows):
            kind, text = rows[index]
            index += 1
            tag = _tag_in(kind, text)
            if tag is None:
                self._read_text(kind, text)
                continue

            self._in_licence = False
            self._drop_headings()  # of the tags
            dialect, name, value = tag
            self._owner = ""
            if dialect in (ARGC, SUB):
                self._owner = name

            if (dialect, name) == (SUB, "usage"):
                index = self._read_usage(value, rows, index)
                self._rows.append((_SKIP, ""))
            elif (dialect, name) == (SUB, "help"):
                self._rows += [(GAP, ""), (kind, value)]
            else:
                self.tags.append(tag)
            if (dialect, name) == (ARGC, "cmd"):
                return  # everything below belongs to a command of the script

    def _drop_headings(self) -> None:
        """Remove the headings at the end of the lines for people."""
        while self._rows:
            _, text = self._rows[-1]
            if not is_heading(text):
                return
            self._rows.pop()

    def _read_text(self, kind: str, text: str) -> None:
        """Read a line that is no tag."""
        bare = text.strip()
        if bare and self._continues(text):
            dialect, name, value = self.tags[-1]
            self.tags[-1] = (dialect, name, f"{value} {bare}".strip())
            return

        self._owner = ""
        if kind in (LOCAL, LATE):
            return  # such a comment is about the code below it

        has_words = any(map(str.isalnum, bare))
        if not has_words:
            self._rows.append((GAP, ""))
            # A licence ends at an empty line, but in a docstring only with the docstring.
            is_gap_of_docstring = kind == DOCSTRING and bare == ""
            if not is_gap_of_docstring:
                self._in_licence = False
            return

        low = bare.lower()
        # The text of a licence fills its paragraph, and an address may follow.
        if is_licence(low):
            self._in_licence = not low.startswith("spdx-")  # such a tag has one line
            self._has_licence = True
        elif self._in_licence or (self._has_licence and is_address(bare)):
            return
        elif not is_directive(low):
            self._has_licence = False
            self._rows.append((kind, text))

    def _continues(self, text: str) -> bool:
        """Return whether a line belongs to the tag above it."""
        if self._owner in SUMMARIES:
            return text.startswith(_USAGE_INDENT)
        return self._owner in _OVER_LINES

    def _read_usage(self, value: str, rows: "list[tuple[str, str]]", index: int) -> int:
        """Read the usage from the line after `Usage:`; return the index of the line after it.

        Further lines are indented. If `Usage:` stands alone, the lines up to an empty one count.
        """
        usage: list[str] = []
        is_indented = False
        if value:
            usage.append(value)
            is_indented = True

        following: list[str] = []
        while index < len(rows):
            kind, text = rows[index]
            if kind == GAP or tag_of(text) is not None:
                break

            if text.startswith((_USAGE_INDENT, "\t")):
                is_indented = True
            elif text.strip():
                is_prose_next = is_indented or "" in following
                if is_prose_next:
                    break
            elif usage or following:
                # A few blank lines are part of a usage if it goes on behind them.
                near = rows[index : index + _MOST_BLANK_LINES + 1]
                if not _first_text(near).startswith(_USAGE_INDENT):
                    break

            line = text.expandtabs()
            following.append(line.rstrip())
            index += 1

        usage += _without_margin(following)
        self.usage += _without_blank_ends(usage)
        return index

    def paragraphs(self, description: str) -> "list[list[str]]":
        """Return the lines for a help page that shows `description` above them.

        Tags, usage, licences, directives, the script's own name and headings with nothing below
        them are left out; so is the description, if the prose begins with it.
        """
        paragraphs = _without_empty_headings(self._paragraphs_of_prose())

        for number, paragraph in enumerate(paragraphs):
            rest = self._after(description, paragraph)
            if rest is None:
                continue

            if rest:
                paragraphs[number] = rest
            else:
                del paragraphs[number]
            break
        return paragraphs

    def _paragraphs_of_prose(self) -> "list[list[str]]":
        """Return the lines for people, without those about the code and the script's own name."""
        paragraphs: list[list[str]] = []
        paragraph: list[str] = []
        for kind, text in [*self._rows, (GAP, "")]:
            if not text.strip():
                if paragraph:
                    paragraphs.append(paragraph)
                paragraph = []
            elif kind in (LOCAL, LATE) or self._is_own_name(text):
                continue
            else:
                paragraph.append(text.rstrip())
        return paragraphs

    def _after(self, sentence: str, paragraph: "list[str]") -> "list[str] | None":
        """Return the lines of a paragraph after its first sentence, or None if it has another."""
        left = sentence  # what of it has not been found yet
        for number, line in enumerate(paragraph, 1):
            text = self._without_name(line)

            if left.startswith(text):
                left = left.removeprefix(text).lstrip()
                if not left:
                    return paragraph[number:]
            elif left and text.startswith(left):
                rest = text.removeprefix(left).lstrip()
                return [rest, *paragraph[number:]]
            else:
                return None
        return None

    def _is_own_name(self, text: str) -> bool:
        """Return whether a line has only the script's name: `bin/db-copy`, `DB-copy.sh`."""
        bare = text.strip(" \t`*=-:'\"").lower()
        if " " not in bare:
            _, _, bare = bare.rpartition("/")
        if bare == self._name:
            return True
        stem, dot, _ = self._name.rpartition(".")
        return dot != "" and bare == stem

    def _without_name(self, text: str) -> str:
        """Return a line without the script's name before a dash or colon: `copy - Copy a table`."""
        bare = text.strip()
        if bare.startswith(("--- ", "=== ")):  # in a frame
            bare = bare.strip("-= ")
        for dash in _DASHES:
            name, sign, rest = bare.partition(dash)
            if sign and self._is_own_name(name):
                return rest.strip()
        return bare

    def _first_sentence(self) -> str:
        """Return the first sentence of prose, joined over its lines (CONTRACT 15)."""
        sentence = ""
        is_skipped = False  # below a usage, or the heading of examples
        for kind, text in [*self._rows, (GAP, "")]:
            line = self._without_name(text)
            is_line = kind in (COMMENT, DOCSTRING) and line != ""
            goes_on = sentence != "" and is_line and continues(sentence, line)
            if goes_on and (is_prose(line) or is_heading(line)):
                sentence = f"{sentence} {line}"
                continue

            if sentence:
                found = first_sentence(sentence)
                is_found = not found.endswith(":") and not is_origin(found)
                if is_found:
                    return found
                sentence = ""

            if kind == _SKIP or (is_line and begins_examples(line)):
                is_skipped = True
            elif kind == GAP:
                is_skipped = False
            elif is_line and not is_skipped and self._begins_prose(text, line):
                sentence = line
        return ""

    def _begins_prose(self, text: str, line: str) -> bool:
        """Return whether a line can begin the description; `line` is without the script's name."""
        if self._is_own_name(text):
            return False
        is_example = text.startswith(("    ", "\t")) and not line[:1].isupper()
        return not is_example and is_prose(line)


def _tag_in(kind: str, text: str) -> "Tag | None":
    """Return the tag in a line, or None. Below a line of code, only other tools' tags count."""
    tag = tag_of(text)
    if tag is None:
        return None
    dialect, _, _ = tag
    if kind == LATE and dialect == SUB:
        return None
    return tag


def _first_text(rows: "list[tuple[str, str]]") -> str:
    """Return the text of the first row that is not blank, or ""."""
    for _, text in rows:
        if text.strip():
            return text
    return ""


def _without_margin(lines: "list[str]") -> list[str]:
    """Return the lines without the blanks that all of them begin with."""
    margins = []
    for line in lines:
        if line:
            blanks = len(line) - len(line.lstrip())
            margins.append(blanks)

    margin = min(margins, default=0)
    return [line[margin:] for line in lines]


def _without_blank_ends(lines: "list[str]") -> list[str]:
    """Return the lines without the empty ones at the top and the bottom."""
    first = 0
    last = len(lines)
    while first < last and not lines[first]:
        first += 1
    while last > first and not lines[last - 1]:
        last -= 1
    return lines[first:last]


def _without_empty_headings(paragraphs: "list[list[str]]") -> "list[list[str]]":
    """Return the paragraphs without each heading that has no text below it."""
    result: list[list[str]] = []
    has_text_below = False
    for paragraph in reversed(paragraphs):
        is_text = not all(map(is_heading, paragraph))
        if is_text or has_text_below:
            result.insert(0, paragraph)
        has_text_below = is_text
    return result
