"""`self new`: a command, a category or a plugin that works at once, to start from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from builtin_plugins.administration.questions import answer
from builtin_plugins.administration.templates import filled
from builtin_plugins.io.files.atomic import remove_tree
from builtin_plugins.io.files.flock import PATIENCE, locked
from builtin_plugins.io.files.undo import os_errors_explained
from builtin_plugins.plugins_folder.registry import is_plugin_name
from host import OperationError, UsageError, is_word
from host.cli.session import Session
from host.run.catalog import NOT_CATEGORIES
from host.run.confirm import is_attended
from host.run.folders import script_word

STAGE = ".cli-new"  # beside what is made; the next run there removes what a killed one left
_SCRIPTS = {"bash": "main.sh", "python": "main.py", "node": "main.js", "sh": "main.sh"}


def new_command(
    session: Session,
    words: tuple[str, ...],
    lang: str | None,
    description: str | None,
    folder: bool,
    move: bool,
    **options: str | None,
) -> None:
    """Make the command WORDS: a script whose first comment defines it; its categories too.

    --folder makes a folder with a command.json instead. --from copies a script of yours as it is:
    its own comment becomes the definition. What is not given is asked for on a terminal;
    elsewhere it is bash.
    """
    file = options["from"]  # no name for a parameter
    if file and (lang or description or folder):
        raise UsageError("--from goes without --lang, --description and --folder")
    if move and not file:
        raise UsageError("--move goes with --from")
    words = words or _asked_words("words of the command, such as: team hello")
    _check(session, words)
    if file:
        source = Path(os.path.abspath(file))
        _make(session, words, {_extension(source.name): _content(source)})
        if move:
            with os_errors_explained(source):
                source.unlink()
    else:
        lang = lang or answer("language", "bash", [*_SCRIPTS])
        usual = f"What {words[-1]} does"
        about = answer("what it is for", usual) if description is None else description
        made = _folder_files if folder else _script_file
        _make(session, words, made(words[-1], lang, about))
    called = " ".join(words)
    session.show_lines(
        f"try it:     {session.program} {called}",
        f"its help:   {session.program} help {called}",
        f"change it:  {session.program} self edit {called}",
    )


def _folder_files(word: str, lang: str, about: str) -> dict[str, bytes]:
    values = {"WORD": word, "TITLE": _title(word), "ABOUT": about, "SCRIPT": _SCRIPTS[lang]}
    files = {**filled("command", **values), **filled(f"command-{lang}")}
    return {f"/{name}": text.encode() for name, text in files.items()}


def _script_file(word: str, lang: str, about: str) -> dict[str, bytes]:
    """Return the script with its definition behind the shebang, by what follows its word."""
    [(name, text)] = filled(f"command-{lang}").items()
    shebang, _, code = text.partition("\n")
    examples = [{"command": f"{word} Ada", "description": "Greet Ada"}]
    block = json.dumps({"examples": examples}, ensure_ascii=False)
    mark = "//" if lang == "node" else "#"
    comment = [" ".join(about.split()), "/// command", block, "///"]
    lines = [shebang, *(f"{mark} {line}".rstrip() for line in comment), code]
    return {_extension(name): "\n".join(lines).encode()}


def _extension(name: str) -> str:
    """Return a script's extension with its dot, "" if its name has none."""
    return name.removeprefix(script_word(name)) if script_word(name) else ""


def _content(source: Path) -> bytes:
    if not source.is_file():
        raise OperationError(f"{source}: no such file")
    with os_errors_explained(source):
        return source.read_bytes()


def new_category(session: Session, words: tuple[str, ...], description: str | None) -> None:
    """Make the category WORDS, for commands to come."""
    words = words or _asked_words("words of the category, such as: team")
    _check(session, words)
    usual = f"What {words[-1]} is for"
    about = answer("what it is for", usual) if description is None else description
    files = _category(words[-1], about)
    _make(session, words, {f"/{name}": text.encode() for name, text in files.items()})
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
    _write(target, {f"/{path}": text.encode() for path, text in files.items()})
    made = [f"  {name}/{path}" for path in sorted(files)]
    session.show_lines("made", *made, *_next(session.program, name, python=python))


def _next(program: str, name: str, *, python: bool) -> list[str]:
    if python:
        return [
            f"build it:  python3 -m pip wheel --no-deps --wheel-dir dist ./{name}",
            f"add it:    {program} self plugin add dist/{name.replace('-', '_')}-0.1.0-*.whl",
            f"try it:    {program} {name} hello",
        ]
    return [f"add it:  {program} self plugin add ./{name}", f"try it:  {program} {name} hello"]


def _check(session: Session, words: tuple[str, ...]) -> None:
    """Raise UsageError or OperationError unless `words` can become something new."""
    for word in words:
        if not is_word(word):
            raise UsageError(
                f"{word}: no word for a command or a category", "use letters, digits and ._-"
            )
    if words[0] in NOT_CATEGORIES:
        raise UsageError(f"{words[0]}: is this program's own word", "choose another one")
    found = session.find(words)
    owner = found.definition if found.kind == "command" else None
    if owner and (len(found.words) == len(words) or not owner.is_script):
        taken = " ".join(words[: len(found.words)])
        raise OperationError(
            f"{taken} is a command already", f"see: {session.program} self which {taken}"
        )


def _make(session: Session, words: tuple[str, ...], files: Mapping[str, bytes]) -> None:
    """Write a command or category below the commands' directory, with categories that are missing.

    `files` go by what follows the path of the words: "/command.json", or ".sh" for a script.
    """
    at = Path(session.installation.commands_dir)
    left = list(words)
    while len(left) > 1 and (at / left[0]).is_dir():
        at /= left.pop(0)
    made = {f"{'/'.join(left)}{name}": content for name, content in files.items()}
    for count in range(1, len(left)):
        for name, text in _category(
            left[count - 1], f"What {_title(left[count - 1])} is for"
        ).items():
            made[f"{'/'.join(left[:count])}/{name}"] = text.encode()
    top = min(made).partition("/")[0]
    target = at / top
    if os.path.lexists(target):
        raise OperationError(f"{target}: is there already", "choose other words, or remove it")
    _write(target, {name.removeprefix(top): content for name, content in made.items()})
    session.show_lines("made", *(f"  {at}/{name}" for name in sorted(made)))


def _category(word: str, about: str) -> dict[str, str]:
    return filled("category", TITLE=_title(word), ABOUT=about)


def _title(word: str) -> str:
    """Return a word as a name for people: `db-copy` is `Db copy`."""
    text = word.replace("-", " ").replace("_", " ").strip()
    return text[:1].upper() + text[1:]


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    """Make a directory with all its files, or the file "", or nothing; raises OperationError."""
    with os_errors_explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = target.parent / STAGE
        with locked(os.path.realpath(target.parent), PATIENCE):
            if os.path.lexists(staged):  # a killed run left it
                remove_tree(str(staged))
            try:
                for name, content in files.items():
                    path = Path(f"{staged}{name}")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                    if content.startswith(b"#!") or not name:
                        path.chmod(0o755)
                if "" not in files:
                    staged.chmod(0o755)
                staged.rename(target)
            except BaseException:
                if os.path.lexists(staged):
                    remove_tree(str(staged))
                raise


def _asked_words(label: str) -> tuple[str, ...]:
    if not is_attended():
        raise UsageError("which words? name them, such as: team hello")
    return tuple(answer(label).split())
