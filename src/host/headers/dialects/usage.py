"""usage: `#USAGE flag "-f --force" help="Do not ask"`, also in file tasks of mise.

The lines are one document in KDL (https://kdl.dev); `arg`, `flag` and `about` are translated.
https://usage.jdx.dev/spec.
"""

from host.headers.dialect_values import Reading, comments_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from host.headers.dialects import Script
    from host.headers.rows import Row

_MARK = "[USAGE] "  # also of `#USAGE `: see `host.headers.rows`
_ENDS = " \t\n;{}=()"
_DOTS = ("...", "…")  # behind an argument that may be repeated
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "\n": ""}
# Properties that change only pages, or the variables that usage sets.
_FOR_PAGES = (
    "help", "long_help", "help_md", "help_heading", "display_order", "global", "count",
    "deprecated", "deprecated_warn_at", "deprecated_remove_at",
)  # fmt: skip
_KEYS = {"help": "description", "env": "env"}  # properties with the same meaning
_KEYWORDS = {
    "#true": True,
    "true": True,
    "#false": False,
    "false": False,
    "#null": None,
}
_USUAL_DASHES = ("double_dash", "optional")
_EFFECTS = {"read": "read", "write": "change", "destructive": "destroy"}
_PLACES = {"file": "file", "path": "file", "dir": "directory", "directory": "directory"}


def read(_script: "Script", rows: "Sequence[Row]") -> Reading:
    reading = Reading(rows)
    lines = []
    for index, text in comments_in(rows):
        if text.startswith(_MARK):
            reading.take(index)
            lines.append(text.removeprefix(_MARK).strip())

    document = "\n".join(lines)
    for node in nodes_of(document):
        if node.name == "cmd":
            reading.is_checked = False
        if not node.values or not _set_node(reading, node):
            reading.ignored.append(f"#USAGE {node.name}")
    if lines:
        reading.effective.append(document)
    return reading


def _set_node(reading: Reading, node: "Node") -> bool:
    """Set the key that a node with a value means; return whether it has an effect."""
    if node.name == "about":
        return reading.set_text("description", node.values[0])
    if node.name not in ("arg", "flag"):
        return False

    keys, exact = argument_of(node)
    if keys["name"].strip("-."):
        if not exact:
            reading.is_checked = False
        reading.add_argument(keys)
    return True


