"""Read a script's header: the comments and the docstring above its first line of code.

    #!/bin/sh
    # Summary: Copy a table to staging        <- a tag
    # Usage: copy TABLE                        <- the usage
    #
    # Stops the replication while it copies.   <- prose

`tag_of` says which lines are tags; `host.run.script_tags` says what they mean. A run loads this
module for each command in a script, so it uses no regular expressions.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Tag = tuple[str, str, str]  # dialect, name, value

MARKS = ("#", "//", "--", ";")
BLOCK_END = "///"
SUB, ARGC, MISE, USAGE = "sub", "argc", "mise", "usage"  # dialects; others are named by the tag

# A line of the header: its kind and its text.
COMMENT = "comment"
LOCAL = "local comment"  # about the code below it; only its tags count
LATE = "late comment"  # after a line such as `set -e`; only the tags of other tools count
DOCSTRING = "docstring"
GAP = "gap"  # an empty line of the file
CODE = "code"

_DIRECTIVES = (  # beginnings of comments for programs, not for people
    *("!", "-*-", "shellcheck ", "vim:", "vi:", "ex:", "coding:", "coding=", "/usr/bin/", "/bin/"),
    *("eslint", "pylint:", "noqa", "type:", "mypy:", "ruff:", "rubocop:", "@ts-", "prettier-"),
    *("frozen_string", "[mise]"),
)
_LICENCE = (
    "copyright",
    "(c) ",
    "©",
    "spdx-",
    "license",
    "licence",
    "this program is free software",
)
_WORDS = {"[USAGE]": USAGE, "[MISE]": MISE, "MISE": MISE, "mise": MISE}
_LICENCE_TEXTS = (
    *("is free software", "distributed in the hope", "you should have received a copy"),
    *("unless required by applicable law", "permission is hereby granted", "all rights reserved"),
    *("the above copyright notice", "redistribution and use in", "this file is part of"),
    *("this source code form", "licensed under the", "licensed to the", "general public licen"),
    *(
        "software is provided",
        "license text",
        "under the terms of",
        "without any warranty",
        "permission notice shall be",
    ),
)
_SUMMARIES = ("summary", "description")
_SUB_TAGS = (*_SUMMARIES, "usage", "help")
_OVER_LINES = ("arg", "option", "flag", "env")  # tags that the next lines describe further
_ABOUT_THE_FILE = (  # beginnings of lines about the file, not about what it does
    *("author:", "authors:", "date:", "version:", "created:", "updated:", "maintainer:", "source:"),
    *("filename:", "file:", "script:", "name:", "title:", "by:", "url:", "link:", "website:"),
    *("homepage:", "repository:", "credit:", "credits:", "thanks to ", "see also", "note:"),
    *(
        "dependency:",
        "dependencies:",
        "requirements:",
        "install via ",
        "created on",
        "created by:",
    ),
    *("last modified", "modified by ", "modified for ", "adapted by ", "adapted from "),
    *("inspired by ", "stolen from ", "taken from ", "borrowed from ", "written by "),
)
_REMINDERS = ("TODO", "FIXME", "XXX")
_ORIGINS = (  # beginnings of lines that are not prose if they have an address
    *("based ", "stolen ", "inspired ", "adapted ", "taken ", "modified ", "borrowed ", "from "),
    *("code modified ", "created ", "originally ", "see ", "source ", "via ", "docs "),
)
_DOCSTRINGS = {'"""': '"""', "'''": "'''", "/*": "*/"}
# Lines of a shell that may stand above tags, beside assignments.
_SETTINGS = ("set -", "set +", "shopt -")
_ABBREVIATIONS = ("e.g", "i.e", "etc", "vs", "cf", "approx", "no", "resp", "incl", "dr", "mr", "st")
_USAGE_INDENT = "  "
_MOST_BLANK_LINES = 2  # in a usage
_DASHES = (" - ", ": ", " -- ", " \u2013 ", " \u2014 ")  # between a script's name and its summary


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
        self._in_licence = False
        self._rows: list[tuple[str, str]] = []  # (kind, text) of each line for people
        self._read(_without_local_comment([*header_lines(lines)]))
        self.description = self._first_sentence()

    def _read(self, rows: "list[tuple[str, str]]") -> None:
        index = 0
        while index < len(rows):
            kind, text = rows[index]
            index += 1
            tag = tag_of(text)
            if tag is None or (kind == LATE and tag[0] == SUB):
                self._read_text(kind, text)
                continue
            self._in_licence = False
            while self._rows and _is_heading(self._rows[-1][1]):
                self._rows.pop()  # a heading of tags
            dialect, name, value = tag
            self._owner = name if dialect in (ARGC, SUB) else ""
            if (dialect, name) == (SUB, "usage"):
                index = self._read_usage(value, rows, index)
            elif (dialect, name) == (SUB, "help"):
                self._rows += [(GAP, ""), (kind, value)]
            else:
                self.tags.append(tag)
            if (dialect, name) == (ARGC, "cmd"):
                return  # everything below belongs to a command of the script

    def _read_text(self, kind: str, text: str) -> None:
        """Read a line that is no tag."""
        bare = text.strip()
        if bare and kind != GAP and self._continues(text):
            dialect, name, value = self.tags[-1]
            self.tags[-1] = (dialect, name, f"{value} {bare}".strip())
            return
        self._owner = ""
        if kind in (LOCAL, LATE):
            return
        low = bare.lower()
        has_words = any(map(str.isalnum, bare))
        if not has_words or _begins_licence(low):
            # A licence ends at an empty line, but in a docstring only with the docstring. An SPDX
            # tag has one line.
            begins = has_words and not low.startswith("spdx-")
            goes_on = self._in_licence and kind == DOCSTRING and not bare
            self._in_licence = begins or goes_on
            self._rows.append((GAP, ""))
        elif not self._in_licence and not low.startswith(_DIRECTIVES):
            self._rows.append((kind, text))

    def _continues(self, text: str) -> bool:
        """Return whether a line belongs to the tag above it."""
        if self._owner in _SUMMARIES:
            return text.startswith(_USAGE_INDENT)
        return self._owner in _OVER_LINES

    def _read_usage(self, value: str, rows: "list[tuple[str, str]]", index: int) -> int:
        """Read the usage from the line after `Usage:`; return the index of the line after it.

        Further lines are indented. If `Usage:` stands alone, the lines up to an empty one count.
        """
        found = [value] if value else []
        following: list[str] = []
        is_indented = bool(value)
        while index < len(rows):
            kind, text = rows[index]
            if kind == GAP or tag_of(text) is not None:
                break
            if text.startswith((_USAGE_INDENT, "\t")):
                is_indented = True
            elif text.strip():
                if is_indented or "" in following:
                    break
            elif found or following:
                near = rows[index : index + _MOST_BLANK_LINES + 1]
                ahead = next((text for _, text in near if text.strip()), "")
                if not ahead.startswith(_USAGE_INDENT):
                    break
            following.append(text.expandtabs().rstrip())
            index += 1
        margins = [len(line) - len(line.lstrip()) for line in following if line]
        margin = min(margins, default=0)
        found += [line[margin:] for line in following]
        while found and not found[-1]:
            found.pop()
        self.usage += found[next((n for n, line in enumerate(found) if line), 0) :]
        return index

    def paragraphs(self, description: str) -> "list[list[str]]":
        """Return the lines for a help page that shows `description` above them.

        Tags, usage, licences, directives, the script's own name and headings with nothing below
        them are left out; so is the description, if the prose begins with it.
        """
        found: list[list[str]] = [[]]
        for kind, text in self._rows:
            if kind == GAP or not text.strip():
                found.append([])
            elif kind not in (LOCAL, LATE) and not self._is_own_name(text):
                found[-1].append(text.rstrip())
        kept = [paragraph for paragraph in found if paragraph]
        with_text = [
            paragraph
            for number, paragraph in enumerate(kept)
            if not all(map(_is_heading, paragraph))
            or (number + 1 < len(kept) and not all(map(_is_heading, kept[number + 1])))
        ]
        for number, paragraph in enumerate(with_text):
            rest = self._after(description, paragraph)
            if rest is not None:
                with_text[number : number + 1] = [rest] if rest else []
                break
        return with_text

    def _after(self, sentence: str, paragraph: "list[str]") -> "list[str] | None":
        """Return the lines of a paragraph after its first sentence, or None if it has another."""
        left = sentence
        for number, line in enumerate(paragraph):
            text = self._without_name(line)
            if left.startswith(text):
                left = left[len(text) :].lstrip()
                if not left:
                    return paragraph[number + 1 :]
            elif left and text.startswith(left):
                return [text[len(left) :].lstrip(), *paragraph[number + 1 :]]
            else:
                return None
        return None

    def _is_own_name(self, text: str) -> bool:
        bare = text.strip(" \t`*=-").lower()
        return bare in (self._name, self._name.rpartition(".")[0] or self._name)

    def _without_name(self, text: str) -> str:
        """Return a line without the script's name before a dash or colon: `copy - Copy a table`."""
        bare = text.strip()
        if bare.startswith(("--- ", "=== ")):  # in a frame
            bare = bare.strip("-= ")
        for sign in _DASHES:
            name, found, rest = bare.partition(sign)
            if found and self._is_own_name(name):
                return rest.strip()
        return bare

    def _first_sentence(self) -> str:
        """Return the first sentence of prose, joined over its lines."""
        paragraph: list[str] = []
        for kind, text in [*self._rows, (GAP, "")]:
            line = self._without_name(text)
            is_text = kind in (COMMENT, DOCSTRING) and not self._is_own_name(text)
            is_example = text.startswith(("    ", "\t"))
            if is_text and not is_example and _is_prose(line):
                paragraph.append(line)
            elif paragraph and is_text and _is_heading(line):
                paragraph.append(line)  # the paragraph introduces a list, or ends with a source
            elif paragraph:
                sentence = first_sentence(" ".join(paragraph))
                if not sentence.endswith(":"):
                    return sentence
                paragraph.clear()
        return ""


