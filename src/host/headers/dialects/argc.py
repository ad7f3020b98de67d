"""argc: `# @describe Copy a table`, `# @option -t --tries=3 <NUM> Set the retries`.

https://github.com/sigoden/argc, "Specification". What stands below `@cmd` belongs to a command of
the script itself, of which nothing is known here.
"""

from host.headers.dialect_values import Reading, comments_in, value_of
from host.headers.rows import TAG
from host.words import is_name, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.headers.dialects import Script
    from host.headers.rows import Row

_PARAMETERS = ("arg", "option", "flag")
_OVER_LINES = (*_PARAMETERS, "env")  # tags that the next lines describe further
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
_SIGNS = ("-", "+")  # of an option
_SEPARATORS = (",", ":", "@", "|", "/")
_PLACES = {"FILE": "file", "PATH": "file", "DIR": "directory"}


def read(script: "Script", rows: "Sequence[Row]") -> Reading:
    reading = Reading(rows)
    tags = _tags(reading)

    # A command may also stand below the header.
    has_commands = any(line.lstrip("#/ \t").startswith("@cmd") for line in script.lines)
    reading.is_checked = not has_commands
    # argc checks the variables itself if it reads a `.env` file, which may set them.
    reads_file = any(
        name == "meta" and _first_word(value) == "dotenv" for name, value in tags
    )

    for name, value in tags:
        label = f"@{name}"
        if name == "cmd":
            continue
        if name == "env" and (has_commands or reads_file):
            reading.note(label, value, has_effect=False)
            continue

        has_effect = _set(reading, name, value)
        if name == "meta" and value and not has_effect:
            label = f"{label} {_first_word(value)}"
        reading.note(label, value, has_effect=has_effect)
    return reading


def _tags(reading: Reading) -> list[tuple[str, str]]:
    """Take the tags, and return the name and value of each, with the lines that describe it."""
    tags: list[tuple[str, str]] = []
    last = -2  # the row of the tag above
    for index, text in comments_in(reading.rows):
        name = _name_of(text)
        if name:
            _, _, value = text.replace("\t", " ").partition(" ")
            tags.append((name, value.strip()))
        elif index == last + 1 and tags[-1][0] in _OVER_LINES:
            name, value = tags[-1]
            tags[-1] = (name, f"{value} {text}".strip())
        else:
            continue

        last = index
        reading.take(index)
        if name == "cmd":
            reading.rows[index:] = [(TAG, "")]
            break
    return tags


def _name_of(text: str) -> str:
    """Return the name in `@name value`, or "" for another line, such as `@raycast.title`."""
    if not text.startswith("@"):
        return ""
    name, _, _ = text[1:].replace("\t", " ").partition(" ")
    letters = name.replace("-", "").replace("_", "")
    return name if letters.isalnum() else ""


def _first_word(text: str) -> str:
    word, _, _ = text.partition(" ")
    return word


def _set(reading: Reading, name: str, value: str) -> bool:
    """Set the key that a tag means; return whether it has an effect."""
    if name in _PARAMETERS:
        return _add_parameter(reading, name, value)
    content = value_of(value)
    if name == "describe":
        return reading.set_text("description", content)
    if name == "alias":
        return reading.add_aliases(content)
    if name == "env":
        return _add_variable(reading, value)
    if name == "meta":
        return _add_requirements(reading, value.split())
    return False


def _add_parameter(reading: Reading, kind: str, text: str) -> bool:
    parameter = Parameter(kind, text)
    if not parameter.is_valid:
        reading.is_checked = False
        return False
    if not parameter.exact:
        reading.is_checked = False
    reading.add_argument(parameter.keys)
    return True


def _add_variable(reading: Reading, text: str) -> bool:
    """Add a variable of `@env NAME!`; only `!` has an equivalent."""
    name, mark, _ = text.partition("!")
    if not mark or not is_name(name):
        return False
    reading.values.setdefault("required_envs", []).append(name)
    return True


def _add_requirements(reading: Reading, words: "Sequence[str]") -> bool:
    """Read `@meta require-tools`, and `@meta version`, which adds the option --version."""
    if words[:1] == ["version"]:
        description = "Print version"
        keys = {"name": "--version", "short": "-V", "description": description}
        reading.add_argument(keys)
        return True
    programs = [word for word in words[1:] if is_word(word)]
    if words[:1] != ["require-tools"] or not programs:
        return False
    reading.values.setdefault("requires", []).extend(programs)
    return True


