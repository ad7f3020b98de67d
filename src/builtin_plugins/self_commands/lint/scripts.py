"""What is wrong with the file that a command runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from builtin_plugins.self_commands.lint.finding import Finding
from host import Definition, HostError
from host.run.paths import read_regular
from host.run.process import start_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from builtin_plugins.self_commands.lint.definitions import Linted

_LARGEST = 4 * 1024 * 1024  # bytes of a script
_SHELLS = ("bash", "dash", "ksh", "sh")
_PATIENCE = 120.0  # seconds for one call of shellcheck
_AT_ONCE = 100  # files that one call gets


class Script(NamedTuple):
    """The file that a command runs; `bare` when it has no shebang."""

    file: str
    bare: bool


def script_findings(
    linted: Linted, definition: Definition, environ: Mapping[str, str], shells: list[Script]
) -> Iterator[Finding]:
    """Yield what keeps a command's file from running; those for a shell go to `shells`."""
    if definition.in_python:
        return
    file = os.path.join(definition.directory, definition.entrypoint)
    inside = os.path.realpath(definition.directory) + os.sep
    key = "entrypoint" if ("entrypoint",) in linted.positions.offsets else "script"
    wrong = ""
    if not os.path.realpath(file).startswith(inside):
        wrong = f"{definition.entrypoint} is not inside the command's directory"
    elif not os.path.lexists(file):
        wrong = f"there is no {file}"
    if wrong:
        text = f'"{key}": {wrong}'
        yield linted.at((key,), text, "entrypoint")
        return
    try:
        content = read_regular(file, _LARGEST, HostError)
    except (HostError, FileNotFoundError):
        content = b"\0"
    told = _start_finding(file, environ) if definition.compatible else None
    if told:
        yield told
    if b"\0" in content[:256]:  # a program, or what cannot be read
        return
    if not told or "CR LF" not in told.message:
        yield from _carriage_returns(file, content)
    yield from _how_it_starts(file, bare=not content.startswith(b"#!"))
    if _is_shell(content):
        shells.append(Script(file, bare=not content.startswith(b"#!")))


def _start_finding(file: str, environ: Mapping[str, str]) -> Finding | None:
    try:
        start_of(file, environ)
    except HostError as error:
        said = error.what.removeprefix(f"{file}: ")
        rule = "shebang" if "interpreter" in said else "entrypoint"
        return Finding(file, 1, 1, rule, said, error.remedy)
    return None


def _carriage_returns(file: str, content: bytes) -> Iterator[Finding]:
    at = content.find(b"\r\n")
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        column = at - content.rfind(b"\n", 0, at)
        remedy = f"run: sed -i 's/\\r$//' {file}"
        yield Finding(file, line, column, "line-ends", "ends with CR LF, as on Windows", remedy)


def _how_it_starts(file: str, *, bare: bool) -> Iterator[Finding]:
    executable = os.stat(file).st_mode & 0o111
    if bare:
        more = "" if executable else f", and run: chmod +x {file}"
        remedy = f"begin it with #!/usr/bin/env bash{more}"
        yield Finding(file, 1, 1, "no-shebang", "has no shebang, so bash runs it", remedy)
    elif not executable:
        yield Finding(file, 1, 1, "executable", "is not executable", f"run: chmod +x {file}")


def _is_shell(content: bytes) -> bool:
    """Tell whether this is a script of a shell that shellcheck knows."""
    first = content.partition(b"\n")[0].decode("utf-8", "replace")
    if not first.startswith("#!"):
        return True
    words = first[2:].split()
    names = [os.path.basename(word) for word in words if not word.startswith("-")]
    return (names[1:] if names[:1] == ["env"] else names)[:1] in [[one] for one in _SHELLS]


def shellcheck_findings(
    program: str, scripts: Sequence[Script], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield shellcheck's errors and warnings."""
    for bare in (False, True):
        files = [one.file for one in scripts if one.bare is bare]
        for start in range(0, len(files), _AT_ONCE):
            options = ["--shell=bash"] if bare else []
            yield from _checked(program, options, files[start : start + _AT_ONCE], environ)


def _checked(
    program: str, options: Iterable[str], files: Sequence[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    usual = ["--format=json1", "--severity=warning", "--exclude=SC1017"]  # CR LF is told already
    command = [program, *usual, *options, "--", *files]
    try:
        done = subprocess.run(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
        comments = json.loads(done.stdout)["comments"]
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError, TypeError):
        yield Finding(files[0], 1, 1, "shellcheck", f"{program} failed; run it by hand")
        return
    for one in comments:
        text = f"SC{one['code']}: {one['message']}"
        yield Finding(one["file"], one["line"], one["column"], "shellcheck", text)
