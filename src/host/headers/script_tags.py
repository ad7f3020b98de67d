"""The meaning of the tags in a script's header: one table for all dialects.

A dialect is the notation of another tool. `host.headers.script_header` finds the tags; here, each
gets a key of command.json, or is ignored. A tag never makes a definition invalid: a value that the
key does not accept is ignored, too. A run loads this module only for a script with tags.
"""

from host.errors import DefinitionError
from host.files.json_file import parse_json
from host.headers.header_tags import ARGC, MISE, SUB, USAGE
from host.words import is_name, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.headers.header_tags import Tag
    from host.headers.usage_notation import Node

RAYCAST = "raycast"
OMARCHY = "omarchy"  # PREFIX:key=value, whatever the prefix

# The key that each tag means. `args` collects arguments, and `usage` is a free text for them.
TAGS = {
    (SUB, "summary"): "description",
    (SUB, "description"): "description",
    (RAYCAST, "description"): "description",  # of every @WORD.description
    (RAYCAST, "title"): "title",  # the description if there is no other
    (RAYCAST, "argument1"): "args",
    (RAYCAST, "argument2"): "args",
    (RAYCAST, "argument3"): "args",
    (RAYCAST, "needsConfirmation"): "confirm",
    (ARGC, "describe"): "description",
    (ARGC, "arg"): "args",
    (ARGC, "option"): "args",
    (ARGC, "flag"): "args",
    (ARGC, "alias"): "aliases",
    (ARGC, "env"): "required_envs",
    (ARGC, "meta"): "requires",  # `require-tools`; `version` adds the option --version
    (MISE, "description"): "description",
    (MISE, "alias"): "aliases",
    (MISE, "aliases"): "aliases",
    (MISE, "hide"): "hidden",
    (MISE, "confirm"): "confirm",
    (USAGE, "about"): "description",
    (USAGE, "arg"): "args",
    (USAGE, "flag"): "args",
    (OMARCHY, "summary"): "description",
    (OMARCHY, "args"): "usage",
    (OMARCHY, "examples"): "examples",
    (OMARCHY, "alias"): "aliases",
    (OMARCHY, "aliases"): "aliases",
    (OMARCHY, "group"): "group",
    (OMARCHY, "hidden"): "hidden",
    (OMARCHY, "requires-sudo"): "sudo",
}
# Other dialects have the names of their tags' prefixes.
_NAMED_DIALECTS = (SUB, ARGC, MISE, USAGE)


