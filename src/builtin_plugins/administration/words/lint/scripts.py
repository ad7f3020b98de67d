"""What is wrong with the file that a command runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from builtin_plugins.administration.pages import Finding
from builtin_plugins.io.bounded_call import bounded_call
from host import Definition, HostError, Problem
from host.run import why_outside
from host.run.process import start_of

_LARGEST = 4 * 1024 * 1024  # bytes of a script
_SHELLS = ("bash", "dash", "ksh", "sh")
_PATIENCE = 120.0  # seconds for one call of shellcheck
_AT_ONCE = 100  # files that one call gets
_OPTIONS = (
    *("--format=json1", "--severity=warning"),
    "--exclude=SC1017,SC2148",  # CR LF and no shebang, which `script_findings` reports
)


def script_findings(
    definition: Definition, environ: Mapping[str, str], shells: list[str]
) -> Iterator[Finding]:
    """Yield what keeps a command's file from running; a shell's script is added to `shells`."""
    if definition.in_python:
        return
    script = os.path.join(definition.directory, definition.entrypoint)
    wrong = "" if os.path.lexists(script) else f"there is no {script}"
    if not definition.is_script:  # a link to one was checked when it was found
        wrong = why_outside(definition.directory, definition.entrypoint) or wrong
    if wrong:
        yield Finding("entrypoint", Problem(definition.file, wrong, key="entrypoint"))
        return
    try:
        if os.path.basename(start_of(script, environ).interpreter) in _SHELLS:
            shells.append(script)
    except HostError as error:
        if definition.compatible:
            yield Finding("shebang" if error.problem.line else "entrypoint", error.problem)
    else:
        with suppress(OSError), open(script, "rb") as file:  # some may be run and not read
            yield from _text_findings(script, file.read(_LARGEST))


def _text_findings(script: str, content: bytes) -> Iterator[Finding]:
    """Yield what is wrong with a script's line ends and shebang."""
    if b"\0" in content[:256]:
        return  # a program
    if (at := content.find(b"\r\n")) >= 0:
        line, column = content.count(b"\n", 0, at) + 1, at - content.rfind(b"\n", 0, at)
        what, remedy = "ends with CR LF, as on Windows", f"run: sed -i 's/\\r$//' {script}"
        yield Finding("line-ends", Problem(script, what, remedy, line=line, column=column))
    if not content.startswith(b"#!"):
        what, remedy = "has no shebang, so bash runs it", "begin it with #!/usr/bin/env bash"
        yield Finding("no-shebang", Problem(script, what, remedy), hint=True)


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
