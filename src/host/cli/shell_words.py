"""A line as bash has it, typed up to the cursor → its words, the last one unfinished."""

_BLANKS = " \t\n"
_ENDS = ";|&("  # what begins another command
_ESCAPED = '"\\$`'  # what a backslash stands before inside double quotes


def split_line(line: str) -> tuple[list[str], str]:
    """Return the words of the last command on `line`, unquoted, and the quote that is open.

    The last word is what is typed of it so far, "" after a blank. Nothing is expanded.
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
