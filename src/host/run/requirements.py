"""The text of `requires` and `min_version` → programs and versions (CONTRACT 17).

`host.run.programs` checks them. A run loads this only if one of these keys is present.
"""

from host.run.json_file import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_OPERATORS = (">=", "<=", "==", ">", "<")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-")
_EXPECTED = 'is no program with a version; write "jq", "jq>=1.6" or "jq>=1.6,<2"'


class Requirement(str):
    """A program that a command needs, as text: "jq>=1.6".

    program   its name on PATH
    version   comparisons that its version meets, such as ">=1.6,<2", or "" for any version
    hint      how to get it, or ""
    """

    __slots__ = ("hint", "program", "version")

    program: str
    version: str
    hint: str

    def __new__(cls, program: str, version: str = "", hint: str = "") -> "Self":
        made = super().__new__(cls, f"{program}{version}")
        made.program, made.version, made.hint = program, version, hint
        return made

    def row(self) -> "list[str]":
        """Return the values from which it is made again."""
        return [self.program, self.version, self.hint]

    def accepts(self, version: str) -> bool:
        """Return whether a version, such as "1.7.1", meets every comparison."""
        found = _numbers(version)
        return all(_holds(found, one) for one in self.version.split(",") if one)


def read_requirements(fields: Fields) -> "tuple[Requirement, ...]":
    """Return what stands under `requires`; raises DefinitionError."""
    found = []
    for index, entry in enumerate(fields.array("requires", "an array of programs")):
        key = f"requires[{index}]"
        if type(entry) is str:
            fields.clean(key, entry)
            at = min((entry.find(one) for one in "<>=" if one in entry), default=len(entry))
            program, version, hint = entry[:at].strip(), entry[at:], ""
        else:
            inner = Fields(fields.path, entry, key)
            program = inner.filled("program", required=True)
            version, hint = inner.text("version"), inner.text("hint")
        version = version.replace(" ", "")
        comparisons = version.split(",") if version else ()
        is_name = _NAME.issuperset(program) and program[:1] not in ("", "-", ".", "+")
        if not is_name or not all(map(_is_comparison, comparisons)):
            written = entry if type(entry) is str else f"{program} {version}"
            raise fields.refused(key, f'"{written[:70]}" {_EXPECTED}')
        found.append(Requirement(program, version, hint))
    return tuple(found)


def is_version(text: str) -> bool:
    """Return whether `text` is numbers with dots between them, such as 1.6 or 2."""
    return all(one.isascii() and one.isdigit() for one in text.split("."))


def _operator(comparison: str) -> str:
    return next((one for one in _OPERATORS if comparison.startswith(one)), "")


def _is_comparison(text: str) -> bool:
    operator = _operator(text)
    return operator != "" and is_version(text.removeprefix(operator))


def _numbers(version: str) -> list[int]:
    numbers = [int(one[:18]) for one in version.split(".")]
    while len(numbers) > 1 and not numbers[-1]:  # 1.6.0 is 1.6
        numbers.pop()
    return numbers


def _holds(found: list[int], comparison: str) -> bool:
    operator = _operator(comparison)
    wanted = _numbers(comparison.removeprefix(operator))
    if found == wanted:
        return "=" in operator
    return operator[0] == (">" if found > wanted else "<")


def read_min_version(fields: Fields) -> str:
    """Return what stands under `min_version`; raises DefinitionError."""
    text = fields.filled("min_version")
    if text and not is_version(text):
        raise fields.refused("min_version", f'"{text[:70]}" is no version; write "1.4" or "2"')
    return text


def is_older(version: str, needed: str) -> bool:
    """Return whether a version of this program, such as "1.4.0rc1", is older than `needed`."""
    numbers = version.partition("+")[0]
    for index, character in enumerate(numbers):
        if character not in "0123456789.":
            numbers = numbers[:index]
            break
    return _numbers(numbers.strip(".") or "0") < _numbers(needed)
