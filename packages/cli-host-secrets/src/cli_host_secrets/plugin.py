"""The reference schemes that the package adds to a program."""

from __future__ import annotations

from collections.abc import Iterator

from host import Installation, SecretScheme, hookimpl

_PROVIDERS = {
    "pass": "password_store:resolve",
    "op": "onepassword:resolve",
    "vault": "vault:resolve",
    "bao": "vault:resolve",
    "sops": "sops:resolve",
    "age": "age:resolve",
    "keyring": "system_keyring:resolve",
    "aws-sm": "aws:resolve",
    "gcp-sm": "google:resolve",
}


@hookimpl
def secret_schemes(installation: Installation) -> Iterator[SecretScheme]:
    """Declare the schemes; a scheme's module is imported only in a run that needs it."""
    for scheme, provider in _PROVIDERS.items():
        yield SecretScheme(scheme, f"cli_host_secrets.{provider}")
