"""Resolve `keyring:SERVICE/USER`: a password in the system's keyring."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence

from cli_host_secrets.references import Answers, each
from host import HostError

_EXAMPLE = "keyring:SERVICE/USER"
_PLUGIN = "cli-host-secrets"


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read the passwords with os.environ set to `environment`, where keyring finds its backend."""
    os.environ.clear()
    os.environ.update(environment)
    try:
        import keyring
        import keyring.errors
    except ImportError:
        # With a command in Python, argv[0] is the program and the words of the command.
        file = os.path.basename(sys.argv[0])
        program, _, _ = file.partition(" ")
        source = shlex.quote(_source(environment))
        remove = f"{program} self plugin remove {_PLUGIN}"
        add = f"{program} self plugin add {source}"
        raise HostError(
            f"the keyring library is not installed; run: {remove} && {add}"
        ) from None

    def read(reference: str) -> str:
        _, _, name = reference.partition(":")
        service, _, user = name.rpartition("/")
        if not service or not user:
            raise HostError(f"expected {_EXAMPLE}")
        try:
            password = keyring.get_password(service, user)
        except keyring.errors.KeyringError as failure:
            text = " ".join(str(failure).split())  # on one line
            raise HostError(text or type(failure).__name__) from None

        if password is None:
            setting = shlex.join(["keyring", "set", service, user])
            raise HostError(f"the keyring has no such entry; try: {setting}")
        return str(password)

    return each(references, read, at_once=1)


def _source(environment: Mapping[str, str]) -> str:
    """Return this package with its extra, from where it came: the index, a wheel or a directory."""
    directory = environment.get("PLUGINS_DIR", "")
    for name in ("registry.local.json", "registry.json"):
        registry = os.path.join(directory, name)
        for source in _sources_in(registry):
            if source.startswith(("/", "http://", "https://")):
                return f"{source}[keyring]"
    return f"pip:{_PLUGIN}[keyring]"


def _sources_in(registry: str) -> list[str]:
    """Return the sources of this package in a registry, which may be missing or invalid."""
    try:
        with open(registry, encoding="utf-8") as file:
            entries = json.load(file)["plugins"]
        return [entry["source"] for entry in entries if entry["name"] == _PLUGIN]
    except (OSError, ValueError, LookupError, TypeError):
        return []  # this is advice in an error, so another error would hide the first
