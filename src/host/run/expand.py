"""Expand `$NAME` and `${NAME:-default}` in a text, without side effects (SPEC 2.4, 2.5)."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NAME_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME_CHARACTERS = _NAME_START | frozenset("0123456789")
_SPECIAL = frozenset("\\$`}")
UNSUPPORTED = (
    "this ${…} is not expanded; use ${NAME} or ${NAME<op>text}; <op> is :- - := = :+ or +, or, "
    "if NAME is set, :? or ?"
)
_OPERATORS = (":-", ":=", ":+", ":?", "-", "=", "+", "?")


def expand(
    text: str,
    lookup: "Callable[[str], str | None]",
    warn: "Callable[[], None] | None" = None,
) -> str:
    r"""Return `text` with its variable references replaced.

    `lookup` returns a variable's value, or None if it is unset. References are `$NAME`,
    `${NAME}` and `${NAME<op>word}` with the operators `:-` `-` `:=` `=` `:+` `+` `:?` `?`;
    `:=` assigns nothing. `\$`, `\\` and, inside a word, `\}` lose their backslash. An inserted
    value is not expanded again. Text that a shell would execute, glob or split is unchanged, and
    so is `$$` with a name or braces after it. Any other `${…}`, and `:?` with an unset name, are
    also unchanged; `warn` is called once for them. The time is linear in the text's length.
    Example::

        expand("${CACHE:-$HOME/.cache}/acme", os.environ.get)
    """
    if "$" not in text and "\\" not in text:
        return text
    expansion = _Expansion(text, lookup)
    try:
        result, _ = expansion.word(0)
    except RecursionError:  # the text has hundreds of nested defaults
        result, expansion.foreign = text, True
    if expansion.foreign and warn is not None:
        warn()
    return result


class _UnclosedError(Exception):
    """An unclosed `${` or `$(`: the text from the outermost one to the end stays unchanged."""


class _Expansion:
    """One pass from left to right; methods return an expanded text and the position after it.

    With `used` false, text is only parsed to find its end. `foreign` is true if the result
    contains an unsupported `${…}`.
    """

    def __init__(self, text: str, lookup: "Callable[[str], str | None]") -> None:
        self.text = text
        self.lookup = lookup
        self.foreign = False

    def word(
        self, position: int, *, inside: bool = False, used: bool = True
    ) -> tuple[str, int]:
        """Expand from `position` to the end or, if `inside` is true, to the `}` of this `${…}`."""
        text, end = self.text, len(self.text)
        parts: list[str] = []
        while position < end:
            start = position
            while position < end and text[position] not in _SPECIAL:
                position += 1
            part = text[start:position]
            character = text[position : position + 1]
            if part or not character:
                pass
            elif character == "}" and inside:
                return "".join(parts), position
            elif character == "$":
                try:
                    part, position = self.dollar(position, used)
                except _UnclosedError:
                    if inside:
                        raise
                    self.foreign = self.foreign or text.startswith("${", position)
                    part, position = text[position:], end
            else:
                part, position = self.quote(position, inside)
            parts.append(part)
        if inside:
            raise _UnclosedError
        return "".join(parts), end

    def quote(self, position: int, inside: bool) -> tuple[str, int]:
        """Return the literal text that begins with a backslash, backtick or `}` at `position`."""
        text = self.text
        character, following = text[position], text[position + 1 : position + 2]
        if character == "`":
            closer = text.find("`", position + 1)
            stop = closer + 1 if closer >= 0 else position + 1
        elif character == "\\" and (
            following in ("$", "\\") or (following == "}" and inside)
        ):
            return following, position + 2
        else:
            stop = position + (2 if character + following == "\\`" else 1)
        return text[position:stop], stop

    def dollar(self, position: int, used: bool) -> tuple[str, int]:
        """Return the value of the reference at `position`, and the end of the reference.

        Text that begins with several `$` is not a reference and is returned unchanged.
        """
        text, stop = self.text, position
        while text.startswith("$", stop):
            stop += 1
        several = (
            stop > position + 1
        )  # `$$` is not a reference; passwords may contain it
        if text.startswith("{", stop):
            return (
                self.as_written(position, stop + 1)
                if several
                else self.brace(position, used)
            )
        if text.startswith("(", stop):
            end = self.closing_parenthesis(stop) + 1
        else:
            end = self.name_end(stop)
            if end > stop and not several:
                return self.lookup(text[stop:end]) or "", end
        return text[position:end], end

    def brace(self, position: int, used: bool) -> tuple[str, int]:
        stop = self.name_end(position + 2)
        name = self.text[position + 2 : stop]
        if name and self.text.startswith("}", stop):
            return self.lookup(name) or "", stop + 1
        operators = [sign for sign in _OPERATORS if self.text.startswith(sign, stop)]
        operator = operators[0] if operators else ""
        if not name or not operator:
            self.foreign = self.foreign or used
            return self.as_written(position, position + 2)
        value = self.lookup(name)
        missing = value is None or (operator[0] == ":" and not value)
        takes_word = (
            missing if operator[-1] in "-=" else operator[-1] == "+" and not missing
        )
        word, end = self.word(
            stop + len(operator), inside=True, used=used and takes_word
        )
        if takes_word:
            return word, end + 1
        if operator[-1] == "?" and missing:
            self.foreign = self.foreign or used
            return self.text[position : end + 1], end + 1
        return "" if operator[-1] == "+" else value or "", end + 1

    def as_written(self, position: int, inner: int) -> tuple[str, int]:
        """Return the text from `position` to the end of a `${…}`, unchanged.

        `inner` is the position after the `${`.
        """
        _, end = self.word(inner, inside=True, used=False)
        return self.text[position : end + 1], end + 1

    def closing_parenthesis(self, position: int) -> int:
        depth = 0
        for index in range(position, len(self.text)):
            depth += (self.text[index] == "(") - (self.text[index] == ")")
            if not depth:
                return index
        raise _UnclosedError

    def name_end(self, position: int) -> int:
        text, end = self.text, len(self.text)
        if position < end and text[position] in _NAME_START:
            while position < end and text[position] in _NAME_CHARACTERS:
                position += 1
        return position
