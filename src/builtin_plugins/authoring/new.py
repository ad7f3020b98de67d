"""`self new`: make a working command, category or plugin to start from."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from builtin_plugins.library.files.atomic import write_file
from builtin_plugins.library.files.file_lock import file_lock
from builtin_plugins.library.versioned_directory import staging
from builtin_plugins.registry.entry import is_plugin_name
from builtin_plugins.self_commands.decorator import (
    DESCRIPTION,
    NEW_NAME,
    NEW_WORDS,
    argument,
    self_command,
)
from builtin_plugins.self_commands.templates import fill_template
from host import OperationError, UsageError, is_word
from host.catalog.script_names import script_word
from host.session.session import Session
from host.words import RESERVED_WORDS, WORD_RULE

_LANGUAGES = ["bash", "python", "node", "sh"]


@self_command(
    "new command",
    "Make a working command",
    NEW_WORDS,
    argument("--lang", "The script's language.", value="LANGUAGE", choices=_LANGUAGES),
    DESCRIPTION,
    argument(
        "--folder", "Make a folder with a command.json instead of a single script."
    ),
    {
        **argument("--from", "Copy this script unchanged.", value="FILE", type="file"),
        "conflicts": ["--lang", "--description", "--folder"],
    },
    argument("--move", "Remove the original script."),
    synonyms=("create", "generate", "scaffold", "make", "new task", "new script"),
)
def new_command(
    session: Session,
    words: tuple[str, ...],
    lang: str | None,
    description: str | None,
    folder: bool,
    move: bool,
    **options: str | None,
) -> None:
    """Make the command WORDS, and missing categories above it.

    The command is a script whose first comment defines it; with --folder, it is a folder with a
    command.json. --from copies an existing script unchanged; the comment in that script becomes
    the definition. The default language is bash.
    """
    word = words[-1]
    file = options["from"]  # `from` is a keyword and cannot be a parameter
    if file:
        script = Path(file).read_bytes()
        extension = _extension(os.path.basename(file))
        [made] = _make(session, words, {extension: script})
        if move:
            _remove_original(file, script, made)
    else:
        if not lang:
            lang = "bash"
        # Without a description, listings show none. An invented one would be in everybody's.
        about = description or ""
        if folder:
            files = _folder_files(word, lang, about)
        else:
            files = _script_file(word, lang, about)
        _make(session, words, files)

    command = " ".join(words)
    session.show_lines(
        f"try it:     {session.program} {command}",
        f"show help:  {session.program} help {command}",
        f"change it:  {session.program} self edit {command}",
    )


def _remove_original(file: str, script: bytes, copy: str) -> None:
    """Remove the user's script after its copy was read back. Raises OperationError or OSError."""
    if Path(copy).read_bytes() != script:
        raise OperationError(f"{copy}: is not equal to {file}, which stays")
    os.unlink(file)


def _folder_files(word: str, lang: str, about: str) -> dict[str, str]:
    files = fill_template(f"command-{lang}")
    script = "".join(files)  # the only key, which is the name of the script
    files |= fill_template("command", WORD=word, ABOUT=about, SCRIPT=script)
    return {f"/{name}": text for name, text in files.items()}


def _script_file(word: str, lang: str, about: str) -> dict[str, str]:
    """Return the text of a new script, keyed by the file extension for `lang`.

    `word` is the command's last word, and `about` its description. The comment with the definition
    follows the shebang.
    """
    [(name, text)] = fill_template(f"command-{lang}").items()
    shebang, _, code = text.partition("\n")

    examples = [{"command": f"{word} Ada", "description": "Greet Ada"}]
    block = json.dumps({"examples": examples}, ensure_ascii=False)
    comment = ["/// command", block, "///"]
    summary = " ".join(about.split())
    if summary:
        comment.insert(0, summary)

    mark = "#"
    if lang == "node":
        mark = "//"
    lines = [shebang]
    lines += [f"{mark} {line}" for line in comment]
    # Below an empty line, the template's own comment describes the code and not the command.
    lines += ["", code.lstrip("\n")]
    return {_extension(name): "\n".join(lines)}


def _extension(name: str) -> str:
    """Return a script's extension with its dot, or "" if its name has none."""
    word = script_word(name)
    if not word:
        return ""
    return name.removeprefix(word)


@self_command(
    "new category",
    "Make a category for new commands",
    NEW_WORDS,
    DESCRIPTION,
)
def new_category(
    session: Session, words: tuple[str, ...], description: str | None
) -> None:
    """Make the category WORDS, and missing categories above it."""
    category = _category(words[-1], description)
    _make(session, words, {"/category.json": category})
    new_command = f"{session.program} self new command {' '.join(words)} hello"
    session.show_lines(f"next:  {new_command}")


