"""What is wrong with the variables that `required_envs` names, and what to do about it.

A run loads this only if one of them has a type, or is not set.
"""

from host.errors import Problem, SourceError
from host.run.argument_spec import is_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from host.run.command import Definition, RequiredVariable
    from host.run.environment import Layers

_EXPECTED = {
    "url": "a URL, such as https://example.org/",
    "port": "a port from 1 to 65535",
    "integer": "a whole number",
    "path": "a path",
    "email": "an address, such as me@example.org",
}


def fault(name: "RequiredVariable", value: str | None) -> str:
    """Return what is wrong with a value of the variable, "" if nothing is."""
    if not value:
        return "must be set" if value is None else "must not be empty"
    if not name.type or _has_type(name.type, value):
        return ""
    return f"must be {_EXPECTED[name.type]}"  # without the value: an address has its password


def _has_type(kind: str, value: str) -> bool:
    if kind == "integer":
        return is_integer(value)
    if kind == "port":
        return value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= 65535
    if kind == "path":
        return True
    if any(map(str.isspace, value)):
        return False
    if kind == "email":
        user, at, domain = value.partition("@")
        return bool(user and at and domain.strip(".")) and "@" not in domain
    scheme, separator, rest = value.partition("://")
    plain = scheme.replace("+", "").replace("-", "").replace(".", "")
    return bool(separator and rest.strip("/")) and plain.isalnum() and scheme[0].isalpha()


def refuse(definition: "Definition", layers: "Layers", pending: "Collection[str]" = ()) -> None:
    """Raise SourceError for names that are unset, empty or of another type than declared."""
    faults: list[tuple[str, str]] = []
    unset: list[RequiredVariable] = []
    empty: list[RequiredVariable] = []
    for name in definition.required_envs:
        if name in pending:
            continue
        value = layers.get(name)
        if not value:
            (empty if name in layers.system else unset).append(name)  # nothing else counts there
        elif what := fault(name, value):
            faults.append((f"{name} {what}", name.hint))
    if unset:
        gone = f"; {', '.join(layers.missing)} is not there" if layers.missing else ""
        faults.append((f"{', '.join(unset)} must be set{gone}", where_to_set(unset)))
    if empty:
        them, are = ("it", "is") if len(empty) == 1 else ("them", "are")
        before = f"{are} empty in your environment, which goes before every other source"
        remedy = "; ".join([*_hints(empty), f"give {them} a value there, or unset {them}"])
        faults.append((f"{', '.join(empty)} {before}", remedy))
    if len(faults) == 1:
        raise SourceError(Problem(definition.file, *faults[0]))
    if faults:  # each has to stand beside its remedy
        texts = ["; ".join(filter(None, one)) for one in faults]
        raise SourceError(Problem(definition.file, "; ".join(texts)))


def where_to_set(names: "Sequence[RequiredVariable]") -> str:
    """Return what to do about variables that must be set: their hints, or else the places."""
    them = "it" if len(names) == 1 else "them"
    where = f"export {them}, or set {them} in config/settings.conf, a file of env_files, or envs"
    return "; ".join([*_hints(names), *([] if all(one.hint for one in names) else [where])])


def _hints(names: "Sequence[RequiredVariable]") -> list[str]:
    """Return the hints, each with its name if there are several names."""
    alone = len(names) == 1
    return [one.hint if alone else f"{one}: {one.hint}" for one in names if one.hint]
