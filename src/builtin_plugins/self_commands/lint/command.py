"""`self lint`: the command."""

from __future__ import annotations

import os

import click

from builtin_plugins.self_commands.lint.finding import as_github, as_json, as_text
from builtin_plugins.self_commands.lint.trees import Lint
from host import UsageError
from host.cli.session import Session

_FORMATS = {"text": as_text, "json": as_json, "github": as_github}


@click.command
@click.argument("directory", required=False)
@click.option("--format", type=click.Choice([*_FORMATS]), default="text", show_default=True)
@click.pass_obj
def command(session: Session, directory: str | None, format: str) -> int:
    """Look for what is wrong in definitions and scripts; nothing of them is run.

    DIRECTORY is an installation, a plugin or a folder of commands; without it, this
    installation. Each finding is a line FILE:LINE:COLUMN: MESSAGE, and with one the exit
    status is 1. Scripts are checked with shellcheck where it is on PATH.
    """
    if directory is None:
        session.installation  # noqa: B018 - raises where there is no installation
        lint = Lint(session.layout.root, session.environ, session.layout.config_file)
    else:
        root = os.path.realpath(directory)
        if not os.path.isdir(root):
            raise UsageError(f"{directory}: there is no such directory")
        lint = Lint(root, session.environ)
    session.show(_FORMATS[format](lint.findings))
    if format == "text" and not lint.findings:
        definitions = "definition" if lint.count == 1 else "definitions"
        session.show(f"nothing is wrong in {lint.count} {definitions}\n")
    return 1 if lint.findings else 0
