"""Resolve `vault:MOUNT/PATH#FIELD` with HashiCorp Vault and `bao:…` with OpenBao (KV 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cli_host_secrets.programs import output
from cli_host_secrets.references import Answers, decoded, each, pick_each, text_of
from host import HostError


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Read each path only once, even if several references name its fields."""
    program = references[0].partition(":")[0]

    def read(path: str) -> str:
        return output([program, "kv", "get", "-format=json", path], environment)

    def field_of(text: str, field: str) -> str:
        answer = decoded(text, f"the output of {program}")
        data = answer.get("data") if isinstance(answer, dict) else None
        if isinstance(data, dict) and {"data", "metadata"} <= data.keys():
            data = data["data"]  # KV version 2 returns null here for a deleted version
        if not isinstance(data, dict):
            raise HostError(f"{program} has no data at this path")
        return text_of(data, field)

    example = f"{program}:MOUNT/PATH#FIELD"
    return pick_each(references, example, lambda paths: each(paths, read), field_of, field=True)
