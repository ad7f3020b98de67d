"""Sources of plugins for tests: directories, git repositories, archives and wheels, all real."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testing.installation import Made, Result, command

Files = Mapping[str, "str | dict[str, Any]"]

# A hooks file that tells when it is run.
TELLTALE = """
import pathlib
from host import CommandDeclaration, hookimpl
pathlib.Path({mark!r}).write_text("run")

@hookimpl
def discover_commands(installation):
    yield CommandDeclaration(("told", "py"), {{
        "name": "Py", "description": "Python", "entrypoint": "platform:main"}})
"""


def plugin_files(
    words: str = "demo/hi", says: str = "hi", **manifest: str
) -> dict[str, Any]:
    """Return a plugin of one command, with a plugin.json when it is to say anything."""
    files: dict[str, Any] = {
        f"{words}/command.json": command(name="Hi", description=f"says {says}"),
        f"{words}/main.sh": f'#!/bin/sh\necho {says} "$@"\n',
    }
    if manifest:
        files["plugin.json"] = manifest
    return files


def write_tree(root: Path, files: Files) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content) if isinstance(content, dict) else content)
        if isinstance(content, str) and content.startswith("#!"):
            path.chmod(0o755)
    return root


class Repository:
    """A git repository; `url` is its file:// address."""

    def __init__(self, path: Path, files: Files) -> None:
        self.path = path
        self.url = f"file://{path}"
        # As `git init -b main` makes it, without a process.
        for folder in ("objects", "refs/heads"):
            (path / ".git" / folder).mkdir(parents=True)
        (path / ".git/HEAD").write_text("ref: refs/heads/main\n")
        self.commit(files)

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path.parent),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
        }
        identity = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "protocol.file.allow=always",
            "-c",
            "maintenance.auto=false",
        ]
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.path,
            env=environ,
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def commit(self, files: Files, remove: tuple[str, ...] = ()) -> str:
        """Write files, remove others, commit; return the commit."""
        write_tree(self.path, files)
        for name in remove:
            self.git("rm", "-rq", name)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        _, _, branch = (self.path / ".git/HEAD").read_text().strip().rpartition(" ")
        return (self.path / ".git" / branch).read_text().strip()


def tar_of(files: Files, top: str = "") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            data = (
                json.dumps(content) if isinstance(content, dict) else content
            ).encode()
            info = tarfile.TarInfo(f"{top}{name}")
            info.size = len(data)
            info.mode = 0o755 if data.startswith(b"#!") else 0o644
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zip_of(files: Files) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(
                name, json.dumps(content) if isinstance(content, dict) else content
            )
    return buffer.getvalue()


def wheel(  # noqa: PLR0913, PLR0917
    folder: Path,
    name: str,
    version: str,
    plugin: str,
    files: Files | None = None,
    requires: tuple[str, ...] = (),
    points: Mapping[str, str] | None = None,
    scripts: str = "",
    top: Mapping[str, str] | None = None,
    recorded: tuple[str, ...] = (),
) -> Path:
    """Write a wheel with `plugin` as its hook module, `top` beside its package; return its path.

    Its RECORD also lists the files `recorded`.
    """
    package = name.replace("-", "_")
    info = f"{package}-{version}.dist-info"
    contents: dict[str, str] = {
        f"{package}/__init__.py": "",
        f"{package}/plugin.py": plugin,
    }
    contents |= top or {}
    for path, content in (files or {}).items():
        text = json.dumps(content) if isinstance(content, dict) else content
        contents[f"{package}/{path}"] = text
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    for extra in re.findall(r"extra == '(\w+)'", needs):
        needs += f"Provides-Extra: {extra}\n"
    contents[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: A test\n{needs}"
    )
    contents[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    points = {name: f"{package}.plugin"} if points is None else points
    listed = "".join(f"{point} = {module}\n" for point, module in points.items())
    group = f"[cli_host]\n{listed}" if listed else ""
    contents[f"{info}/entry_points.txt"] = f"{group}{scripts}"
    rows = [f"{path},,\n" for path in recorded]
    for path, text in contents.items():
        digest = base64.urlsafe_b64encode(
            hashlib.sha256(text.encode()).digest()
        ).rstrip(b"=")
        rows.append(f"{path},sha256={digest.decode()},{len(text.encode())}\n")
    contents[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"])
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{package}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
    return made


def plugin(made: Made, *words: str, **options: Any) -> Result:
    """Run `self plugin WORDS`."""
    return made.run("self", "plugin", *words, **options)


def registry(made: Made) -> dict[str, dict[str, Any]]:
    """Return the registry's entries by name, read as strict JSON."""
    path = made.root / "plugins" / "registry.json"
    if not path.exists():
        return {}
    values = json.loads(path.read_text())
    assert values["version"] == "1.0.0"
    return {entry["name"]: entry for entry in values["plugins"]}


def listed(made: Made, **options: Any) -> dict[str, dict[str, Any]]:
    """Return what `list --format json` says, by name."""
    done = plugin(made, "list", "--format", "json", **options)
    assert done.status == 0, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)["plugins"]}


def visible(made: Made) -> list[str]:
    """Return what a user sees in plugins/."""
    return sorted(
        p.name for p in (made.root / "plugins").iterdir() if not p.name.startswith(".")
    )


def hidden(made: Made) -> list[str]:
    """Return the hidden things that should go with a change."""
    return sorted(
        p.name
        for p in (made.root / "plugins").iterdir()
        if p.name.startswith(".") and p.name != ".versions"
    )
