"""Tab completion: the candidates for the word at the cursor.

The shell's completion script (`self completion`) calls `<program> --complete SHELL …`. The first
line of the output names the paths to add (`files`, `directories` or `none`), and what stands before
a path in its word, such as `files --into=`. Each further line is a candidate, a tab and its
description. No command runs, except the `complete` program that an argument declares; a click
command completes its own words, in a child process. For speed, neither click nor pluggy is loaded
here, and only one category is read.
"""

from host.catalog.catalog import Catalog
from host.catalog.definition import is_reference
from host.errors import HostError
from host.files.paths import join
from host.global_options import FORMATS, OF_LISTINGS, OPTIONS, VALUES, take_option
from host.record_base import Record
from host.text import printable
from host.words import RESERVED_WORDS, SELF, TOPICS, takes_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.arguments.parser import CommandLine
    from host.arguments.spec import Argument
    from host.catalog.catalog import Match
    from host.catalog.definition import Definition
    from host.installation import OpenInstallation
    from host.lock.lock import Lock

    Candidate = tuple[str, str]

FILES, DIRECTORIES, NONE = "files", "directories", "none"
_NUMBERS = ("integer", "number")  # types whose values are no paths
_COMPLETE_SECONDS = 1.0  # time limit for a `complete` program


class Offer(Record):
    """The `candidates` with descriptions; `beside` is the kind of paths that the shell adds.

    `before` is what stands before a path in the word at the cursor, such as `--into=`. With
    `is_chosen`, the candidates fit, even if they do not begin like the word at the cursor.
    """

    candidates: "Sequence[Candidate]" = ()
    beside: str = NONE
    before: str = ""
    is_chosen: bool = False


def reply(
    given: "Sequence[str]", installation: "OpenInstallation", lock: "Lock"
) -> str:
    """Return the output that the shell's completion script reads.

    `given` has the shell and the words after the program's name; the last word is unfinished.
    Instead of these words, bash passes COMP_WORDBREAKS and the line up to the cursor, because
    bash also splits words at the characters in COMP_WORDBREAKS.
    """
    shell, *words = given or [""]
    quote = ""  # the quote that is open at the cursor
    dropped = 0  # the number of characters that bash has already split off
    if shell == "bash":
        words, quote, dropped = _words_in_bash(words)
    if not words:
        words = [""]

    *before_cursor, current = words
    try:
        offer = Completer(installation, lock).words(before_cursor, current)
    except HostError:
        offer = Offer()  # a run reports the error

    beside = offer.beside
    before = offer.before[dropped:]
    if before and beside != NONE:
        beside = f"{beside} {before}"

    fitting = _fitting(offer.candidates, "" if offer.is_chosen else current)
    if shell == "bash":
        from host.tab.bash_line import bash_candidate

        lines = [bash_candidate(word[dropped:], quote) for word, _ in fitting]
    else:
        lines = [f"{word}\t{printable(about)}" for word, about in fitting]
    return "\n".join([beside, *dict.fromkeys(lines), ""])


def _fitting(candidates: "Sequence[Candidate]", current: str) -> "list[Candidate]":
    """Return the candidates that begin with `current`, without those that are not printable."""
    fitting = []
    for word, about in candidates:
        if not word or not word.startswith(current):
            continue
        if printable(word) == word:
            fitting.append((word, about))
    return fitting


def _words_in_bash(passed: "Sequence[str]") -> "tuple[list[str], str, int]":
    """Return the words after the program's name in what bash passes: COMP_WORDBREAKS and the line.

    The other values are the open quote, and how many characters of the last word bash has split
    off.
    """
    from host.tab.bash_line import broken_at, split_line

    breaks, line = (*passed, "", "")[:2]
    words, quote, start = split_line(line)
    words = words[1:]
    if quote or not words:
        return words, quote, start
    return words, quote, broken_at(words[-1], breaks)


