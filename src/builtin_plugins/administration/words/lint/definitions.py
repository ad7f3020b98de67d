"""The rules for one command.json or category.json, and the places of its keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from builtin_plugins.administration.pages import Finding
from host import Definition, HostError, Problem, expand, is_secret
from host.run import read_regular
from host.run.dotenv import read_env_file
from host.run.json_errors import key_offsets, place_of

_OWN_MARKS = ("x-", "_", "$")
_LARGEST = 16 << 20  # bytes of a file of JSON


class Subject(NamedTuple):
    """A definition that was read, and the caller's environment."""

    file: str
    definition: Definition
    environ: Mapping[str, str]

    def finding(self, rule: str, key: str, text: str, remedy: str = "") -> Finding:
        return Finding(rule, Problem(self.file, text, remedy, key))


def what_the_reader_warns_of(one: Subject) -> Iterator[Finding]:
    for problem in (*one.definition.warnings, *one.definition.foreign_systems()):
        yield Finding("definition", problem)


def unknown_keys(one: Subject) -> Iterator[Finding]:
    """Yield the keys that nothing reads; the reader reports misspelt ones."""
    reported = {problem.key for problem in one.definition.warnings}
    for key in one.definition.extra:
        if not key.startswith(_OWN_MARKS) and key not in reported:
            yield one.finding(
                "definition", key, "unknown key", "begin it with x- if it is your own"
            )


def written_secrets(one: Subject) -> Iterator[Finding]:
    for name, value in one.definition.envs.items():
        if is_secret(name) and value and "$" not in value:
            yield one.finding(
                "secret",
                f"envs.{name}",
                "looks like a secret, and everybody can read it here",
                "keep it in the environment or a file of env_files, and name it in required_envs",
            )


def wrong_env_files(one: Subject) -> Iterator[Finding]:
    """Yield what is wrong in files of `env_files` that are here."""
    for index, entry in enumerate(one.definition.env_files):
        path = expand(entry, one.environ.get)
        problems: list[Problem] = []
        try:
            if path:
                read_env_file(os.path.join(one.definition.directory, path), problems.append)
        except HostError as error:
            problems = [error.problem]
        for problem in problems:
            yield one.finding("env-file", f"env_files[{index}]", problem.what, problem.remedy)


RULES = (what_the_reader_warns_of, unknown_keys, written_secrets, wrong_env_files)


def placed(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings in the order of their places, each with a line and a column."""
    by_path = sorted({*findings}, key=lambda one: one.problem.path)
    result = []
    for path, group in groupby(by_path, lambda one: one.problem.path):
        text, offsets = keys_of(path) if path.endswith(".json") else ("", {})
        result += [one._replace(problem=_placed(one.problem, text, offsets)) for one in group]
    return sorted(result, key=_order)


def _placed(problem: Problem, text: str, offsets: dict[str, int]) -> Problem:
    """Return the problem at its line, or else at its key, or at the nearest key above that."""
    key = problem.key
    while key and key not in offsets:
        key = key[: max(key.rfind("."), key.rfind("["), 0)]
    line, column = place_of(text, offsets.get(key, 0))
    if problem.line:
        line, column = problem.line, problem.column or 1
    return Problem(problem.path, problem.text, problem.remedy, problem.key, line, column)


def _order(one: Finding) -> tuple[object, ...]:
    problem = one.problem
    return problem.path, problem.line, problem.column, one.rule, problem.message


def keys_of(path: str) -> tuple[str, dict[str, int]]:
    """Return a file's text and the offset of each key (`envs.NAME`, `args[1].type`).

    There are none if the file cannot be read.
    """
    try:
        text = read_regular(path, _LARGEST, HostError).decode("utf-8-sig")
    except (HostError, FileNotFoundError, UnicodeDecodeError):
        return "", {}
    return text, key_offsets(text)[0]
