"""Parse the bytes that a host sends, without I/O, so that tests can split them anywhere.

The host greets on stdout. On stderr, it mixes reports with the command's own bytes; each report
begins with the run's nonce.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEPARATOR = b"\x1e"
MARK = b"\x1ecli-fleet\x1e"
_FIELDS = 7  # of `Facts`, each ended by NUL: see greeting.sh
_MOST_NOISE = 8192  # bytes of the login's output to keep
_LONGEST_REPORT = 4096
_SYSTEMS = {"darwin": "mac"}  # names of kernels that command.json has by another name


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
        self._has_begun = False
        self._fields = b""

    def feed(self, data: bytes) -> tuple[Facts | None, bytes]:
        """Return the host's facts (None until they are complete) and the bytes that follow them."""
        if not self._has_begun:
            # The mark may be split between two pieces, so all noise is searched again.
            self.noise += data
            before, mark, data = self.noise.partition(MARK)
            self.noise = before[-_MOST_NOISE:]
            self._has_begun = bool(mark)

        self._fields += data
        *fields, rest = self._fields.split(b"\0", _FIELDS)
        if len(fields) < _FIELDS:
            return None, b""

        # A path need not be UTF-8, and is sent back as it is.
        texts = [field.decode("utf-8", "surrogateescape") for field in fields]
        kernel = texts[0].lower()
        system = _SYSTEMS.get(kernel, kernel)
        return Facts(system, *texts[1:]), rest


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
        output: list[bytes] = []
        reports: list[str] = []
        position = 0

        for frame in self._frames.finditer(data):
            is_mark = frame[1] is None
            if is_mark and not self._greetings:
                continue  # all expected marks were read, so the command printed this one

            self._sort(data[position : frame.start()], output)
            position = frame.end()

            if not is_mark:
                reports.append(frame[1].decode("utf-8", "replace"))
                continue
            self._greetings -= 1
            if self._greetings:
                self.noise = b""  # the login's; sudo's comes next

        end = position + self._length_before_report(data[position:])
        self._sort(data[position:end], output)
        self._rest = data[end:]

        return b"".join(output), reports

    def rest(self) -> bytes:
        """Return the buffered bytes at the end of the stream: output that resembled a report."""
        if self._greetings:
            return b""  # the command has not started, so this is noise
        return self._rest

    def _sort(self, text: bytes, output: list[bytes]) -> None:
        """Add a text to the noise, or to `output` once the last shell has greeted."""
        if self._greetings:
            self.noise = (self.noise + text)[-_MOST_NOISE:]
        else:
            output.append(text)

    def _length_before_report(self, data: bytes) -> int:
        """Return how many bytes of `data` precede a possible start of a report."""
        begun = data.find(self._prefix)
        if begun >= 0 and len(data) - begun <= _LONGEST_REPORT:
            return begun

        # Only the last separator can begin a mark or a prefix that is cut off here.
        last = max(data.rfind(_SEPARATOR), 0)
        tail = data[last:]
        if MARK.startswith(tail) or self._prefix.startswith(tail):
            return last
        return len(data)
