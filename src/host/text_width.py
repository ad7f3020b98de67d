"""The width of text on a terminal in columns, including wide and combining characters.

Most text is ASCII (plus `…`) with one column per character; wcwidth is loaded only for other text.
"""

from __future__ import annotations

_NARROWEST = 20


def width_of(text: str) -> int:
    """Return the number of columns of a printable `text`."""
    if text.isascii() or text.replace("…", "").isascii():
        return len(text)
    from host.run.importing import complete_import_path

    complete_import_path("wcwidth")
    import wcwidth

    return max(0, wcwidth.wcswidth(text))


def wrap(text: str, columns: int) -> list[str]:
    """Wrap `text` into lines of at most `columns` columns (at least 20); "" gives one line."""
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
            head = _fitting(line, columns)
            lines.append(line[:head])
            line = line[head:]
    return [*lines, line] if line or not lines else lines


def cut(text: str, columns: int) -> str:
    """Return a printable `text` cut to at most `columns` columns, with `…` at its end if cut."""
    if width_of(text) <= columns:
        return text
    return f"{text[: _fitting(text, columns - 1)]}…"


def _fitting(text: str, columns: int) -> int:
    """Return how many characters of `text` fit into `columns`, at least one."""
    count = 1
    while count < len(text) and width_of(text[: count + 1]) <= columns:
        count += 1
    return count
