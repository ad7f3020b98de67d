"""Read the notation of usage for arguments: `#USAGE flag "-f --force" help="Do not ask"`.

The lines are KDL (https://kdl.dev); `arg` and `flag` are translated. https://usage.jdx.dev/spec.
A run loads this module only for such a script.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

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
            value = _value(token) if kind == "word" else token
            if pending:
                node.properties[pending] = value
            else:
                node.values.append(value)
            pending = ""
    return root.children


def _value(word: str) -> "str | bool | None":
    return _KEYWORDS.get(word, word)


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
            at = text.find("\n", at) % (len(text) + 1)
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
    if text[end : end + 1] == "=":
        return "property", word, end + 1
    return (
        "word",
        word,
        max(end, at + 1),
    )  # at least one character, so that the loop ends


def _quoted(text: str, start: int) -> "tuple[str, int] | None":
    """Return the text of the string that begins at `start` and the position after it, or None."""
    opening = start
    while text.startswith("#", opening):
        opening += 1
    if not text.startswith('"', opening):
        return None
    hashes = opening - start

    # In a raw or multi-line string, backslashes have no meaning.
    mark = '"""' if text.startswith('"""', opening) else '"'
    begin = opening + len(mark)
    if hashes or mark == '"""':
        end = text.find(mark + "#" * hashes, begin)
        if end < 0:
            return None
        return text[begin:end].strip("\n"), end + len(mark) + hashes

    inside = ""
    at = begin
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            inside += _ESCAPES.get(text[at + 1], text[at + 1])
            at += 2
        elif text[at] == '"':
            return inside, at + 1
        else:
            inside += text[at]
            at += 1
    return None


def argument_of(node: Node) -> "tuple[dict[str, Any], bool]":
    """Return the keys of an `arg` or a `flag` as in a command.json, and whether they say it all."""
    is_flag = node.name == "flag"
    form = str(node.values[0]) if node.values else ""
    keys, exact = _flag(form) if is_flag else _positional(form)

    exact = _read_children(node, keys) and exact
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


def _read_children(node: Node, keys: "dict[str, Any]") -> bool:
    """Set the keys that the children mean; return whether the keys say all that they do."""
    exact = True
    for child in node.children:
        is_plain = not child.properties and not child.children
        if child.name == "choices":
            keys["choices"] = [str(value) for value in child.values]
            exact = exact and is_plain
        elif child.name == "arg" and node.name == "flag" and child.values:
            keys["value"] = str(child.values[0]).strip("<>[]")
            exact = exact and is_plain
        elif not _is_text(child):
            exact = False
    return exact


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

    # Several words, or a positional argument that begins with a dash, have no equivalent.
    exact = " " not in name and not name.startswith("-")
    repeats = form.endswith(_DOTS) or inside.endswith(_DOTS)
    keys: dict[str, Any] = {"name": f"{name}..." if repeats else name}
    if not bare.startswith("["):
        keys["required"] = True
    return keys, exact


def _without_dots(text: str) -> str:
    return text.removesuffix("...").removesuffix("…")


def _flag(form: str) -> "tuple[dict[str, Any], bool]":
    """Read `-f --force`, `--user <name>` or `-v, --verbose...`."""
    keys: dict[str, Any] = {}
    exact = True
    names = []
    for word in form.replace(",", " ").split():
        if word.startswith("-"):
            names.append(_without_dots(word))
            if word.endswith(_DOTS):
                keys["repeats"] = True
        elif "value" in keys or not word.startswith("<") or not word.endswith(">"):
            exact = False  # several values, an optional one or a repeated one
            keys.setdefault("value", word.strip("<>[].…"))
        else:
            keys["value"] = word.strip("<>")
    if "value" not in keys:
        keys.pop("repeats", None)  # a flag may always be repeated

    long = [name for name in names if name.startswith("--")]
    short = [name for name in names if not name.startswith("--")]
    keys["name"] = (long or short or [""])[0]
    if long and short:
        keys["short"] = short[0]
    if len(long) != 1 or len(short) > 1:
        exact = False
    return keys, exact


def _set(
    keys: "dict[str, Any]", name: str, value: "str | bool | None", *, is_flag: bool
) -> bool:
    """Set the key that a property means; return whether it is translated or has no effect."""
    if value in (None, False) and name != "default":
        return True
    text = _text_of(value)

    if name in _KEYS:
        keys[_KEYS[name]] = text
    elif name == "long_help":
        keys.setdefault("description", text)
    elif name == "default":
        is_switch = is_flag and "value" not in keys
        if not is_switch or text.lower() != "false":  # a switch is false anyway
            keys["default"] = text
    elif name == "required":
        keys["required"] = True
    elif name == "var":
        _set_repeats(keys, is_flag=is_flag)
    elif name == "effect" and is_flag:
        keys["effects"] = _EFFECTS.get(text, "change")
    elif name == "negate" and text == f"--no-{keys['name'].removeprefix('--')}":
        keys["negatable"] = True
    else:
        # Everything else would change what a run accepts.
        is_for_pages = name in _FOR_PAGES or name.startswith("hide")
        return is_for_pages or (name, text) == _USUAL_DASHES
    return True


def _text_of(value: "str | bool | None") -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value or ""


def _set_repeats(keys: "dict[str, Any]", *, is_flag: bool) -> None:
    if not is_flag and not keys["name"].endswith("..."):
        keys["name"] += "..."
    elif "value" in keys:
        keys["repeats"] = True
