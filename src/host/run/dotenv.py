"""`.env` files (SPEC 2.4): their syntax, and the variables that a run takes from one."""

from host.errors import Problem, SourceError
from host.run import read_regular
from host.run.expand import is_name
from host.run.text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from host.run.environment import SourceReader
    from host.run.lock import Source

SIZE_LIMIT = 1024 * 1024  # bytes
_MOST_SHOWN = 5  # problems of one file that are reported one by one
# Variables that a command with more rights never takes from a file in its folder; LD_… likewise.
_NEVER_WITH_SUDO = frozenset(
    [
        *("BASH_ENV", "ENV", "GIT_SSH_COMMAND", "NODE_OPTIONS", "PERL5LIB", "PYTHONPATH"),
        *("PYTHONSTARTUP", "RUBYOPT"),
    ]
)
_SPECIAL = frozenset("#\\'\"`")  # in an unquoted value


class Binding:
    """One assignment: `value` is unquoted, and `literal` when no reference in it counts.

    In a value that is not literal a backslash still stands before what it protects,
    so that unescaping and expansion are one pass. `line` is where it begins, from 1.
    """

    __slots__ = ("line", "literal", "name", "value")

    def __init__(self, name: str, value: str, literal: bool, line: int) -> None:
        self.name = name
        self.value = value
        self.literal = literal
        self.line = line


def offer_env_file(reader: "SourceReader", source: "Source", path: str) -> None:
    """Offer the variables of a `.env` file to the layers of `reader`; raises SourceError.

    A plugin's file that cannot be read causes one warning, as no plugin stops a command.
    """
    problems: list[Problem] = []
    try:
        try:
            bindings = read_env_file(path, problems.append)
        except SourceError as failure:
            if source.reader != "dotenv":
                raise
            bindings = []
            see = f"see: {reader.messages.program} self plugin list"
            reader.messages.warn(f"plugin {source.plugin} is broken: {failure.what}; {see}")
        if bindings is None:
            reader.layers.missing.append(path)
        _offer(reader, source, path, bindings or (), problems)
    finally:
        _report(reader, path, problems)


def offer_text(reader: "SourceReader", source: "Source", origin: str, text: str) -> None:
    """Offer the variables of the text of a `.env` file that a secret reference gave."""
    problems: list[Problem] = []
    if "\0" in text:
        raise SourceError(Problem(origin, "holds a NUL"))
    try:
        bindings = parse_env(origin, text.replace("\r\n", "\n"), problems.append)
        _offer(reader, source, origin, bindings, problems)
    finally:
        _report(reader, origin, problems)


def _offer(
    reader: "SourceReader",
    source: "Source",
    path: str,
    bindings: "Iterable[Binding]",
    problems: "list[Problem]",
) -> None:
    for one in bindings:
        if reader.definition.sudo and (one.name in _NEVER_WITH_SUDO or one.name[:3] == "LD_"):
            what = f'{one.name} is not taken from a .env file for a command with "sudo"'
            remedy = "export it before the command instead"
            raise SourceError(Problem(path, what, remedy, line=one.line))
        value = one.value
        if not one.literal:
            value = reader.expanded(value, path, one.name, problems.append, one.line)
        reader.offer(one.name, value, source.rank, path, line=one.line)


def _report(reader: "SourceReader", path: str, problems: "list[Problem]") -> None:
    for problem in problems[:_MOST_SHOWN]:
        reader.messages.warn(problem)
    rest = len(problems) - _MOST_SHOWN
    if rest > 0:
        what = "fault" if rest == 1 else "faults"
        reader.messages.warn(Problem(path, f"{rest:,} more {what}"))


def read_env_file(path: str, warn: "Callable[[Problem], None]") -> "list[Binding] | None":
    """Return the assignments in the `.env` file at `path`, None when there is no such file.

    `warn` gets a problem for each that cannot be read, never with its content.
    Raises SourceError for what is no readable regular UTF-8 file of at most 1 MiB.
    """
    try:
        content = read_regular(path, SIZE_LIMIT, SourceError)
    except FileNotFoundError:
        return None
    text = text_of(path, content, SourceError)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SourceError(Problem(path, "holds a NUL", line=line))
    return parse_env(path, text.replace("\r\n", "\n"), warn)


def parse_env(path: str, text: str, warn: "Callable[[Problem], None]") -> "list[Binding]":
    """Return the assignments in `text`, which holds no NUL; see `read_env_file`."""
    bindings = _plain_bindings(text)
    if bindings is None:
        from host.run.dotenv_parser import parse

        bindings = [Binding(*one) for one in parse(path, text, warn)]
    return bindings


def _plain_bindings(text: str) -> "list[Binding] | None":
    """Return the bindings when every line is `NAME=value` in a form that has one reading.

    That is most files, and importing python-dotenv costs more than a whole run;
    None means that its parser has to read the text.
    """
    bindings: list[Binding] = []
    if "\r" in text:
        return None
    for index, whole_line in enumerate(text.split("\n"), 1):
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
            bindings.append(Binding(name, inner, quote == "'", index))
        elif value[:1] == " " or not _SPECIAL.isdisjoint(value):
            return None
        else:
            bindings.append(Binding(name, value, False, index))
    return bindings
