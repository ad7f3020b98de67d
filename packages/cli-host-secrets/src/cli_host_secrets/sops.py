"""Resolve `sops:FILE` and `sops:FILE#KEY`: a file that sops encrypted, or one of its values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import (
    Answers,
    Contents,
    decoded,
    each,
    pick_each,
    split,
    text_of,
    variables_of,
)
from host import HostError

_EXAMPLE = "sops:FILE or sops:FILE#KEY"
_KNOWN = (
    ".yaml",
    ".yml",
    ".json",
    ".env",
    ".ini",
)  # sops infers the format from these endings
_MOST = 1 << 24  # bytes read from a file to find its format


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Decrypt each file once, one at a time, because sops may prompt to unlock a key."""

    def whole(name: str) -> str:
        path, form = _path_and_format(name)
        kept = ["--output-type", form] if form else []
        return output(_call(path, form, kept), environment)

    def as_json(name: str) -> str:
        return _as_json(name, environment)

    def key_of(text: str, key: str) -> str:
        return text_of(decoded(text, "the output of sops"), key)

    def text_itself(text: str, _: str) -> str:
        return without_line_end(text)

    keyed = [reference for reference in references if "#" in reference]
    others = [reference for reference in references if "#" not in reference]
    return {
        **pick_each(
            keyed, _EXAMPLE, lambda names: each(names, as_json, 1), key_of, field=True
        ),
        **pick_each(others, _EXAMPLE, lambda names: each(names, whole, 1), text_itself),
    }


def resolve_variables(
    references: Sequence[str], environment: Mapping[str, str]
) -> Contents:
    """Return the values of each file by name, as `sops:FILE#KEY` gives them one by one.

    A file in sops's binary format has no names: its text is that of a `.env` file.
    """

    def read(reference: str) -> str | dict[str, str]:
        name, key = split(reference, _EXAMPLE)
        document: Any = decoded(_as_json(name, environment), "the output of sops")
        if key:
            return variables_of(document, key)
        path, form = _path_and_format(name)
        if form == "binary":
            return text_of(document, "data")
        if path.endswith(".ini"):
            document = _without_sections(document)
        return variables_of(document)

    return each(references, read, at_once=1)


def _as_json(name: str, environment: Mapping[str, str]) -> str:
    path, form = _path_and_format(name)
    return output(_call(path, form, ["--output-type", "json"]), environment)


def _without_sections(document: Any) -> Any:
    """Return the values of an INI file without sections, which sops gives the section DEFAULT."""
    if not isinstance(document, dict):
        return document
    sections = {name: values for name, values in document.items() if values != {}}
    return sections.get("DEFAULT", {}) if set(sections) <= {"DEFAULT"} else sections


def _call(path: str, form: str, more: Sequence[str]) -> list[str]:
    input_type = ["--input-type", form] if form else []
    return ["sops", "--decrypt", *input_type, *more, path]


def _path_and_format(name: str) -> tuple[str, str]:
    """Return the absolute path and the file's format, which is "" if sops can infer it."""
    path = os.path.abspath(name)  # an absolute path does not look like an option
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST)
    except OSError as failure:
        raise HostError(f"{path}: {failure.strerror}") from None
    if path.endswith(_KNOWN):
        return path, ""
    if content.lstrip().startswith(b"{"):
        return path, "json" if _has_keys(content) else "binary"
    return path, "dotenv" if b"\nsops_mac=" in content else "yaml"


def _has_keys(content: bytes) -> bool:
    """Return whether a JSON file of sops has keys of its own, and not only binary `data`."""
    document = decoded(content.decode("utf-8", "replace"), "the file")
    return not isinstance(document, dict) or set(document) != {"data", "sops"}
