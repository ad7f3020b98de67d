"""Which lines of a script's header say what the script does, and which are about other things."""

_LICENCE = (
    "copyright",
    "(c) ",
    "©",
    "spdx-",
    "license",
    "licence",
    "this program is free software",
)
_LICENCE_TEXTS = (
    *("is free software", "distributed in the hope", "you should have received a copy"),
    *(
        "unless required by applicable law",
        "permission is hereby granted",
        "all rights reserved",
    ),
    *(
        "the above copyright notice",
        "redistribution and use in",
        "this file is part of",
    ),
    *(
        "this source code form",
        "licensed under the",
        "licensed to the",
        "general public licen",
    ),
    *(
        "software is provided",
        "license text",
        "under the terms of",
        "without any warranty",
        "permission notice shall be",
    ),
)
_ABOUT_THE_FILE = (  # beginnings of lines about the file, not about what it does
    *(
        "author:",
        "authors:",
        "date:",
        "version:",
        "created:",
        "updated:",
        "maintainer:",
        "source:",
    ),
    *(
        "filename:",
        "file:",
        "script:",
        "name:",
        "title:",
        "by:",
        "url:",
        "link:",
        "website:",
    ),
    *(
        "homepage:",
        "repository:",
        "credit:",
        "credits:",
        "thanks to ",
        "see also",
        "note:",
    ),
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
    *(
        "based ",
        "stolen ",
        "inspired ",
        "adapted ",
        "taken ",
        "modified ",
        "borrowed ",
        "from ",
    ),
    *("code modified ", "created ", "originally ", "see ", "source ", "via ", "docs "),
)
_ABBREVIATIONS = (
    "e.g",
    "i.e",
    "etc",
    "vs",
    "cf",
    "approx",
    "no",
    "resp",
    "incl",
    "dr",
    "mr",
    "st",
)


def begins_licence(low: str) -> bool:
    """Return whether a line in lower case begins a licence: `Copyright 2020 A. Author`."""
    is_notice = "copyright" in low and any(map(str.isdigit, low))
    return (
        is_notice
        or low.startswith(_LICENCE)
        or any(text in low for text in _LICENCE_TEXTS)
    )


def is_prose(line: str) -> bool:
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
    return any(map(str.isalnum, line)) and not is_heading(line)


def is_heading(line: str) -> bool:
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
