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
    start = 0
    # true inside a word, even if the word is still an empty pair of quotes
    started = False
    signs = iter(line)
    for sign in signs:
        if quote != "'" and sign == "\\":
            following = next(signs, "")
            words[-1] += (
                following if not quote or following in _ESCAPED else f"\\{following}"
            )
            started = True
        elif quote:
            words[-1] += "" if sign == quote else sign
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
            start = len(words[-1])
            started = True
        elif sign in _ENDS:
            words, started = [""], False
        elif sign not in _BLANKS:
            words[-1] += sign
            started = True
        elif started:
            words.append("")
            started = False
    return words, quote, start if quote else 0


def broken_at(word: str, breaks: str) -> int:
    """Return how many characters of `word` bash keeps when it inserts a candidate.

    bash keeps the part up to the last `:`, `=` or `@` that is in `breaks` (COMP_WORDBREAKS). In an
    open quotation mark, it keeps what stands before that mark.
    """
    return max((word.rfind(sign) for sign in breaks if sign in ":=@"), default=-1) + 1


def bash_candidate(word: str, quote: str) -> str:
    """Return `word` escaped for bash, behind an open quotation mark if `quote` is not empty."""
    if quote == "'":
        return word.replace("'", "'\\''")
    if quote:
        return "".join(f"\\{sign}" if sign in _ESCAPED else sign for sign in word)
    return "".join(
        sign if sign.isalnum() or sign in _PLAIN else f"\\{sign}" for sign in word
    )
