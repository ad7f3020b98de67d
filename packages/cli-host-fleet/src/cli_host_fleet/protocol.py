"""Encode and parse the bytes of a connection, without I/O, so that tests can split them anywhere.

The host greets on stdout; then the controller sends items, each ended by NUL. On stderr, the host
mixes reports with the command's own bytes; each report begins with the run's nonce.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_SEPARATOR = b"\x1e"
MARK = b"\x1ecli-fleet\x1e"
_FIELDS = 7
_MOST_NOISE = 8192  # bytes of the login's output to keep
_LONGEST_REPORT = 4096
_SYSTEMS = {"darwin": "mac"}
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

# The characters that stand for themselves in a format of printf in single quotes.
_PLAIN = {*f"{string.ascii_letters}{string.digits}{string.punctuation} ".encode()} - {
    *b"'\\%"
}


@dataclass(frozen=True, slots=True)
class Facts:
    """A host's facts about itself; `system` is `linux` or `mac`, as in command.json.

    `bash` is the path of bash, or "" if the host has only sh.
    """

    system: str
    name: str
    home: str
    user: str
    directory: str
    temporary: str
    bash: str = ""

    def variables(self) -> dict[str, str]:
        return {
            "HOME": self.home,
            "USER": self.user,
            "HOSTNAME": self.name,
            "PWD": self.directory,
        }


class Greeting:
    """Finds the host's greeting in ssh's stdout; `noise` is what the login printed before it."""

    def __init__(self) -> None:
        self.noise = b""
        self._found = False
        self._fields = b""

    def feed(self, data: bytes) -> tuple[Facts | None, bytes]:
        """Return the host's facts (None until they are complete) and the bytes that follow them."""
        if not self._found:
            self.noise += data
            before, mark, data = self.noise.partition(MARK)
            self.noise = before[-_MOST_NOISE:]
            self._found = bool(mark)
        self._fields += data
        *fields, rest = self._fields.split(b"\0", _FIELDS)
        if len(fields) < _FIELDS:
            return None, b""
        system, *others = (_text(field) for field in fields)
        kernel = system.lower()
        return Facts(_SYSTEMS.get(kernel, kernel), *others), rest


class Reports:
    """Separates the reports of the script on the host from the command's output.

    `greetings` is how many times MARK is expected: once for each shell that starts. What
    the last shell to start printed before its MARK is kept as `noise`: a login's output, or sudo's.
    """

    def __init__(self, nonce: str, greetings: int) -> None:
        self.noise = b""
        self._prefix = _SEPARATOR + nonce.encode() + b" "
        self._frames = re.compile(
            b"%b|%b([^\n]{0,%d})\n" % (MARK, self._prefix, _LONGEST_REPORT)
        )
        self._greetings = greetings
        self._rest = b""

    def feed(self, data: bytes) -> tuple[bytes, list[str]]:
        """Split `data` into the command's output and complete reports; buffer an incomplete one."""
        data = self._rest + data
        kept: list[bytes] = []
        reports: list[str] = []
        position = 0
        for frame in self._frames.finditer(data):
            is_mark = frame[1] is None
            if is_mark and not self._greetings:
                continue  # all expected marks were read, so the command printed this one
            self._keep(data[position : frame.start()], kept)
            position = frame.end()
            if is_mark:
                self._greetings -= 1
                if self._greetings:
                    self.noise = b""  # the login's; sudo's comes next
            else:
                reports.append(_readable(frame[1]))
        end = self._whole(data[position:]) + position
        self._keep(data[position:end], kept)
        self._rest = data[end:]
        return b"".join(kept), reports

    def rest(self) -> bytes:
        """Return the buffered bytes at the end of the stream: output that resembled a report."""
        return self._rest if not self._greetings else b""

    def _keep(self, text: bytes, kept: list[bytes]) -> None:
        if self._greetings:
            self.noise = (self.noise + text)[-_MOST_NOISE:]
        else:
            kept.append(text)

    def _whole(self, data: bytes) -> int:
        """Return how many bytes of `data` precede a possible start of a report."""
        begun = data.find(self._prefix)
        if begun >= 0 and len(data) - begun <= _LONGEST_REPORT:
            return begun
        last = max(data.rfind(_SEPARATOR), 0)
        rest = data[last:]
        return (
            last
            if MARK.startswith(rest) or self._prefix.startswith(rest)
            else len(data)
        )