def header_lines(lines: "Sequence[str]") -> "Iterator[tuple[str, str]]":
    """Yield the kind and text of each line above the first line of code; CODE ends a comment block.

    The last item is CODE if code follows directly. Blocks such as `# /// script` are left out.
    """
    in_block = False
    end = ""  # the delimiter that ends the docstring
    kind = COMMENT
    for number, line in enumerate(lines):
        bare = line.lstrip()
        start = next((start for start in _DOCSTRINGS if not end and line.startswith(start)), "")
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
        elif in_block or (number == 0 and line.startswith("#!")) or line.startswith("<?php"):
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


def tag_of(text: str) -> "Tag | None":
    """Return the dialect, name and value of the tag in a line of the header, or None."""
    bare = text.strip()
    if bare.startswith("@"):
        return _at_tag(bare)
    for word, dialect in _WORDS.items():
        if bare.startswith(f"{word} "):
            return _word_tag(dialect, bare[len(word) :].strip())
    name, colon, value = bare.partition(":")
    if colon and name.lower() in _SUB_TAGS:
        return SUB, name.lower(), value.strip()
    key, equals, value = bare.partition("=")
    prefix, colon, key = key.partition(":")
    is_tag = equals and colon and prefix and key and "/" not in key
    return (prefix, key, value.strip()) if is_tag and " " not in prefix + key else None


