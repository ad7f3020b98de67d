"""The names of hosts that ssh_config files give: `Host` lines without patterns."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterator

_DEEPEST = 16  # ssh's own limit on Include
_USUAL = ("~/.ssh/config", "/etc/ssh/ssh_config")


def names(config: str) -> list[str]:
    """Return the names in `config`, or in the usual files when it is ""; each once."""
    files = [config] if config else [os.path.expanduser(file) for file in _USUAL]
    return list(dict.fromkeys(name for file in files for name in _names_in(file, 0)))


def _names_in(file: str, depth: int) -> Iterator[str]:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            lines = opened.readlines()
    except OSError:
        return  # ssh says what is wrong with it
    for line in lines:
        keyword, words = _parsed(line)
        if keyword == "host":
            yield from (word for word in words if not {"*", "?", "!"} & set(word))
        elif keyword == "include" and depth < _DEEPEST:
            for word in words:
                for included in sorted(glob.glob(_place(word, file))):
                    yield from _names_in(included, depth + 1)


def _parsed(line: str) -> tuple[str, list[str]]:
    """Return the keyword in lower case and its words; they may be joined by `=`."""
    keyword, _, rest = line.strip().replace("\t", " ").replace("=", " ", 1).partition(" ")
    try:
        return keyword.lower(), shlex.split(rest, comments=True)
    except ValueError:
        return "", []


def _place(word: str, file: str) -> str:
    base = "/etc/ssh" if file.startswith("/etc/ssh/") else os.path.expanduser("~/.ssh")
    return os.path.join(base, os.path.expanduser(word))
