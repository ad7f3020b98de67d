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
        plugin = f"{os.path.basename(sys.argv[0]).partition(' ')[0]} self plugin"
        add = f"{plugin} add {shlex.quote(_source(environment))}"
        remedy = f"run: {plugin} remove {_PLUGIN} && {add}"
        raise HostError(f"the keyring library is not installed; {remedy}") from None

    def read(reference: str) -> str:
        service, _, user = reference.partition(":")[2].rpartition("/")
        if not service or not user:
            raise HostError(f"expected {_EXAMPLE}")
        try:
            password = keyring.get_password(service, user)
        except keyring.errors.KeyringError as failure:
            raise HostError(
                " ".join(str(failure).split()) or type(failure).__name__
            ) from None
        if password is None:
            setting = shlex.join(["keyring", "set", service, user])
            raise HostError(f"the keyring has no such entry; try: {setting}")
        return str(password)

    return each(references, read, at_once=1)


def _source(environment: Mapping[str, str]) -> str:
    """Return this package with its extra, from where it came: the index, a wheel or a directory."""
    for name in ("registry.local.json", "registry.json"):
        path = os.path.join(environment.get("PLUGINS_DIR", ""), name)
        try:
            with open(path, encoding="utf-8") as file:
                entries = json.load(file)["plugins"]
            sources = [entry["source"] for entry in entries if entry["name"] == _PLUGIN]
        except (OSError, ValueError, LookupError, TypeError):
            continue
        for source in sources:
            if source.startswith(("/", "http://", "https://")):
                return f"{source}[keyring]"
    return f"pip:{_PLUGIN}[keyring]"
