"""`requires`: the programs that a command needs, and the check that they are installed.

A run loads this module only for a definition that has this key.
"""

import posix

from host.errors import HostError, MissingError, Problem
from host.files.json_file import Fields
from host.files.paths import basename, own_content, realpath
from host.processes.programs import find_program
from host.record_base import Record
from host.text import decode, encode
from host.words import is_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

_OPERATORS = (">=", "<=", "==", ">", "<")
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-")
_LONGEST = 100  # characters of a version
_VERSION_SECONDS = 5.0  # for `PROGRAM --version`
_MOST_PRINTED = 1 << 16  # bytes
NOT_CHECKED = "not checked"  # the state of a program that would have to be started for its version


class Requirement(Record):
    """A program that a command needs; `str` returns it as in a definition, such as `jq>=1.6`.

    program    its name, which is looked up on PATH
    version    version constraints, such as ">=1.6,<2", or "" for any version
    hint       what to do if it is missing, or ""
    """

    program: str
    version: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return self.program + self.version


def read_requirements(fields: Fields, items: "list[Any]") -> tuple[Requirement, ...]:
    """Return the programs that the `items` of `requires` name. Raises DefinitionError."""
    requirements = {}
    for index, item in enumerate(items):
        key = f"requires[{index}]"

        if type(item) is str:
            program, version = _parts_of(item)
            hint = ""
        else:
            inner = Fields(fields.path, item, key)
            program = inner.filled("program", required=True)
            version = inner.text("version")
            hint = inner.text("hint")

        program = program.strip()
        version = version.replace(" ", "")
        if not _is_program(program):
            raise fields.refused(key, f'"{program[:70]}" is not the name of a program')
        is_valid = all(map(_constraint, version.split(",")))
        if version and not is_valid:
            expected = "expected versions such as >=1.6 or >=1.6,<2"
            raise fields.refused(key, f'{expected}; found "{version[:70]}"')
        requirements[program] = Requirement(program, version, hint)
    return tuple(requirements.values())


def _parts_of(item: str) -> tuple[str, str]:
    """Return the program and the version constraints in an item such as `jq>=1.6`."""
    for index, sign in enumerate(item):
        if sign in "<>=":
            return item[:index], item[index:]
    return item, ""


def _is_program(name: str) -> bool:
    if name.startswith((".", "+", "-")):
        return False
    return name != "" and _NAME.issuperset(name)


def _constraint(text: str) -> "tuple[str, list[int]] | None":
    """Return the operator and numbers of a constraint such as `>=1.6`, or None if it is invalid."""
    if len(text) > _LONGEST:
        return None
    for operator in _OPERATORS:  # `>=` before `>`
        if text.startswith(operator):
            parts = text.removeprefix(operator).split(".")
            if not all(map(is_digits, parts)):
                return None
            return operator, _numbers(parts)
    return None


