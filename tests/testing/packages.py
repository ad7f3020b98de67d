"""An environment with this program in it, and packages to install there."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

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
    [name] = [one for one in os.listdir() if one.endswith(".whl")]
    shutil.copy(name, directory)
    with zipfile.ZipFile(os.path.join(directory, name), "a") as archive:
        archive.comment = os.urandom(8).hex().encode()  # no build is like another
    return name
"""


@dataclass
class Environment:
    """A venv with this program in it, an installation that it runs, and a folder of wheels."""

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
        """Install pure wheels as pip would, in no time."""
        for one in wheels:
            with zipfile.ZipFile(one) as archive:
                archive.extractall(self.packages)  # noqa: S202 - wheels of our own

    @property
    def packages(self) -> Path:
        return next((self.python.parent.parent / "lib").glob("python*")) / "site-packages"

    @property
    def stage(self) -> Path:
        """Where a change makes the copy of the environment that it works in."""
        return self.python.parent.parent.parent / ".venv.cli-stage"

    def acme(self, version: str, word: str = "disk", **options: object) -> Path:
        text = PLUGIN.format(name="acme-cli", package="acme_cli", version=version)
        files = {
            f"commands/cloud/{word}/command.json": command(description=word),
            f"commands/cloud/{word}/main.sh": f"echo {word} {version}\n",
        }
        return wheel(self.wheels, "acme-cli", version, text, files, **options)  # type: ignore[arg-type]

    @contextmanager
    def without_pip(self) -> Iterator[None]:
        """Make it meanwhile an environment without pip, with uv on PATH and the wheels to ask."""
        environ = cast("dict[str, str]", self.made.environ)
        environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
        config = self.made.home / ".config/uv/uv.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'no-index = true\nfind-links = ["{self.wheels}"]\n')
        aside = self.made.home / "aside"
        aside.mkdir()
        names = [path.name for path in self.packages.glob("pip*")]
        for name in names:
            (self.packages / name).rename(aside / name)
        try:
            yield
        finally:
            for name in names:
                (aside / name).rename(self.packages / name)

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


def answering(made: Made, answers: str, *words: str) -> Result:
    """Run `self plugin WORDS` on a terminal that answers its questions."""
    parent, child = pty.openpty()
    os.write(parent, answers.encode())
    done = subprocess.run(
        [made.launcher, "self", "plugin", *words],
        stdin=child,
        stderr=child,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(made.home), **made.environ},
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
