"""Which lines of a script's header are tags; `host.headers.script_tags` says what they mean."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    Tag = tuple[str, str, str]  # dialect, name, value


# The dialects with a name; others are named by the prefix of their tags.
SUB = "sub"
ARGC = "argc"
MISE = "mise"
USAGE = "usage"
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
            text = bare.removeprefix(word)
            return _word_tag(dialect, text.strip())

    name, colon, value = bare.partition(":")
    low = name.lower()
    if colon and low in _SUB_TAGS:
        return SUB, low, value.strip()
    return _prefixed_tag(bare)


def _prefixed_tag(bare: str) -> "Tag | None":
    """Return the tag in `omarchy:summary=TEXT`, whatever the prefix."""
    name, equals, value = bare.partition("=")
    if not equals:
        return None
    prefix, _, key = name.partition(":")
    if not prefix or not key:
        return None

    # An address with a query, or a sentence, is no tag.
    if "/" in key or " " in name:
        return None
    return prefix, key, value.strip()


def _at_tag(bare: str) -> "Tag | None":
    """Return the tag in `@raycast.title TITLE` or `@option NOTATION`."""
    text = bare[1:].replace("\t", " ")
    name, _, value = text.partition(" ")
    prefix, dot, key = name.partition(".")

    letters = prefix.replace("-", "").replace("_", "")
    if not letters.isalnum():
        return None
    if dot:
        return prefix, key, value.strip()
    return ARGC, prefix, value.strip()


def _word_tag(dialect: str, text: str) -> "Tag | None":
    """Return the tag in `[MISE] key=value` or `[USAGE] NODE`."""
    if dialect == USAGE:
        return USAGE, "", text

    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or " " in key:
        return None
    return MISE, key, value.strip()
