"""Resolve `vault:MOUNT/PATH#FIELD` with HashiCorp Vault and `bao:…` with OpenBao (KV 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cli_host_secrets.programs import output
from cli_host_secrets.references import (
    Answers,
    Content,
    Contents,
    decoded,
    each,
    pick_each,
    text_of,
    variables_of,
)
from host import HostError


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read each path only once, even if several references name its fields."""
    program = _program(references)

    def field_of(text: str, field: str) -> str:
        return text_of(_fields(text, program), field)

    example = f"{program}:MOUNT/PATH#FIELD"
    return pick_each(
        references, example, _reader(program, environment), field_of, field=True
    )


def resolve_variables(
    references: Sequence[str], environment: Mapping[str, str]
) -> Contents:
    """Return all fields at each path as variables."""
    program = _program(references)

    def all_fields(text: str, field: str) -> Content:
        return variables_of(_fields(text, program), field)

    return pick_each(
        references, f"{program}:MOUNT/PATH", _reader(program, environment), all_fields
    )


def _program(references: Sequence[str]) -> str:
    return references[0].partition(":")[0]


def _reader(
    program: str, environment: Mapping[str, str]
) -> Callable[[Sequence[str]], Answers]:
    """Return the function that reads the JSON at paths."""

    def read(path: str) -> str:
        return output([program, "kv", "get", "-format=json", path], environment)

    return lambda paths: each(paths, read)


def _fields(text: str, program: str) -> dict[str, Any]:
    """Return the fields of a secret from the JSON that the program prints."""
    answer = decoded(text, f"the output of {program}")
    data = answer.get("data") if isinstance(answer, dict) else None
    if isinstance(data, dict) and {"data", "metadata"} <= data.keys():
        data = data["data"]  # KV version 2 returns null here for a deleted version
    if not isinstance(data, dict):
        raise HostError(f"{program} has no data at this path")
    return data
