"""How a host starts a command's entrypoint."""

from __future__ import annotations

import os


def start_of(head: bytes, executable: bool, name: str = "") -> tuple[list[str], bool]:
    """Return the words that must precede the entrypoint, and whether bash must load core/lib.

    `head` is the start of the content of the entrypoint `name`. As in a local run, bash runs a text
    file without a shebang, uv one in Python with a block of PEP 723, and a file without an execute
    bit is run by the program that its shebang names.
    """
    if not head.startswith(b"#!"):
        if b"\0" in head:
            return [], False  # a binary program
        if name.endswith(".py") and b"# /// script" in head.splitlines():
            return ["uv", "run", "--script"], False
        return ["bash"], True

    first = head[2:].split(b"\n")[0]
    line = os.fsdecode(first).strip()
    names = list(map(os.path.basename, line.split()))
    runs_bash = "bash" in names  # also in `/usr/bin/env bash`
    if executable:
        return [], runs_bash

    # The kernel passes what follows the program as one argument.
    program, _, argument = line.partition(" ")
    words = []
    for word in (program, argument.strip()):
        if word:
            words.append(word)
    return words, runs_bash
