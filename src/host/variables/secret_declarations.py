"""The key `secrets`: a reference for each variable whose value is a secret.

A run loads this module only if the definition of its command has the key.
"""

from host.files.json_file import Fields
from host.words import is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self


class SecretReference(str):
    """A reference in `secrets`; with `optional`, a run goes on if it cannot be resolved."""

    __slots__ = ("optional",)

    optional: bool

    def __new__(cls, text: str, optional: bool = False) -> "Self":
        reference = super().__new__(cls, text)
        reference.optional = optional
        return reference


def read_secrets(fields: Fields) -> dict[str, SecretReference]:
    """Return the references in `secrets` by variable; each must have a scheme."""
    references: dict[str, SecretReference] = {}
    items = fields.typed("secrets", dict, "an object of references")
    if items is None:
        return references

    for name, item in items.items():
        fields.check_variable("secrets", name)
        if item is not None:
            references[name] = _reference(fields, f"secrets.{name}", item)
    return references


def _reference(fields: Fields, key: str, item: "Any") -> SecretReference:
    """Return the reference in the value `item`: a text, or an object with more about it."""
    # `{"reference": …, "optional": true}`, or only the reference.
    optional = False
    if isinstance(item, dict):
        inner = Fields(fields.path, item, key)
        text = inner.filled("reference", required=True)
        optional = inner.flag("optional")
    elif isinstance(item, str):
        text = fields.clean(key, item)
    else:
        raise fields.wrong(key, "a reference or an object", item)

    scheme, _, rest = text.partition(":")
    is_reference = rest != "" and is_word(scheme)
    if not is_reference:
        reason = 'expected a reference, such as "run:pass show deploy"'
        raise fields.refused(key, reason)
    return SecretReference(text, optional)