def _numbers(parts: "list[str]") -> "list[int]":
    """Return the numbers of a version without trailing zeros, so that 1.6 equals 1.6.0."""
    numbers = [int(part) for part in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def is_version(text: str) -> bool:
    return _constraint(f">={text}") is not None


def satisfies(version: str, constraints: str) -> bool:
    """Return whether a version satisfies constraints such as ">=1.6,<2"."""
    numbers = _numbers(version.split("."))

    for text in constraints.split(","):
        constraint = _constraint(text)
        if constraint is None:
            continue

        operator, others = constraint
        sign = "="
        if numbers > others:
            sign = ">"
        elif numbers < others:
            sign = "<"
        if sign not in operator:  # `>=` accepts both of its signs
            return False
    return True


def program_faults(
    requires: "Iterable[Requirement]",
    environ: "Mapping[str, str]",
    cache_file: str,
    *,
    starts_programs: bool,
) -> "list[tuple[Requirement, str]]":
    """Return each requirement that is not met, and why: see `fault`.

    Without `starts_programs`, a program whose version is not in the cache passes.
    """
    faults = []
    for requirement in requires:
        reason = fault(
            requirement, environ, cache_file, starts_programs=starts_programs
        )
        if reason not in ("", NOT_CHECKED):
            faults.append((requirement, reason))
    return faults


def missing_programs(
    faults: "Sequence[tuple[Requirement, str]]",
    words: "Sequence[str]",
    program: str,
    is_command: "Callable[[tuple[str, ...]], bool]",
) -> MissingError:
    """Return the error for a command `words` with these `faults`; `program` is the host's name.

    `is_command` returns whether words name a command, such as `setup jq`.
    """
    command = " ".join(words)
    needs = [f"{requirement} ({reason})" for requirement, reason in faults]
    what = f"needs {', '.join(needs)}"
    remedy = _remedies(faults, program, is_command)
    return MissingError(Problem(command, what, remedy))


def _remedies(
    faults: "Sequence[tuple[Requirement, str]]",
    program: str,
    is_command: "Callable[[tuple[str, ...]], bool]",
) -> str:
    if len(faults) == 1:
        requirement, _ = faults[0]
        return remedy_of(requirement, program, is_command) or "install it"

    remedies = []
    for requirement, _ in faults:
        remedy = remedy_of(requirement, program, is_command)
        if remedy:
            remedies.append(f"{requirement.program}: {remedy}")
    return "; ".join(remedies) or "install them"


def fault(
    requirement: Requirement,
    environ: "Mapping[str, str]",
    cache_file: str,
    *,
    starts_programs: bool = True,
) -> str:
    """Return why a program does not satisfy a requirement, or "" if it does.

    Without `starts_programs`, the result is NOT_CHECKED for a version that is not in the cache.
    """
    path = find_program(requirement.program, environ)
    if path is None:
        return "not on PATH"
    if not requirement.version:
        return ""

    version = _version(path, environ, cache_file, starts_programs=starts_programs)
    if not version:
        if starts_programs:
            return f"{path} --version prints no version"
        return NOT_CHECKED
    if not satisfies(version, requirement.version):
        return f"{path} is {version}"
    return ""


def remedy_of(
    requirement: Requirement,
    program: str,
    is_command: "Callable[[tuple[str, ...]], bool]",
) -> str:
    """Return the remedy for a missing program: its hint, the command `setup NAME`, or ""."""
    if requirement.hint:
        return requirement.hint
    if is_command(("setup", requirement.program)):
        return f"{program} setup {requirement.program}"
    return ""


def _version(
    path: str, environ: "Mapping[str, str]", cache_file: str, *, starts_programs: bool
) -> str:
    """Return the version of a program, or "" if it prints none; `cache_file` caches it.

    Without `starts_programs`, the result is "" for a version that is not in the cache.
    The cache key contains the name, because one file can be several programs (busybox, shims).
    """
    status = posix.stat(path)
    file = f" {basename(path)} {realpath(path)}"
    identity = f" {status.st_mtime_ns} {status.st_size} {status.st_ino}{file}"
    lines = _cached_lines(cache_file)
    for line in lines:
        if line.endswith(identity):
            return line.removesuffix(identity)
    if not starts_programs:
        return ""

    version = _printed_version(path, environ)
    if version:
        from host.files.replace_file import replace

        # The line of an older version of the same file goes.
        lines = [line for line in lines if not line.endswith(file)]
        lines.append(version + identity)
        content = "\n".join([*lines, ""])
        replace(cache_file, encode(content), 0o600)
    return version


def _cached_lines(cache_file: str) -> "list[str]":
    """Return the intact lines of the cache; a cache that another user may have written has none.

    Otherwise, that user could make a program of the wrong version pass, or a damaged line could
    stop every run.
    """
    try:
        content = own_content(cache_file)
    except (OSError, HostError):
        return []

    lines = []
    for line in decode(content).splitlines():
        version, _, _ = line.partition(" ")
        if is_version(version):
            lines.append(line)
    return lines


def _printed_version(path: str, environ: "Mapping[str, str]") -> str:
    """Return the first dotted number that `PROGRAM --version` prints, or "" if there is none."""
    import re

    from host.processes.bounded_child import supervise

    try:
        ended = supervise(
            [path, "--version"],
            environ,
            _VERSION_SECONDS,
            most=_MOST_PRINTED,
            stderr="stdout",
        )
    except OSError:
        return ""
    if ended.limit == "time":
        return ""

    number = re.search(rb"\d{1,19}(?:\.\d{1,19})+", ended.stdout)
    if number is None:
        return ""
    return number[0].decode()