@functools.cache
def script(name: str) -> str:
    """Return a host-side script without its comments."""
    file = os.path.join(os.path.dirname(__file__), "host_side", name)
    with open(file, encoding="utf-8") as opened:
        lines = [line.strip() for line in opened]
    return "\n".join(line for line in lines if line and not line.startswith("#"))


def elevation(nonce: str, user: str, ask: bool, greeting: str) -> bytes:
    """Return the bytes that make the host start a shell as `user`: see elevate.sh."""
    values = {
        "fleet_nonce": nonce,
        "fleet_user": user,
        "fleet_ask": "ask" if ask else "",
        "fleet_greeting": greeting,
    }
    return text_for_sh(_assigned(values) + script("elevate.sh"))


def opening(nonce: str, size: int, place: str) -> bytes:
    """Return the bytes to send before a tar archive of `size` bytes, to be unpacked at `place`."""
    stage = script("take.sh") + "\n" + script("unpack.sh")
    return in_bash() + items([stage, nonce, str(size), place])


def order(
    library: str,
    environment: Mapping[str, str],
    argv: Sequence[str],
    requires: Iterable[Sequence[str]] = (),
) -> bytes:
    """Return the bytes to send after the archive: what to run, and with which environment.

    Each item of `requires` is a program, its version and its hint.
    """
    needs = [text for each in requires for text in each]
    variables = [f"{name}={value}" for name, value in environment.items()]
    return items(
        [
            library,
            str(len(variables)),
            *variables,
            str(len(argv)),
            *argv,
            str(len(needs)),
            *needs,
        ]
    )


def text_for_sh(text: str) -> bytes:
    """Return the bytes that make sh on the host run a text: a line of code that prints the text."""
    content = text.encode("utf-8", "surrogateescape")
    escaped = b"".join(
        b"%c" % byte if byte in _PLAIN else b"\\%03o" % byte for byte in content
    )
    return b"printf '%b'\n" % escaped


def in_bash() -> bytes:
    """Return the bytes that make sh on the host go on in bash."""
    return text_for_sh(script("to_bash.sh"))


def opening_in_sh(
    nonce: str, size: int, place: str, requires: Iterable[Sequence[str]]
) -> bytes:
    """Return the bytes of `opening` for a host without bash: see run_in_sh.sh."""
    values = {
        "fleet_nonce": nonce,
        "fleet_size": str(size),
        "fleet_dir": place,
        "fleet_needs": " ".join(program for program, *_ in requires),
    }
    return text_for_sh(
        "\n".join([script("take.sh"), _assigned(values), script("run_in_sh.sh")])
    )


def _assigned(values: Mapping[str, str]) -> str:
    """Return lines of sh that set variables."""
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())


def order_in_sh(environment: Mapping[str, str], argv: Sequence[str]) -> bytes:
    """Return the bytes of `order` for a host without bash."""
    exports = [
        f"export {name}={shlex.quote(value)}"
        for name, value in environment.items()
        if name.isidentifier()  # sh can set no other name
    ]
    words = " ".join(map(shlex.quote, argv))
    return text_for_sh("\n".join([*exports, f"exec {words}"]))


def items(words: Iterable[str]) -> bytes:
    return b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)


def useful_line(noise: bytes) -> str:
    """Return the last line of `noise` that states a cause, or else its last informative line."""
    lines = [line.strip() for line in _readable(noise).splitlines() if line.strip()]
    causes = [line for line in lines if _CAUSE.match(line)]
    plain = [line for line in lines if not _CONSEQUENCE.match(line)]
    return (causes or plain or lines or [""])[-1]


def sudo_line(noise: bytes) -> str:
    """Return the first line with which sudo says why it failed; the lines after it add nothing."""
    lines = [line.strip() for line in _readable(noise).splitlines() if line.strip()]
    telling = [line for line in lines if not _ASIDE.match(line)]
    line = (telling or lines or [""])[0]
    return re.sub(
        r"to execute '.*' as ", "to run /bin/sh as ", line
    )  # the line of shell is long


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _readable(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
