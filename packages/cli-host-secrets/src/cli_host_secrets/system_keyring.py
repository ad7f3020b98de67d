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


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read the passwords with os.environ set to `environment`, where keyring finds its backend."""
    os.environ.clear()
    os.environ.update(environment)
    try:
        import keyring
        import keyring.errors
    except ImportError:
        plugin = f"{os.path.basename(sys.argv[0]).partition(' ')[0]} self plugin"
        add = f"{plugin} add {shlex.quote(_requirement())}"
        remedy = f"run: {plugin} remove cli-host-secrets && {add}"
        raise HostError(f"the keyring library is not installed; {remedy}") from None

    def read(reference: str) -> str:
        service, _, user = reference.partition(":")[2].rpartition("/")
        if not service or not user:
            raise HostError(f"expected {_EXAMPLE}")
        try:
            found = keyring.get_password(service, user)
        except keyring.errors.KeyringError as failure:
            raise HostError(" ".join(str(failure).split()) or type(failure).__name__) from None
        if found is None:
            setting = shlex.join(["keyring", "set", service, user])
            raise HostError(f"the keyring has no such entry; try: {setting}")
        return str(found)

    return each(references, read, at_once=1)


def _requirement() -> str:
    """Return this package with its extra, from where it came: the index, or a wheel."""
    from importlib.metadata import PackageNotFoundError, distribution

    name = "pip:cli-host-secrets[keyring]"
    try:
        record = distribution("cli-host-secrets").read_text("direct_url.json")
        url = json.loads(record or "{}").get("url", "")
    except (PackageNotFoundError, ValueError):
        return name
    return f"{name} @ {url}" if url.endswith(".whl") else name
