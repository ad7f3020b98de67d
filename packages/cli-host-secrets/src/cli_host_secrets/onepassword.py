"""Resolve `op://VAULT/ITEM/FIELD` with 1Password, all references in one call of `op inject`."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence

from cli_host_secrets.programs import output
from cli_host_secrets.references import Answers
from host import HostError

# Characters with a meaning in op's templates, and control characters, are not allowed.
_REFERENCE = re.compile(r"op://[^/]+(/[^/]+){2,3}")
_SPECIAL = re.compile(r'[{}$"`\\\x00-\x1f\x7f]')


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read all values with one `op inject` template, in which a random word separates them."""
    usable = list(filter(_is_usable, references))
    expected = HostError('expected op://VAULT/ITEM/FIELD without any of {}$"`\\')
    answers: Answers = dict.fromkeys(set(references) - set(usable), expected)
    if not usable:
        return answers

    def retry(printed: str) -> list[str]:
        """Return a command that fails for the same reason."""
        if len(usable) == 1:
            return ["op", "read", usable[0]]
        failing = [reference for reference in usable if reference in printed]
        return ["op", "read", max(failing, key=len)] if failing else ["op", "whoami"]

    mark = f"<{secrets.token_hex(16)}>"
    template = mark + "".join(f"{{{{ {reference} }}}}{mark}" for reference in usable)
    try:
        parts = output(
            ["op", "inject"], environment, stdin=template, retry=retry
        ).split(mark)
    except HostError as failure:
        return answers | dict.fromkeys(usable, failure)
    if len(parts) != len(usable) + 2:
        return answers | dict.fromkeys(
            usable, HostError("op inject did not return the values")
        )
    return answers | dict(zip(usable, parts[1:-1], strict=True))


def _is_usable(reference: str) -> bool:
    return (
        _REFERENCE.fullmatch(reference) is not None
        and _SPECIAL.search(reference) is None
    )
