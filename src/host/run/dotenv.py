"""`.env` files (SPEC 2.4): their syntax, and the variables that a run takes from one."""

from host.errors import Problem, SourceError
from host.run import read_regular
from host.run.expand import is_name
from host.run.text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from host.run.environment import SourceReader
    from host.run.lock import Source

SIZE_LIMIT = 1024 * 1024  # bytes
_MOST_SHOWN = 5  # problems of one file that are reported one by one
_MOST_NAMED = 5  # names that a quote swallowed
_OPENS = "that opens here"
# Variables that a command with more rights never takes from a file in its folder; LD_… likewise.
_NEVER_WITH_SUDO = frozenset(
    [
        *("BASH_ENV", "ENV", "GIT_SSH_COMMAND", "NODE_OPTIONS", "PERL5LIB", "PYTHONPATH"),
        *("PYTHONSTARTUP", "RUBYOPT"),
    ]
)
_SPECIAL = frozenset("#\\'\"`")  # in an unquoted value
_LONG_RUN = 32  # blanks; python-dotenv's pattern takes the square of a run


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
        for one in bindings or ():
            if reader.definition.sudo and (one.name in _NEVER_WITH_SUDO or one.name[:3] == "LD_"):
                what = f'{one.name} is not taken from a .env file for a command with "sudo"'
                remedy = "export it before the command instead"
                raise SourceError(Problem(path, what, remedy, line=one.line))
            value = one.value
            if not one.literal:
                value = reader.expanded(value, path, one.name, problems.append, one.line)
            reader.offer(one.name, value, source.rank, f"{path}:{one.line}")
    finally:
        for problem in first_problems(path, problems):
            reader.messages.warn(problem)


class OpenQuote(Problem):
    """A quote that is not closed where it should be; no other problem shows its place."""


def first_problems(path: str, problems: "list[Problem]") -> "list[Problem]":
    """Return the first five problems of one file, the first open quote, and a count of the rest."""
    first, more = problems[:_MOST_SHOWN], problems[_MOST_SHOWN:]
    first += [one for one in more if isinstance(one, OpenQuote)][:1]
    beyond = len(problems) - len(first)
    if beyond:
        what = "fault" if beyond == 1 else "faults"
        first.append(Problem(path, f"{beyond:,} more such {what}, told once these are mended"))
    return first


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
    return list(parse_env(path, text.replace("\r\n", "\n"), warn))


def parse_env(path: str, text: str, warn: "Callable[[Problem], None]") -> "Iterator[Binding]":
    """Yield the assignments in `text`, which holds no NUL; see `read_env_file`."""
    bindings = _plain_bindings(text)
    return _Dotenv(path, warn).bindings(text) if bindings is None else iter(bindings)


