"""Files to fill in: of what `self new` makes, and what makes a shell complete words.

A template is a folder here. Its files have `.txt` behind their names; `@NAME@` and the like
stand for values, in texts and in paths.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

_VALUE = re.compile("@([A-Z]+)@")


def filled(template: str, **values: str) -> dict[str, str]:
    """Return the texts of a template's files by their paths; JSON has its values escaped."""
    root = Path(__file__).parent / template
    escaped = {key: json.dumps(value, ensure_ascii=False)[1:-1] for key, value in values.items()}
    files = {}
    for source in root.rglob("*.txt"):
        path = source.relative_to(root).as_posix().removesuffix(".txt")
        text = source.read_text(encoding="utf-8")
        files[_with(path, values)] = _with(text, escaped if path.endswith(".json") else values)
    return files


def _with(text: str, values: Mapping[str, str]) -> str:
    return _VALUE.sub(lambda found: values[found[1]], text)
