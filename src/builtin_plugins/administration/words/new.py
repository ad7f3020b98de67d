"""`self new`: a command, a category or a plugin that works at once, to start from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from builtin_plugins.administration.templates import filled
from builtin_plugins.io.files.flock import PATIENCE, locked
from builtin_plugins.io.files.undo import os_errors_explained
from builtin_plugins.plugins_folder.registry import is_plugin_name
from host import OperationError, UsageError, is_word
from host.cli.session import Session
from host.run.catalog import NOT_CATEGORIES

_STAGE = ".cli-new"  # beside what is made; the next run there removes what a killed one left
_SCRIPTS = {"bash": "main.sh", "python": "main.py", "node": "main.js", "sh": "main.sh"}


def new_command(
    session: Session, words: tuple[str, ...], lang: str, description: str | None
) -> None:
    """Make the command WORDS, with a script that runs; its categories too."""
    if len(words) < 2:
        raise UsageError(
            f"{words[0]}: a command has a category and a word of its own",
            f"write them apart, such as: {session.program} self new command team hello",
        )
    word = words[-1]
    about = description or f"What {word} does"
    values = {"WORD": word, "TITLE": _title(word), "ABOUT": about, "SCRIPT": _SCRIPTS[lang]}
    _make(session, words, {**filled("command", **values), **filled(f"command-{lang}")})
    called = " ".join(words)
    session.show_lines(
        f"try it:     {session.program} {called}",
        f"its help:   {session.program} help {called}",
        f"change it:  {session.program} self edit {called}",
    )


def new_category(session: Session, words: tuple[str, ...], description: str | None) -> None:
    """Make the category WORDS, for commands to come."""
    _make(session, words, _category(words[-1], description))
    session.show_lines(f"next:  {session.program} self new command {' '.join(words)} hello")


def new_plugin(session: Session, name: str, python: bool) -> None:
    """Make the plugin NAME in a new directory of that name, here.

    It has one command that works; add the plugin to try it.
    """
    if not is_plugin_name(name) or not name.replace("-", "_").isidentifier():
        raise UsageError(f"{name} cannot name a plugin", "use a-z, 0-9 and -")
    target = Path(os.path.abspath(name))
    if os.path.lexists(target):
        raise OperationError(f"{target}: is there already", "choose another name")
    package = name.replace("-", "_")
    values = {"NAME": name, "PACKAGE": package, "GREETING": f"{package.upper()}_GREETING"}
    where = f"{package}/commands/" if python else ""
    files = filled("package" if python else "plugin", **values)
    files |= {f"{where}{path}": text for path, text in filled("greeting", **values).items()}
    _write(target, files)
    program, wheel = session.program, f"dist/{package}-0.1.0-*.whl"
    build = f"build it:  python3 -m pip wheel --no-deps --wheel-dir dist ./{name}"
    session.show_lines(
        *("made", *(f"  {name}/{path}" for path in sorted(files))),
        *([build] if python else []),
        f"add it:    {program} self plugin add {wheel if python else f'./{name}'}",
        f"try it:    {program} {name} hello",
    )


def _make(session: Session, words: tuple[str, ...], files: Mapping[str, str]) -> None:
    """Write the files below the commands' directory, with categories that are missing."""
    for word in words:
        if not is_word(word):
            what = f"{word}: no word for a command or a category"
            raise UsageError(what, "use letters, digits and ._-")
    if words[0] in NOT_CATEGORIES:
        raise UsageError(f"{words[0]}: is this program's own word", "choose another one")
    found = session.find(words)
    if found.kind == "command":
        taken = " ".join(found.words)
        see = f"see: {session.program} self which {taken}"
        raise OperationError(f"{taken} is a command already", see)
    at = Path(session.installation.commands_dir)
    left = list(words)
    while len(left) > 1 and (at / left[0]).is_dir():
        at /= left.pop(0)
    target = at / left[0]
    if os.path.lexists(target):
        raise OperationError(f"{target}: is there already", "choose other words, or remove it")
    made: dict[str, str] = {}
    inside = ""
    for word, following in pairwise(left):
        made |= {f"{inside}{name}": text for name, text in _category(word).items()}
        inside += f"{following}/"
    made |= {f"{inside}{name}": text for name, text in files.items()}
    _write(target, made)
    session.show_lines("made", *(f"  {target}/{name}" for name in sorted(made)))


def _category(word: str, about: str | None = None) -> dict[str, str]:
    title = _title(word)
    return filled("category", TITLE=title, ABOUT=about or f"What {title} is for")


def _title(word: str) -> str:
    """Return a word as a name for people: `db-copy` is `Db copy`."""
    return word.replace("-", " ").replace("_", " ").strip().capitalize()


def _write(target: Path, files: Mapping[str, str]) -> None:
    """Make a directory with all its files, or nothing; raises OperationError."""
    with os_errors_explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = target.parent / _STAGE
        with locked(os.path.realpath(target.parent), PATIENCE):
            shutil.rmtree(staged, ignore_errors=True)  # a killed run left it
            try:
                for name, text in files.items():
                    path = staged / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
                    if text.startswith("#!"):
                        path.chmod(0o755)
                staged.rename(target)
            finally:
                shutil.rmtree(staged, ignore_errors=True)