def _plain_bindings(text: str) -> "list[Binding] | None":
    """Return the bindings when every line is `NAME=value` in a form that has one reading.

    That is most files, and importing python-dotenv costs more than a whole run;
    None means that only its parser can tell.
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


class _Dotenv:
    r"""python-dotenv's parser, which tells where a statement ends and what its name is.

    The value is taken from the statement's own text: a single-quoted one is literal here,
    in a double-quoted one `\\` waits for the expansion, and python-dotenv needs the square
    of a run of blanks behind an unquoted one, so it sees long runs shortened.
    """

    def __init__(self, path: str, warn: "Callable[[Problem], None]") -> None:
        import re

        self.path = path
        self.warn = warn
        self.long_run = re.compile(rf"[^\S\r\n]{{{_LONG_RUN},}}")
        self.before_value = re.compile(
            r"\s*(?:export[^\S\r\n]+)?(?:'[^']+'|[^=#\s]+)[^\S\r\n]*(?:=([^\S\r\n]*))?"
        )
        self.single_quoted = re.compile(r"'((?:\\.|[^'\\])*)'", re.DOTALL)
        self.double_quoted = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
        self.escape = re.compile(r"\\([\\'\"abfnrtv])")
        self.comment = re.compile(r"\s#")
        # No line of Base64 is taken for a name: it ends with its =.
        self.assigned = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=*\s*$)")

    def bindings(self, text: str) -> "Iterator[Binding]":
        import io

        try:
            from dotenv.parser import parse_stream
        except ModuleNotFoundError:  # this program stands beside its packages, in a checkout
            from host.run.importing import complete_import_path

            complete_import_path()
            from dotenv.parser import parse_stream

        runs = iter(self.long_run.findall(text))
        for binding in parse_stream(io.StringIO(self.long_run.sub(" " * _LONG_RUN, text))):
            statement = self.long_run.sub(lambda _: next(runs), binding.original.string)
            blank = len(statement) - len(statement.lstrip())
            line = binding.original.line + statement.count("\n", 0, blank)
            name = binding.key
            if binding.error:
                self.warn(self.unreadable(statement[blank:], line))
            elif name is not None and not is_name(name):
                what = "what stands before the = cannot name a variable; it is left out"
                self.warn(Problem(self.path, what, line=line))
            elif name is not None and binding.value is None:
                self.warn(Problem(self.path, "no = after the name; it is left out", line=line))
            elif name is not None:
                yield self.binding(name, statement, line)

    def binding(self, name: str, statement: str, line: int) -> Binding:
        start = self.before_value.match(statement)
        position = start.end() if start else 0
        single = self.single_quoted.match(statement, position)
        double = self.double_quoted.match(statement, position)
        quoted = single or double
        if quoted and self.assigned.match(quoted[1].rpartition("\n")[2] + "…"):
            what = self.swallowing(quoted[1] + "…")
            self.warn(OpenQuote(self.path, what, "is one missing?", line=line))
        if single:
            return Binding(name, single[1].replace("\\'", "'"), True, line)
        if double:
            return Binding(name, self.escape.sub(_unescaped, double[1]), False, line)
        value = statement[position:].rstrip("\r\n")
        if value.startswith("#") and start and start[1]:
            value = ""  # NAME= # a comment
        kept = self.comment.split(value, 1)[0].rstrip()
        self.check_backticks(kept, value.rstrip().removeprefix(kept), line)
        return Binding(name, kept, False, line)

    def check_backticks(self, kept: str, comment: str, line: int) -> None:
        """Warn if backticks were to quote a value that the comment or the line ends."""
        if kept.replace("\\`", "").count("`") % 2 and (kept[0] == "`" or "`" in comment):
            end = "at the #" if comment else "with the line"
            what = f"the backtick {_OPENS} is no quote, so the value ends {end}"
            self.warn(OpenQuote(self.path, what, "use \" or ' instead", line=line))

    def unreadable(self, statement: str, line: int) -> Problem:
        """Return what is wrong with a statement, by the names in it and never by its content."""
        start = self.before_value.match(statement)
        value = statement[start.end() :].rstrip("\r\n") if start and start[1] is not None else ""
        if value[:1] not in ("'", '"'):
            return Problem(self.path, "this line cannot be read; it is left out", line=line)
        if "\n" in value:
            what = f"{self.swallowing(value)}; all of it is left out"
        elif value.find(value[0], 1) < 0:
            what = f"the quote {_OPENS} never closes; the line is left out"
        else:
            what = "something stands behind the closing quote; the line is left out"
            return Problem(self.path, what, line=line)
        return OpenQuote(self.path, what, line=line)

    def swallowing(self, value: str) -> str:
        """Say of a quote that closes on a later line which names it takes for its value."""
        lines = value.split("\n")[1:]
        found = filter(None, map(self.assigned.match, lines))
        names = list(dict.fromkeys(one[1] for one in found))
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        swallowed = f" and swallows {', '.join(names[:_MOST_NAMED])}{more}" if names else ""
        place = "on the next line" if len(lines) == 1 else f"{len(lines)} lines below"
        return f"the quote {_OPENS} closes {place}{swallowed}"


_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescaped(found: "re.Match[str]") -> str:
    return found[0] if found[1] == "\\" else _ESCAPED.get(found[1], found[1])
