"""Which lines of a script's header are tags; `host.run.script_tags` says what they mean."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    Tag = tuple[str, str, str]  # dialect, name, value


SUB, ARGC, MISE, USAGE = (
    "sub",
    "argc",
    "mise",
    "usage",
)  # dialects; others are named by the tag
_WORDS = {"[USAGE]": USAGE, "[MISE]": MISE, "MISE": MISE, "mise": MISE}
SUMMARIES = ("summary", "description")
_SUB_TAGS = (*SUMMARIES, "usage", "help")


def tag_of(text: str) -> "Tag | None":
    """Return the dialect, name and value of the tag in a line of the header, or None."""
    bare = text.strip()
    if bare.startswith("@"):
        return _at_tag(bare)
    for word, dialect in _WORDS.items():
        if bare.startswith(f"{word} "):
            return _word_tag(dialect, bare[len(word) :].strip())
    name, colon, value = bare.partition(":")
    if colon and name.lower() in _SUB_TAGS:
        return SUB, name.lower(), value.strip()
    key, equals, value = bare.partition("=")
    prefix, colon, key = key.partition(":")
    is_tag = equals and colon and prefix and key and "/" not in key
    return (prefix, key, value.strip()) if is_tag and " " not in prefix + key else None


def _at_tag(bare: str) -> "Tag | None":
    """Return the tag in `@raycast.title TITLE` or `@option NOTATION`."""
    name, _, value = bare[1:].replace("\t", " ").partition(" ")
    prefix, dot, key = name.partition(".")
    if not prefix.replace("-", "").replace("_", "").isalnum():
        return None
    return (prefix, key, value.strip()) if dot else (ARGC, prefix, value.strip())


def _word_tag(dialect: str, text: str) -> "Tag | None":
    """Return the tag in `[MISE] key=value` or `[USAGE] NODE`."""
    if dialect == USAGE:
        return USAGE, "", text
    key, equals, value = text.partition("=")
    key = key.strip()
    return (MISE, key, value.strip()) if equals and " " not in key else None
