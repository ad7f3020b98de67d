"""`required_envs`: the variables that a command needs, and what to do about missing ones.

A run loads this module only for a definition that has this key.
"""

from host.errors import Problem, SourceError
from host.run.json_file import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any, Self

_EXPECTED = {
    "url": "a URL, such as https://example.org/",
    "port": "a port from 1 to 65535",
    "integer": "a whole number",
    "path": "a path",
    "email": "an address, such as me@example.org",
}


class RequiredVariable(str):
    """The name of a required variable, with the properties from the definition.

    hint      what to do if it is not set, or ""
    type      "url", "port", "integer", "path", "email", or "" for any text
    secret    whether its value is never shown
    """

    __slots__ = ("hint", "secret", "type")

    hint: str
    type: str
    secret: bool

    def __new__(
        cls, name: str, hint: str = "", kind: str = "", secret: bool = False
    ) -> "Self":
        made = super().__new__(cls, name)
        made.hint = hint
        made.type = kind
        made.secret = secret
        return made

    def fault(self, value: str | None) -> str:
        """Return what is wrong with a value, such as "must be set", or "" if it is valid."""
        if not value:
            return "must be set" if value is None else "must not be empty"
        if self.type in ("", "path") or _has_type(
            self.type, value
        ):  # any text can be a path
            return ""
        return f"must be {_EXPECTED[self.type]}"  # the value may contain a password, so omit it


def read_required(fields: Fields, items: "list[Any]") -> tuple[RequiredVariable, ...]:
    """Return the variables that the `items` of `required_envs` name. Raises DefinitionError."""
    variables = []
    for index, item in enumerate(items):
        key = f"required_envs[{index}]"
        values = {"name": item} if type(item) is str else item
        inner = Fields(fields.path, values, key)

        name = inner.text("name", required=True)
        kind = inner.one_of("type", tuple(_EXPECTED))
        fields.check_variable(key, name)
        hint = inner.text("hint")
        is_secret = inner.flag("secret")
        variables.append(RequiredVariable(name, hint, kind, is_secret))

    return tuple(dict.fromkeys(variables))  # each name once


def _has_type(kind: str, value: str) -> bool:
    if kind == "integer":
        from host.run.argument_spec import is_integer

        return is_integer(value)
    if kind == "port":
        return value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= 65535
    if any(map(str.isspace, value)):
        return False
    if kind == "email":
        user, at, domain = value.partition("@")
        return bool(user and at and domain.strip(".")) and "@" not in domain
    scheme, _, rest = value.partition("://")
    return bool(scheme and rest.strip("/"))


def check_required(
    file: str,
    required: "Sequence[RequiredVariable]",
    value_of: "Callable[[str], str | None]",
    caller: "Collection[str]",
    missing: "Iterable[str]",
    pending: "Collection[str]",
) -> None:
    """Raise SourceError if a required variable is unset, empty or not of its type.

    file      the definition that requires them
    value_of  returns a variable's value
    caller    the variables that the caller set
    missing   the `.env` files that do not exist
    pending   variables that are not checked, because their secrets are not resolved yet
    """
    faults = {}
    for name in required:
        value = value_of(name)
        fault = name.fault(value or None)
        if value == "" and name in caller:
            fault = "is empty in your environment (give it a value there, or unset it)"
        if fault and name not in pending:
            faults[name] = fault
    if not faults:
        return
    texts = [f"{name} {fault}" for name, fault in faults.items()]
    if "must be set" in faults.values():
        texts += [f"{path} does not exist" for path in missing]
    raise SourceError(Problem(file, "; ".join(texts), where_to_set([*faults])))


def where_to_set(names: "Sequence[RequiredVariable]") -> str:
    """Return the remedy for missing variables: their hints, or else where to set them."""
    alone = len(names) == 1
    them = "it" if alone else "them"
    where = f'export {them}, or set {them} in config/settings.conf, "envs" or a file in "env_files"'
    with_hint = [name for name in names if name.hint]
    remedies = [name.hint if alone else f"{name}: {name.hint}" for name in with_hint]
    if len(remedies) < len(names):
        remedies.append(where)
    return "; ".join(remedies)
