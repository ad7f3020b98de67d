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
_EXPECTED = 'expected op://VAULT/ITEM/FIELD without any of {}$"`\\'
_SPECIAL = re.compile(r'[{}$"`\\\x00-\x1f\x7f]')


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read all values with one `op inject` template, in which a random word separates them."""
    answers: Answers = {}
    usable = []
    for reference in references:
        if _REFERENCE.fullmatch(reference) and not _SPECIAL.search(reference):
            usable.append(reference)
        else:
            answers[reference] = HostError(_EXPECTED)

    if usable:
        answers |= _injected(usable, environment)
    return answers


def _injected(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    def retry(printed: str) -> list[str]:
        """Return a command that fails for the same reason."""
        if len(references) == 1:
            return ["op", "read", references[0]]
        failing = [reference for reference in references if reference in printed]
        if not failing:
            return ["op", "whoami"]
        return ["op", "read", max(failing, key=len)]  # a shorter one may be part of it

    # No value contains this word, because it is made after them.
    mark = f"<{secrets.token_hex(16)}>"
    template = mark
    for reference in references:
        template += f"{{{{ {reference} }}}}{mark}"

    try:
        command = ["op", "inject"]
        printed = output(command, environment, stdin=template, retry=retry)
    except HostError as failure:
        return dict.fromkeys(references, failure)

    # Before the first mark is nothing, and after the last is op's line end.
    values = printed.split(mark)[1:-1]
    if len(values) != len(references):
        problem = HostError("op inject did not return the values")
        return dict.fromkeys(references, problem)
    return dict(zip(references, values, strict=True))
