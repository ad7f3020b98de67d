"""Decide whether `--help` runs a command's script or shows the generated help page."""

import re

from host.run import is_file
from host.run.definition import Definition

_MOST_READ = 64 * 1024  # bytes of an entrypoint that are searched
_PARSERS = b"argparse|click|typer|docopt|optparse|fire"  # modules that handle --help
_IMPORT = rb"(?m)(?:^|;)[ \t]*(?:from|import(?:[^\n#;]*,)?)[ \t]+(?:" + _PARSERS + rb")\b"
_TEXT = rb"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_HASH = rb"(?<![^\s;&|()])#[^\n]*"  # a comment's # starts a word, unlike $# and ${#x}
_DASHES = rb"(\[\[.*?(?:\]\]|\Z))|--\[\[.*?(?:\]\]|\Z)|--[^\n]*"
_SLASHES = rb"(`(?:\\.|[^`\\])*`)|/\*.*?(?:\*/|\Z)|//[^\n]*"
_SLASH_LANGUAGES = ("js", "mjs", "cjs", "ts", "mts", "php", "go")
_SLASH_INTERPRETERS = (b"node", b"deno", b"bun", b"tsx", b"php")


def script_gets_help(definition: Definition, file: str) -> bool:
    """Return whether `--help` as the only argument runs the command and shows no generated page.

    `file` is the path of the command's entrypoint, or "" for a Python reference.
    """
    if definition.help:
        return definition.help == "script"
    if definition.sudo or definition.confirm or definition.effects == "destroy":
        return False
    return not file or handles_help(file)


def handles_help(file: str) -> bool:
    """Return whether a script or binary seems to handle `--help`, judged by its first 64 KiB."""
    if not is_file(file):
        return False
    try:
        with open(file, "rb", buffering=0) as script:
            content = script.read(_MOST_READ)
    except OSError:
        return False
    first, _, _ = content.partition(b"\n")
    shebang = first if first.startswith(b"#!") else b""
    extension = file.rpartition("/")[2].rpartition(".")[2]
    is_python = extension == "py" or re.search(rb"python|pypy|uv run", shebang)
    if is_python and re.search(_IMPORT, content):
        return True
    if b"--help" not in content or b"\0" in content:
        return b"--help" in content
    comments = _HASH
    if extension in _SLASH_LANGUAGES or any(one in shebang for one in _SLASH_INTERPRETERS):
        comments = _SLASHES
    elif extension == "lua" or b"lua" in shebang:
        comments = _DASHES
    code = re.sub(
        _TEXT + b"|" + comments, lambda found: found[0] if found.lastindex else b"", content,
        flags=re.DOTALL,
    )  # fmt: skip
    return b"--help" in code
