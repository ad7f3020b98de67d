"""Templates: the files that `self new` creates, and the completion code for shells.

Each folder here is a template. The names of its files end in `.txt`. Placeholders such as `@NAME@`
in texts and paths are replaced by values.
"""

import json
from pathlib import Path


def fill_template(template: str, **values: str) -> dict[str, str]:
    """Return the texts of a template's files by path; values in JSON files are escaped."""
    root = Path(__file__).parent / template
    files = {}
    for file in root.rglob("*.txt"):
        path = file.relative_to(root).as_posix().removesuffix(".txt")
        is_json = path.endswith(".json")
        text = file.read_text(encoding="utf-8")

        for name, value in values.items():
            placeholder = f"@{name}@"
            path = path.replace(placeholder, value)
            inserted = value
            if is_json:  # the quotes are in the template
                inserted = json.dumps(value, ensure_ascii=False)[1:-1]
            text = text.replace(placeholder, inserted)

        files[path] = text
    return files
