"""A finding: one thing that is wrong at one place of a file, and how it is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from host import HostError, Problem, printable
from host.run import read_regular
from host.run.json_errors import key_offsets, place_of
from host.run.script_definition import block_text

_LARGEST = 16 * 1024 * 1024  # bytes of a file of JSON
_GITHUB = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_GITHUB_PROPERTY = _GITHUB | str.maketrans({":": "%3A", ",": "%2C"})


class Finding(NamedTuple):
    """One thing that is wrong, and what to do: `line` and `column` count from 1.

    `file` is absolute, `remedy` may be "".
    """

    file: str
    line: int
    column: int
    rule: str
    message: str
    remedy: str = ""

    @property
    def hint(self) -> bool:
        """Whether it is about something that may be intended: the exit status stays 0."""
        return self.rule in ("undefined", "no-shebang")

    @property
    def text(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class JsonFile:
    """A file of JSON that findings are about; of one that cannot be read nothing is known.

    `offsets` are those of its keys and items: `os`, `envs.NAME`, `args[1].type`.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._text = read_regular(path, _LARGEST, HostError).decode("utf-8-sig")
        except (HostError, FileNotFoundError, UnicodeDecodeError):
            self._text = ""
        self.offsets, _ = key_offsets(self._text)

    def at(self, key: str, message: str, rule: str = "definition", remedy: str = "") -> Finding:
        """Return a finding where `key` is, or else the nearest above it that is there."""
        while key and key not in self.offsets:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        place = place_of(self._text, self.offsets.get(key, 0))
        return Finding(self.path, *place, rule, message, remedy)

    def finding(self, problem: Problem, rule: str = "definition") -> Finding:
        """Return the finding that a problem is; one of no file is about this file."""
        if problem.line or problem.path not in ("", self.path):
            path, place = problem.path or self.path, (problem.line or 1, problem.column or 1)
            return Finding(path, *place, rule, problem.message, problem.remedy)
        return self.at(problem.key, problem.message, rule, problem.remedy)


class ScriptFile(JsonFile):
    """A script that findings are about; keys are in the block of JSON in its comments."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._text = ""
        with suppress(HostError, OSError):
            content = read_regular(path, _LARGEST, HostError).decode("utf-8", "replace")
            self._text = block_text(content.splitlines())
        self.offsets, _ = key_offsets(self._text)


def shown_path(file: str) -> str:
    """Return a path as people see it: relative where it is below the current directory."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        return file
    return file.removeprefix(f"{here}/") if here != "/" else file


def as_text(findings: Iterable[Finding]) -> str:
    return "".join(
        f"{printable(shown_path(one.file))}:{one.line}:{one.column}: {printable(one.text)}\n"
        for one in findings
    )


def as_json(findings: Iterable[Finding], answers: Iterable[tuple[Sequence[str], str]]) -> str:
    rows = [
        {
            "file": shown_path(one.file),
            "line": one.line,
            "column": one.column,
            "rule": one.rule,
            "message": one.text,
        }
        for one in findings
    ]
    help_rows = [{"path": words, "answers": who} for words, who in answers]
    return json.dumps({"findings": rows, "help": help_rows}, indent=2) + "\n"


def as_github(findings: Iterable[Finding]) -> str:
    """Return workflow commands, which GitHub shows beside the lines."""
    return "".join(
        f"::{'notice' if one.hint else 'error'} "
        f"file={printable(shown_path(one.file).translate(_GITHUB_PROPERTY))},"
        f"line={one.line},col={one.column},title=lint {one.rule}::"
        f"{printable(one.text.translate(_GITHUB))}\n"
        for one in findings
    )
