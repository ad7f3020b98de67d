"""Pure: `$NAME` and `${NAME:-default}` in a text, against a mapping (SPEC 2.4, 2.5)."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NAME_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME = _NAME_START | frozenset("0123456789")
_SPECIAL = frozenset("\\$`}")
_AS_WRITTEN = ""  # the operator of a frame whose form is none of ours
_DOLLARS = "$$"  # stands for the name in a frame that stays as written for the `$$` before it


def is_name(text: str) -> bool:
    """Tell whether `text` is a variable's name: `[A-Za-z_][A-Za-z0-9_]*`."""
    return text[:1] in _NAME_START and _NAME.issuperset(text)


def expand(
    text: str,
    lookup: "Callable[[str], str | None]",
    warn: "Callable[[], None] | None" = None,
) -> str:
    r"""Return `text` with its variable references replaced.

    `lookup` gives a variable's value, or None when it is unset. Replaced are
    `$NAME`, `${NAME}` and `${NAME<op>word}` with the operators `:-` `-` `:=` `=`
    `:+` `+` `:?` `?`; `:=` assigns nothing. `\$`, `\\` and, inside a word, `\}` lose
    their backslash. An inserted value is never looked at again. Whatever a shell
    would execute, glob or split stays as written, `$$` with the name or braces behind
    it, and so do `${…}` of any other form and `:?` with an unset name, for which `warn`
    is called once. Takes linear time::

        expand("${CACHE:-$HOME/.cache}/acme", os.environ.get)
    """
    if "$" not in text and "\\" not in text:
        return text
    expansion = _Expansion(text, lookup)
    result = expansion.run()
    if expansion.foreign and warn is not None:
        warn()
    return result


class _Expansion:
    """One left-to-right pass with a stack of open `${`, so nesting costs no recursion.

    A frame remembers how long `parts` was when it opened: closing it either keeps
    what came since (the word is used) or drops it. That keeps the pass linear.
    `unset` are the parts that `:?` left as written.
    """

    __slots__ = (
        *("closers", "foreign", "frames", "lookup", "open_as_written", "parts", "text", "unset"),
    )

    def __init__(self, text: str, lookup: "Callable[[str], str | None]") -> None:
        self.text = text
        self.lookup = lookup
        self.parts: list[str] = []
        # (index of its "$", len(parts) then, name, operator)
        self.frames: list[tuple[int, int, str, str]] = []
        self.open_as_written = 0
        self.closers: dict[int, int] | None = None
        self.foreign = False
        self.unset: list[int] = []

    def run(self) -> str:
        text, parts, end = self.text, self.parts, len(self.text)
        position = 0
        while position < end:
            character = text[position]
            if character == "$":
                position = self.dollar(position)
            elif character == "\\":
                position = self.backslash(position)
            elif character == "`":
                position = self.backtick(position)
            elif character == "}" and self.frames:
                position = self.close(position)
            else:
                start = position
                position += 1
                while position < end and text[position] not in _SPECIAL:
                    position += 1
                parts.append(text[start:position])
        if self.frames:  # never closed: as written from the outermost on
            start, mark, name, _ = self.frames[0]
            parts[mark:] = [text[start:]]
            self.foreign = self.foreign or name != _DOLLARS
        self.foreign = self.foreign or bool(self.unset)
        return "".join(parts)

    def dollar(self, position: int) -> int:
        following = self.text[position + 1 : position + 2]
        if following == "$":
            return self.dollars(position)
        if following == "{":
            return self.brace(position)
        if following == "(":
            return self.parenthesis(position)
        stop = self.name_end(position + 1)
        if stop == position + 1:
            self.parts.append("$")
        else:
            self.parts.append(self.lookup(self.text[position + 1 : stop]) or "")
        return stop

    def dollars(self, position: int) -> int:
        """Keep `$$` and what it protects: a shell's `$$` is no name, and passwords hold it."""
        text, stop = self.text, position
        while text.startswith("$", stop):
            stop += 1
        if text.startswith("{", stop):
            self.frames.append((position, len(self.parts), _DOLLARS, _AS_WRITTEN))
            self.open_as_written += 1
            return stop + 1
        if not text.startswith("(", stop):
            stop = self.name_end(stop)
            self.parts.append(text[position:stop])
            return stop
        self.parts.append(text[position : stop - 1])
        return self.parenthesis(stop - 1)

    def name_end(self, position: int) -> int:
        text, end = self.text, len(self.text)
        if position < end and text[position] in _NAME_START:
            while position < end and text[position] in _NAME:
                position += 1
        return position

    def brace(self, position: int) -> int:
        text = self.text
        stop = self.name_end(position + 2)
        name = text[position + 2 : stop]
        following = text[stop : stop + 1]
        if name and following == "}":
            self.parts.append(self.lookup(name) or "")
            return stop + 1
        operator = following
        if following == ":":
            operator = text[stop : stop + 2]
        if not name or operator not in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
            self.frames.append((position, len(self.parts), name, _AS_WRITTEN))
            self.open_as_written += 1
            self.foreign = True
            return position + 2
        self.frames.append((position, len(self.parts), name, operator))
        return stop + len(operator)

    def close(self, position: int) -> int:
        start, mark, name, operator = self.frames.pop()
        parts = self.parts
        if operator == _AS_WRITTEN:
            self.open_as_written -= 1
            if not self.open_as_written:  # an inner one is part of the outer one's text
                parts[mark:] = [self.text[start : position + 1]]
        elif not self.open_as_written:
            value = self.lookup(name)
            missing = value is None or (operator[0] == ":" and value == "")
            if operator[-1] == "+":
                if missing:
                    self.replace(mark)
            elif not missing:
                self.replace(mark, value or "")
            elif operator[-1] == "?":
                self.replace(mark, self.text[start : position + 1])
                self.unset.append(mark)
        return position + 1

    def replace(self, mark: int, *texts: str) -> None:
        self.parts[mark:] = texts
        while self.unset and self.unset[-1] >= mark:
            self.unset.pop()

    def backslash(self, position: int) -> int:
        following = self.text[position + 1 : position + 2]
        if following in ("$", "\\") or (following == "}" and self.frames):
            self.parts.append(following)
            return position + 2
        if following == "`":
            self.parts.append("\\`")
            return position + 2
        self.parts.append("\\")
        return position + 1

    def parenthesis(self, position: int) -> int:
        if self.closers is None:
            self.closers = _parentheses(self.text)
        closer = self.closers.get(position + 1)
        stop = position + 2 if closer is None else closer + 1
        self.parts.append(self.text[position:stop])
        return stop

    def backtick(self, position: int) -> int:
        closer = self.text.find("`", position + 1)
        stop = position + 1 if closer < 0 else closer + 1
        self.parts.append(self.text[position:stop])
        return stop


def _parentheses(text: str) -> dict[int, int]:
    """Return the index of each `(` that is closed, with that of its `)`."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for index, character in enumerate(text):
        if character == "(":
            opened.append(index)
        elif character == ")" and opened:
            pairs[opened.pop()] = index
    return pairs
