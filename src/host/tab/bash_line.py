"""Split a bash command line at the cursor into words, and quote candidates for bash."""

_PLAIN = "_-./:=@%+,"  # characters that need no backslash, besides letters and digits
_BLANKS = " \t\n"
_ENDS = ";|&("  # characters after which another command starts
_ESCAPED = '"\\$`'  # characters that a backslash escapes inside double quotes


def split_line(line: str) -> tuple[list[str], str, int]:
    """Return the unquoted words of the last command on a bash `line`, and its unclosed quote.

    The last value is the position in the last word at which that quote stands. The last word is
    the unfinished word at the cursor, or "" after a blank. Nothing is expanded.
    """
    words: list[str] = [""]
    quote = ""
    start = 0  # of the part in quotes, in the last word
    in_word = False  # true even if the word is still an empty pair of quotes

    signs = iter(line)
    for sign in signs:
        if sign == "\\" and quote != "'":
            words[-1] += _unescaped(next(signs, ""), quote)
            in_word = True
        elif sign == quote:
            quote = ""
        elif quote:
            words[-1] += sign
        elif sign in "'\"":
            quote = sign
            start = len(words[-1])
            in_word = True
        elif sign in _ENDS:
            words = [""]
            in_word = False
        elif sign not in _BLANKS:
            words[-1] += sign
            in_word = True
        elif in_word:
            words.append("")
            in_word = False

    if not quote:
        start = 0
    return words, quote, start


def _unescaped(sign: str, quote: str) -> str:
    """Return what a backslash before `sign` stands for."""
    if quote and sign not in _ESCAPED:
        return f"\\{sign}"  # in double quotes, such a backslash stands for itself
    return sign


def broken_at(word: str, breaks: str) -> int:
    """Return how many characters of `word` bash keeps when it inserts a candidate.

    bash keeps the part up to the last `:`, `=` or `@` that is in `breaks` (COMP_WORDBREAKS). In an
    open quotation mark, it keeps what stands before that mark.
    """
    last = -1
    for sign in breaks:
        if sign in ":=@":
            last = max(last, word.rfind(sign))
    return last + 1


def bash_candidate(word: str, quote: str) -> str:
    """Return `word` escaped for bash, behind an open quotation mark if `quote` is not empty."""
    if quote == "'":
        return word.replace("'", "'\\''")

    escaped = ""
    for sign in word:
        if quote:
            is_plain = sign not in _ESCAPED
        else:
            is_plain = sign.isalnum() or sign in _PLAIN
        if not is_plain:
            escaped += "\\"
        escaped += sign
    return escaped
