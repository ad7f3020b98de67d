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

_HEAD = 256  # bytes by which a text is told from a program
_SHELLS = ("bash", "dash", "ksh", "sh")
_PATIENCE = 600.0  # seconds for shellcheck
_OPTIONS = ("--format=json1", "--severity=warning", "--exclude=SC2148")  # which is no-shebang


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
            head = file.read(_HEAD)
            if not head.startswith(b"#!") and b"\0" not in head:
                what, remedy = (
                    "has no shebang, so bash runs it",
                    "begin it with #!/usr/bin/env bash",
                )
                yield Finding("no-shebang", Problem(script, what, remedy), hint=True)


def shellcheck_findings(
    program: str, scripts: Sequence[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield shellcheck's errors and warnings; what has no shebang it takes for bash, as we do."""
    if not scripts:
        return
    try:
        ended = bounded_call([program, *_OPTIONS, "--", *scripts], environ, _PATIENCE)
        comments = json.loads(ended.stdout)["comments"]
    except (OSError, ValueError, LookupError, TypeError):
        yield Finding("shellcheck", Problem(scripts[0], f"{program} failed", "run it by hand"))
        return
    for one in comments:
        text = f"SC{one['code']}: {one['message']}"
        problem = Problem(one["file"], text, line=one["line"], column=one["column"])
        yield Finding("shellcheck", problem)
