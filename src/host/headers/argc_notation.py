"""Read the notation of argc for parameters: `@option -t --tries=3 <NUM> Set the retries`.

https://github.com/sigoden/argc, "Specification". A run loads this module only for such a script.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
_SIGNS = ("-", "+")  # of an option
_SEPARATORS = (",", ":", "@", "|", "/")
_PLACES = {"FILE": "file", "PATH": "file", "DIR": "directory"}


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
