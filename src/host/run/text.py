"""Decode and encode text, make it safe to print, and write messages to stderr."""

import _imp
import posix

from host.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from host.errors import HostError

_HASH_KEY = 1  # any number
_HASH_SIZE = 4  # bytes
EMPTY = '""'  # shown in place of an empty string
BOM = b"\xef\xbb\xbf"
_RED, _YELLOW, _MAGENTA, _RESET = "\033[1;31m", "\033[1;33m", "\033[35m", "\033[0m"
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode categories; `Cf` includes the bidi controls
_JOINERS = "\u200c\u200d"  # characters of category `Cf` that are parts of words and emoji
_WORD_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_WORD = _WORD_START | frozenset("._-")
NAME_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
NAME_CHARACTERS = NAME_START | frozenset("0123456789")
WORD_RULE = "use at most 64 letters, digits and ._- for a word, and begin with a letter or digit"


def is_word(text: str) -> bool:
    """Return whether `text` can be a word: `[A-Za-z0-9][A-Za-z0-9._-]*`, at most 64 characters."""
    return text[:1] in _WORD_START and _WORD.issuperset(text) and len(text) <= 64


def is_name(text: str) -> bool:
    """Return whether `text` is a variable's name: `[A-Za-z_][A-Za-z0-9_]*`."""
    return text[:1] in NAME_START and NAME_CHARACTERS.issuperset(text)


def is_digits(text: str) -> bool:
    """Return whether `text` consists of ASCII digits, and has at least one."""
    return text.isascii() and text.isdigit()


def printable(text: str) -> str:
    r"""Return `text` with control, bidi and undecodable characters shown as escapes.

    Newline and tab are also escaped, so the result is always one line. Bytes that are not UTF-8
    (surrogates from `os.fsdecode`) become `\xNN`.
    """
    if text.isprintable():
        return text
    from unicodedata import category

    shown = ""
    for one in text:
        if "\udc80" <= one <= "\udcff":
            shown += f"\\x{ord(one) - 0xDC00:02x}"
        else:
            shown += repr(one)[1:-1] if category(one) in _UNSEEN and one not in _JOINERS else one
    return shown


def decode(raw: bytes) -> str:
    """Return `raw` as text; `encode` converts that text back to exactly `raw`."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text from `decode` or from a UTF-8 file."""
    return text.encode("utf-8", "surrogateescape")


def quoted(path: str) -> str:
    """Return `path` as a word of a shell command, for a remedy that can be pasted."""
    from shlex import quote  # imported here because a run without an error does not need it

    return quote(path)


def value_hash(value: str) -> str:
    """Return a short hash of a variable's value, from a built-in function that needs no import."""
    return _imp.source_hash(_HASH_KEY, encode(value))[:_HASH_SIZE].hex()


def text_of(path: str, content: bytes, error: "type[HostError]") -> str:
    """Return a file's `content` as text without its BOM.

    Raises `error` for UTF-16, and, with the number of the line, for text that is not UTF-8.
    """
    if is_utf_16(content):
        raise error(Problem(path, "is UTF-16", "save it as UTF-8"))
    try:
        return content.removeprefix(BOM).decode()
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        raise error(Problem(path, "not UTF-8", line=line)) from None


def is_utf_16(content: bytes) -> bool:
    """Return whether `content` is UTF-16: it has a BOM, or its first character has a NUL byte."""
    return content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:2]


def is_on(value: str | None) -> bool:
    """Return whether a switch such as DEBUG is on: `true`, `1` or `on` in any case (SPEC 2.9)."""
    return value is not None and value.lower() in ("true", "1", "on")


def is_ci(environ: "Mapping[str, str]") -> bool:
    """Return whether CI is set, to anything but nothing, 0, false, no or off (any case)."""
    return environ.get("CI", "").lower() not in ("", "0", "false", "no", "off")


def allows_questions(environ: "Mapping[str, str]", *, no_input: bool = False) -> bool:
    """Return whether nothing forbids questions: `--no-input` (`no_input`), CLI_NO_INPUT or CI.

    A terminal is needed as well: see `can_ask` in host.run.questions.
    """
    return not (no_input or is_on(environ.get("CLI_NO_INPUT")) or is_ci(environ))


def asks_help(args: "Sequence[str]") -> bool:
    """Return whether a command's only argument is `--help` or `-h`."""
    return len(args) == 1 and args[0] in ("--help", "-h")


class Messages:
    """Writes messages to stderr, one line each, with unprintable characters escaped.

    On a terminal, or with colours, an error begins with `error:`, and its remedy is on the next
    line. `color_mode` is the value of --color. A command uses the messages of its `Program`::

        program.messages.warn(f"{path}: is empty")
    """

    def __init__(self, program: str, environ: "Mapping[str, str]") -> None:
        self.program = program
        self.environ = environ
        self.color_mode = ""
        self.debugging = is_on(environ.get("DEBUG"))
        self.warned: set[str] = set()

    def colours(self, descriptor: int) -> bool:
        """Return whether output to `descriptor` has colours.

        If --color is neither "always" nor "never", NO_COLOR and TERM=dumb decide first, then
        FORCE_COLOR and CLICOLOR_FORCE, and then whether the output is a terminal.
        """
        if self.color_mode in ("always", "never"):
            return self.color_mode == "always"
        environ = self.environ
        if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
            return False
        forced = (environ.get("FORCE_COLOR"), environ.get("CLICOLOR_FORCE"))
        is_forced = any(one not in (None, "", "0") for one in forced)
        return is_forced or ("TERM" in environ and posix.isatty(descriptor))

    def error(self, text: str, remedy: str = "", suggestions: "Iterable[str]" = ()) -> None:
        """Print an error and its remedy.

        `suggestions` has the command lines in `remedy`; a terminal shows each on its own line.
        """
        colours = self.colours(2)
        if not colours and not posix.isatty(2):
            self.line(f"{self.program}: {text}; {remedy}" if remedy else f"{self.program}: {text}")
            return
        self._write_kind("error:", _RED, text, colours)
        lines = ["did you mean:", *(f"  {one}" for one in suggestions)] if suggestions else [remedy]
        for line in filter(None, lines):
            shown = printable(line)
            self._write(f"  {_MAGENTA}{shown}{_RESET}" if colours else f"  {shown}")

    def warn(self, *problems: "str | Problem") -> None:
        """Print a warning for each problem, but only once per text."""
        for text in map(str, problems):
            if text not in self.warned:
                self.warned.add(text)
                self._write_kind("warning:", _YELLOW, text, self.colours(2))

    def debug(self, text: str) -> None:
        """Print the time and `text` if DEBUG is on in the caller's environment."""
        if self.debugging:
            import time

            self.line(f"[DEBUG] {time.strftime('%Y-%m-%d %H:%M:%S')} - {text}")

    def line(self, text: str) -> None:
        """Print `text` without the program's name."""
        self._write(printable(text))

    def _write_kind(self, kind: str, style: str, text: str, colours: bool) -> None:
        kind = f"{style}{kind}{_RESET}" if colours else kind
        self._write(f"{printable(self.program)}: {kind} {printable(text)}")

    def _write(self, line: str) -> None:
        try:
            posix.write(2, encode(line) + b"\n")
        except OSError:
            pass  # stderr is closed or full
