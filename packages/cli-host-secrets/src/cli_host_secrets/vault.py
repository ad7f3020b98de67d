"""Resolve `vault:MOUNT/PATH#FIELD` with HashiCorp Vault and `bao:…` with OpenBao (KV 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cli_host_secrets.json_values import decoded, text_of, variables_of
from cli_host_secrets.programs import output
from cli_host_secrets.references import Answers, Content, Contents, each, pick_each
from host import HostError


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read each path only once, even if several references name its fields."""
    program = _program(references)
    example = f"{program}:MOUNT/PATH#FIELD"
    read_all = _reader(program, environment)

    def field_of(text: str, field: str) -> str:
        return text_of(_fields(text, program), field)

    return pick_each(references, example, read_all, field_of, field=True)


def resolve_variables(
    references: Sequence[str], environment: Mapping[str, str]
) -> Contents:
    """Return all fields at each path as variables."""
    program = _program(references)
    example = f"{program}:MOUNT/PATH"
    read_all = _reader(program, environment)

    def all_fields(text: str, field: str) -> Content:
        return variables_of(_fields(text, program), field)

    return pick_each(references, example, read_all, all_fields)


def _program(references: Sequence[str]) -> str:
    """Return the program that the scheme names; all references have the same one."""
    program, _, _ = references[0].partition(":")
    return program


def _reader(
    program: str, environment: Mapping[str, str]
) -> Callable[[Sequence[str]], Answers]:
    """Return the function that reads the JSON at paths."""

    def read(path: str) -> str:
        words = [program, "kv", "get", "-format=json", path]
        return output(words, environment)

    return lambda paths: each(paths, read)


def _fields(text: str, program: str) -> dict[str, Any]:
    """Return the fields of a secret from the JSON that the program prints."""
    answer = decoded(text, f"the output of {program}")
    data = None
    if isinstance(answer, dict):
        data = answer.get("data")

    # KV version 2 has one level more, which is null for a deleted version.
    if isinstance(data, dict):
        is_version_2 = {"data", "metadata"} <= data.keys()
        if is_version_2:
            data = data["data"]

    if not isinstance(data, dict):
        raise HostError(f"{program} has no data at this path")
    return data
