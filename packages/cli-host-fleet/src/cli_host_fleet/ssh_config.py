"""Read ssh_config files: names of hosts (`Host` lines without patterns), and keywords in use."""

from __future__ import annotations

import fnmatch
import glob
import os
import shlex
from collections.abc import Iterator, Sequence

_DEEPEST = 16  # ssh's own limit on Include
_USUAL = ("~/.ssh/config", "/etc/ssh/ssh_config")


def names(config: str) -> list[str]:
    """Return the host names in the file `config` (if "", ssh's default files), each once."""
    hosts: dict[str, None] = {}  # as an ordered set
    for patterns in blocks(config):
        for pattern in patterns:
            if not {"*", "?", "!"} & set(pattern):
                hosts[pattern] = None
    return list(hosts)


def blocks(config: str) -> list[list[str]]:
    """Return the patterns of each `Host` line in the files that `names` reads."""
    return [words for keyword, words in _lines(config) if keyword == "host"]


def has_block(name: str, blocks: Sequence[Sequence[str]]) -> bool:
    """Return whether a `Host` line means this host in particular, and not just all hosts."""

    def fits(pattern: str) -> bool:
        return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))

    for patterns in blocks:
        refused = any(
            fits(pattern[1:]) for pattern in patterns if pattern.startswith("!")
        )
        if not refused and any(
            fits(pattern) for pattern in patterns if pattern.strip("*")
        ):
            return True
    return False


def uses(keyword: str, config: str) -> bool:
    """Return whether the files that `names` reads use `keyword`, which is in lower case."""
    return any(keyword == used for used, _ in _lines(config))


def _lines(config: str) -> Iterator[tuple[str, list[str]]]:
    files = [config] if config else [os.path.expanduser(file) for file in _USUAL]
    for file in files:
        yield from _lines_of(file, 0)


def _lines_of(file: str, depth: int) -> Iterator[tuple[str, list[str]]]:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            lines = opened.readlines()
    except OSError:
        return  # ssh will report the error
    for line in lines:
        keyword, words = _parsed(line)
        yield keyword, words
        if keyword == "include" and depth < _DEEPEST:
            for word in words:
                for included in sorted(glob.glob(_place(word, file))):
                    yield from _lines_of(included, depth + 1)


def _parsed(line: str) -> tuple[str, list[str]]:
    """Return a line's keyword, in lower case, and its values; `=` may follow the keyword."""
    keyword, _, rest = (
        line.strip().replace("\t", " ").replace("=", " ", 1).partition(" ")
    )
    try:
        return keyword.lower(), shlex.split(rest, comments=True)
    except ValueError:
        return "", []


def _place(word: str, file: str) -> str:
    base = "/etc/ssh" if file.startswith("/etc/ssh/") else os.path.expanduser("~/.ssh")
    return os.path.join(base, os.path.expanduser(word))
