"""The width of text on a terminal in columns, including wide and combining characters.

Most text is ASCII and `…`, with one column per character. wcwidth is loaded only for other text.
"""

_NARROWEST = 20


def width_of(text: str) -> int:
    """Return the number of columns that `text` takes; it must be printable."""
    if text.isascii() or text.replace("…", "").isascii():
        return len(text)
    from host.run.importing import complete_import_path

    complete_import_path("wcwidth")
    import wcwidth

    return max(0, wcwidth.wcswidth(text))


def shortened(text: str, columns: int) -> str:
    """Return `text`, or as much of it as fits into `columns` columns with an `…` at the end."""
    if width_of(text) <= columns:
        return text
    kept = text[
        :columns
    ]  # a character takes at least one column, unless it is combining
    while kept and width_of(kept) > columns - 1:
        kept = kept[:-1]
    return f"{kept}…"


def wrap(text: str, columns: int) -> list[str]:
    """Return the lines of `text`, wrapped at `columns` columns (but not at fewer than 20).

    An empty text gives one empty line.
    """
    columns = max(columns, _NARROWEST)
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and width_of(line) + 1 + width_of(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while width_of(line) > columns:
            head = 1
            while width_of(line[: head + 1]) <= columns:
                head += 1
            lines.append(line[:head])
            line = line[head:]
    return [*lines, line] if line or not lines else lines