class Tagged:
    """What the tags of a header mean.

    values      keys of a command.json; `args` has the arguments
    is_checked  whether a run checks the arguments; if not, they are only for pages and Tab
    usage       a free text that describes the arguments, or ""
    effective   the tags that have an effect, as text
    ignored     the names of the tags without one, such as "@raycast.icon"
    """

    def __init__(
        self, tags: "Sequence[Tag]", file_name: str, has_commands: bool = False
    ) -> None:
        """Read the tags; `has_commands` is true if the script has argc's `@cmd`."""
        self.values: dict[str, Any] = {}
        self.is_checked = not has_commands
        self.usage = ""
        self.effective: list[str] = []
        self.ignored: list[str] = []

        self._file_name = file_name
        self._title = ""
        self._arguments: dict[str, dict[str, Any]] = {}  # by name
        # Nothing is checked for a script with commands.
        self._checks_variables = not has_commands
        if any(map(_is_dotenv, tags)):
            # A variable of `@env NAME!` may come from the `.env` that argc itself reads.
            self._checks_variables = False
        self._read_all(tags)

    def _read_all(self, tags: "Sequence[Tag]") -> None:
        """Read the tags in the order of their rank, then complete the keys that several give."""
        text_tags: list[Tag] = []
        usage_lines = []
        for tag in tags:
            dialect, name, value = tag
            if dialect == USAGE:
                usage_lines.append(value)  # the lines of one document
            elif dialect == SUB:
                text_tags.append(tag)
            else:
                self._read(dialect, name, value)

        # The first description is used: another tool's is more exact than a line `Description:`.
        for dialect, name, value in text_tags:
            self._read(dialect, name, value)
        if usage_lines:
            self._read_usage("\n".join(usage_lines))

        if self._title:
            self.values.setdefault("description", self._title)
        if self._arguments:
            self.values["args"] = list(self._arguments.values())

    def _read(self, dialect: str, name: str, value: str) -> None:
        if (dialect, name) == (ARGC, "cmd"):
            return  # `has_commands` says so already

        key = _key_of(dialect, name)
        has_effect = False
        if key == "args":
            has_effect = self._add_argument(dialect, name, value)
        elif key:
            set_key = getattr(self, f"_set_{key}")
            has_effect = set_key(_text(value), name)

        label = _label(dialect, name)
        if has_effect:
            self.effective.append(f"{label} {value}".strip())
            return
        if name == "meta" and value:  # the first word says which kind of `@meta` it is
            label = f"{label} {value.split(maxsplit=1)[0]}"
        self.ignored.append(label)

    # Each method sets a key, and returns whether the value has an effect.

    def _set_description(self, value: "Any", _name: str) -> bool:
        if "description" in self.values:
            return False
        return self._set_text("description", value)

    def _set_title(self, value: "Any", _name: str) -> bool:
        self._title = str(value)
        return self._title != ""

    def _set_usage(self, value: "Any", _name: str) -> bool:
        self.usage = str(value)
        return self.usage != ""

    def _set_group(self, value: "Any", _name: str) -> bool:
        return self._set_text("group", value)

    def _set_text(self, key: str, value: "Any") -> bool:
        if not isinstance(value, str) or not value:
            return False
        self.values[key] = value
        return True

    def _set_hidden(self, value: "Any", _name: str) -> bool:
        self.values["hidden"] = value in (True, "true")
        return True

    def _set_sudo(self, value: "Any", _name: str) -> bool:
        self.values["sudo"] = value in (True, "true")
        return True

    def _set_confirm(self, value: "Any", name: str) -> bool:
        if name == "needsConfirmation":
            if value not in (True, "true"):
                return False
            value = f"Run {self._subject()}?"
        return self._set_text("confirm", value)

    def _subject(self) -> str:
        """Return the title, or else the name of the file without its extension."""
        if self._title:
            return self._title
        word, _, _ = self._file_name.rpartition(".")
        return word or self._file_name

    def _set_examples(self, value: "Any", _name: str) -> bool:
        examples = self.values.setdefault("examples", [])
        if not value:
            return False
        text = str(value)

        # With blanks around it, a `|` separates examples that have pipes without blanks.
        separator = " | " if " | " in text else "|"

        for part in text.split(separator):
            line = part.strip()
            if line:
                examples.append({"command": line})
        return True

    def _set_aliases(self, value: "Any", _name: str) -> bool:
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

    def _set_required_envs(self, value: "Any", _name: str) -> bool:
        """Add a variable of argc's `@env NAME!`; only `!` has an equivalent."""
        name, mark, _ = str(value).partition("!")
        if not mark or not is_name(name):
            return False
        if not self._checks_variables:
            return False

        names = self.values.setdefault("required_envs", [])
        names.append(name)
        return True

    def _set_requires(self, value: "Any", _name: str) -> bool:
        """Read argc's `@meta require-tools` and `@meta version`."""
        words = str(value).split()
        if words[:1] == ["version"]:
            description = "Print version"
            self._add({"name": "--version", "short": "-V", "description": description})
            return True
        if words[:1] != ["require-tools"]:
            return False

        programs = [word for word in words[1:] if is_word(word)]
        if not programs:
            return False
        requires = self.values.setdefault("requires", [])
        requires += programs
        return True

    def _add_argument(self, dialect: str, name: str, value: str) -> bool:
        if dialect == ARGC:
            return self._add_argc_parameter(name, value)
        return self._add_raycast_argument(name, value)

    def _add_argc_parameter(self, name: str, value: str) -> bool:
        from host.headers.argc_notation import Parameter

        parameter = Parameter(name, value)
        if not parameter.is_valid:
            self.is_checked = False
            return False

        if not parameter.exact:
            self.is_checked = False
        self._add(parameter.keys)
        return True

    def _add_raycast_argument(self, name: str, value: str) -> bool:
        keys = _raycast_argument(name, _parsed(value))
        if keys is None:
            self.is_checked = False
            return False
        if "secret" in keys:
            # The script reads the password from its words; a prompt would only set ARG_….
            self.is_checked = False
        if keys["name"] in self._arguments:  # two placeholders with the same text
            keys["name"] = name
        self._add(keys)
        return True

    def _add(self, keys: "dict[str, Any]") -> None:
        if keys["name"] in self._arguments:
            self.is_checked = False
        self._arguments[keys["name"]] = keys

    def _read_usage(self, document: str) -> None:
        """Read the lines of usage, which are one document."""
        from host.headers.usage_notation import nodes_of

        for node in nodes_of(document):
            if node.name == "cmd":
                self.is_checked = False

            has_effect = False
            if node.values:
                has_effect = self._read_node(node)
            if not has_effect:
                self.ignored.append(f"#USAGE {node.name}")
        self.effective.append(document)

    def _read_node(self, node: "Node") -> bool:
        """Read a node of usage that has a value; return whether it has an effect."""
        key = TAGS.get((USAGE, node.name))
        if key == "description":
            return self._set_description(node.values[0], "")
        if key != "args":
            return False

        from host.headers.usage_notation import argument_of

        keys, exact = argument_of(node)
        has_name = keys["name"].strip("-.") != ""
        if has_name:
            if not exact:
                self.is_checked = False
            self._add(keys)
        return True


