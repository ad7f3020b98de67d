"""Resolve `gcp-sm:[projects/PROJECT/secrets/]NAME[/versions/VERSION]` with Google Cloud."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from cli_host_secrets.json_values import json_field, json_variables
from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import Answers, Contents, each, pick_each
from host import HostError

_WORD = "[A-Za-z0-9_][A-Za-z0-9_.:-]*"
_NAME = re.compile(
    rf"(?:projects/({_WORD})/secrets/)?({_WORD})(?:/versions/({_WORD}))?"
)
_EXAMPLE = "gcp-sm:NAME or gcp-sm:projects/PROJECT/secrets/NAME"


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read the secrets in parallel, because gcloud reads one per call."""
    return pick_each(references, _EXAMPLE, _reader(environment), json_field)


def resolve_variables(
    references: Sequence[str], environment: Mapping[str, str]
) -> Contents:
    """Return the variables in secrets that are JSON objects, or the text of other secrets."""
    return pick_each(references, _EXAMPLE, _reader(environment), json_variables)


def _reader(environment: Mapping[str, str]) -> Callable[[Sequence[str]], Answers]:
    """Return the function that reads secrets by their names."""

    def read(name: str) -> str:
        parts = _NAME.fullmatch(name)
        if parts is None:
            raise HostError(f"expected {_EXAMPLE}")
        project, secret, version = parts.groups()

        # Without --quiet, gcloud may ask which project or account to use.
        words = ["gcloud", "--quiet", "secrets", "versions", "access"]
        words.append(version or "latest")
        words.append(f"--secret={secret}")
        if project:
            words.append(f"--project={project}")
        printed = output(words, environment)
        return without_line_end(printed)

    return lambda names: each(names, read)
