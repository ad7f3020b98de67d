"""What may stand where the cursor is: the answer to a shell's Tab.

A stub in the shell (`self completion`) calls `<program> --complete SHELL …` and shows what
this prints: a line with which paths to add (`files`, `directories`, `none`), then
a line for each candidate, with its description behind a tab. Nothing of a command
is run to find out, but the `complete` program that an argument declares; no click and no
pluggy is loaded, and only the category in question is looked at.
"""

from host.cli.global_options import FORMATS, OPTIONS, VALUES, take_option
from host.errors import HostError, UsageError
from host.run import basename, join
from host.run.catalog import NOT_CATEGORIES, RESERVED, Catalog
from host.run.command import is_reference
from host.run.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from host.run.argument_parser import CommandLine
    from host.run.argument_spec import Argument
    from host.run.catalog import Match
    from host.run.command import Definition
    from host.run.installation import OpenInstallation
    from host.run.lock import Lock

    Candidate = tuple[str, str]
    Ask = Callable[[str, Sequence[str]], "Offer"]

FILES, DIRECTORIES, NONE = "files", "directories", "none"
_SHELLS = ("bash", "zsh", "fish")
_HELP = ("help", "Show help")
_PATIENCE = 1.0  # seconds for a `complete` program (CONTRACT 12)
_MOST_READ = 1 << 20  # bytes of what it prints


class Offer:
    """What to offer: `candidates` with descriptions, and which paths beside (`beside`)."""

    __slots__ = ("beside", "candidates")

    def __init__(self, candidates: "Iterable[Candidate]" = (), beside: str = NONE) -> None:
        self.candidates = list(candidates)
        self.beside = beside


def reply(given: "Sequence[str]", installation: "OpenInstallation", lock: "Lock") -> str:
    """Return what the stub of a shell reads; raises UsageError for what no stub gives.

    `given` is the shell, then the words after the program's name, the last of them unfinished;
    bash gives COMP_WORDBREAKS and the line up to the cursor, as its own words are in pieces.
    """
    shell = given[0] if given else ""
    quote, dropped, words = "", 0, list(given[1:]) or [""]
    if shell not in _SHELLS or (shell == "bash" and len(words) != 2):
        see = f"see: {installation.layout.program} self completion --help"
        raise UsageError("--complete is for Tab in a shell", see)
    if shell == "bash":
        from host.cli.bash_line import bash_candidate, broken_at, split_line

        breaks, line = words
        words, quote = split_line(line)
        called, program = [basename(word) for word in words], installation.layout.program
        if called[0] == "sudo" and program in called:
            words = words[called.index(program) :]
        words = words[1:] or [""]
        dropped = broken_at(words[-1], breaks, quote)
    try:
        found = complete_words(words[:-1], words[-1], installation, lock)
    except HostError:
        found = Offer()
    lines: list[str] = []
    for word, about in found.candidates:
        if not word.startswith(words[-1]) or "\n" in word:
            continue
        if shell == "bash":
            lines.append(bash_candidate(word[dropped:], quote))
        else:
            line, _, _ = about.partition("\n")
            lines.append(f"{word}\t{printable(line)}")
    return "".join(f"{line}\n" for line in (found.beside, *dict.fromkeys(lines)))


def complete_words(
    words: "Sequence[str]", current: str, installation: "OpenInstallation", lock: "Lock"
) -> Offer:
    """Return what can follow `words` where `current` is what is typed of the next one."""
    left, asks_help = list(words), False
    while left and left[0].startswith("-"):
        option, value = take_option(left)
        if option in VALUES and value is None:
            return Offer((one, "") for one in VALUES[option])
        asks_help = asks_help or option in ("-h", "--help")
    if left[:1] == ["help"]:
        asks_help = True
        del left[0]
    catalog = Catalog(lock, around=installation.around)
    found = catalog.find(left, whole=True)
    rest = left[len(found.words) :]
    if not asks_help and found.kind == "command" and found.definition and found.definition.args:

        def ask(reference: str, given: "Sequence[str]") -> Offer:
            from host.run.importing import load_reference

            listed = load_reference(reference)(given, installation, lock)
            return listed if isinstance(listed, Offer) else Offer(listed)

        offered = arguments(found.definition, rest, current, ask)
        if not rest and not current.startswith("-"):
            offered.candidates += _inside(catalog, found, current).candidates
        return offered
    if found.kind != "category" or rest:
        runs = found.kind == "command" and not rest
        beside = NONE if asks_help or left[0] == RESERVED else FILES
        return Offer(_inside(catalog, found, current).candidates if runs else (), beside)
    if found.words[:1] == (RESERVED,):
        return _inside(catalog, found, current)
    if current.startswith("-"):
        return Offer((f"--{one.partition('--')[2].split()[0]}", OPTIONS[one]) for one in OPTIONS)
    return _inside(catalog, found, current, asks_help=asks_help)


