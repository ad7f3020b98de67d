"""The dialects: the notations of other tools for what a script says of itself in its header.

A dialect is one module of this package and one line in `DIALECTS`. The module has one function::

    def read(script: Script, rows: Sequence[Row]) -> Reading

It reads the rows that are written in this dialect, and leaves the others for the next one. What no
dialect has read is prose. A run loads a dialect only for a script with one of its texts.
"""

from host.headers.rows import header_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    from host.headers.dialect_values import Reading
    from host.headers.rows import Row

    class Dialect(Protocol):
        """A module of this package."""

        def read(self, script: "Script", rows: Sequence[Row]) -> Reading: ...


_AT = ("# @", "#@", "* @", "// @", "-- @")
# Each dialect with texts in lower case, of which a script in it has at least one. The order is that
# of their rank: the first one that gives a key wins.
DIALECTS = {
    "docopts": ("##?",),
    "argc": _AT,
    "raycast": _AT,
    "mise": ("#mise ", "# mise ", "[mise]"),
    "omarchy": (
        ":summary=",
        ":args=",
        ":examples=",
        ":alias",
        ":group=",
        ":hidden=",
        ":requires-sudo=",
    ),
    "sub": ("summary:", "description:", "usage:", "help:"),
    "usage": ("usage ", "[usage]"),
}


class Script:
    """A script as a dialect sees it: the name of its file, and the lines of its beginning."""

    def __init__(self, name: str, lines: "Sequence[str]") -> None:
        self.name = name
        self.lines = lines


class Header:
    """What all dialects together say of a script; `rows` are left for prose.

    The other attributes are those of `Reading`.
    """

    def __init__(self, name: str, lines: "Sequence[str]") -> None:
        self.rows: Sequence[Row] = header_rows(lines)
        self.values: dict[str, Any] = {}
        self.usage: list[str] = []
        self.words = ""
        self.is_checked = True
        self.effective: list[str] = []
        self.ignored: list[str] = []

        title = ""
        script = Script(name, lines)
        for dialect in _dialects_in(lines):
            reading = dialect.read(script, self.rows)
            self.rows = reading.rows
            self.values = {**reading.values, **self.values}
            self.usage += reading.usage
            self.words = self.words or reading.words
            title = title or reading.title
            self.is_checked = self.is_checked and reading.is_checked
            self.effective += reading.effective
            self.ignored += reading.ignored
        if title:
            self.values.setdefault("description", title)


def _dialects_in(lines: "Sequence[str]") -> "Iterator[Dialect]":
    """Yield the dialects of which a script has a text."""
    content = "\n".join(lines).lower()
    for name, texts in DIALECTS.items():
        if any(text in content for text in texts):
            yield __import__(f"{__name__}.{name}", fromlist=["read"])
