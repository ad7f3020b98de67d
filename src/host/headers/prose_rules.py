"""Which lines of a script's header say what the script does, and which are about other things."""

# Beginnings of comments for programs, not for people.
_DIRECTIVES = (
    "!", "-*-", "shellcheck ", "vim:", "vi:", "ex:", "coding:", "coding=", "/usr/bin/",
    "/bin/", "eslint", "pylint:", "noqa", "type:", "mypy:", "ruff:", "rubocop:", "@ts-",
    "prettier-", "frozen_string", "[mise]",
)  # fmt: skip
# Beginnings of a line that names a licence or its owner.
_LICENCE_LABELS = (
    "copyright", "(c) ", "©", "spdx-", "license:", "licence:", "license -", "the mit license",
    "mit license", "apache license", "bsd license", "gnu general public",
)  # fmt: skip
# Parts of the text of a licence.
_LICENCE_TEXTS = (
    "is free software", "distributed in the hope", "you should have received a copy",
    "unless required by applicable law", "permission is hereby granted", "all rights reserved",
    "the above copyright notice", "redistribution and use in", "redistributions of source code",
    "redistributions in binary form", "this file is part of", "this source code form",
    "licensed under", "licensed to the", "general public licen", "software is provided",
    "license text", "under the terms of", "without any warranty", "permission notice shall be",
    "obtain a copy of the license", "neither the name of", "source code is governed by",
    "released into the public domain", "without express or implied warranty",
    "permission to use, copy", "copying and distribution of this file",
)  # fmt: skip
# Beginnings of lines about the file, not about what it does.
_ABOUT_THE_FILE = (
    "author:", "authors:", "date:", "version:", "created:", "updated:", "maintainer:",
    "source:", "filename:", "file:", "script:", "name:", "title:", "by:", "url:",
    "link:", "website:", "homepage:", "repository:", "repo:", "credit:", "credits:", "contact:",
    "email:", "license:", "note:", "dependency:", "dependencies:", "requirements:", "requires:",
    "see also", "thanks to ", "credit ", "credits ", "install via ", "created on", "created by",
    "last modified", "modified by ", "modified for ", "adapted by ", "adapted from ",
    "inspired by ", "stolen from ", "taken from ", "borrowed from ", "written by ",
    "original source", "original author", "original version", "originally ",
)  # fmt: skip
_REMINDERS = ("TODO", "FIXME", "XXX")
# Parts of a sentence that says where the script is from, if it has an address, too.
_ORIGINS = (
    "based ", "stolen ", "inspired ", "adapted ", "taken ", "modified ", "borrowed ", "copied ",
    "ported ", "derived ", "originally ", "credited ",
)  # fmt: skip
# Beginnings of a line that only leads to an address.
_LEADS = (
    "from ",
    "see ",
    "see: ",
    "source ",
    "via ",
    "docs ",
    "cf. ",
    "ref: ",
    "more ",
)
# Beginnings of lines that show a command.
_COMMANDS = (
    "$", "%", ">", "./", "../", "~/", "sh -c", "bash -c", "sudo ./", "or ./", "or $",
    "e.g.", "eg.", "curl -", "wget -",
)  # fmt: skip
_SCRIPTS = (
    ".sh",
    ".bash",
    ".zsh",
    ".fish",
    ".py",
    ".rb",
    ".pl",
    ".js",
)  # names of files
_ITEMS = ("- ", "* ", "+ ", "• ", "| ", "+-")
_ABBREVIATIONS = (
    "e.g", "i.e", "etc", "vs", "cf", "approx", "no", "resp", "incl", "dr", "mr", "st",
)  # fmt: skip
_SENTENCE_ENDS = (".", ":", ";", "!", "?")


def is_directive(low: str) -> bool:
    """Return whether a line in lower case is for a program, such as an editor or a linter."""
    return low.startswith(_DIRECTIVES)


def is_licence(low: str) -> bool:
    """Return whether a line in lower case belongs to a licence, or names its owner or a licence."""
    if low.startswith(_LICENCE_LABELS):
        return True
    if "copyright" in low and any(map(str.isdigit, low)):  # with a year
        return True
    return any(text in low for text in _LICENCE_TEXTS)


def is_prose(line: str) -> bool:
    """Return whether a line can begin the description (CONTRACT 15, "Otherwise")."""
    low = line.lower()
    if is_remark(line) or line.startswith(_REMINDERS) or "do not edit" in low:
        return False
    is_mark_up = line.startswith("<") and line.endswith(">")
    if is_mark_up or low.startswith((*_COMMANDS, "http")):
        return False
    if is_heading(line) or is_address(line):
        return False
    if " " not in line and line.endswith(_SCRIPTS):
        return False
    return any(map(str.isalnum, line))


def is_remark(line: str) -> bool:
    """Return whether a line is about the file, or an item of a list; the next may continue it."""
    low = line.lower()
    key, colon, _ = low.lstrip(":").partition(":")
    # Some authors align the colons: `Author  :`; others begin with one: `:author:`.
    label = f"{key.rstrip()}{colon}"
    if low.startswith(_ABOUT_THE_FILE) or label in _ABOUT_THE_FILE:
        return True
    return line.startswith(_ITEMS) or _is_numbered(line)


def is_address(line: str) -> bool:
    """Return whether a line only has an address, with one word of text or a lead to it."""
    if "://" not in line:
        return False
    words = [word for word in line.split() if "://" not in word]
    texts = [word for word in words if any(map(str.isalnum, word))]
    return len(texts) <= 1 or line.lower().startswith(_LEADS)


def is_origin(sentence: str) -> bool:
    """Return whether a sentence says where the script is from, with an address."""
    low = sentence.lower()
    has_address = "://" in low or any(map(_is_place, low.split()))
    return has_address and any(text in low for text in _ORIGINS)


def _is_place(word: str) -> bool:
    """Return whether a word is an address without its scheme: `github.com/rbenv/rbenv`."""
    host, slash, _ = word.partition("/")
    return slash != "" and "." in host.strip(".")


def _is_numbered(line: str) -> bool:
    """Return whether a line is an item of a numbered list: `1. Build it`."""
    number = line.split(maxsplit=1)[0]
    return number[-1:] in (".", ")") and number[:-1].isdigit()


def is_heading(line: str) -> bool:
    """Return whether a line ends in `:` or is one word in capitals, or begins a fold."""
    bare = line.strip(" \t*#=-")
    if bare.endswith((":", "{{{")):
        return True
    return bare.isupper() and " " not in bare


def begins_examples(line: str) -> bool:
    """Return whether a line begins a usage or examples, which go on up to an empty line."""
    word, _, rest = line.strip(" \t*#=-").partition(" ")
    low = word.lower()
    if low in ("usage:", "example:", "examples:", "synopsis:"):
        return True
    if low in ("usage", "example", "examples"):
        return not rest or rest.lower() in ("usage:", "usages:", "of use:")
    return False


def continues(before: str, line: str) -> bool:
    """Return whether a line of prose continues the one before it."""
    return not before.endswith(_SENTENCE_ENDS) and line[:1].islower()


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
