"""Omarchy: `# omarchy:summary=Take a screenshot`, whatever the prefix.

https://github.com/basecamp/omarchy, `bin`.
"""

from host.headers.dialect_values import Reading, comments_in, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.headers.dialects import Script
    from host.headers.rows import Row

_TEXTS = {"summary": "description", "group": "group"}
_FLAGS = {"hidden": "hidden", "requires-sudo": "sudo"}
_ALIASES = ("alias", "aliases")


def read(_script: "Script", rows: "Sequence[Row]") -> Reading:
    reading = Reading(rows)
    for index, text in comments_in(rows):
        label, equals, value = text.partition("=")
        prefix, _, name = label.partition(":")
        # An address with a query, or a sentence, is no tag.
        is_tag = equals and prefix and name and "/" not in name and " " not in label
        if is_tag:
            reading.take(index)
            has_effect = _set(reading, name, value_of(value.strip()))
            reading.note(label, value.strip(), has_effect=has_effect)
    return reading


def _set(reading: Reading, name: str, value: "Any") -> bool:
    """Set the key that a tag means; return whether it has an effect."""
    if name in _TEXTS:
        return reading.set_text(_TEXTS[name], value)
    if name in _FLAGS:
        return reading.set_flag(_FLAGS[name], value)
    if name in _ALIASES:
        return reading.add_aliases(value)
    if name == "args":
        reading.words = str(value)
        return reading.words != ""
    if name == "examples":
        return _add_examples(reading, value)
    return False


def _add_examples(reading: Reading, value: "Any") -> bool:
    text = str(value)
    # With blanks around it, a `|` separates examples that have pipes without blanks.
    separator = " | " if " | " in text else "|"
    for part in text.split(separator):
        line = part.strip()
        if line:
            reading.values.setdefault("examples", []).append({"command": line})
    return text != ""
