"""Resolve `pass:NAME` and `pass:NAME#FIELD` with pass, the standard Unix password manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import Answers, each, pick_each
from host import HostError

_EVERYTHING = "*"


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read entries one at a time: gpg prompts once for a key, and gpg-agent keeps it unlocked."""
    home = environment.get("HOME", "")
    store = Path(environment.get("PASSWORD_STORE_DIR") or f"{home}/.password-store")

    def read(name: str) -> str:
        if (store / name).is_dir() and not (store / f"{name}.gpg").exists():
            raise HostError(
                f"{name} is a folder in pass; name an entry"
            )  # pass lists a folder
        return output(["pass", "show", "--", name], environment)

    return pick_each(
        references,
        "pass:NAME or pass:NAME#FIELD",
        lambda names: each(names, read, 1),
        _part,
    )


def _part(text: str, field: str) -> str:
    """Return the value of `field`; if it is "", line 1 (the password); if `*`, the whole text."""
    if field == _EVERYTHING:
        return without_line_end(text)
    first, *others = text.splitlines() or [""]
    if not field:
        return first
    for line in others:
        name, colon, rest = line.partition(":")
        if colon and name.strip().lower() == field.lower():
            return rest.strip()
    raise HostError(f'the entry has no line "{field}: …"')
