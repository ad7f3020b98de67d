"""The reference schemes and the command that the package adds to a program."""

from __future__ import annotations

from collections.abc import Iterator

from host import (
    CategoryDeclaration,
    CommandDeclaration,
    Installation,
    SecretScheme,
    hookimpl,
)

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
        files = ""
        if scheme in _OF_SEVERAL_VALUES:
            files = f"{module}:resolve_variables"
        yield SecretScheme(scheme, f"{module}:resolve", files)


@hookimpl
def discover_commands(
    installation: Installation,
) -> Iterator[CategoryDeclaration | CommandDeclaration]:
    """Declare `secrets check`, which reads the variables of other commands, but none itself."""
    yield CategoryDeclaration(("secrets",), "Secrets", "References to secrets")
    definition = {
        "name": "Check secrets",
        "description": "Resolve the references of commands and report those that fail",
        "entrypoint": "cli_host_secrets.check:check",
        "effects": "read",
        "sources": False,
        "x-mcp": "named",  # it starts the programs that references name
    }
    yield CommandDeclaration(("secrets", "check"), definition)
