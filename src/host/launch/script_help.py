"""Decide whether `--help` runs a command's script or shows the generated help page."""

import re

from host.catalog.definition import Definition
from host.files.paths import basename, is_file

_MOST_READ = 64 * 1024  # bytes of an entrypoint that are searched
_PARSERS = b"argparse|click|typer|docopt|optparse|fire"  # modules that handle --help
_IMPORT = (
    rb"(?m)(?:^|;)[ \t]*(?:from|import(?:[^\n#;]*,)?)[ \t]+(?:" + _PARSERS + rb")\b"
)
_TEXT = rb"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_HASH = rb"(?<![^\s;&|()])#[^\n]*"  # a comment's # starts a word, unlike $# and ${#x}
_DASHES = rb"(\[\[.*?(?:\]\]|\Z))|--\[\[.*?(?:\]\]|\Z)|--[^\n]*"
_SLASHES = rb"(`(?:\\.|[^`\\])*`)|/\*.*?(?:\*/|\Z)|//[^\n]*"
# a pattern of `case`
_SHORT = rb"""(?m)(?:^|[|(]|\bin|;;)[ \t]*(["']?)-h\1[ \t]*[|)]"""
_GETOPTS = rb"""\bgetopts[ \t]+["']?([A-Za-z0-9:?]+)"""
_ARGC_COMMAND = rb"(?m)^[ \t]*#+[ \t]*@cmd\b"  # argc prints the help of such a script
_SLASH_LANGUAGES = ("js", "mjs", "cjs", "ts", "mts", "php", "go")
_SLASH_INTERPRETERS = (b"node", b"deno", b"bun", b"tsx", b"php")


def may_get_help(definition: Definition, file: str, word: str) -> bool:
    """Return what `script_gets_help` returns, for a command that perhaps nobody trusts yet."""
    if not definition.help and definition.project is not None:
        from host.projects.trust import is_trusted

        if not is_trusted(definition):
            return False  # an untrusted script is not searched for `--help`
    return script_gets_help(definition, file, word)


def script_gets_help(definition: Definition, file: str, word: str = "--help") -> bool:
    """Return whether `word` as the only argument runs the command and shows no generated page.

    `file` is the path of the command's entrypoint, or "" for a Python reference. `word` is
    `--help` or `-h`.
    """
    if definition.help:
        return definition.help == "script"
    # Nothing that asks or destroys is started to show a page.
    if definition.sudo or definition.confirm:
        return False
    if definition.effects == "destroy":
        return False

    if not file:
        return True
    return handles_help(file, word)


def handles_help(file: str, word: str = "--help") -> bool:
    """Return whether a script or binary seems to handle `word`, judged by its first 64 KiB.

    A script that handles `--help` is taken to handle `-h`, but not the other way round.
    """
    content = _head(file)
    shebang = b""
    if content.startswith(b"#!"):
        shebang, _, _ = content.partition(b"\n")
    extension = basename(file).rpartition(".")[2]

    is_python = extension == "py" or re.search(rb"python|pypy|uv run", shebang)
    if is_python and re.search(_IMPORT, content):
        return True
    if _has_argc_commands(content):
        return True

    # Comments are only removed if the word is somewhere, because that takes time.
    if not _has_word(content, word):
        return False
    is_binary = b"\0" in content  # it has no comments
    if is_binary:
        return b"--help" in content

    code = _without_comments(content, extension, shebang)
    if b"--help" in code:
        return True
    return word == "-h" and _has_short_option(code)


def _has_word(content: bytes, word: str) -> bool:
    """Return whether a script may handle `word`: it has the word, or `getopts` parses letters."""
    if b"--help" in content:
        return True
    if word != "-h":
        return False
    return b"-h" in content or b"getopts" in content


def _has_short_option(code: bytes) -> bool:
    """Return whether a `case` or a `getopts` has the option `-h`."""
    if re.search(_SHORT, code):
        return True
    return _in_getopts(code)


def _head(file: str) -> bytes:
    """Return the beginning of a regular file, or b"" if it cannot be read."""
    if not is_file(file):  # reading a FIFO would not end
        return b""
    try:
        with open(file, "rb", buffering=0) as script:
            return script.read(_MOST_READ)
    except OSError:
        return b""


def _without_comments(content: bytes, extension: str, shebang: bytes) -> bytes:
    """Return a script without comments, because they may only mention `--help`."""
    comments = _HASH
    has_slashes = any(name in shebang for name in _SLASH_INTERPRETERS)
    if has_slashes or extension in _SLASH_LANGUAGES:
        comments = _SLASHES
    elif extension == "lua" or b"lua" in shebang:
        comments = _DASHES

    # A text in quotes is matched, too, because a sign in it does not begin a comment.
    pattern = _TEXT + b"|" + comments
    return re.sub(pattern, _without_comment, content, flags=re.DOTALL)


def _without_comment(match: "re.Match[bytes]") -> bytes:
    """Return a text in quotes, which has a group in the pattern, and b"" for a comment."""
    if match.lastindex:
        return match[0]
    return b""


def _has_argc_commands(content: bytes) -> bool:
    """Return whether argc runs one of the commands that the script describes with `@cmd`."""
    if b"--argc-eval" not in content:
        return False
    return re.search(_ARGC_COMMAND, content) is not None


def _in_getopts(code: bytes) -> bool:
    """Return whether a `getopts` has the option `h` without a value."""
    for options in re.finditer(_GETOPTS, code):
        if re.search(rb"h(?!:)", options[1]):
            return True
    return False