class Completer:
    """Finds the candidates for Tab completion in an installation."""

    def __init__(self, installation: "OpenInstallation", lock: "Lock") -> None:
        self.installation = installation
        self.catalog = Catalog(lock, around=installation.around)

    def words(self, given: "Sequence[str]", current: str) -> Offer:
        """Return the candidates for the word after `given`; `current` is its typed beginning."""
        left = list(given)
        waiting, asks_help = _take_options(left)
        if waiting:  # its value is at the cursor
            return _without_descriptions(VALUES[waiting])

        # A category's default command and a moved command have the arguments of what runs.
        match = self.catalog.find(left, whole=True)
        rest = left[len(match.words) :]
        if not asks_help:
            match = self._default_of(match, [*rest, current])
        match = self.catalog.follow(match)

        if rest:
            return self._after_command(match, rest, current, asks_help=asks_help)
        if match.kind == "category":
            return self._in_category(match, current, asks_help=asks_help)

        offer = self._after_command(match, rest, current, asks_help=asks_help)
        if match.kind == "command":
            # there may be commands below it
            below = _fitting(self._inside(match, current), current)
            offer.candidates = [*offer.candidates, *below]
        return offer

    def _default_of(self, match: "Match", rest: "Sequence[str]") -> "Match":
        """Return the default command of a category if `rest` begins with an option for it."""
        if match.has_no_entrypoint and takes_option(rest):
            return self.catalog.default(match)
        return match

    def _in_category(
        self, category: "Match", current: str, *, asks_help: bool
    ) -> Offer:
        """Return the candidates for the word behind those of a category."""
        is_self = category.words[:1] == (SELF,)
        if current.startswith("-") and not is_self:
            is_root = category.words == ()
            return _global_options(of_listing=not is_root)
        return Offer(self._inside(category, current, asks_help=asks_help))

    def _after_command(
        self, match: "Match", rest: "Sequence[str]", current: str, *, asks_help: bool
    ) -> Offer:
        """Return the candidates for an argument of a command, or of words that name none."""
        definition = match.definition
        if match.kind != "command":
            definition = None
        if definition is not None and definition.click is not None:
            if asks_help:
                return Offer(definition.click.below(rest))
            return self._of_click(match, rest, current)
        if asks_help:
            return Offer()

        if definition is not None and definition.shown_args:
            return self._arguments(definition, rest, current)
        if match.words[:1] == (SELF,):
            return Offer()
        return Offer(beside=FILES)  # a script without declared arguments

    def _inside(
        self, category: "Match", current: str, *, asks_help: bool = False
    ) -> "list[Candidate]":
        """Return the names and aliases of the categories and commands in a category.

        A hidden command is included only if it is typed in full. `asks_help` adds the help topics.
        """
        names: list[Candidate] = []
        children, _ = self.catalog.children(category)
        for child in children:
            word = child.words[-1]
            definition = child.definition
            if child.kind == "category" or definition is None:
                names.append((word, child.description))
                continue
            if not definition.compatible:
                continue
            for name in (word, *definition.aliases):
                # A hidden command is offered only if it is typed in full.
                if name == current or not definition.hidden:
                    names.append((name, child.description))

        is_root = category.words == ()
        if is_root:
            names.append(("help", "Show help"))
        if is_root and asks_help:
            names += [(name, "Help topic") for name in TOPICS]
        return sorted(names)

    def _arguments(
        self, definition: "Definition", words: "Sequence[str]", current: str
    ) -> Offer:
        """Return the candidates for a command's declared arguments."""
        from host.arguments.parser import CommandLine, read_typed

        line = CommandLine(definition.shown_args, words)
        read_typed(line)
        argument = line.waiting
        before = ""
        may_be_option = current.startswith("-") and not line.ended
        if argument is None and may_be_option:
            argument, before = _begun_option(line, current)
            if argument is None:
                return _options_of(line, with_help=not words)
        if argument is None:
            argument = _next_positional(definition, len(line.loose))
        if argument is None:
            return Offer()

        if is_reference(argument.complete) and not definition.file:
            from host.processes.importing import load_reference

            complete = load_reference(argument.complete)
            offer: Offer = complete(line.loose, self)
        else:
            offer = values_of(argument, definition)

        items = offer.candidates
        offer.candidates = [(f"{before}{text}", about) for text, about in items]
        offer.before = before
        return offer

    def _of_click(
        self, command: "Match", words: "Sequence[str]", current: str
    ) -> Offer:
        """Return click's own candidates for the word after `words`."""
        from host.click.click_child import child_of

        child = child_of(self.catalog, command, self.installation)
        items = child.completions(words, current)
        before = ""
        name, equals, _ = current.partition("=")
        if equals and name.startswith("-"):
            before = f"{name}="  # click completes only what follows it

        kinds = {kind for _, _, kind in items}
        beside = NONE
        if "file" in kinds:
            beside = FILES
        elif "dir" in kinds:
            beside = DIRECTORIES
        candidates: list[Candidate] = []
        for value, about, kind in items:
            if kind == "plain":
                word = value if value.startswith(before) else before + value
                candidates.append((word, about))
        return Offer(candidates, beside, before, is_chosen=True)


