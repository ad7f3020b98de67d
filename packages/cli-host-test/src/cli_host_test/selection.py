"""Which .bats files are the tests of which commands.

A test belongs to the script of the same name beside it (`db/backup.bats` to `db/backup.sh`), or to
the command or category in whose folder it is. In a folder `tests`, the path is the words:
`tests/db/backup.bats` belongs to `db backup`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cli_host_test.installation_copy import is_inside, linked_folder
from host import Command, OperationError, Program, UsageError, printable

SUFFIX = ".bats"
_TESTS = "tests"
_NEVER_ENTERED = ("node_modules", "__pycache__")

Words = tuple[str, ...]


def chosen_files(program: Program, words: Sequence[str]) -> list[str]:
    """Return the paths of the tests below `words`, sorted by words.

    Raises UsageError if there is no such command or category, and OperationError if it has no test.
    """
    asked = tuple(words)
    commands = _testable(program)
    chosen = []
    for path, test_words in all_tests(program, commands).items():
        if _is_below(test_words, asked):
            chosen.append((test_words, path))
    if chosen:
        return [path for _, path in sorted(chosen)]

    shown = printable(" ".join(asked))
    is_known = any(_is_below(command.words, asked) for command in commands)
    if not is_known:
        program.find(asked)  # raises UsageError with the nearest names
        raise UsageError(f"{shown}: no such command or category")

    what = "there are no tests"
    if asked:
        what += f" of {shown}"
    example = os.path.join(program.root, _TESTS, *asked) + SUFFIX
    raise OperationError(what, f"write one: {printable(example)}")


def all_tests(program: Program, commands: Iterable[Command]) -> dict[str, Words]:
    """Return the path of each test of an installation with the words to which it belongs."""
    scripts, folders = _places(commands)
    tests: dict[str, Words] = {}
    folder = os.path.join(program.root, _TESTS)
    for path in _files_below(folder):
        tests[path] = _words_of_path(path, folder)

    for root in _roots(program, commands):
        for path in _files_below(root):
            if path not in tests:
                tests[path] = _words_of(path, root, scripts, folders)
    return tests


def _testable(program: Program) -> list[Command]:
    """Return the commands on disk, except those of a repository, which no copy has."""
    testable = []
    for command in program.commands(everything=True):
        if command.directory and not command.project:
            testable.append(command)
    return testable


def _roots(program: Program, commands: Iterable[Command]) -> list[str]:
    """Return the folders that can contain tests beside commands, without those inside others."""
    candidates = {os.path.realpath(program.commands_dir)}
    for command in commands:
        if command.plugin:
            plugins = program.plugins_dir
            folder = linked_folder(plugins, command.plugin)
            plugin = folder or os.path.join(plugins, command.plugin)
            candidates.add(os.path.realpath(plugin))
        # The commands of a Python package are in its own folder.
        candidates.add(os.path.realpath(command.directory))

    roots: list[str] = []
    for folder in sorted(candidates):  # an outer folder sorts before those inside it
        if not os.path.isdir(folder):
            continue
        is_covered = any(is_inside(folder, root) for root in roots)
        if not is_covered:
            roots.append(folder)
    return roots


def _places(commands: Iterable[Command]) -> tuple[dict[str, Words], dict[str, Words]]:
    """Return the words of each script, by its path without an extension, and of each folder."""
    scripts: dict[str, Words] = {}
    folders: dict[str, Words] = {}
    for command in commands:
        folder = os.path.realpath(command.directory)
        words = command.words
        if command.definition.is_script:
            # The test of `backup.sh` is `backup.bats` or `backup.sh.bats`.
            name = os.path.basename(command.definition.file)
            stem, _ = os.path.splitext(name)
            scripts.setdefault(os.path.join(folder, name), words)
            scripts.setdefault(os.path.join(folder, stem), words)
            words = words[:-1]

        # Above it are the folders of its categories; a name split into words has none.
        while words and os.path.basename(folder) == words[-1]:
            folders.setdefault(folder, words)
            folder = os.path.dirname(folder)
            words = words[:-1]

    return scripts, folders


def _words_of(
    path: str, root: str, scripts: Mapping[str, Words], folders: Mapping[str, Words]
) -> Words:
    """Return the words of a test in a folder of commands, or () if it belongs to none."""
    script = scripts.get(path.removesuffix(SUFFIX))
    if script is not None:
        return script

    folder = os.path.dirname(path)
    while is_inside(folder, root):
        if folder in folders:
            return folders[folder]
        if os.path.basename(folder) == _TESTS:
            return _words_of_path(path, folder)
        folder = os.path.dirname(folder)
    return ()


def _words_of_path(path: str, folder: str) -> Words:
    below = os.path.relpath(path, folder)
    words = below.removesuffix(SUFFIX).split(os.sep)
    return tuple(words)


def _files_below(root: str) -> Iterator[str]:
    """Yield the .bats files below a folder; links to folders are not followed."""
    for folder, names, files in os.walk(root):
        # `os.walk` enters what is left in `names`.
        names[:] = [name for name in names if _is_entered(name)]
        for name in files:
            if name.startswith("."):
                continue
            if name.endswith(SUFFIX):
                yield os.path.join(folder, name)


def _is_entered(name: str) -> bool:
    if name.startswith("."):
        return False
    return name not in _NEVER_ENTERED


def _is_below(words: Words, asked: Words) -> bool:
    return words[: len(asked)] == asked
