"""The reference schemes that the package adds to a program."""

from __future__ import annotations

from collections.abc import Iterator

from host import Installation, SecretScheme, hookimpl

_MODULES = {
    "pass": "password_store",
    "op": "onepassword",
    "vault": "vault",
    "bao": "vault",
    "sops": "sops",
    "age": "age",
    "keyring": "system_keyring",
    "aws-sm": "aws",
    "gcp-sm": "google",
}
_OF_SEVERAL_VALUES = ("vault", "bao", "sops", "aws-sm", "gcp-sm")


@hookimpl
def secret_schemes(installation: Installation) -> Iterator[SecretScheme]:
    """Declare the schemes; a scheme's module is imported only in a run that needs it."""
    for scheme, name in _MODULES.items():
        module = f"cli_host_secrets.{name}"
        files = f"{module}:resolve_variables" if scheme in _OF_SEVERAL_VALUES else ""
        yield SecretScheme(scheme, f"{module}:resolve", files)
