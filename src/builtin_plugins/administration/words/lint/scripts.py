"""What is wrong with the file that a command runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.words.lint.definitions import Subject
from builtin_plugins.io.bounded_call import bounded_call
from host import HostError, Problem
from host.run import read_regular, why_outside
from host.run.command import read_definition
from host.run.process import start_of

_LARGEST = 4 * 1024 * 1024  # bytes of a script
_NO_SCRIPTS = (  # documents and data, executable or not
    *(".md", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".ini"),
    *(".conf", ".env", ".lock", ".log"),
)
_SHELLS = ("bash", "dash", "ksh", "sh")
_PATIENCE = 120.0  # seconds for one call of shellcheck
_AT_ONCE = 100  # files that one call gets
_OPTIONS = (
    *("--format=json1", "--severity=warning"),
    "--exclude=SC1017,SC2148",  # CR LF and no shebang, which are told already
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


def script_findings(one: Subject, shells: list[str]) -> Iterator[Finding]:
    """Yield what keeps a command's file from running; a shell's script is added to `shells`."""
    definition = one.definition
    if definition.in_python:
        return
    script = os.path.join(definition.directory, definition.entrypoint)
    wrong = why_outside(definition.directory, definition.entrypoint)
    if wrong or not os.path.lexists(script):
        yield one.finding("entrypoint", "entrypoint", wrong or f"there is no {script}")
        return
    first_line_is_wrong = False
    try:
        if os.path.basename(start_of(script, one.environ).interpreter) in _SHELLS:
            shells.append(script)
    except HostError as error:
        first_line_is_wrong = error.problem.line > 0
        if definition.compatible:
            problem = error.problem if error.problem.path else Problem(script, error.problem.text)
            yield Finding("shebang" if first_line_is_wrong else "entrypoint", problem)
    try:
        content = read_regular(script, _LARGEST, HostError)
    except (HostError, FileNotFoundError):
        return
    if b"\0" not in content[:256]:  # otherwise it is a program
        yield from _text_findings(script, content, checks_ends=not first_line_is_wrong)


def _text_findings(script: str, content: bytes, *, checks_ends: bool) -> Iterator[Finding]:
    """Yield what is wrong with a script's line ends, shebang and mode."""
    at = content.find(b"\r\n")
    if at >= 0 and checks_ends:
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


def shellcheck_findings(
    program: str, scripts: Sequence[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield shellcheck's errors and warnings; what has no shebang it takes for bash, as we do."""
    for start in range(0, len(scripts), _AT_ONCE):
        files = scripts[start : start + _AT_ONCE]
        try:
            ended = bounded_call([program, *_OPTIONS, "--", *files], environ, _PATIENCE)
            comments = json.loads(ended.stdout)["comments"]
        except (OSError, ValueError, LookupError, TypeError):
            yield Finding("shellcheck", Problem(files[0], f"{program} failed", "run it by hand"))
            continue
        for one in comments:
            text = f"SC{one['code']}: {one['message']}"
            problem = Problem(one["file"], text, line=one["line"], column=one["column"])
            yield Finding("shellcheck", problem)
