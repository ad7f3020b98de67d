"""What is wrong with the file that a command runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.words.lint.definitions import Subject
from host import HostError, Problem
from host.run import why_outside
from host.run.command import read_definition
from host.run.process import start_of

_LARGEST = 4 * 1024 * 1024  # bytes that are looked at of a script
_NO_SCRIPTS = (  # documents and data, executable or not
    *(".md", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".ini"),
    *(".conf", ".env", ".lock", ".log"),
)


def undefined_scripts(folder: str) -> Iterator[Finding]:
    """Yield the files in a category that look like scripts and that no definition names."""
    named = set()
    try:
        for name in ("category.json", "command.json"):
            with suppress(FileNotFoundError):
                named.add(read_definition(os.path.join(folder, name)).entrypoint)
        files = sorted(os.scandir(folder), key=lambda one: one.name)
    except (HostError, OSError):
        return  # reported as what is wrong with them
    for file in files:
        if file.name not in named and _looks_like_a_script(file):
            remedy = f"move it to a folder of its own in {folder} and write a command.json there"
            if file.name.startswith("main."):
                remedy = f'write {folder}/command.json with "entrypoint": "{file.name}"'
            problem = Problem(file.path, "no command.json names this script", remedy)
            yield Finding("undefined", problem, hint=True)


def _looks_like_a_script(file: os.DirEntry[str]) -> bool:
    if file.name.startswith((".", "_")) or file.name.endswith(_NO_SCRIPTS) or not file.is_file():
        return False
    try:
        with open(file, "rb") as script:
            return os.access(file, os.X_OK) or script.read(2) == b"#!"
    except OSError:
        return False


def script_findings(one: Subject) -> Iterator[Finding]:
    """Yield what keeps a command's file from running."""
    definition = one.definition
    if definition.in_python or not definition.entrypoint:
        return
    script = os.path.join(definition.directory, definition.entrypoint)
    wrong = why_outside(definition.directory, definition.entrypoint)
    if wrong or not os.path.lexists(script):
        yield one.finding("entrypoint", "entrypoint", wrong or f"there is no {script}")
        return
    try:
        start_of(script, one.environ)
    except HostError as error:
        if definition.compatible:
            yield Finding("shebang" if error.problem.line else "entrypoint", error.problem)
        return
    with open(script, "rb") as file:
        content = file.read(_LARGEST)
    if b"\0" in content[:256]:  # a program
        return
    at = content.find(b"\r\n")
    if at >= 0:
        line, column = content.count(b"\n", 0, at) + 1, at - content.rfind(b"\n", 0, at)
        what, remedy = "ends with CR LF, as on Windows", f"run: sed -i 's/\\r$//' {script}"
        yield Finding("line-ends", Problem(script, what, remedy, line=line, column=column))
    mode = f"run: chmod +x {script}"
    executable = os.stat(script).st_mode & 0o111
    if not content.startswith(b"#!"):
        remedy = f"begin it with #!/usr/bin/env bash{'' if executable else f', and {mode}'}"
        problem = Problem(script, "has no shebang, so bash runs it", remedy)
        yield Finding("no-shebang", problem, hint=True)
    elif not executable:
        yield Finding("executable", Problem(script, "is not executable", mode))
