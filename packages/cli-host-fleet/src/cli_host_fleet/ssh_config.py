"""Read ssh_config files: names of hosts (`Host` lines without patterns), and keywords in use."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import pwd
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
        # Patterns of ssh have * and ?, but no [ ] for a set of characters.
        literal = pattern.replace("[", "[[]")
        return fnmatch.fnmatchcase(name, literal)

    def means(patterns: Sequence[str]) -> bool:
        fitting = False
        for pattern in patterns:
            if pattern.startswith("!"):
                if fits(pattern[1:]):
                    return False  # a negated pattern decides, wherever it stands in the line
            elif pattern.strip("*") and fits(pattern):
                fitting = True
        return fitting

    return any(means(patterns) for patterns in blocks)


def values(keyword: str, config: str) -> list[str]:
    """Return all values of `keyword`, which is in lower case, in the files that `names` reads."""
    return [" ".join(words) for used, words in _lines(config) if used == keyword]


def _lines(config: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the keyword and the values of each line that `names` reads, in ssh's order."""
    if config:
        yield from _lines_of(config, 0)
        return
    for file in _USUAL:
        yield from _lines_of(_expanded(file), 0)


def _lines_of(file: str, depth: int) -> Iterator[tuple[str, list[str]]]:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            lines = opened.readlines()
    except OSError:
        return  # ssh will report the error

    for line in lines:
        keyword, words = _parsed(line)
        yield keyword, words
        if keyword != "include" or depth == _DEEPEST:
            continue

        for word in words:
            pattern = _place(word, file)
            for included in sorted(glob.glob(pattern)):
                yield from _lines_of(included, depth + 1)


def _parsed(line: str) -> tuple[str, list[str]]:
    """Return a line's keyword, in lower case, and its values; `=` may follow the keyword."""
    text = line.strip().replace("\t", " ")
    text = text.replace("=", " ", 1)
    keyword, _, rest = text.partition(" ")
    try:
        words = shlex.split(rest, comments=True)
    except ValueError:
        return "", []  # a quote is not closed
    return keyword.lower(), words


def _place(word: str, file: str) -> str:
    """Return the pattern of paths that an Include in `file` names."""
    base = "/etc/ssh"
    if not file.startswith("/etc/ssh/"):
        base = _expanded("~/.ssh")
    return os.path.join(base, _expanded(word))


def _expanded(path: str) -> str:
    """Return a path as ssh expands it: the user's home is that of /etc/passwd, whatever HOME is."""
    if path.startswith("~/"):
        with contextlib.suppress(KeyError):
            return pwd.getpwuid(os.getuid()).pw_dir + path[1:]
    return os.path.expanduser(path)