class Node:
    """A node of KDL: its name, values, properties and children."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[str | bool | None] = []
        self.properties: dict[str, str | bool | None] = {}
        self.children: list[Node] = []


def nodes_of(text: str) -> list[Node]:
    """Return the top nodes of a KDL document; what is no KDL is skipped."""
    root = Node("")
    open_nodes = [root]
    node: Node | None = None
    pending = ""  # a property that waits for its value

    for kind, token in _tokens(text):
        # The end of a line or a brace ends the node.
        if kind == "end":
            node = None
        elif kind == "{":
            if node is not None:
                open_nodes.append(node)
            node = None
        elif kind == "}":
            if len(open_nodes) > 1:
                open_nodes.pop()
            node = None
        elif kind == "property":
            pending = token

        # A word or text: the name of a node, then its values and those of its properties.
        elif node is None:
            node = Node(token)
            open_nodes[-1].children.append(node)
        else:
            value = _value(kind, token)
            if pending:
                node.properties[pending] = value
            else:
                node.values.append(value)
            pending = ""
    return root.children


def _value(kind: str, token: str) -> "str | bool | None":
    """Return the value of a token; a word such as `#true` is no text."""
    if kind == "word":
        return _KEYWORDS.get(token, token)
    return token


def _tokens(text: str) -> "Iterator[tuple[str, str]]":
    """Yield the kind (word, text, property, {, } or end) and the text of each token."""
    at = 0
    while at < len(text):
        sign = text[at]

        if sign in " \t()":
            at += 1
        elif sign in "\n;":
            yield "end", ""
            at += 1
        elif sign in "{}":
            yield sign, ""
            at += 1
        elif text.startswith("//", at):
            comment, _, _ = text[at:].partition("\n")
            at += len(comment)
        else:
            kind, token, at = _word_or_text(text, at)
            yield kind, token
    yield "end", ""


def _word_or_text(text: str, at: int) -> "tuple[str, str, int]":
    """Return the kind and text of the token at a position, and the position after it."""
    if text[at] in '"#':
        quoted = _quoted(text, at)
        if quoted is not None:
            inside, after = quoted
            return "text", inside, after

    end = at
    while end < len(text) and text[end] not in _ENDS:
        end += 1
    word = text[at:end]
    if text.startswith("=", end):
        return "property", word, end + 1
    if end == at:
        end += 1  # at least one character, so that the loop ends
    return "word", word, end


def _quoted(text: str, start: int) -> "tuple[str, int] | None":
    """Return the text of the string that begins at `start` and the position after it, or None."""
    opening = start
    while text.startswith("#", opening):
        opening += 1
    if not text.startswith('"', opening):
        return None
    hashes = text[start:opening]

    # In a raw or multi-line string, backslashes have no meaning.
    is_multi_line = text.startswith('"""', opening)
    mark = '"""' if is_multi_line else '"'
    begin = opening + len(mark)
    if not hashes and not is_multi_line:
        return _with_escapes(text, begin)

    closing = mark + hashes
    inside, closed, _ = text[begin:].partition(closing)
    if not closed:
        return None
    after = begin + len(inside) + len(closing)
    return inside.strip("\n"), after


def _with_escapes(text: str, begin: int) -> "tuple[str, int] | None":
    """Return the text of a plain string after its quote, and the position after it, or None."""
    inside = ""
    at = begin
    while at < len(text):
        sign = text[at]
        at += 1
        if sign == '"':
            return inside, at

        if sign == "\\" and at < len(text):
            sign = _ESCAPES.get(text[at], text[at])
            at += 1
        inside += sign
    return None


def argument_of(node: Node) -> "tuple[dict[str, Any], bool]":
    """Return the keys of an `arg` or a `flag` as in a command.json, and whether they say it all."""
    is_flag = node.name == "flag"
    form = str(node.values[0])
    if is_flag:
        keys, exact = _flag(form)
    else:
        keys, exact = _positional(form)

    for child in node.children:
        if not _read_child(keys, child, is_flag=is_flag):
            exact = False
    properties = {**_texts_of_children(node), **node.properties}
    for name, value in properties.items():
        if not _set(keys, name, value, is_flag=is_flag):
            exact = False

    if "default" in keys:
        keys.pop("required", None)
        is_switch = is_flag and "value" not in keys
        if is_switch and "negatable" not in keys:
            del keys["default"]  # a flag that nothing makes false
            exact = False

    noun = keys.get("value", keys["name"].removesuffix("..."))
    place = _PLACES.get(noun.lower())
    if place and "choices" not in keys:
        keys["complete"] = place
    return keys, exact


def _read_child(keys: "dict[str, Any]", child: Node, *, is_flag: bool) -> bool:
    """Set the key that a child means; return whether the keys say all that it does."""
    if child.name == "choices":
        keys["choices"] = [str(value) for value in child.values]
    elif child.name == "arg" and is_flag and child.values:
        keys["value"] = str(child.values[0]).strip("<>[]")
    else:
        return _is_text(child)  # `_set` reads it
    return not child.properties and not child.children


def _texts_of_children(node: Node) -> "dict[str, str | bool | None]":
    """Return the children that could be properties, such as `long_help "…"`."""
    texts: dict[str, str | bool | None] = {}
    for child in node.children:
        if _is_text(child):
            texts.setdefault(child.name, child.values[0])
    return texts


def _is_text(child: Node) -> bool:
    is_known = child.name in _FOR_PAGES or child.name == "effect"
    return is_known and bool(child.values)