def _inside(catalog: Catalog, category: "Match", current: str, *, asks_help: bool = False) -> Offer:
    """Return the words of a category that listings show, and the aliases that are meant.

    One that is hidden is among them when it is typed in full. `help` has its topics besides.
    """
    names: list[Candidate] = [] if category.words else [_HELP]
    for one in catalog.children(category)[0]:
        word, definition = one.words[-1], one.definition
        if one.kind == "category" or definition is None:
            names.append((word, one.description))
        elif definition.compatible:
            names += [
                (name, one.description)
                for name in (word, *definition.aliases)
                if not definition.hidden or name == current
            ]
    if asks_help and not category.words:
        from host.cli.topics import TOPICS

        taken = {name for name, _ in names}
        names += [(one, "Help topic") for one in TOPICS if one not in taken]
    return Offer(sorted(names))


def command_words(
    given: "Sequence[str]", installation: "OpenInstallation", lock: "Lock"
) -> "list[Candidate]":
    """Return the words that lead on to commands: for arguments that are the words of one."""
    found = complete_words(given, "", installation, lock)
    return [one for one in found.candidates if one[0] not in NOT_CATEGORIES]


def formats(*_: object) -> "list[Candidate]":
    """Return the formats of listings, less those that plugins bring."""
    return [(one, "") for one in FORMATS]


def arguments(definition: "Definition", words: "Sequence[str]", current: str, ask: "Ask") -> Offer:
    """Return what fits a command's declared arguments.

    `ask` gets the reference that completes an argument of our own, and the words before.
    """
    from host.run.argument_parser import CommandLine

    line = CommandLine(definition.args, words)
    read_typed(line)
    if line.waiting is not None:
        return values_of(line.waiting, definition, ask)
    name, sign, _ = current.partition("=")
    option = None if line.ended else line.options.get(name)
    if sign and option is not None and option.value:
        return values_of(option, definition, ask, f"{name}=")
    if current.startswith("-") and not line.ended:
        given = {one.name: one.conflicts for one in definition.args if line.is_given(one)}
        against = {name for names in given.values() for name in names}
        named = [
            (name, one.description)
            for name, one in line.options.items()
            if one.name not in against and given.keys().isdisjoint(one.conflicts)
        ]
        return Offer(named if words else [*named, ("--help", "Show help")])
    positional = [one for one in definition.args if not one.option]
    if positional and (len(line.loose) < len(positional) or positional[-1].repeats):
        at = min(len(line.loose), len(positional) - 1)
        return values_of(positional[at], definition, ask, given=line.loose)
    return Offer()


def read_typed(line: "CommandLine") -> None:
    """Read a line that somebody is typing: what does not fit is left out."""
    while line.rest:
        try:
            line.read()
        except UsageError:
            pass


def values_of(
    argument: "Argument",
    definition: "Definition",
    ask: "Ask",
    before: str = "",
    given: "Sequence[str]" = (),
) -> Offer:
    """Return what fits one argument, with `before` in front of each candidate."""
    if argument.secret:
        return Offer()
    if argument.choices:
        return Offer((f"{before}{choice}", argument.description) for choice in argument.choices)
    if is_reference(argument.complete) and not definition.file:
        found = ask(argument.complete, given)
        named = ((f"{before}{one}", about) for one, about in found.candidates)
        return Offer(named, found.beside)
    program = argument.choices_from or argument.complete
    if program not in ("", "file", "directory", "none"):
        printed = _printed(definition, program)
        return Offer((f"{before}{line}", argument.description) for line in printed)
    if argument.complete == "none" or argument.type in ("integer", "number"):
        return Offer()
    is_directory = "directory" in (argument.complete, argument.type)
    return Offer(beside=DIRECTORIES if is_directory else FILES)


def _printed(definition: "Definition", program: str) -> list[str]:
    """Return the lines that a `complete` program prints; none where it fails or is slow.

    A program of a project that is not trusted does not run.
    """
    import subprocess

    if definition.project is not None:
        from host.run.trust import is_trusted

        if not is_trusted(definition):
            return []
        definition.project.check(join(definition.directory, program))
    try:
        done = subprocess.run(
            [join(definition.directory, program)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout[:_MOST_READ].decode("utf-8", "replace").splitlines()
