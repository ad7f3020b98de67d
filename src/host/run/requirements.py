"""`requires`: the programs that a command needs, and their versions.

Loaded only for a definition that has the key.
"""

from host.run import Record
from host.run.json_file import Fields
from host.run.text import is_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OPERATORS = (">=", "<=", "==", ">", "<")
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-")
_LONGEST = 100  # characters of a version


class Requirement(Record):
    """A program that a command needs; `str` returns it as in a definition, such as `jq>=1.6`.

    program    its name, which is searched on PATH
    version    version constraints, such as ">=1.6,<2", "" for any
    hint       what to do if it is missing, or ""
    """

    program: str
    version: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return self.program + self.version


def read_requirements(fields: Fields, entries: "list[Any]") -> tuple[Requirement, ...]:
    """Return the entries of the key `requires`; raises DefinitionError."""
    found = {}
    for index, entry in enumerate(entries):
        key = f"requires[{index}]"
        if type(entry) is str:
            program = entry.replace("<", ">").replace("=", ">").partition(">")[0]
            version, hint = entry[len(program) :], ""
        else:
            inner = Fields(fields.path, entry, key)
            program = inner.filled("program", required=True)
            version, hint = inner.text("version"), inner.text("hint")
        program, version = program.strip(), version.replace(" ", "")
        if not program or program[0] in ".+-" or not _NAME.issuperset(program):
            raise fields.refused(key, f'"{program[:70]}" is not the name of a program')
        if version and not all(map(_constraint, version.split(","))):
            expected = "expected versions such as >=1.6 or >=1.6,<2"
            raise fields.refused(key, f'{expected}; found "{version[:70]}"')
        found[program] = Requirement(program, version, hint)
    return tuple(found.values())


def _constraint(text: str) -> "tuple[str, list[int]] | None":
    """Return the operator and numbers of `>=1.6`, None if `text` is something else."""
    operator = next(filter(text.startswith, _OPERATORS), "")
    parts = text.removeprefix(operator).split(".")
    if not operator or len(text) > _LONGEST or not all(map(is_digits, parts)):
        return None
    return operator, _numbers(parts)


def _numbers(parts: "list[str]") -> "list[int]":
    """Return the numbers of a version without zeros at the end, so that 1.6 equals 1.6.0."""
    numbers = [int(one) for one in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def is_version(text: str) -> bool:
    return _constraint(f">={text}") is not None


def satisfies(version: str, wanted: str) -> bool:
    """Return whether a version satisfies constraints such as ">=1.6,<2"."""
    own = _numbers(version.split("."))
    for operator, other in filter(None, map(_constraint, wanted.split(","))):
        sign = "=" if own == other else ">" if own > other else "<"
        if sign not in operator:
            return False
    return True