class Parameter:
    """One parameter: its keys as in the `args` of a command.json, and whether they say it all.

    `exact` is false if argc accepts or refuses words that these keys do not: such a parameter is
    only for help pages and Tab.
    """

    def __init__(self, kind: str, text: str) -> None:
        self.keys: dict[str, Any] = {}
        self.exact = True
        self._kind = kind
        self._rest = text.strip()

        # Each method takes its part from the beginning of the rest.
        self._read_names()
        self._read_modifier()
        self._read_value()
        self._rest = self._rest.strip()
        self._read_variable()
        self._read_notations()
        if self._rest:
            self.keys["description"] = self._rest

        # An option has a value, even if the notation does not name it.
        if kind == "option" and "value" not in self.keys:
            bare_name = self.keys["name"].lstrip("-")
            self.keys["value"] = bare_name.upper()

    @property
    def is_valid(self) -> bool:
        return bool(self.keys["name"].strip("-."))

    def _take(self, allowed: str) -> str:
        """Take the longest beginning of the rest that has only `allowed` characters."""
        count = 0
        while count < len(self._rest) and self._rest[count] in allowed:
            count += 1
        taken = self._rest[:count]
        self._rest = self._rest[count:]
        return taken

    def _read_names(self) -> None:
        if self._kind == "arg":
            self.keys["name"] = self._take(_LETTERS)
            return

        short = ""
        long = self._take_option()
        following = self._rest.lstrip()
        has_blank = following != self._rest
        if has_blank and following.startswith(_SIGNS):
            self._rest = following
            short = long
            long = self._take_option()

        # Words such as `-c` alone, `-fa`, `+c` and `-X-` have no equivalent.
        self.keys["name"] = long
        if long.endswith("-"):
            self.exact = False
            if long.strip("-"):
                self.keys["name"] = long.rstrip("-")
        if not long.startswith("--"):
            self.exact = False
        if short:
            self.keys["short"] = short
            if len(short) != 2 or short[0] != "-":
                self.exact = False

    def _take_option(self) -> str:
        """Take an option such as `-t`, `--tries` or `+t`, or ""."""
        if not self._rest.startswith(_SIGNS):
            return ""
        sign = self._rest[0]
        self._rest = self._rest[1:]
        return sign + self._take(_LETTERS)

    def _read_modifier(self) -> None:
        """Read the sign behind the name: `!` required, `*` and `+` repeated, `~` the rest."""
        mark = self._rest[:1]
        if mark == "!":
            self.keys["required"] = True
        elif mark in ("*", "+"):
            self._set_repeats()
            if mark == "+":
                self.keys["required"] = True
            if self._rest.startswith(_SEPARATORS, 1):
                self._rest = self._rest[1:]
                self.keys["separator"] = True
        elif mark == "~":
            if self._kind == "arg":
                self._set_repeats()
                self.keys["passthrough"] = True
            else:
                self.exact = False
        elif mark == ":":  # `--follow:` takes only `--follow=value`
            self.exact = False
        else:
            return

        self._rest = self._rest[1:]

    def _set_repeats(self) -> None:
        if self._kind == "arg":
            self.keys["name"] += "..."
        elif self._kind == "option":
            self.keys["repeats"] = True

    def _read_value(self) -> None:
        """Read a default, `=3`, or choices, `[dev|prod]`."""
        has_separator = self.keys.pop("separator", False)

        if self._rest.startswith("="):
            self._rest = self._rest[1:]
            default = self._take_value()
            if not default.startswith("`"):  # otherwise, a function computes it
                self.keys["default"] = default
        elif self._rest.startswith("["):
            self._read_choices()
            if has_separator and "choices" in self.keys:  # one word has several values
                self.exact = False

    def _read_choices(self) -> None:
        """Read `[dev|prod]`, or `[=dev|prod]` whose first choice is the default."""
        inside, closed, rest = self._rest[1:].partition("]")
        if not closed:
            self.exact = False
            return
        self._rest = rest
        if inside.startswith(("`", "?`")):
            return  # a function of the script prints them, and the script checks them

        choices = inside.removeprefix("=").split("|")
        self.keys["choices"] = choices
        if inside.startswith("="):
            self.keys["default"] = choices[0]

    def _take_value(self) -> str:
        """Take a default; one that a function computes keeps its backtick."""
        quote = self._rest[:1]
        if quote not in ("`", "'", '"'):
            value, _, self._rest = self._rest.partition(" ")
            return value

        inside, _, self._rest = self._rest[1:].partition(quote)
        if quote == "`":
            return f"`{inside}"
        return inside

    def _read_variable(self) -> None:
        if not self._rest.startswith("$"):
            return
        word, _, rest = self._rest.partition(" ")
        self._rest = rest.strip()
        if word == "$$":  # the variable has the name of the parameter
            name = self.keys["name"].lstrip("-").removesuffix("...")
            self.keys["env"] = name.replace("-", "_").upper()
        else:
            self.keys["env"] = word[1:]

    def _read_notations(self) -> None:
        count = 0
        while self._rest.startswith("<"):
            inside, closed, rest = self._rest[1:].partition(">")
            if not closed:
                return
            self._rest = rest.strip()
            count += 1

            if inside.endswith(("*", "+", "?")):
                self.exact = False
                inside = inside[:-1]
            place = _PLACES.get(inside)
            if place:
                self.keys["complete"] = place
            if self._kind == "option" and count == 1:
                self.keys["value"] = inside
        if count > 1:  # the option takes several words
            self.exact = False
