"""Resolve `age:FILE`: the text of a file that age encrypted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import Answers, each, split
from host import HostError

_VARIABLE = "AGE_IDENTITY_FILE"
_USUAL = (".config/age/keys.txt", ".config/sops/age/keys.txt", ".ssh/id_ed25519")


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Decrypt the files one at a time, because age may prompt for a passphrase."""
    identities = _identities(environment)
    options = [word for one in identities for word in ("--identity", one)]

    def read(reference: str) -> str:
        path = os.path.abspath(split(reference, "age:FILE")[0])  # an option never begins with /
        if not os.path.exists(path):
            raise HostError(f"{path} does not exist")
        try:
            return without_line_end(output(["age", "--decrypt", *options, path], environment))
        except HostError as failure:
            if identities:
                raise
            raise HostError(f"{failure} (no identity file found; set {_VARIABLE})") from None

    return each(references, read, at_once=1)


def _identities(environment: Mapping[str, str]) -> list[str]:
    """Return the key files: those in AGE_IDENTITY_FILE, separated by `:`, or the default ones."""
    if named := environment.get(_VARIABLE):
        return [os.path.abspath(one) for one in named.split(":") if one]
    usual = [os.path.join(environment.get("HOME", "/"), one) for one in _USUAL]
    return [one for one in usual if os.path.exists(one)]