def _is_dotenv(tag: "Tag") -> bool:
    """Return whether a tag makes argc read a `.env` file."""
    dialect, name, value = tag
    if (dialect, name) != (ARGC, "meta"):
        return False
    words = value.split()
    return words[:1] == ["dotenv"]


def _key_of(dialect: str, name: str) -> str:
    """Return the key that a tag means, or ""."""
    if dialect in _NAMED_DIALECTS:
        return TAGS.get((dialect, name), "")
    # Raycast's tags are recognized behind each prefix, so that a script may have its own.
    if (RAYCAST, name) in TAGS:
        return TAGS[RAYCAST, name]
    return TAGS.get((OMARCHY, name), "")


def _label(dialect: str, name: str) -> str:
    """Return a tag as people know it."""
    labels = {SUB: f"{name.capitalize()}:", ARGC: f"@{name}", MISE: f"#MISE {name}"}
    if dialect in labels:
        return labels[dialect]
    if dialect == RAYCAST or (RAYCAST, name) in TAGS:
        return f"@{dialect}.{name}"
    return f"{dialect}:{name}"


def _text(value: str) -> "Any":
    """Return a value without quotes around all of it; arrays, true and false are parsed."""
    # mise's values are TOML: `alias=["b", "bld"]`, `hide=true`.
    if value.startswith(('"', "[")) or value in ("true", "false"):
        parsed = _parsed(value)
        if parsed is not None:
            return parsed

    quote = value[:1]
    if quote not in ("'", '"'):
        return value
    inside = value[1:-1]
    is_closed = value == f"{quote}{inside}{quote}"
    if is_closed and quote not in inside:
        return inside
    return value


def _parsed(value: str) -> "Any":
    """Return the value of a text in JSON, or None if it is not JSON."""
    try:
        return parse_json("", value.encode("utf-8", "surrogatepass"))
    except DefinitionError:
        return None


def _raycast_argument(tag: str, values: "Any") -> "dict[str, Any] | None":
    """Return the keys of a Raycast argument, a JSON object; None if it has no equivalent."""
    if not isinstance(values, dict):
        return None
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

    choices = _choices_of(values.get("data"))
    if choices:
        keys["choices"] = choices
    return keys


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
    """Return the values of a Raycast drop-down list."""
    choices = []
    if isinstance(data, list):
        for item in data:
            if isinstance(item, dict):
                choices.append(str(item.get("value")))
    return choices
