"""Raycast: `# @raycast.title Copy a table`; other prefixes are accepted, too.

https://github.com/raycast/script-commands.
"""

from host.headers.dialect_values import Reading, comments_in, parsed_json, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.headers.dialects import Script
    from host.headers.rows import Row

_ARGUMENTS = ("argument1", "argument2", "argument3")


def read(script: "Script", rows: "Sequence[Row]") -> Reading:
    reading = Reading(rows)
    for index, text in comments_in(rows):
        tag, _, rest = text.replace("\t", " ").partition(" ")
        prefix, dot, name = tag.partition(".")
        if not dot or not prefix.startswith("@"):
            continue
        reading.take(index)
        value = rest.strip()
        has_effect = _set(reading, name, value, script.name)
        reading.note(tag, value, has_effect=has_effect)
    return reading


def _set(reading: Reading, name: str, value: str, file_name: str) -> bool:
    """Set the key that a tag means; return whether it has an effect."""
    if name == "description":
        return reading.set_text(name, value_of(value))
    if name == "title":
        reading.title = str(value_of(value))
        return reading.title != ""
    if name == "needsConfirmation":
        if value != "true":
            return False
        stem, _, _ = file_name.rpartition(".")
        subject = reading.title or stem or file_name
        return reading.set_text("confirm", f"Run {subject}?")
    if name in _ARGUMENTS:
        return _add_argument(reading, name, parsed_json(value))
    return False


def _add_argument(reading: Reading, tag: str, values: "Any") -> bool:
    """Add an argument, a JSON object."""
    if not isinstance(values, dict):
        reading.is_checked = False
        return False
    placeholder = ""
    if values.get("placeholder"):
        placeholder = str(values["placeholder"]).strip()

    slug = _slug(placeholder)
    keys: dict[str, Any] = {"name": tag}
    if slug and placeholder.isascii():
        keys["name"] = slug
    if placeholder.lower() != slug:
        keys["description"] = placeholder

    # Raycast's arguments are required by default.
    if values.get("optional") is not True:
        keys["required"] = True
    if values.get("type") == "password" or values.get("secure") is True:
        keys["secret"] = True
        # The script reads the password from its words; a prompt would only set ARG_….
        reading.is_checked = False
    choices = _choices_of(values.get("data"))
    if choices:
        keys["choices"] = choices

    names = [argument["name"] for argument in reading.values.get("args", ())]
    if keys["name"] in names:  # two placeholders with the same text
        keys["name"] = tag
    reading.add_argument(keys)
    return True


def _slug(text: str) -> str:
    """Return the letters and digits of a text as a name: `Table name` is `table-name`."""
    letters = ""
    for sign in text.lower():
        if sign.isascii() and sign.isalnum():
            letters += sign
        else:
            letters += " "
    return "-".join(letters.split())


def _choices_of(data: "Any") -> list[str]:
    """Return the values of a drop-down list."""
    choices = []
    if isinstance(data, list):
        for item in data:
            if isinstance(item, dict):
                choices.append(str(item.get("value")))
    return choices