@self_command(
    "new plugin",
    "Make a plugin in a new directory",
    NEW_NAME,
    argument("--python", "Make a pip package with Python hooks and tests."),
)
def new_plugin(session: Session, name: str, python: bool) -> None:
    """Make the plugin NAME in a new directory of that name below the current directory.

    The plugin has one working command. To try it, add the plugin.
    """
    package = name.replace("-", "_")
    if not is_plugin_name(name) or not package.isidentifier():
        raise UsageError(f"{name} is not a valid plugin name", "use a-z, 0-9 and -")

    values = {
        "NAME": name,
        "PACKAGE": package,
        "GREETING": f"{package.upper()}_GREETING",
    }
    if python:
        files = fill_template("package", **values)
        commands_dir = f"{package}/commands/"
    else:
        files = fill_template("plugin", **values)
        commands_dir = ""

    for path, text in fill_template("greeting", **values).items():
        files[f"{commands_dir}{path}"] = text
    files = {f"{name}/{path}": text for path, text in sorted(files.items())}
    _write(os.getcwd(), files)

    lines = ["made"]
    lines += [f"  {path}" for path in files]

    source = f"./{name}"
    if python:
        build = "python3 -m pip wheel --no-deps --wheel-dir dist"
        lines.append(f"build it:  {build} {source}")
        source = f"dist/{package}-0.1.0-*.whl"
    session.show_lines(
        *lines,
        f"add it:    {session.program} self plugin add {source}",
        f"try it:    {session.program} {name} hello",
    )


def check_words(words: tuple[str, ...]) -> None:
    """Raise UsageError unless `words` can name a command or category."""
    for word in words:
        if not is_word(word):
            raise UsageError(f"{word} is not a valid command name", WORD_RULE)
    if words[0] in RESERVED_WORDS:
        raise UsageError(f"{words[0]} is a reserved name", "choose another one")


def _make(
    session: Session, words: tuple[str, ...], files: Mapping[str, str | bytes]
) -> list[str]:
    """Write a command or category into the commands' directory, with its missing parent categories.

    Each key of `files` is appended to the path of the command: "/command.json" or ".sh". Returns
    the paths of the written `files`.
    """
    check_words(words)
    _check_free(session, words)

    commands_dir = session.installation.commands_dir
    os.makedirs(commands_dir, exist_ok=True)
    # Another process may make the same category.
    with file_lock(os.path.realpath(commands_dir), session.messages.line):
        # Only the categories that are missing are made, together with the command.
        directory, missing = _existing_category(commands_dir, words)
        made: dict[str, str | bytes] = {}
        for count in range(1, len(missing)):
            path = "/".join(missing[:count])
            made[f"{path}/category.json"] = _category(missing[count - 1])
        path = "/".join(missing)
        for name, content in files.items():
            made[f"{path}{name}"] = content
        _write(directory, made)

    lines = [f"  {directory}/{name}" for name in sorted(made)]
    session.show_lines("made", *lines)
    return [os.path.join(directory, f"{path}{name}") for name in files]


def _existing_category(
    commands_dir: str, words: tuple[str, ...]
) -> tuple[str, list[str]]:
    """Return the directory of the last category in `words` that exists, and the words below it.

    The last word, which is the command's own, is always among these.
    """
    directory = commands_dir
    missing = list(words)
    while len(missing) > 1:
        category = os.path.join(directory, missing[0])
        if not os.path.isdir(category):
            break
        directory = category
        del missing[0]
    return directory, missing


def _check_free(session: Session, words: tuple[str, ...]) -> None:
    """Raise OperationError if a command has these words, or cannot have a command below it."""
    match = session.find(words)
    definition = match.definition
    if match.kind != "command" or definition is None:
        return

    # Scripts may have commands below them: `deploy.sh` and `deploy/all.sh`.
    is_below = len(match.words) < len(words)
    if is_below and definition.is_script:
        return

    command = " ".join(match.words)
    see = f"see: {session.program} self which {command}"
    raise OperationError(f"{command} is already a command", see)


def _category(word: str, about: str | None = None) -> str:
    files = fill_template("category", WORD=word, ABOUT=about or "")
    return files["category.json"]


def _mode(content: str | bytes) -> int | None:
    """Return the mode of a new file; a script, of which `bytes` are the user's, is executable."""
    if isinstance(content, bytes) or content.startswith("#!"):
        return 0o755
    return None


def _write(directory: str, files: Mapping[str, str | bytes]) -> None:
    """Write all files or none, as one new file or directory in `directory`.

    Raises OperationError if there is something else of that name.
    """
    [top] = {name.partition("/")[0] for name in files}
    target = os.path.join(directory, top)
    if os.path.lexists(target):
        remedy = "use another name, or remove that path"
        raise OperationError(f"{target}: already exists", remedy)

    os.makedirs(directory, exist_ok=True)
    with staging(directory) as stage:
        for name, content in files.items():
            path = os.path.join(stage, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_file(path, content, _mode(content))

        # Nobody sees a part of the files, not even after a crash.
        os.rename(os.path.join(stage, top), target)
