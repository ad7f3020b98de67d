"""Resolve `sops:FILE` and `sops:FILE#KEY`: a file that sops encrypted, or one of its values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from cli_host_secrets.programs import output, without_line_end
from cli_host_secrets.references import Answers, decoded, each, pick_each, text_of
from host import HostError

_KNOWN = (".yaml", ".yml", ".json", ".env", ".ini")  # sops infers the format from these endings
_MOST = 1 << 24  # bytes read from a file to find its format


def resolve(references: Sequence[str], environment: Mapping[str, str]) -> Answers:
    """Decrypt each file once, one at a time, because sops may prompt to unlock a key."""

    def whole(name: str) -> str:
        path, form = _path_and_format(name)
        kept = ["--output-type", form] if form else []
        return output(_call(path, form, kept), environment)

    def as_json(name: str) -> str:
        path, form = _path_and_format(name)
        return output(_call(path, form, ["--output-type", "json"]), environment)

    def key_of(text: str, key: str) -> str:
        return text_of(decoded(text, "the output of sops"), key)

    def text_itself(text: str, _: str) -> str:
        return without_line_end(text)

    example = "sops:FILE or sops:FILE#KEY"
    keyed = [one for one in references if "#" in one]
    others = [one for one in references if "#" not in one]
    return {
        **pick_each(keyed, example, lambda names: each(names, as_json, 1), key_of, field=True),
        **pick_each(others, example, lambda names: each(names, whole, 1), text_itself),
    }


def _call(path: str, form: str, more: Sequence[str]) -> list[str]:
    return ["sops", "--decrypt", *(["--input-type", form] if form else []), *more, path]


def _path_and_format(name: str) -> tuple[str, str]:
    """Return the absolute path and the file's format, which is "" if sops can infer it."""
    path = os.path.abspath(name)  # an absolute path does not look like an option
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST)
    except OSError as failure:
        raise HostError(f"{path}: {failure.strerror}") from None
    if path.endswith(_KNOWN) or content.lstrip().startswith(b"{"):
        return path, ""
    return path, "dotenv" if b"\nsops_mac=" in content else "yaml"
