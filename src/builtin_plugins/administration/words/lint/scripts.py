"""What is wrong with the file that a command runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence

from builtin_plugins.administration.pages import Finding
from builtin_plugins.administration.words.lint.definitions import Subject
from builtin_plugins.io.bounded_call import bounded_call
from host import HostError, Problem
from host.run import read_regular, why_outside
from host.run.process import start_of

_LARGEST = 4 * 1024 * 1024  # bytes of a script
_SHELLS = ("bash", "dash", "ksh", "sh")
_PATIENCE = 120.0  # seconds for one call of shellcheck
_AT_ONCE = 100  # files that one call gets
_OPTIONS = (
    *("--format=json1", "--severity=warning"),
    "--exclude=SC1017,SC2148",  # CR LF and no shebang, which are told already
)


def script_findings(one: Subject, shells: list[str]) -> Iterator[Finding]:
    """Yield what keeps a command's file from running; a shell's script is added to `shells`."""
    definition = one.definition
    if definition.in_python:
        return
    script = os.path.join(definition.directory, definition.entrypoint)
    wrong = why_outside(definition.directory, definition.entrypoint)
    if definition.is_script:  # a link was checked when it was found
        wrong = ""
    if not wrong and not os.path.lexists(script):
        wrong = f"there is no {script}"
    if wrong:
        yield one.finding("entrypoint", "entrypoint", wrong)
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
        ends, mode = not first_line_is_wrong, not definition.is_script
        yield from _text_findings(script, content, checks_ends=ends, checks_mode=mode)


def _text_findings(
    script: str, content: bytes, *, checks_ends: bool, checks_mode: bool
) -> Iterator[Finding]:
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
    elif checks_mode and not executable:
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
