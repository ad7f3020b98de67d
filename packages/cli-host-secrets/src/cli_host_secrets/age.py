"""Resolve `age:FILE`: the text of a file that age encrypted."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping, Sequence

from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import Answers, each, split
from host import HostError

_VARIABLE = "AGE_IDENTITY_FILE"
_USUAL = (".config/age/keys.txt", ".config/sops/age/keys.txt", ".ssh/id_ed25519")
_ARMOR = b"-----BEGIN AGE ENCRYPTED FILE-----"
_PASSPHRASE = b"\n-> scrypt "  # a file that begins so has no other recipients
_HEADER = 4096  # bytes; the first recipient is in the first 100


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Decrypt the files one at a time, because age may prompt for a passphrase."""
    identities = _identities(environment)
    options = []
    for identity in identities:
        options += ["--identity", identity]

    def read(reference: str) -> str:
        name, _ = split(reference, "age:FILE")
        path = os.path.abspath(name)  # an absolute path does not look like an option
        has_passphrase = _PASSPHRASE in _header(path)

        words = ["age", "--decrypt"]
        # age refuses key files for a file with a passphrase, so the file decides.
        if not has_passphrase:
            words += options

        try:
            printed = output([*words, path], environment)
        except HostError as failure:
            if identities or has_passphrase:
                raise
            raise HostError(
                f"{failure} (no identity file found; set {_VARIABLE})"
            ) from None
        return without_line_end(printed)

    return each(references, read, at_once=1)


def _header(path: str) -> bytes:
    """Return the beginning of an encrypted file, decoded if the file is armored."""
    try:
        with open(path, "rb") as file:
            begin = file.read(_HEADER)
    except FileNotFoundError:
        raise HostError(f"{path} does not exist") from None
    except OSError as failure:
        raise HostError(f"{path}: {failure.strerror}") from None

    lines = begin.lstrip().splitlines()
    if not lines or lines[0].strip() != _ARMOR:
        return begin

    # The last line may be cut off, and base64 has groups of four characters.
    encoded = b"".join(lines[1:-1])
    whole = len(encoded) // 4 * 4
    try:
        return base64.b64decode(encoded[:whole])
    except binascii.Error:
        return begin


def _identities(environment: Mapping[str, str]) -> list[str]:
    """Return the key files: those in AGE_IDENTITY_FILE, separated by `:`, or the default ones."""
    chosen = environment.get(_VARIABLE)
    identities = []
    if chosen:
        for name in chosen.split(":"):
            if name:
                identities.append(os.path.abspath(name))
        return identities

    # Also those of sops and ssh, because most users of age have one of them already.
    home = environment.get("HOME", "/")
    for name in _USUAL:
        path = os.path.join(home, name)
        if os.path.exists(path):
            identities.append(path)
    return identities
