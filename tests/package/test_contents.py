"""What the sdist and the wheel hold, to the file, and that they are the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from testing.installation import PROJECT

_METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text())
_NAME = f"cli_host-{_METADATA['project']['version']}"
_SKELETON = _METADATA["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

# What lies about in the checkout of somebody who uses it, and must not reach anybody else.
_STRANGERS = {
    ".env": "TOKEN=secret\n",
    "config/settings.conf": "API_TOKEN=secret\n",
    "commands/mine/deploy/command.json": "{}\n",
    "commands/setup/mine/command.json": "{}\n",
    "plugins/deploy/plugin.json": "{}\n",
    "plugins/registry.json": "{}\n",
    "core/cli": "#!/bin/sh\n",
    "core/acme": "#!/bin/sh\n",
    "cli.lock": "{}\n",
    "notes.txt": "mine\n",
    "src/host/__pycache__/old.cpython-311.pyc": "",
}


@dataclass(frozen=True)
class Built:
    """The files of a build, and the checkout that they were built from."""

    sdist: Path
    wheel: Path
    tracked: frozenset[str]

    @property
    def digests(self) -> list[str]:
        return [
            hashlib.sha256(one.read_bytes()).hexdigest()
            for one in (self.sdist, self.wheel)
        ]


def tracked_files() -> list[str]:
    """Return what is, or is about to be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    )
    names = filter(None, os.fsdecode(listed.stdout).split("\0"))
    return [name for name in names if (PROJECT / name).is_file()]


def build(source: Path, target: Path) -> tuple[Path, Path]:
    """Build the sdist from `source`, and the wheel from the sdist, as an index gets them."""
    environ = {
        key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"
    }
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", target, source],
        env=environ,
        check=True,
        capture_output=True,
    )
    return target / f"{_NAME}.tar.gz", target / f"{_NAME}-py3-none-any.whl"


def checkout(target: Path, mtime: int, mask: int) -> None:
    """Copy the tracked files, with strangers among them, under another time and umask."""
    before = os.umask(mask)
    try:
        for name in tracked_files():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes((PROJECT / name).read_bytes())
            if (PROJECT / name).stat().st_mode & 0o100:
                (target / name).chmod(0o777 & ~mask)
            os.utime(target / name, (mtime, mtime))
        for name, text in _STRANGERS.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text(text)
    finally:
        os.umask(before)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp("built")
    checkout(root / "cli-host", 1_700_000_000, 0o022)
    sdist, wheel = build(root / "cli-host", root / "dist")
    return Built(sdist, wheel, frozenset(tracked_files()))


def members_of(sdist: Path) -> Iterator[tarfile.TarInfo]:
    with tarfile.open(sdist) as archive:
        yield from archive.getmembers()


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return message_from_bytes(archive.read(f"{_NAME}.dist-info/METADATA"))


def test_the_sdist_holds_what_is_tracked_and_nothing_else(built: Built) -> None:
    names = {one.name.removeprefix(f"{_NAME}/") for one in members_of(built.sdist)}
    # hatchling adds .gitignore, without which a build from the sdist would take strangers.
    left_out = {
        name
        for name in built.tracked
        if name.startswith((".ci/", ".github/", ".devcontainer/", "packages/"))
    }
    left_out |= {
        name for name in built.tracked if name.startswith(".") and "/" not in name
    }
    left_out -= {".gitignore"}
    left_out |= {"CODE_OF_CONDUCT.md", "SECURITY.md"} & built.tracked
    assert names == (built.tracked - left_out) | {"PKG-INFO"}


def test_the_wheel_holds_the_packages_and_what_init_needs(built: Built) -> None:
    packages = {
        name.removeprefix("src/") for name in built.tracked if name.startswith("src/")
    }
    skeleton = {
        target + name.removeprefix(source)
        for source, target in _SKELETON.items()
        for name in built.tracked
        if name == source or name.startswith(f"{source}/")
    }
    information = {
        f"{_NAME}.dist-info/{name}"
        for name in (
            "METADATA",
            "RECORD",
            "WHEEL",
            "entry_points.txt",
            "licenses/LICENSE",
            "sboms/cli-host.cdx.json",
        )
    }
    placed = {
        f"{_NAME}.data/data/share/{name}"
        for name in (
            "bash-completion/completions/cli",
            "fish/vendor_completions.d/cli.fish",
            "man/man1/cli.1",
            "zsh/site-functions/_cli",
        )
    }
    with zipfile.ZipFile(built.wheel) as archive:
        assert {"host/py.typed", "builtin_plugins/py.typed"} <= packages
        assert set(archive.namelist()) == packages | skeleton | placed | information


def test_packages_that_say_they_are_typed_are() -> None:
    for file in PROJECT.glob("packages/*/pyproject.toml"):
        typed = (
            "Typing :: Typed"
            in tomllib.loads(file.read_text())["project"]["classifiers"]
        )
        assert len([*file.parent.glob("src/*/py.typed")]) == typed, file


@pytest.mark.night
def test_the_same_sources_give_the_same_bytes(built: Built, tmp_path: Path) -> None:
    checkout(tmp_path / "elsewhere" / "checkout", 1_234_567_890, 0o077)
    again = Built(
        *build(tmp_path / "elsewhere" / "checkout", tmp_path / "dist"), frozenset()
    )
    assert again.digests == built.digests


def test_who_may_do_what_with_the_files(built: Built) -> None:
    assert {(one.uid, one.gid, one.mtime) for one in members_of(built.sdist)} == {
        (0, 0, 1580601600)
    }
    modes = {
        one.name.removeprefix(f"{_NAME}/"): one.mode for one in members_of(built.sdist)
    }
    assert modes["install.sh"] == 0o755
    assert modes["README.md"] == 0o644


def test_what_an_index_shows(built: Built) -> None:
    shown = metadata_of(built.wheel)
    assert shown["Author"] == "cli-host contributors"
    assert shown["License-Expression"] == "MIT"
    assert {one.split(",")[0] for one in shown.get_all("Project-URL", [])} == {
        "Source",
        "Documentation",
        "Changelog",
        "Issues",
    }
    classifiers = shown.get_all("Classifier", [])
    for minor in range(11, 15):
        assert f"Programming Language :: Python :: 3.{minor}" in classifiers
    assert "Typing :: Typed" in classifiers


def test_links_of_the_readme_lead_somewhere_from_an_index(built: Built) -> None:
    text = metadata_of(built.wheel).get_payload()
    pictures = re.findall(r'src(?:set)?="([^"]+)', text)
    assert len(pictures) == 4  # moving and still, light and dark
    links = [*re.findall(r"\]\(([^)\s]+)", text), *pictures]
    assert len(links) > 5
    version = _METADATA["project"]["version"]
    for link in links:
        assert link.startswith(("https://", "#")), link
        for place in (
            f"https://github.com/cli-host/cli-host/blob/v{version}/",
            f"https://raw.githubusercontent.com/cli-host/cli-host/v{version}/",
        ):
            if link.startswith(place):
                assert (
                    PROJECT / link.removeprefix(place).partition("#")[0]
                ).exists(), link
    assert all(one.startswith("https://raw.") for one in pictures)


def test_the_bill_of_materials_names_what_is_needed(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        bill = json.loads(archive.read(f"{_NAME}.dist-info/sboms/cli-host.cdx.json"))
    needed = {
        re.split(r"[<>=!~;\[ ]", one)[0] for one in _METADATA["project"]["dependencies"]
    }
    assert {one["name"] for one in bill["components"]} == needed
    assert bill["metadata"]["component"]["version"] == _METADATA["project"]["version"]
