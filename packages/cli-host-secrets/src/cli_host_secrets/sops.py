"""Resolve `sops:FILE` and `sops:FILE#KEY`: a file that sops encrypted, or one of its values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from cli_host_secrets.json_values import decoded, text_of, variables_of
from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import Answers, Contents, each, pick_each, split
from host import HostError

_EXAMPLE = "sops:FILE or sops:FILE#KEY"
# sops infers the format from these endings
_KNOWN = (".yaml", ".yml", ".json", ".env", ".ini")
_MOST = 1 << 24  # bytes read from a file to find its format


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Decrypt each file once, one at a time, because sops may prompt to unlock a key."""
    keyed = []
    others = []
    for reference in references:
        if "#" in reference:
            keyed.append(reference)
        else:
            others.append(reference)
    return _resolve_keyed(keyed, environment) | _resolve_whole(others, environment)


def _resolve_keyed(
    references: Sequence[str], environment: Mapping[str, str]
) -> Answers:
    """Return the values of `sops:FILE#KEY`."""

    def read(name: str) -> str:
        return _as_json(name, environment)

    def read_all(names: Sequence[str]) -> Answers:
        return each(names, read, at_once=1)

    def value_of(text: str, key: str) -> str:
        document = decoded(text, "the output of sops")
        return text_of(document, key)

    return pick_each(references, _EXAMPLE, read_all, value_of, field=True)


def _resolve_whole(
    references: Sequence[str], environment: Mapping[str, str]
) -> Answers:
    """Return the texts of `sops:FILE`, in the formats of the files."""

    def read(name: str) -> str:
        path, form = _path_and_format(name)
        words = _call(path, form, form)
        return output(words, environment)

    def read_all(names: Sequence[str]) -> Answers:
        return each(names, read, at_once=1)

    def whole(text: str, _key: str) -> str:
        return without_line_end(text)

    return pick_each(references, _EXAMPLE, read_all, whole)


def resolve_variables(
    references: Sequence[str], environment: Mapping[str, str]
) -> Contents:
    """Return the values of each file by name, as `sops:FILE#KEY` gives them one by one.

    A file in sops's binary format has no names: its text is that of a `.env` file.
    """

    def read(reference: str) -> str | dict[str, str]:
        name, key = split(reference, _EXAMPLE)
        printed = _as_json(name, environment)
        document: Any = decoded(printed, "the output of sops")
        if key:
            return variables_of(document, key)

        path, form = _path_and_format(name)
        # A file without a format of its own: sops has put it into `data`.
        if form == "binary":
            return text_of(document, "data")
        if path.endswith(".ini"):
            document = _without_sections(document)
        return variables_of(document)

    return each(references, read, at_once=1)


def _as_json(name: str, environment: Mapping[str, str]) -> str:
    path, form = _path_and_format(name)
    return output(_call(path, form, "json"), environment)


def _without_sections(document: Any) -> Any:
    """Return the values of an INI file without sections, which sops gives the section DEFAULT."""
    if not isinstance(document, dict):
        return document

    # sops adds an empty DEFAULT to the other sections.
    sections = {name: values for name, values in document.items() if values != {}}
    if set(sections) <= {"DEFAULT"}:
        return sections.get("DEFAULT", {})
    return sections


def _call(path: str, input_type: str, output_type: str) -> list[str]:
    """Return the words that decrypt a file; for a type that is "", sops decides."""
    words = ["sops", "--decrypt"]
    if input_type:
        words += ["--input-type", input_type]
    if output_type:
        words += ["--output-type", output_type]
    return [*words, path]


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
        if _has_keys(content):
            return path, "json"
        return path, "binary"
    if b"\nsops_mac=" in content:
        return path, "dotenv"
    return path, "yaml"


def _has_keys(content: bytes) -> bool:
    """Return whether a JSON file of sops has keys of its own, and not only binary `data`."""
    document = decoded(content.decode("utf-8", "replace"), "the file")
    if not isinstance(document, dict):
        return True  # sops itself reports the error
    return set(document) != {"data", "sops"}
