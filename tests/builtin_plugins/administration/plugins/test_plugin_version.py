"""What is read of a wheel, and which ones are none."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from builtin_plugins.administration.plugins.plugin_contents import read_wheel
from builtin_plugins.plugins_folder.registry import Entry
from host.errors import OperationError
from testing.plugin_sources import wheel

PIP = Entry("", "pip")
DECLARES = """
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    yield CommandDeclaration(("acme", "py"), {"name": "P", "description": "D", "entrypoint": "a:b"})
"""
INFO = "acme_cli-1.0.dist-info"
METADATA = f"{INFO}/METADATA"


def test_what_a_wheel_says(tmp_path: Path) -> None:
    needs = ("click>=8", 'six; extra == "x"')
    path = wheel(tmp_path, "acme-cli", "1.0", DECLARES, requires=needs)
    found = read_wheel(str(path), PIP)
    assert found.entry == PIP.replaced(name="acme-cli", version="1.0", description="A test")
    assert (found.names, found.declared, found.commands) == (("acme-cli",), (("acme", "py"),), {})
    assert found.hooks == ("discover_commands",)
    assert found.requires == needs


def test_a_wheel_whose_record_differs_from_its_files(tmp_path: Path) -> None:
    path = wheel(tmp_path, "acme-cli", "1.0", "")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{INFO}/RECORD.jws", "")
        read_wheel(str(path), PIP)
        archive.writestr("hidden.py", "")
    with pytest.raises(OperationError, match=r": RECORD does not list hidden\.py$"):
        read_wheel(str(path), PIP)


def test_a_distribution_that_is_packed_into_it_is_not_it(tmp_path: Path) -> None:
    inside = {f"acme_cli/vendored/{one}": "Name: other\nVersion: 2\n" for one in (METADATA, "x")}
    path = wheel(tmp_path, "acme-cli", "1.0", "", top=inside)
    assert read_wheel(str(path), PIP).entry.name == "acme-cli"


BAD = {
    "a path as version": {METADATA: "Name: acme\nVersion: 1.0/../../x\n"},
    "no version": {METADATA: "Name: acme\n"},
    "a path as name": {METADATA: "Name: ../acme\nVersion: 1.0\n"},
    "an option as name": {METADATA: "Name: --index-url\nVersion: 1.0\n"},
    "no name": {METADATA: "Version: 1.0\n"},
    "no METADATA": {"acme/x.py": ""},
    "two distributions": {
        METADATA: "Name: acme\nVersion: 1.0\n",
        "pip-1.dist-info/METADATA": "Name: pip\nVersion: 1\n",
    },
    "requirements that are none": {METADATA: "Name: a\nVersion: 1\nRequires-Dist: -r /etc/x\n"},
    "entry points that are none": {
        METADATA: "Name: a\nVersion: 1\n",
        f"{INFO}/entry_points.txt": "[cli_host]\nacme = !!\n",
    },
}


@pytest.mark.parametrize("files", BAD.values(), ids=BAD)
def test_what_is_no_wheel(tmp_path: Path, files: dict[str, str]) -> None:
    path = tmp_path / "acme-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(OperationError, match=r"^acme-1\.0-py3-none-any\.whl: not a valid wheel: "):
        read_wheel(str(path), PIP)
