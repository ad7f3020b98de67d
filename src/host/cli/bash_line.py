"""The words of a line of bash, as typed up to the cursor, and candidates as bash reads them."""

_PLAIN = "_-./:=@%+,"  # what bash takes as it is, beside letters and digits
_BLANKS = " \t\n"
_ENDS = ";|&("  # what begins another command
_ESCAPED = '"\\$`'  # what a backslash stands before inside double quotes


def split_line(line: str) -> tuple[list[str], str]:
    """Return the words of the last command on a `line` of bash, unquoted, and the open quote.

    The last word is what is typed of it up to the cursor, "" after a blank. Nothing is expanded.
    """
    words: list[str] = [""]
    quote = ""
    started = False  # also by a quote with nothing in it
    signs = iter(line)
    for sign in signs:
        if quote != "'" and sign == "\\":
            following = next(signs, "")
            words[-1] += following if not quote or following in _ESCAPED else f"\\{following}"
            started = True
        elif quote:
            words[-1] += "" if sign == quote else sign
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote, started = sign, True
        elif sign in _ENDS:
            words, started = [""], False
        elif sign not in _BLANKS:
            words[-1] += sign
            started = True
        elif started:
            words.append("")
            started = False
    return words, quote


def broken_at(word: str, breaks: str, quote: str) -> int:
    """Return how much of the word bash does not replace: up to the last of its word breaks."""
    if quote:
        return 0
    return max((word.rfind(sign) for sign in breaks if sign in ":=@"), default=-1) + 1


def bash_candidate(word: str, quote: str) -> str:
    """Return a word as bash reads it back; inside quotes it stands as it is."""
    if quote:
        return word
    return "".join(sign if sign.isalnum() or sign in _PLAIN else f"\\{sign}" for sign in word)