def _positional(form: str) -> "tuple[dict[str, Any], bool]":
    """Read `<file>`, `[file]`, `<file>...` or `<file...>`."""
    bare = _without_dots(form).strip()
    inside = bare.strip("<>[]")
    name = _without_dots(inside)

    keys: dict[str, Any] = {"name": name}
    if form.endswith(_DOTS) or inside.endswith(_DOTS):
        keys["name"] = f"{name}..."
    if not bare.startswith("["):
        keys["required"] = True

    # Several words, or a positional argument that begins with a dash, have no equivalent.
    exact = " " not in name and not name.startswith("-")
    return keys, exact


def _without_dots(text: str) -> str:
    return text.removesuffix("...").removesuffix("…")


def _flag(form: str) -> "tuple[dict[str, Any], bool]":
    """Read `-f --force`, `--user <name>` or `-v, --verbose...`."""
    keys: dict[str, Any] = {}
    exact = True
    long: list[str] = []
    short: list[str] = []
    for word in form.replace(",", " ").split():
        if word.startswith("-"):
            name = _without_dots(word)
            names = long if name.startswith("--") else short
            names.append(name)
            if word.endswith(_DOTS):
                keys["repeats"] = True
            continue

        is_plain = word.startswith("<") and word.endswith(">")
        if is_plain and "value" not in keys:
            keys["value"] = word.strip("<>")
        else:
            exact = False  # several values, an optional one or a repeated one
            keys.setdefault("value", word.strip("<>[].…"))
    if "value" not in keys:
        keys.pop("repeats", None)  # a flag may always be repeated

    _set_names(keys, long, short)
    if len(long) != 1 or len(short) > 1:
        exact = False
    return keys, exact


def _set_names(keys: "dict[str, Any]", long: "list[str]", short: "list[str]") -> None:
    """Set the name of an option, and its short form if that is another one."""
    if long:
        keys["name"] = long[0]
        if short:
            keys["short"] = short[0]
    elif short:
        keys["name"] = short[0]
    else:
        keys["name"] = ""


def _set(
    keys: "dict[str, Any]", name: str, value: "str | bool | None", *, is_flag: bool
) -> bool:
    """Set the key that a property means; return whether it is translated or has no effect."""
    if name == "required":
        # A form such as `<file>` is required, too.
        keys.pop("required", None)
        if value is True:
            keys["required"] = True
        return True
    if value in (None, False) and name != "default":
        return True
    text = _text_of(value)

    if name in _KEYS:
        keys[_KEYS[name]] = text
    elif name == "long_help":
        keys.setdefault("description", text)
    elif name == "default":
        _set_default(keys, text, is_flag=is_flag)
    elif name == "var":
        _set_repeats(keys, is_flag=is_flag)
    elif name == "effect" and is_flag:
        keys["effects"] = _EFFECTS.get(text, "change")
    elif name == "negate" and text == _negation_of(keys["name"]):
        keys["negatable"] = True
    else:
        return _has_no_effect(name, text)
    return True


def _set_default(keys: "dict[str, Any]", text: str, *, is_flag: bool) -> None:
    is_switch = is_flag and "value" not in keys
    if is_switch and text.lower() == "false":
        return  # it is false anyway
    keys["default"] = text


def _negation_of(name: str) -> str:
    bare = name.removeprefix("--")
    return f"--no-{bare}"


def _has_no_effect(name: str, text: str) -> bool:
    """Return whether a property changes nothing that a run accepts."""
    if name in _FOR_PAGES or name.startswith("hide"):
        return True
    return (name, text) == _USUAL_DASHES


def _text_of(value: "str | bool | None") -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value or ""


def _set_repeats(keys: "dict[str, Any]", *, is_flag: bool) -> None:
    if not is_flag and not keys["name"].endswith("..."):
        keys["name"] += "..."
    elif "value" in keys:
        keys["repeats"] = True
