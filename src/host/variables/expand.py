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
        result = text
        expansion.foreign = True
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
        text = self.text
        end = len(text)
        parts: list[str] = []
        while position < end:
            start = position
            while position < end and text[position] not in _SPECIAL:
                position += 1
            if position > start:
                parts.append(text[start:position])
                continue

            character = text[position]
            if character == "}" and inside:
                return "".join(parts), position
            if character == "$":
                part, position = self.dollar_or_rest(position, inside, used)
            else:
                part, position = self.quote(position, inside)
            parts.append(part)

        if inside:
            raise _UnclosedError
        return "".join(parts), end

    def dollar_or_rest(
        self, position: int, inside: bool, used: bool
    ) -> tuple[str, int]:
        """Return what `dollar` returns, or outside all words the rest of a text without an end."""
        text = self.text
        try:
            return self.dollar(position, used)
        except _UnclosedError:
            if inside:
                raise
            if text.startswith("${", position):
                self.foreign = True
            return text[position:], len(text)

    def quote(self, position: int, inside: bool) -> tuple[str, int]:
        """Return the literal text that begins with a backslash, backtick or `}` at `position`."""
        text = self.text
        character = text[position]
        following = text[position + 1 : position + 2]
        if character == "\\":
            # only these lose the backslash: the shell would keep it before other characters
            special = "$\\}" if inside else "$\\"
            if following and following in special:
                return following, position + 2
            # an escaped backtick begins no command, and keeps its backslash
            stop = position + 1
            if following == "`":
                stop += 1
            return text[position:stop], stop

        stop = position + 1
        if character == "`":
            closer = text.find("`", stop)
            if closer >= 0:
                stop = closer + 1
        return text[position:stop], stop

    def dollar(self, position: int, used: bool) -> tuple[str, int]:
        """Return the value of the reference at `position`, and the end of the reference.

        Text that begins with several `$` is not a reference and is returned unchanged.
        """
        text = self.text
        stop = position
        while text.startswith("$", stop):
            stop += 1
        # `$$` is not a reference; passwords may contain it
        is_reference = stop == position + 1

        if text.startswith("{", stop):
            if is_reference:
                return self.brace(position, used)
            return self.as_written(position, stop + 1)
        if text.startswith("(", stop):
            end = self.closing_parenthesis(stop) + 1
            return text[position:end], end

        end = self.name_end(stop)
        name = text[stop:end]
        if is_reference and name:
            return self.value_of(name), end
        return text[position:end], end

    def value_of(self, name: str) -> str:
        return self.lookup(name) or ""

    def brace(self, position: int, used: bool) -> tuple[str, int]:
        """Return the value of the `${…}` at `position`, and the end of it."""
        stop = self.name_end(position + 2)
        name = self.text[position + 2 : stop]
        if name and self.text.startswith("}", stop):
            return self.value_of(name), stop + 1

        operator = self.operator_at(stop)
        if not name or not operator:
            if used:
                self.foreign = True
            return self.as_written(position, position + 2)

        is_set = self.lookup(name) is not None
        if operator.startswith(":"):  # an empty value counts as unset, too
            is_set = self.value_of(name) != ""
        kind = operator[-1]
        takes_word = kind in "-="
        if is_set:
            takes_word = kind == "+"

        # The word is parsed even if it is not used, because it decides where the `}` is.
        word, end = self.word(
            stop + len(operator), inside=True, used=used and takes_word
        )
        if takes_word:
            return word, end + 1
        if kind == "+":
            return "", end + 1
        if kind == "?" and not is_set:
            # `:?` ends a shell with a message; here, the text stays as it is
            if used:
                self.foreign = True
            return self.text[position : end + 1], end + 1
        return self.value_of(name), end + 1

    def operator_at(self, position: int) -> str:
        for operator in _OPERATORS:
            if self.text.startswith(operator, position):
                return operator
        return ""

    def as_written(self, position: int, inner: int) -> tuple[str, int]:
        """Return the text from `position` to the end of a `${…}`, unchanged.

        `inner` is the position after the `${`.
        """
        _, end = self.word(inner, inside=True, used=False)
        return self.text[position : end + 1], end + 1

    def closing_parenthesis(self, position: int) -> int:
        depth = 0
        for index in range(position, len(self.text)):
            if self.text[index] == "(":
                depth += 1
            elif self.text[index] == ")":
                depth -= 1
            if depth == 0:
                return index
        raise _UnclosedError

    def name_end(self, position: int) -> int:
        """Return the end of the name that begins at `position`, or `position` if none does."""
        text = self.text
        end = len(text)
        if position < end and text[position] in _NAME_START:
            while position < end and text[position] in _NAME_CHARACTERS:
                position += 1
        return position
