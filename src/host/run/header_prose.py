"""Which lines of a script's header say what the script does, and which are about other things."""

_LICENCE = (
    "copyright", "(c) ", "©", "spdx-", "license", "licence",
    "this program is free software",
)  # fmt: skip
_LICENCE_TEXTS = (
    "is free software", "distributed in the hope", "you should have received a copy",
    "unless required by applicable law", "permission is hereby granted",
    "all rights reserved", "the above copyright notice", "redistribution and use in",
    "this file is part of", "this source code form", "licensed under the",
    "licensed to the", "general public licen", "software is provided", "license text",
    "under the terms of", "without any warranty", "permission notice shall be",
)  # fmt: skip
# Beginnings of lines about the file, not about what it does.
_ABOUT_THE_FILE = (
    "author:", "authors:", "date:", "version:", "created:", "updated:", "maintainer:",
    "source:", "filename:", "file:", "script:", "name:", "title:", "by:", "url:",
    "link:", "website:", "homepage:", "repository:", "credit:", "credits:",
    "thanks to ", "see also", "note:", "dependency:", "dependencies:", "requirements:",
    "install via ", "created on", "created by:", "last modified", "modified by ",
    "modified for ", "adapted by ", "adapted from ", "inspired by ", "stolen from ",
    "taken from ", "borrowed from ", "written by ",
)  # fmt: skip
_REMINDERS = ("TODO", "FIXME", "XXX")
# Beginnings of lines that are not prose if they have an address.
_ORIGINS = (
    "based ", "stolen ", "inspired ", "adapted ", "taken ", "modified ", "borrowed ",
    "from ", "code modified ", "created ", "originally ", "see ", "source ", "via ",
    "docs ",
)  # fmt: skip
_ABBREVIATIONS = (
    "e.g", "i.e", "etc", "vs", "cf", "approx", "no", "resp", "incl", "dr", "mr", "st",
)  # fmt: skip


def begins_licence(low: str) -> bool:
    """Return whether a line in lower case begins a licence: `Copyright 2020 A. Author`."""
    if low.startswith(_LICENCE):
        return True
    if "copyright" in low and any(map(str.isdigit, low)):  # with a year
        return True
    return any(text in low for text in _LICENCE_TEXTS)


def is_prose(line: str) -> bool:
    """Return whether a line can be part of the description."""
    low = line.lower()
    key, colon, _ = low.partition(":")
    # Some authors align the colons: `Author  :`.
    label = f"{key.rstrip()}{colon}"
    if low.startswith(_ABOUT_THE_FILE) or label in _ABOUT_THE_FILE:
        return False

    if line.startswith(_REMINDERS) or "do not edit" in low:
        return False
    if _is_address(line, low) or is_heading(line):
        return False

    # A command, an item of a list, a quotation or an address.
    if line.startswith(("$", "- ", "* ", "+ ", "> ", "http")):
        return False
    return any(map(str.isalnum, line))


def _is_address(line: str, low: str) -> bool:
    """Return whether a line is an address or a tag of XML, or says where a file is from."""
    if line.startswith("<") and line.endswith(">"):
        return True
    if "://" not in line:
        return False
    is_one_word = " " not in line.strip("<>()*- ")
    return is_one_word or low.startswith(_ORIGINS)


def is_heading(line: str) -> bool:
    """Return whether a line ends in `:` or is one word in capitals."""
    bare = line.strip(" \t*#=-")
    if bare.endswith(":"):
        return True
    return bare.isupper() and " " not in bare


def first_sentence(text: str) -> str:
    """Return the first sentence of a text in one line."""
    for index, sign in enumerate(text):
        if sign not in ".!?":
            continue
        blank = text[index + 1 : index + 2]
        after = text[index + 2 : index + 3]
        if blank != " " or after.islower():
            continue

        _, _, word = text[:index].rpartition(" ")
        before = word.lstrip("(\"'").lower()
        if not before:  # a point alone, such as an ellipsis
            continue
        if sign == "." and _is_abbreviation(before):
            continue
        return text[: index + 1]
    return text


def _is_abbreviation(word: str) -> bool:
    return len(word) == 1 or word in _ABBREVIATIONS
