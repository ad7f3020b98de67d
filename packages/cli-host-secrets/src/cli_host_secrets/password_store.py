"""Resolve `pass:NAME` and `pass:NAME#FIELD` with pass, the standard Unix password manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import Answers, each, pick_each
from host import HostError

_EXAMPLE = "pass:NAME or pass:NAME#FIELD"
_EVERYTHING = "*"


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read entries one at a time: gpg prompts once for a key, and gpg-agent keeps it unlocked."""
    directory = environment.get("PASSWORD_STORE_DIR")
    if not directory:
        home = environment.get("HOME", "")
        directory = f"{home}/.password-store"
    store = Path(directory)

    def read(name: str) -> str:
        # pass prints the list of a folder, with status 0.
        folder = store / name
        entry = store / f"{name}.gpg"
        if folder.is_dir() and not entry.exists():
            raise HostError(f"{name} is a folder in pass; name an entry")
        return output(["pass", "show", "--", name], environment)

    def read_all(names: Sequence[str]) -> Answers:
        return each(names, read, at_once=1)

    return pick_each(references, _EXAMPLE, read_all, _part)


def _part(text: str, field: str) -> str:
    """Return the value of `field`; if it is "", line 1 (the password); if `*`, the whole text."""
    if field == _EVERYTHING:
        return without_line_end(text)

    lines = text.splitlines() or [""]
    if not field:
        return lines[0]

    for line in lines[1:]:
        name, colon, rest = line.partition(":")
        if colon and name.strip().lower() == field.lower():
            return rest.strip()
    raise HostError(f'the entry has no line "{field}: …"')
