"""`help TOPIC`: pages on subjects that concern several commands, one text file per topic."""

from __future__ import annotations

import os

from host.global_options import OPTIONS
from host.session.session import Session
from host.text import printable

DOCS = "https://cli-host.github.io/cli-host/"


def topic(name: str, program: str) -> str:
    """Return the page of a topic."""
    if name == "options":
        return _options()
    return _text(name).replace("{program}", program)


def _options() -> str:
    column = max(map(len, OPTIONS)) + 2
    lines = ["Options of the program, which come before the words of a command:", ""]
    for forms, text in OPTIONS.items():
        lines.append(f"  {forms.ljust(column)}{text}")
    return "\n".join([*lines, ""])


def without_installation(session: Session) -> str:
    """Return the page that `--help` shows if there is no installation."""
    return _text("no-installation").format(
        version=session.version,
        file=printable(session.layout.config_file),
        program=printable(session.program),
        docs=DOCS,
    )


def _text(name: str) -> str:
    with open(
        os.path.join(os.path.dirname(__file__), f"{name}.txt"), encoding="utf-8"
    ) as file:
        return file.read()
