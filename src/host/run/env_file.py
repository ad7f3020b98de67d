"""The syntax of `.env` files (SPEC 2.4): text → names and values."""

from host.errors import SourceError
from host.run.expand import is_name
from host.run.json_files import BOM, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE_LIMIT = 1024 * 1024  # bytes


class Entry:
    """One assignment: `value` is unquoted, and `literal` when no reference in it counts.

    In a value that is not literal a backslash still stands before what it protects,
    so that unescaping and expansion are one pass.
    """

    __slots__ = ("literal", "name", "value")

    def __init__(self, name: str, value: str, literal: bool) -> None:
        self.name = name
        self.value = value
        self.literal = literal


def read_env_file(path: str, warn: "Callable[[str], None]") -> "list[Entry]":
    """Return the assignments in the `.env` file at `path`, [] when there is none.

    `warn` gets one line for each that cannot be read, never with its content.
    Raises SourceError for what is no readable regular UTF-8 file of at most 1 MiB.
    """
    try:
        content = read_regular(path, SIZE_LIMIT, SourceError)
    except FileNotFoundError:
        return []
    try:
        text = content.removeprefix(BOM).decode()
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        raise SourceError(f"{path}:{line}: not UTF-8") from None
    return list(parse_env(path, text.replace("\r\n", "\n"), warn))


def parse_env(path: str, text: str, warn: "Callable[[str], None]") -> "Iterator[Entry]":
    """Yield the assignments in `text`; see `read_env_file`."""
    entries = _plain_entries(text)
    return _parsed_entries(path, text, warn) if entries is None else iter(entries)


def _plain_entries(text: str) -> "list[Entry] | None":
    """Return the entries when every line is `NAME=value` in a form that has one reading.

    That is most files, and importing python-dotenv costs more than a whole run;
    None means that only its parser can tell.
    """
    entries = []
    if "\r" in text:
        return None
    for whole_line in text.split("\n"):
        line = whole_line.strip(" \t")
        if not line or line[0] == "#":
            continue
        name, equals, value = line.partition("=")
        if not equals or not is_name(name) or not line.isprintable():
            return None
        quote = value[:1]
        if quote in ("'", '"'):
            inner = value[1:-1]
            if len(value) < 2 or value[-1] != quote or quote in inner or "\\" in inner:
                return None
            entries.append(Entry(name, inner, quote == "'"))
        elif value[:1] == " " or "#" in value or "\\" in value or "'" in value or '"' in value:
            return None
        else:
            entries.append(Entry(name, value, False))
    return entries


def _parsed_entries(path: str, text: str, warn: "Callable[[str], None]") -> "Iterator[Entry]":
    """Yield what python-dotenv's parser finds; it unquotes, but does not say how."""
    import io
    import re

    from dotenv.parser import parse_stream

    before_value = re.compile(r"\s*(?:export[^\S\r\n]+)?(?:'[^']+'|[^=#\s]+)[^\S\r\n]*=[^\S\r\n]*")
    double_quoted = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
    escape = re.compile(r"\\([\\'\"abfnrtv])")
    escaped = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

    for binding in parse_stream(io.StringIO(text)):
        statement = binding.original.string
        blank = statement[: len(statement) - len(statement.lstrip())]
        where = f"{path}:{binding.original.line + blank.count(chr(10))}"
        if binding.error:
            warn(f"{where}: this line cannot be read; it is left out")
            continue
        if binding.key is None:
            continue
        if not is_name(binding.key):
            warn(f"{where}: what stands before the = cannot name a variable; it is left out")
            continue
        if binding.value is None:
            warn(f"{where}: no = after the name; it is left out")
            continue
        if "\0" in binding.value:
            warn(f"{where}: no variable can hold a NUL; it is left out")
            continue
        start = before_value.match(statement)
        position = start.end() if start else 0
        quoted = double_quoted.match(statement, position)
        if quoted:  # `\\` stays a pair here: the expansion reads it together with `\$`
            value = escape.sub(
                lambda found: found[0] if found[1] == "\\" else escaped.get(found[1], found[1]),
                quoted[1],
            )
            yield Entry(binding.key, value, False)
        else:
            literal = statement[position : position + 1] == "'"
            yield Entry(binding.key, binding.value, literal)
