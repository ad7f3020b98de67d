"""An environment with this program in it, and packages to install there."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from builtin_plugins.registry.entry import Entry, Package
from testing.fork_server import started
from testing.installation import Made, Result, command
from testing.plugin_sources import wheel

PLUGIN = """
from pathlib import Path
from typing import cast
from host import CommandDeclaration, CommandTree, hookimpl

@hookimpl
def discover_commands(installation):
    yield CommandTree(str(Path(__file__).parent / "commands"), plugin="{name}")
    yield CommandDeclaration(
        ("cloud", "py"),
        {{"name": "Py", "description": "Python", "entrypoint": "{package}.plugin:main"}},
    )

def main(args):
    print("py {version}", *args)
"""


BACKEND = """
import os, shutil, zipfile

with open({mark!r}, "a") as mark:
    mark.write("x")

def build_wheel(directory, settings=None, metadata=None):
    [name] = [file for file in os.listdir() if file.endswith(".whl")]
    shutil.copy(name, directory)
    with zipfile.ZipFile(os.path.join(directory, name), "a") as archive:
        archive.comment = os.urandom(8).hex().encode()  # no build is like another
    return name
"""


@dataclass
class Environment:
    """An installation, the environment that runs it, and a folder of wheels to install from.

    Tests share the environment, so they change nothing in it, unless it is the test's own.
    """

    python: Path
    wheels: Path
    made: Made

    def pip(self, *arguments: str) -> None:
        subprocess.run(
            [self.python, "-m", "pip", "-q", "--disable-pip-version-check", *arguments],
            check=True,
            capture_output=True,
        )

    def unpack(self, *wheels: Path) -> None:
        """Install pure wheels into an environment of the test's own as pip would, in no time."""
        for built in wheels:
            unpack(built, self.packages)

    @property
    def packages(self) -> Path:
        return (
            next((self.python.parent.parent / "lib").glob("python*")) / "site-packages"
        )

    @property
    def has_pip(self) -> bool:
        return (self.packages / "pip").is_dir()

    def folder(self, name: str = "acme-cli") -> Path:
        """Return the folder of a plugin's packages."""
        return self.made.root / "plugins" / name

    def acme(self, version: str, word: str = "disk", **options: object) -> Path:
        text = PLUGIN.format(name="acme-cli", package="acme_cli", version=version)
        files = {
            f"commands/cloud/{word}/command.json": command(description=word),
            f"commands/cloud/{word}/main.sh": f"echo {word} {version}\n",
        }
        return wheel(self.wheels, "acme-cli", version, text, files, **options)  # type: ignore[arg-type]

    def place(self, built: Path, *others: Path, **facts: object) -> Path:
        """Put a package and what it needs into its folder as `add` does, in no time.

        `facts` are further keys of its entry. Returns the folder.
        """
        wheels = [built, *others]
        packages = [Package(_name(file), file.name.split("-")[1]) for file in wheels]
        name, version = packages[0].name, packages[0].version
        entry = Entry(name, "pip", name, version, packages=tuple(packages)).replaced(
            **facts
        )
        directory = self.made.root / "plugins/.versions" / name / entry.version_dir
        for file in wheels:
            unpack(file, directory / "tree")
        (directory / "entry.json").write_text(json.dumps(entry.fields()))
        link = self.folder(name)
        link.unlink(missing_ok=True)
        link.symlink_to(f".versions/{name}/{entry.version_dir}/tree")
        path = self.made.root / "plugins/registry.json"
        known = json.loads(path.read_text())["plugins"] if path.exists() else []
        kept = [fields for fields in known if fields["name"] != name]
        path.write_text(
            json.dumps({"version": "1.0.0", "plugins": [*kept, entry.fields()]})
        )
        return directory / "tree"

    def source(self, built: Path, mark: Path) -> Path:
        """Make a source distribution of a wheel, in its place; `mark` grows when its code runs."""
        name, version, *_ = built.name.split("-")
        root = built.parent.parent / f"{name}-{version}"
        root.mkdir()
        (root / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        )
        (root / "PKG-INFO").write_text(
            f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        )
        (root / "backend.py").write_text(BACKEND.format(mark=str(mark)))
        built.rename(root / built.name)
        packed = self.wheels / f"{root.name}.tar.gz"
        with tarfile.open(packed, "w:gz") as archive:
            archive.add(root, root.name)
        return packed


def unpack(wheel_file: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel_file) as archive:
        archive.extractall(target)  # noqa: S202 - wheels of our own


def _name(wheel_file: Path) -> str:
    return wheel_file.name.split("-")[0].replace("_", "-")


def answering(made: Made, answers: str, *words: str) -> Result:
    """Run `self plugin WORDS` on a terminal that answers its questions."""
    parent, child = pty.openpty()
    os.write(parent, answers.encode())
    environ = {"PATH": os.environ["PATH"], "HOME": str(made.home), **made.environ}
    done = subprocess.run(
        started([str(made.launcher), "self", "plugin", *words], environ),
        stdin=child,
        stderr=child,
        stdout=subprocess.PIPE,
        env=environ,
        timeout=300,
        check=False,
        text=True,
    )
    os.close(child)
    said = b""
    try:
        while chunk := os.read(parent, 1 << 16):
            said += chunk
    except OSError:  # the other end is closed and all is read
        pass
    os.close(parent)
    return Result(done.returncode, done.stdout, said.decode())
