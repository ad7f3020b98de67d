"""`required_envs`: the variables that a command needs, and what to do about missing ones.

A run loads this module only for a definition that has this key.
"""

from host.errors import Problem, SourceError
from host.files.json_file import Fields
from host.words import is_digits

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
        variable = super().__new__(cls, name)
        variable.hint = hint
        variable.type = kind
        variable.secret = secret
        return variable

    def fault(self, value: str | None) -> str:
        """Return what is wrong with a value, such as "must be set", or "" if it is valid."""
        if value is None:
            return "must be set"
        if not value:
            return "must not be empty"
        if self.type in ("", "path"):  # any text can be a path
            return ""
        if _has_type(self.type, value):
            return ""
        return f"must be {_EXPECTED[self.type]}"  # the value may contain a password, so omit it


def read_required(fields: Fields, items: "list[Any]") -> tuple[RequiredVariable, ...]:
    """Return the variables that the `items` of `required_envs` name. Raises DefinitionError."""
    variables = []
    for index, item in enumerate(items):
        key = f"required_envs[{index}]"
        values = item
        if type(item) is str:
            values = {"name": item}
        inner = Fields(fields.path, values, key)

        name = inner.text("name", required=True)
        kind = inner.one_of("type", tuple(_EXPECTED))
        fields.check_variable(key, name)
        hint = inner.text("hint")
        is_secret = inner.flag("secret")
        variables.append(RequiredVariable(name, hint, kind, is_secret))

    return tuple(dict.fromkeys(variables))  # each name once


def _has_type(kind: str, value: str) -> bool:
    """Return whether a value is an integer, port, email or URL, judged by its form only."""
    if kind == "integer":
        from host.arguments.spec import is_integer

        return is_integer(value)

    if kind == "port":
        return _is_port(value)

    if any(map(str.isspace, value)):
        return False
    if kind == "email":
        return _is_email(value)
    scheme, _, rest = value.partition("://")
    return scheme != "" and rest.strip("/") != ""


def _is_port(value: str) -> bool:
    if not is_digits(value):
        return False
    number = int(value[:9])  # a long number takes long to convert
    return 1 <= number <= 65535


def _is_email(value: str) -> bool:
    user, _, domain = value.partition("@")
    if "@" in domain:
        return False
    return user != "" and domain.strip(".") != ""


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
        if name in pending:
            continue
        value = value_of(name)
        if value == "" and name in caller:
            # The caller's empty value wins over every source, so setting it there has no effect.
            fault = "is empty in your environment (give it a value there, or unset it)"
        else:
            fault = name.fault(value or None)
        if fault:
            faults[name] = fault
    if not faults:
        return

    texts = [f"{name} {fault}" for name, fault in faults.items()]
    if "must be set" in faults.values():
        texts += [f"{path} does not exist" for path in missing]
    what = "; ".join(texts)
    raise SourceError(Problem(file, what, where_to_set([*faults])))


def where_to_set(names: "Sequence[RequiredVariable]") -> str:
    """Return the remedy for missing variables: their hints, or else where to set them."""
    if len(names) == 1:
        return names[0].hint or _where_to_set("it")

    remedies = []
    for name in names:
        if name.hint:
            remedies.append(f"{name}: {name.hint}")
    if len(remedies) < len(names):
        remedies.append(_where_to_set("them"))
    return "; ".join(remedies)


def _where_to_set(them: str) -> str:
    places = 'config/settings.conf, "envs" or a file in "env_files"'
    return f"export {them}, or set {them} in {places}"
