"""The prose of a script's header: what no dialect has read."""

from host.headers.prose_rules import (
    DASHES,
    SUMMARY_LABELS,
    begins_aside,
    begins_prose,
    can_be_title,
    continues,
    first_sentence,
    introduces_list,
    is_address,
    is_banner,
    is_directive,
    is_file_name,
    is_heading,
    is_licence,
    is_sentence,
    is_text,
)
from host.headers.rows import COMMENT, DOCSTRING, GAP, LATE, LOCAL, SKIP, TAG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from host.headers.rows import Row

_ARGUMENT = ("[", "<", "-", "{", "$")  # beginnings of an argument
_USAGE = "See the usage"  # in place of its lines


class Prose:
    """The prose of the script with this file name; `rows` are those that no dialect has taken.

    description  its first sentence, or ""
    """

    def __init__(self, rows: "Sequence[Row]", name: str) -> None:
        low = name.lower()
        stem, _, _ = low.rpartition(".")
        self._names = (low, stem or low)
        self._most_words = 1 + low.count("-")  # that a name may be written in
        self._in_licence = False  # in a paragraph of a licence's text
        self._has_licence = False  # directly below a licence
        self._rows: list[Row] = []  # the lines for people
        for kind, text in rows:
            if kind in (TAG, SKIP):
                self._in_licence = False
                self._drop_headings()  # of the tags
                self._rows.append((kind, text))
            else:
                self._read_text(kind, text)
        self._margin = _common_blanks([text for _, text in self._rows if text.strip()])
        self.description = self._first_sentence()

    def _drop_headings(self) -> None:
        """Remove the headings at the end of the lines for people."""
        while self._rows:
            kind, text = self._rows[-1]
            if kind in (TAG, SKIP) or not is_heading(text):
                return
            self._rows.pop()

    def _drop_banner(self) -> None:
        """Remove the title of the product directly above a licence: `Product - its text`."""
        if self._rows:
            kind, text = self._rows[-1]
            if kind == COMMENT and is_banner(self._without_name(text)):
                self._rows.pop()

    def _read_text(self, kind: str, text: str) -> None:
        if kind in (LOCAL, LATE):
            return  # such a comment is about the code below it

        bare = text.strip()
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
            self._drop_banner()
            self._in_licence = not low.startswith("spdx-")  # such a tag has one line
            self._has_licence = True
        elif self._in_licence or (self._has_licence and is_address(bare)):
            return
        elif not is_directive(low):
            self._has_licence = False
            self._rows.append((kind, text))

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
            if kind == TAG:
                continue
            if not text.strip():
                if paragraph:
                    paragraphs.append(paragraph)
                paragraph = []
            elif not self._is_own_name(text):
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
                rest = text.removeprefix(left).lstrip(" :")
                return [rest, *paragraph[number:]] if rest else paragraph[number:]
            else:
                return None
        return None

    def _is_own_name(self, text: str) -> bool:
        """Return whether a line has only the script's name: `bin/db-copy`, `DB-copy.sh`.

        Arguments or a version may follow: `db copy [--all] TABLE`, which calls `db-copy`.
        """
        bare = text.strip(" \t`*=-:'\"").lower()
        if " " not in bare:
            _, _, bare = bare.rpartition("/")
        if bare in self._names or is_file_name(bare):
            return True

        words = text.split()
        while len(words) > 1 and _is_argument(words[-1]):
            words.pop()
            # To join all words of a long line each time would take quadratic time.
            is_short = len(words) <= self._most_words
            if is_short and "-".join(words).lower() in self._names:
                return True
        return False

    def _is_title(self, text: str) -> bool:
        """Return whether the text before a dash is the script's name, `DB copy`, or `Purpose`."""
        names = (text, text.replace(" ", "-"))
        return text.lower() in SUMMARY_LABELS or any(map(self._is_own_name, names))

    def _without_name(self, text: str) -> str:
        """Return a line without the script's name or `Purpose` before it: `copy - Copy a table`."""
        bare = text.strip()
        if bare.startswith(("--- ", "=== ")):  # in a frame
            bare = bare.strip("-= ")
        name, sign, _ = bare.partition(" by ")
        if sign and self._is_title(name):
            return ""  # an author follows
        for dash in (*DASHES, "  "):
            name, sign, rest = bare.partition(dash)
            if sign and self._is_title(name):
                return rest.strip()
        return bare

    def _first_sentence(self) -> str:
        """Return the first sentence of prose, joined over its lines (CONTRACT 15)."""
        title = ""  # what is the description if there is no sentence
        is_top = True  # above all other statements
        is_list = False  # below a line that introduces the indented ones
        for paragraph in _paragraphs(self._rows):
            for text, statement in self._statements(paragraph):
                line = self._without_name(text)
                if begins_aside(line):
                    break

                inside = text.removeprefix(self._margin)
                is_list = is_list and inside.startswith((" ", "\t"))
                is_example = (
                    inside.startswith(("    ", "\t")) and not line[:1].isupper()
                )
                if not (is_list or is_example) and begins_prose(line):
                    found = first_sentence(statement)
                    if is_sentence(found):
                        return found
                    if is_top:
                        title = found.rstrip(": ")
                elif is_top and is_text(line) and can_be_title(statement):
                    title = statement.rstrip(": ")
                elif " " not in title:
                    title = ""  # one word above other text is no title
                is_top = False
                is_list = is_list or introduces_list(statement)
        return title

    def _statements(self, paragraph: "Sequence[str]") -> "Iterator[tuple[str, str]]":
        """Yield the first line and the whole text of each statement in a paragraph.

        A statement is a line with those that continue it; the script's own name is none.
        """
        width = max(map(len, paragraph))
        first = ""
        statement = ""
        room = 0  # behind the line above
        for text in paragraph:
            line = "" if self._is_own_name(text) else self._without_name(text)
            if statement and is_text(line) and continues(statement, line, room):
                statement = f"{statement} {line}"
            else:
                if statement:
                    yield first, statement
                first = text
                statement = line
            room = width - len(text)
        if statement:
            yield first, statement


def _is_argument(word: str) -> bool:
    """Return whether a word is an argument or a version: `TABLE`, `[-n]`, `v2`."""
    is_version = word.removeprefix("v")[:1].isdigit()
    return is_version or word.isupper() or word.startswith(_ARGUMENT)


def _paragraphs(rows: "Sequence[Row]") -> "Iterator[list[str]]":
    """Yield the lines of each paragraph."""
    paragraph: list[str] = []
    for kind, text in [*rows, (GAP, "")]:
        if kind in (COMMENT, DOCSTRING) and text.strip():
            paragraph.append(text)
        else:
            if paragraph:
                yield paragraph
            # What continues a usage is not prose.
            paragraph = [_USAGE] if kind == SKIP else []


def _common_blanks(lines: "Sequence[str]") -> str:
    """Return the blanks that all of several lines begin with; one line has none."""
    if len(lines) < 2:
        return ""
    first = min(lines)
    last = max(lines)
    count = 0
    while first[count] == last[count] and first[count] in " \t":
        count += 1
    return first[:count]


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
