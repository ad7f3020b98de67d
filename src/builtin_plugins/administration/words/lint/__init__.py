"""`self lint`: what is wrong with definitions and scripts, each with its place."""

from __future__ import annotations

import os

from builtin_plugins.administration.words.lint.finding import as_github, as_json, as_text
from builtin_plugins.administration.words.lint.linter import Lint
from builtin_plugins.administration.words.lint.scripts import shellcheck_findings
from host import DefinitionError, UsageError, find_program
from host.cli.session import Session
from host.cli.unknown_words import find_whole

_FORMATS = {"text": as_text, "json": as_json, "github": as_github}


def command(session: Session, words: tuple[str, ...], format: str) -> int:
    """Look for what is wrong in definitions and scripts; nothing of them is run.

    DIRECTORY is an installation, a plugin or a folder of commands, WORDS are those of a
    command or a category; without them, it is this installation. Each finding is a line
    FILE:LINE:COLUMN: MESSAGE, and with one the exit status is 1; a script that no command.json
    names, or that has no shebang, leaves it at 0. Scripts are checked with shellcheck if it is
    on PATH.
    """
    below: tuple[str, ...] = ("",)
    if len(words) == 1 and os.path.isdir(words[0]):
        lint = Lint(os.path.realpath(words[0]), session.environ)
    elif "/" in "".join(words):
        raise UsageError(f"{' '.join(words)}: there is no such directory")
    else:
        session.installation  # noqa: B018 - raises where there is no installation
        below = _folders(session, words)
        lint = Lint(session.layout.root, session.environ, session.layout.config_file)
    findings = [one for one in lint.findings if one.file.startswith(below)]
    scripts = [one for one in lint.shell_scripts if one.startswith(below)]
    shellcheck = find_program("shellcheck", session.environ)
    if shellcheck:
        found = shellcheck_findings(shellcheck, scripts, session.environ)
        findings = sorted({*findings, *found})
    session.show(_FORMATS[format](findings))
    if format == "text" and not findings:
        definitions = "definition" if lint.count == 1 else "definitions"
        where = " ".join(words) if below != ("",) else f"{lint.count} {definitions}"
        session.show_lines(f"nothing is wrong in {where}")
    if scripts and not shellcheck and session.terminal.is_interactive:
        session.messages.line("shellcheck is not on PATH, so scripts were not checked with it")
    return 1 if any(not one.hint for one in findings) else 0


def _folders(session: Session, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return how paths begin of what words name; raises UsageError where they name nothing."""
    if not words:
        return ("",)
    try:
        words = find_whole(session, words).words
    except DefinitionError:
        pass  # which is what lint is asked about
    return tuple(os.path.join(tree.path, *words, "") for tree in session.lock.trees)