def _take_options(words: list[str]) -> "tuple[str, bool]":
    """Remove the global options, and `help`, at the start of `words`.

    Returns the option whose value is missing at the end, or "", and whether help is asked for.
    """
    asks_help = False
    while words and words[0].startswith("-"):
        option, value = take_option(words)
        if option in VALUES and value is None:
            return option, asks_help
        if option in ("-h", "--help"):
            asks_help = True

    if words[:1] == ["help"]:
        asks_help = True
        del words[0]
    return "", asks_help


def _without_descriptions(words: "Sequence[str]") -> Offer:
    return Offer([(word, "") for word in words])


def _global_options(*, of_listing: bool) -> Offer:
    """Return the long global options, or with `of_listing`, those that change a listing."""
    candidates: list[Candidate] = []
    for forms, about in OPTIONS.items():
        for name in forms.split():
            if not name.startswith("--"):
                continue
            if name in OF_LISTINGS or not of_listing:
                candidates.append((name, about))
    return Offer(candidates)


def _options_of(line: "CommandLine", *, with_help: bool) -> Offer:
    """Return the options of a command; `--help` shows its page only as the first argument."""
    candidates: list[Candidate] = []
    for name, option in line.options.items():
        candidates.append((name, option.description))
    if with_help:
        candidates.append(("--help", "Show help"))
    return Offer(candidates)


def _next_positional(definition: "Definition", count: int) -> "Argument | None":
    """Return the positional argument after `count` words, or None if there is none."""
    positional = [argument for argument in definition.shown_args if not argument.option]
    if count < len(positional):
        return positional[count]
    for argument in positional:
        if argument.repeats:
            return argument
    return None


def _begun_option(line: "CommandLine", current: str) -> "tuple[Argument | None, str]":
    """Return the option whose value `current` begins, and what stands before the value.

    The value follows `=`, or directly a short name, also behind short flags: `-vCdocs`.
    """
    if current.startswith("--"):
        name, equals, _ = current.partition("=")
        argument = _option_with_value(line, name)
        if argument is None or not equals:
            return None, ""
        return argument, f"{name}="

    for end, letter in enumerate(current[1:], 2):
        argument = _option_with_value(line, f"-{letter}")
        if argument is None:
            continue
        if end == len(current):
            break  # its value is the next word
        before = current[:end]
        if current[end] == "=":
            before += "="
        return argument, before
    return None, ""


def _option_with_value(line: "CommandLine", name: str) -> "Argument | None":
    argument = line.options.get(name)
    if argument is not None and argument.flag:
        return None
    return argument


def command_words(given: "Sequence[str]", completer: Completer) -> Offer:
    """Return the candidates for an argument that names a command or category."""
    candidates: list[Candidate] = []
    for word, about in completer.words(given, "").candidates:
        if word not in RESERVED_WORDS:
            candidates.append((word, about))
    return Offer(candidates)


def formats(*_: object) -> Offer:
    """Return the built-in formats of listings."""
    return _without_descriptions(FORMATS)


def values_of(argument: "Argument", definition: "Definition") -> Offer:
    """Return the candidates for one argument of a command with the definition `definition`."""
    if argument.secret:
        return Offer()

    values: Sequence[str] = ()
    if argument.choices:
        values = argument.choices
    elif argument.choices_from:
        values = _printed(definition, argument.choices_from)
    elif argument.complete in ("", "file", "directory"):
        return _paths_of(argument)
    elif argument.complete != "none":
        values = _printed(definition, argument.complete)
    return Offer([(text, argument.description) for text in values])


def _paths_of(argument: "Argument") -> Offer:
    """Return the kind of paths that an argument accepts, if it accepts any."""
    if argument.type in _NUMBERS:
        return Offer()
    if "directory" in (argument.complete, argument.type):
        return Offer(beside=DIRECTORIES)
    return Offer(beside=FILES)


def _printed(definition: "Definition", program: str) -> "Sequence[str]":
    """Return the lines that a `complete` program prints, or [] if it fails or is too slow.

    The program of an untrusted project does not run.
    """
    from host.processes.bounded_child import supervise

    path = join(definition.directory, program)
    if definition.project is not None:
        from host.projects.trust import is_trusted

        if not is_trusted(definition):
            return []
        definition.project.check(path)

    try:
        ended = supervise([path], None, _COMPLETE_SECONDS, stderr="drop")
    except OSError:
        return []
    if ended.limit:
        return []
    return ended.stdout.decode("utf-8", "replace").splitlines()
