"""What one dialect says of a script: each value of a tag that its key accepts."""

from host.errors import DefinitionError
from host.files.json_file import parse_json
from host.headers.rows import TAG
from host.words import is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from host.headers.rows import Row


class Reading:
    """What one dialect says of a script.

    rows        the rows of the header for the next dialect, and at last for prose; one that this
                dialect has read is a `TAG`
    values      keys of a command.json; `args` has the arguments
    title       a text that is the description if no dialect has one
    usage       the lines of the script's usage
    words       a free text that describes the arguments, or ""
    is_checked  whether a run checks the arguments; if not, they are only for pages and Tab
    effective   the tags that have an effect, as text
    ignored     the names of the tags without one, such as "@raycast.icon"

    A tag never makes a definition invalid: a value that its key does not accept is ignored. Each
    `set_` and `add_` returns whether the value has an effect.
    """

    def __init__(self, rows: "Sequence[Row]") -> None:
        self.rows = list(rows)
        self.values: dict[str, Any] = {}
        self.title = ""
        self.usage: list[str] = []
        self.words = ""
        self.is_checked = True
        self.effective: list[str] = []
        self.ignored: list[str] = []

    def take(self, index: int) -> None:
        """Take a row, so that no other dialect and no prose has it."""
        self.rows[index] = (TAG, "")

    def note(self, label: str, value: str, *, has_effect: bool) -> None:
        """Note a tag, by the name that people know it by, as effective or ignored."""
        if has_effect:
            self.effective.append(f"{label} {value}".strip())
        else:
            self.ignored.append(label)

    def set_text(self, key: str, value: "Any") -> bool:
        """Set a key to a text; the first description counts."""
        if not isinstance(value, str) or not value:
            return False
        if key == "description" and key in self.values:
            return False
        self.values[key] = value
        return True

    def set_flag(self, key: str, value: "Any") -> bool:
        """Set a key to true or false."""
        self.values[key] = value in (True, "true")
        return True

    def add_aliases(self, value: "Any") -> bool:
        """Add aliases: words, or routes of words below a program, such as `omarchy screenshot`."""
        if isinstance(value, list):
            texts = value
        else:
            text = str(value)
            separator = "|" if "|" in text else ","
            texts = text.split(separator)

        aliases = self.values.setdefault("aliases", [])
        for text in texts:
            words = str(text).split()
            if len(words) > 1:
                words = words[1:]  # without the program
            alias = "-".join(words)
            if is_word(alias) and alias not in aliases:
                aliases.append(alias)
        return bool(aliases)

    def add_argument(self, keys: "dict[str, Any]") -> None:
        """Add an argument; of two with the same name, the last counts, and nothing is checked."""
        arguments = self.values.setdefault("args", [])
        for number, argument in enumerate(arguments):
            if argument["name"] == keys["name"]:
                self.is_checked = False
                arguments[number] = keys
                return
        arguments.append(keys)


def comments_in(rows: "Sequence[Row]") -> "Iterator[tuple[int, str]]":
    """Yield the index and the text of each row that has a text."""
    for index, (_, text) in enumerate(rows):
        bare = text.strip()
        if bare:
            yield index, bare


def value_of(text: str) -> "Any":
    """Return a value without quotes around all of it; arrays, true and false are parsed."""
    # mise's values are TOML: `alias=["b", "bld"]`, `hide=true`.
    if text.startswith(('"', "[")) or text in ("true", "false"):
        parsed = parsed_json(text)
        if parsed is not None:
            return parsed

    quote = text[:1]
    if quote not in ("'", '"'):
        return text
    inside = text[1:-1]
    is_closed = text == f"{quote}{inside}{quote}"
    if is_closed and quote not in inside:
        return inside
    return text


def parsed_json(text: str) -> "Any":
    """Return the value of a text in JSON, or None if it is not JSON."""
    try:
        return parse_json("", text.encode("utf-8", "surrogatepass"))
    except DefinitionError:
        return None
