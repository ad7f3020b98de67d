"""A new directory of files: whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path


def write_directory(target: Path, files: dict[str, object]) -> None:
    """Make the directory with all its files, or nothing; a value that is no text is JSON."""
    staged = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for name, content in files.items():
            path = staged / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else _json(content)
            path.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                path.chmod(0o755)
        staged.chmod(0o755)
        staged.rename(target)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
