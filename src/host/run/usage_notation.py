"""Read the notation of usage for arguments: `#USAGE flag "-f --force" help="Do not ask"`.

The lines are KDL (https://kdl.dev); `arg` and `flag` are translated. https://usage.jdx.dev/spec.
A run loads this module only for such a script.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ENDS = " \t\n;{}=()"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "\n": ""}
# Properties that change only pages, or the variables that usage sets.
_FOR_PAGES = (
    *(
        "help",
        "long_help",
        "help_md",
        "help_heading",
        "display_order",
        "global",
        "count",
    ),
    *("deprecated", "deprecated_warn_at", "deprecated_remove_at"),
)
_KEYS = {"help": "description", "env": "env"}  # properties with the same meaning
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
    return {
        "#true": True,
        "true": True,
        "#false": False,
        "false": False,
        "#null": None,
    }.get(word, word)


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
        elif sign in '"#' and (quoted := _quoted(text, at)):
            inside, at = quoted
            yield "text", inside
        else:
            end = at
            while end < len(text) and text[end] not in _ENDS:
                end += 1
            word = text[at:end]
            if text[end : end + 1] == "=":
                yield "property", word
                at = end + 1
            else:
                yield "word", word
                at = max(end, at + 1)
    yield "end", ""


def _quoted(text: str, start: int) -> "tuple[str, int] | None":
    """Return the text of the string that begins at `start` and the position after it, or None."""
    hashes = len(text[start:]) - len(text[start:].lstrip("#"))
    opening = start + hashes
    if text[opening : opening + 1] != '"':
        return None
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
    form = str(node.values[0]) if node.values else ""
    found = _flag(form) if node.name == "flag" else _positional(form)
    keys, exact = found
    properties = {**node.properties}
    for child in node.children:
        if child.name == "choices":
            exact = exact and not child.properties and not child.children
            keys["choices"] = [str(value) for value in child.values]
        elif child.name == "arg" and node.name == "flag" and child.values:
            keys["value"] = str(child.values[0]).strip("<>[]")
            exact = exact and not child.properties and not child.children
        elif child.name in _FOR_PAGES and child.values:
            properties.setdefault(child.name, child.values[0])
        elif child.name == "effect" and child.values:
            properties["effect"] = child.values[0]
        else:
            exact = False
    for name, value in properties.items():
        exact = _set(keys, name, value, is_flag=node.name == "flag") and exact
    if "default" in keys:
        keys.pop("required", None)
        if node.name == "flag" and "value" not in keys and "negatable" not in keys:
            del keys["default"]  # a flag that nothing makes false
            exact = False
    place = _PLACES.get(keys.get("value", keys["name"].removesuffix("...")).lower())
    if place and "choices" not in keys:
        keys["complete"] = place
    return keys, exact


def _positional(form: str) -> "tuple[dict[str, Any], bool]":
    repeats = form.endswith(("...", "…"))
    bare = form.removesuffix("...").removesuffix("…").strip()
    is_optional = bare.startswith("[")
    name = bare.strip("<>[]").removesuffix("...").removesuffix("…")
    repeats = repeats or name != bare.strip("<>[]")
    keys: dict[str, Any] = {"name": f"{name}..." if repeats else name}
    if not is_optional:
        keys["required"] = True
    return keys, " " not in name and not name.startswith("-")


def _flag(form: str) -> "tuple[dict[str, Any], bool]":
    keys: dict[str, Any] = {}
    exact = True
    names = []
    for word in form.replace(",", " ").split():
        if word.startswith("-"):
            names.append(word.removesuffix("...").removesuffix("…"))
            if names[-1] != word:
                keys["repeats"] = True
        elif "value" in keys or not word.startswith("<") or not word.endswith(">"):
            exact = False  # several values, an optional one or a repeated one
            keys.setdefault("value", word.strip("<>[].…"))
        else:
            keys["value"] = word.strip("<>")
    long = [name for name in names if name.startswith("--")]
    short = [name for name in names if not name.startswith("--")]
    keys["name"] = (long or short or [""])[0]
    if long and short:
        keys["short"] = short[0]
    if "value" not in keys:
        keys.pop("repeats", None)  # a flag may always be repeated
    return keys, exact and len(long) == 1 and len(short) < 2


def _set(
    keys: "dict[str, Any]", name: str, value: "str | bool | None", *, is_flag: bool
) -> bool:
    """Set the key that a property means; return whether it is translated or has no effect."""
    text = str(value).lower() if isinstance(value, bool) else str(value or "")
    has_value = not is_flag or "value" in keys
    if value in (None, False) and name != "default":
        return True
    if name in _KEYS:
        keys[_KEYS[name]] = text
    elif name == "long_help":
        keys.setdefault("description", text)
    elif name == "default":
        if has_value or text.lower() != "false":
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
        return (
            name in _FOR_PAGES
            or name.startswith("hide")
            or (name, text) == _USUAL_DASHES
        )
    return True


def _set_repeats(keys: "dict[str, Any]", *, is_flag: bool) -> None:
    if not is_flag and not keys["name"].endswith("..."):
        keys["name"] += "..."
    elif "value" in keys:
        keys["repeats"] = True
