"""Read `.env` files and add their variables to a run (SPEC 2.4)."""

from host.errors import Problem, SourceError
from host.files.paths import join, read_regular
from host.text import text_of
from host.words import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from host.catalog.definition import Definition
    from host.record_base import EnvSource
    from host.variables.layers import Offers
    from host.variables.python_dotenv import Binding

SIZE_LIMIT = 1024 * 1024  # bytes
# problems reported for one file; of further ones, only the number is reported
_MOST_SHOWN = 5
# Variables, besides LD_… and DYLD_…, that a command with "sudo" must not get from a `.env` file.
_NEVER_WITH_SUDO = frozenset([
    "BASHOPTS", "BASH_ENV", "ENV", "GIT_EXEC_PATH", "GIT_SSH", "GIT_SSH_COMMAND",
    "JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "NODE_PATH", "PERL5DB", "PERL5LIB", "PERL5OPT",
    "PERLLIB", "PS4", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE",
    "RUBYLIB", "RUBYOPT", "SHELLOPTS",
])  # fmt: skip
_SPECIAL = frozenset("#\\'\"`")  # characters in a value that need the full parser


def offer_env_files(reader: "Offers", source: "EnvSource") -> None:
    """Add the variables in the `.env` files of `source` to the run.

    The files are those of a plugin, or the command's `env_files`. An unreadable file of a plugin
    causes only a warning, so the command still runs. Any other failure raises SourceError.
    """
    for path in source.files:
        try:
            _offer_file(reader, source, path)
        except SourceError as failure:
            what = f"plugin {source.plugin} is broken: {failure.what}"
            reader.report(Problem("", what, f"see: {reader.program} self plugin list"))

    # The files of the categories above come first, so that the nearest definition wins.
    if source.reader == "env_files":
        for definition in reader.definition.chain:
            for item in definition.env_files:
                _offer_item(reader, source, definition, item)


def _offer_item(
    reader: "Offers", source: "EnvSource", definition: "Definition", item: str
) -> None:
    """Add the variables in one item of `env_files`, which is a path or a reference to a secret."""
    if ":" in item:
        from host.variables.secret_references import is_secret_reference

        if is_secret_reference(item, reader, definition):
            _offer_reference(reader, source, definition, item)
            return

    path = reader.expanded_here(item, definition.file, "env_files")
    if not path or "\0" in path:  # a variable in the path may be unset on a help page
        return
    path = join(definition.directory, path)
    try:
        _offer_file(reader, source, path)
    except SourceError as failure:
        if path.endswith(item):
            raise
        text = f'{failure.problem.text} (env_files: "{item}")'
        raise SourceError(failure.problem.replaced(path, text)) from None


def _offer_reference(
    reader: "Offers", source: "EnvSource", definition: "Definition", reference: str
) -> None:
    """Add the variables that a reference gives; without `resolves`, only take note of it."""
    if not reader.resolves:
        reader.layers.unasked.append(reference)
        return
    from host.variables.secret_references import resolve_variables

    content = resolve_variables(reference, reader, definition)
    if isinstance(content, str):
        _offer_text(reader, source, reference, content, secret=True)
    else:
        _offer_mapping(reader, source, reference, content)


def _offer_file(reader: "Offers", source: "EnvSource", path: str) -> None:
    # The files of a plugin's source are not the project's.
    project = reader.definition.project
    if project is not None and not source.files:
        project.check(path)
    text = read_env_text(path)
    if text is None:
        reader.layers.missing.append(path)
    else:
        _offer_text(reader, source, path, text)


def _offer_text(
    reader: "Offers", source: "EnvSource", path: str, text: str, *, secret: bool = False
) -> None:
    """Add the variables in the text of a `.env` file; warn about its first five problems.

    The values are `secret` if a reference, and not a file, gave the text.
    """
    problems: list[Problem] = []
    try:
        for name, written, literal, line in parse_env(path, text, problems.append):
            _check_sudo(reader.definition, name, path, line)
            if literal:
                reader.offer(name, written, source.rank, path, line=line, secret=secret)
                continue
            reader.offer_text(
                name,
                written,
                source.rank,
                path,
                line=line,
                secret=secret,
                on_warning=problems.append,
            )
    finally:
        # After an error, too: a warning often tells its cause, such as an open quote.
        _warn(reader, path, problems)


def _offer_mapping(
    reader: "Offers", source: "EnvSource", reference: str, content: "Mapping[str, str]"
) -> None:
    """Add the variables of a mapping from a provider: each value is exact and secret.

    A name that no variable can have causes a warning, as in a `.env` file.
    """
    problems: list[Problem] = []
    for name, value in content.items():
        if not is_name(name):
            what = f'"{name}" cannot be the name of a variable, and is ignored'
            problems.append(Problem(reference, what))
            continue
        _check_sudo(reader.definition, name, reference)
        reader.offer(name, value, source.rank, reference, name, secret=True)
    _warn(reader, reference, problems)


def _check_sudo(definition: "Definition", name: str, path: str, line: int = 0) -> None:
    """Raise SourceError for a variable that would choose what a command with sudo loads."""
    if not definition.sudo:
        return
    if name in _NEVER_WITH_SUDO or name.startswith(("LD_", "DYLD_")):
        what = f'a .env file must not set {name} for a command with "sudo"'
        remedy = "export the variable before you start the command"
        raise SourceError(Problem(path, what, remedy, line=line))


def _warn(reader: "Offers", path: str, problems: list[Problem]) -> None:
    """Warn about the first five problems of a file, and count the others."""
    for problem in problems[:_MOST_SHOWN]:
        reader.report(problem)
    if len(problems) > _MOST_SHOWN:
        rest = len(problems) - _MOST_SHOWN
        reader.report(Problem(path, f"further problems in this file: {rest:,}"))


def read_env_text(path: str) -> str | None:
    """Return the text of the `.env` file at `path`, or None if that file does not exist.

    Raises SourceError unless it is a readable regular UTF-8 file of at most 1 MiB.
    """
    try:
        content = read_regular(path, SourceError, SIZE_LIMIT)
    except FileNotFoundError:
        return None
    text = text_of(path, content, SourceError)
    if "\0" in text:
        position = text.index("\0")
        line = text.count("\n", 0, position) + 1
        raise SourceError(Problem(path, "contains a NUL", line=line))
    return text


def parse_env(
    path: str, text: str, warn: "Callable[[Problem], None]"
) -> "list[Binding]":
    """Return the assignments in the text of a `.env` file.

    `warn` gets a problem for each invalid statement, without the statement's text.
    """
    text = text.replace("\r\n", "\n")
    bindings = _plain_bindings(text)
    if bindings is None:
        from host.variables.python_dotenv import parse

        bindings = list(parse(path, text, warn))
    return bindings


def _plain_bindings(text: str) -> "list[Binding] | None":
    """Return the bindings if every line is an unambiguous `NAME=value`, or None.

    This avoids python-dotenv for most files, because importing it takes longer than a whole run.
    """
    bindings = []
    for number, whole_line in enumerate(text.split("\n"), 1):
        line = whole_line.strip(" \t")
        if not line or line.startswith("#"):
            continue

        name, equals, written = line.removeprefix("export ").partition("=")
        if not equals or not is_name(name):
            return None
        if not line.isprintable():
            return None

        quote = written[:1]
        if quote in ("'", '"'):
            value = written[1:-1]
            is_closed = written == f"{quote}{value}{quote}"
            if not is_closed:  # or text follows it
                return None
        else:
            value = written.lstrip(" ")
        if not _SPECIAL.isdisjoint(value):
            return None
        bindings.append((name, value, quote == "'", number))
    return bindings