def _at_tag(bare: str) -> "Tag | None":
    """Return the tag in `@raycast.title TITLE` or `@option NOTATION`."""
    name, _, value = bare[1:].replace("\t", " ").partition(" ")
    prefix, dot, key = name.partition(".")
    if not prefix.replace("-", "").replace("_", "").isalnum():
        return None
    return (prefix, key, value.strip()) if dot else (ARGC, prefix, value.strip())


def _word_tag(dialect: str, text: str) -> "Tag | None":
    """Return the tag in `[MISE] key=value` or `[USAGE] NODE`."""
    if dialect == USAGE:
        return USAGE, "", text
    key, equals, value = text.partition("=")
    key = key.strip()
    return (MISE, key, value.strip()) if equals and " " not in key else None


def _without_local_comment(rows: "list[tuple[str, str]]") -> "list[tuple[str, str]]":
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
        is_title = len(block) > 1 and not (block[0][1] or block[-1][1]) and _is_function(text)
        if is_below_gap and (end == len(found) or is_title):
            found[start:end] = [(LOCAL, line) for _, line in block]
        found.append((GAP, ""))
    return found


def _is_assignment(code: str) -> bool:
    """Return whether a line of a shell only assigns a variable: `API_KEY=""`."""
    name, equals, value = code.partition("=")
    return equals != "" and name.isidentifier() and not value.startswith(("=", "$(", "`"))


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


def _begins_licence(low: str) -> bool:
    """Return whether a line in lower case begins a licence: `Copyright 2020 A. Author`."""
    is_notice = "copyright" in low and any(map(str.isdigit, low))
    return is_notice or low.startswith(_LICENCE) or any(text in low for text in _LICENCE_TEXTS)


def _is_prose(line: str) -> bool:
    """Return whether a line can be part of the description."""
    low = line.lower()
    key, colon, _ = low.partition(":")
    if low.startswith(_ABOUT_THE_FILE) or f"{key.rstrip()}{colon}" in _ABOUT_THE_FILE:
        return False
    if (
        line.startswith(_REMINDERS)
        or "do not edit" in low
        or (line.startswith("<") and line.endswith(">"))
    ):
        return False
    if line.startswith(("$", "- ", "* ", "+ ", "> ", "http")):
        return False
    if "://" in line and (low.startswith(_ORIGINS) or " " not in line.strip("<>()*- ")):
        return False
    return any(map(str.isalnum, line)) and not _is_heading(line)


def _is_heading(line: str) -> bool:
    """Return whether a line ends in `:` or is one word in capitals."""
    bare = line.strip(" \t*#=-")
    return bare.endswith(":") or (bare.isupper() and " " not in bare)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text in one line."""
    for index, sign in enumerate(text):
        if sign not in ".!?" or text[index + 1 : index + 2] != " ":
            continue
        before = text[:index].rpartition(" ")[2].lstrip("(\"'").lower()
        if not before:
            continue
        after = text[index + 2 : index + 3]
        is_abbreviation = sign == "." and (before in _ABBREVIATIONS or len(before) == 1)
        if not is_abbreviation and not after.islower():
            return text[: index + 1]
    return text
