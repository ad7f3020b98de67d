"""Read `.env` files and offer their variables to a run (SPEC 2.4)."""

from host.errors import Problem, SourceError
from host.run import Record, join, read_regular
from host.run.expand import is_name
from host.run.text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from host.run.environment import SourceReader
    from host.run.lock import Source

SIZE_LIMIT = 1024 * 1024  # bytes
_MOST_SHOWN = 5  # problems of one file; further ones are only counted
# Variables that a command with "sudo" must not get from a `.env` file; neither LD_….
_NEVER_WITH_SUDO = frozenset(
    [
        *("BASH_ENV", "ENV", "GIT_SSH_COMMAND", "NODE_OPTIONS", "PERL5LIB", "PYTHONPATH"),
        *("PYTHONSTARTUP", "RUBYOPT"),
    ]
)
_SPECIAL = frozenset("#\\'\"`")  # characters in an unquoted value that need the full parser


class Binding(Record):
    """One assignment: `value` is unquoted; a `literal` value is not expanded.

    Other values keep their backslashes, because expansion removes them in the same pass. `line`
    is the first line of the assignment, from 1.
    """

    name: str
    value: str
    literal: bool
    line: int


def offer_env_files(reader: "SourceReader", source: "Source") -> None:
    """Offer the variables of a plugin's files, or of those in `env_files`; raises SourceError.

    An unreadable file of a plugin causes only a warning, because no plugin may stop a command.
    """
    for path in source.files:
        try:
            _offer_file(reader, source, path)
        except SourceError as failure:
            see = f"see: {reader.messages.program} self plugin list"
            reader.messages.warn(f"plugin {source.plugin} is broken: {failure.what}; {see}")
    definitions = reader.chain if source.reader == "env_files" else ()
    for definition in definitions:
        for entry in definition.env_files:
            if ":" in entry:
                from host.run.secret_references import is_reference, resolve

                if is_reference(entry, reader, definition):
                    if reader.resolves:
                        text = resolve({"env_files": entry}, reader, definition)["env_files"]
                        _offer_text(reader, source, entry, text)
                    else:
                        reader.layers.unasked.append(entry)
                    continue
            path = reader.expanded(entry, definition.file, "env_files")
            if path and "\0" not in path:  # a help page does not have all variables
                _offer_listed(reader, source, entry, join(definition.directory, path))


def _offer_listed(reader: "SourceReader", source: "Source", entry: str, path: str) -> None:
    project = reader.definition.project
    if project is not None:
        project.check(path)
    try:
        _offer_file(reader, source, path)
    except SourceError as failure:
        if path.endswith(entry):
            raise
        problem = failure.problem
        text = f'{problem.text} (env_files: "{entry}")'
        raise SourceError(problem.replaced(problem.path, text)) from None


def _offer_file(reader: "SourceReader", source: "Source", path: str) -> None:
    text = read_env_text(path)
    if text is None:
        reader.layers.missing.append(path)
    else:
        _offer_text(reader, source, path, text)


def _offer_text(reader: "SourceReader", source: "Source", path: str, text: str) -> None:
    """Offer the variables in the text of a `.env` file; report at most five of its problems."""
    problems: list[Problem] = []
    try:
        for one in parse_env(path, text, problems.append):
            if reader.definition.sudo and (one.name in _NEVER_WITH_SUDO or one.name[:3] == "LD_"):
                what = f'{one.name} is not taken from a .env file for a command with "sudo"'
                remedy = "export it before the command instead"
                raise SourceError(Problem(path, what, remedy, line=one.line))
            value = one.value
            if not one.literal:
                value = reader.expanded(value, path, one.name, one.line, problems.append)
            reader.offer(one.name, value, source.rank, path, line=one.line)
    finally:
        for problem in problems[:_MOST_SHOWN]:
            reader.messages.warn(problem)
        rest = len(problems) - _MOST_SHOWN
        if rest > 0:
            what = "fault" if rest == 1 else "faults"
            reader.messages.warn(Problem(path, f"{rest:,} more {what}"))


def read_env_text(path: str) -> str | None:
    """Return the text of the `.env` file at `path`, None if there is no such file.

    Raises SourceError unless it is a readable regular UTF-8 file of at most 1 MiB.
    """
    try:
        text = text_of(path, read_regular(path, SIZE_LIMIT, SourceError), SourceError)
    except FileNotFoundError:
        return None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SourceError(Problem(path, "holds a NUL", line=line))
    return text


def parse_env(path: str, text: str, warn: "Callable[[Problem], None]") -> "list[Binding]":
    """Return the assignments in the text of a `.env` file.

    `warn` gets a problem for each invalid statement, never with its content.
    """
    text = text.replace("\r\n", "\n")
    bindings = _plain_bindings(text)
    if bindings is None:
        from host.run.dotenv_parser import parse

        bindings = [Binding(*one) for one in parse(path, text, warn)]
    return bindings


def _plain_bindings(text: str) -> "list[Binding] | None":
    """Return the bindings if every line is an unambiguous `NAME=value`, else None.

    This avoids python-dotenv for most files, because its import costs more than a whole run.
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
