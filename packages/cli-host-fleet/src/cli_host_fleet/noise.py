"""The line of ssh's or sudo's noise that says best why no command ran."""

from __future__ import annotations

import re

# Lines from ssh that name an error's cause, and lines from ssh and sudo that only follow an error.
_CAUSE = re.compile(
    r"ssh: |Load key |sign_and_send_pubkey: |Host key for |No \S+ host key is known "
    r"|channel \d+: open failed: |.*: Bad configuration option: |.*: Bad owner or permissions "
)
_CONSEQUENCE = re.compile(
    r"(kex|ssh)_exchange_identification: |stdio forwarding failed|.*: terminating, \d+ bad "
    r"|Connection closed by UNKNOWN |Disconnected from |This incident "
)

# Lines of sudo before the one that matters: its lecture, a prompt, and warnings.
_ASIDE = re.compile(
    r"We trust you have |Administrator\. It usually |#\d\) |For security reasons, the password "
    r"|\[sudo\] |sudo: unable to resolve host |sudo: setrlimit"
)


def useful_line(noise: bytes) -> str:
    """Return the last line of `noise` that states a cause, or else its last informative line."""
    lines = _lines(noise)
    if not lines:
        return ""
    for line in reversed(lines):
        if _CAUSE.match(line):
            return line

    # Without a cause, a line that is more than "the connection was closed".
    for line in reversed(lines):
        if not _CONSEQUENCE.match(line):
            return line
    return lines[-1]


def sudo_line(noise: bytes) -> str:
    """Return the first line with which sudo says why it failed; the lines after it add nothing."""
    lines = _lines(noise)
    if not lines:
        return ""
    first = lines[0]
    for line in lines:
        if not _ASIDE.match(line):
            first = line
            break

    # sudo quotes the whole greeting, a long line of shell.
    return re.sub(r"to execute '.*' as ", "to run /bin/sh as ", first)


def _lines(noise: bytes) -> list[str]:
    """Return the lines that are not empty, without the white space around them."""
    lines = []
    text = noise.decode("utf-8", "replace")
    for line in text.splitlines():
        text = line.strip()
        if text:
            lines.append(text)
    return lines
