"""Python projects as plugins: linked directories, repositories, archives, and subdirectories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made
from testing.packages import PLUGIN, Environment, answering
from testing.plugin_sources import (
    Repository,
    hidden,
    listed,
    plugin,
    plugin_files,
    registry,
    tar_of,
    wheel,
    write_tree,
)

Install = Callable[..., Made]

BUILD = (
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
)
PROJECT = f'{BUILD}[project]\nname = "Acme_CLI"\nversion = "1.0"\n'
PROJECT += '[project.entry-points.cli_host]\nacme-cli = "acme_cli.plugin"\n'
# Editable wheels name a directory, or have a hook: what `editable` contains.
BACKEND = """
import os, zipfile

INFO = "acme_cli-1.0.dist-info"
open(os.path.join(os.environ["HOME"], "ran"), "w").close()

def build_wheel(directory, settings=None, metadata=None, files=None):
    name = "acme_cli-1.0-py3-none-any.whl"
    files = files or {f"acme_cli/{one}": open(f"src/acme_cli/{one}").read()
                      for one in ("__init__.py", "plugin.py")}
    points = open("points").read()
    more = {
        f"{INFO}/METADATA": "Metadata-Version: 2.1\\nName: acme-cli\\nVersion: 1.0\\n"
            "Requires-Dist: needed\\nProvides-Extra: more\\n"
            "Requires-Dist: extra; extra == 'more'\\n",
        f"{INFO}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        f"{INFO}/entry_points.txt": f"[cli_host]\\n{points}",
    }
    files = {**files, **more}
    rows = "".join(f"{one},,\\n" for one in (*files, f"{INFO}/RECORD"))
    with zipfile.ZipFile(os.path.join(directory, name), "w") as archive:
        for one, text in {**files, f"{INFO}/RECORD": rows}.items():
            archive.writestr(one, text)
    return name

def build_editable(directory, settings=None, metadata=None):
    return build_wheel(directory, files={"_acme.pth": open("editable").read()})
"""


def module(name: str, word: str, says: str) -> str:
    """Return a plugin's module with the command `cloud WORD`."""
    text = PLUGIN.format(name="acme-cli", package="acme_cli", version=says)
    lines = [
        line
        for line in text.splitlines(keepends=True)
        if "yield CommandTree" not in line
    ]
    return "".join(lines).replace('"py"', f'"{word}"').replace(".plugin:", f".{name}:")


def project(root: Path, editable: str | None = None) -> Path:
    files = {
        "pyproject.toml": PROJECT,
        "backend.py": BACKEND,
        "points": "acme-cli = acme_cli.plugin\n",
        "editable": f"{root}/src\n" if editable is None else editable,
        "src/acme_cli/__init__.py": "",
        "src/acme_cli/plugin.py": module("plugin", "py", "one"),
    }
    return write_tree(root, files)


def requirements(environment: Environment) -> None:
    for name in ("needed", "extra"):
        wheel(environment.wheels, name, "1.0", "", points={})


def test_a_linked_project(with_uv: Environment, tmp_path: Path) -> None:
    made, root = with_uv.made, project(tmp_path / "acme")
    requirements(with_uv)
    ran = made.home / "ran"
    refused = plugin(made, "add", str(root))
    assert (refused.status, ran.exists()) == (1, False)
    assert "to skip the question, add --yes" in refused.stderr
    assert answering(made, "n\n", "add", str(root)).status == 1
    assert (listed(made), hidden(made), ran.exists()) == ({}, [], False)
    added = plugin(made, "add", str(root), "--yes")
    assert added.status == 0, added.stderr
    assert "packages: needed 1.0\n" in added.stdout
    assert made.run("cloud", "py").all == (0, "py one\n", "")
    file = root / "src/acme_cli/plugin.py"
    file.write_text(file.read_text().replace("py one", "py edited"))
    assert made.run("cloud", "py").all == (0, "py edited\n", "")
    assert "[plugin]" in made.run("cloud").stdout
    row = listed(made)["acme-cli"]
    assert (row["kind"], row["dev"], row["source"]) == ("pip", True, str(root))
    assert (with_uv.folder() / "needed").is_dir()
    assert not (with_uv.folder() / "acme_cli").exists()
    assert (
        "edits take effect at once; after a change of pyproject.toml: cli self plugin add"
        in (plugin(made, "update").stdout)
    )
    (root / "points").write_text("acme-cli = acme_cli.plugin\ntwo = acme_cli.two\n")
    (root / "src/acme_cli/two.py").write_text(module("two", "two", "two"))
    again = plugin(made, "add", f"{root}[more]", "--yes")
    assert again.status == 0, again.stderr
    assert (with_uv.folder() / "extra").is_dir()
    assert made.run("cloud", "two").status == 0

    (root / "src").rename(root / "moved")
    assert plugin(made, "remove", "acme-cli").status == 0
    assert (root / "moved/acme_cli/plugin.py").exists()
    assert not (made.root / "plugins/.versions").exists()


@pytest.mark.night
def test_a_linked_project_that_was_away_for_a_moment(
    environment: Environment, tmp_path: Path
) -> None:
    made, root = environment.made, project(tmp_path / "acme")
    requirements(environment)
    added = plugin(made, "add", str(root), "--yes")
    assert added.status == 0, added.stderr
    assert made.run("cloud", "py").all == (0, "py one\n", "")
    (root / "src").rename(root / "moved")
    row = listed(made)["acme-cli"]
    why = f"its directory {root}/src is missing"
    assert (row["state"], row["reason"]) == ("broken", why)
    (root / "moved").rename(root / "src")
    assert made.run("cloud", "py").all == (0, "py one\n", "")


def test_a_project_whose_editable_wheel_has_a_hook(
    with_uv: Environment, tmp_path: Path
) -> None:
    requirements(with_uv)
    root = project(tmp_path / "acme", "import sys; sys.meta_path\n")
    done = plugin(with_uv.made, "add", str(root), "--yes")
    assert done.status == 1
    assert done.stderr.splitlines()[-1] == (
        f"cli: {root}: its editable wheel does not name the directory of its modules; move the "
        f"package into src/, or add its wheel: pip wheel --no-deps {root}"
    )
    assert (listed(with_uv.made), hidden(with_uv.made)) == ({}, [])


@pytest.mark.night
def test_a_project_in_a_repository_and_in_an_archive(
    with_uv: Environment, tmp_path: Path
) -> None:
    made = with_uv.made
    requirements(with_uv)
    repository = Repository(tmp_path / "repo", {})
    root = project(tmp_path / "repo/packages/acme")
    repository.commit({})
    source = f"{repository.url}#subdirectory=packages/acme"
    assert plugin(made, "add", source).status == 1
    stored = f"acme-cli @ git+{source}"
    for text in (source, f"pip:{stored}"):
        added = plugin(made, "add", text, "--yes")
        assert added.status == 0, added.stderr
        assert made.run("cloud", "py").all == (0, "py one\n", "")
        entry = registry(made)["acme-cli"]
        assert (entry["kind"], entry["source"]) == ("pip", stored)
        team = tmp_path / "team.json"
        team.write_bytes((made.root / "plugins/registry.json").read_bytes())
        assert plugin(made, "remove", "acme-cli").status == 0
    synced = plugin(made, "sync", str(team), "--yes")
    assert (synced.status, made.run("cloud", "py").stdout) == (0, "py one\n"), (
        synced.stderr
    )
    assert plugin(made, "update").stdout.endswith("is the newest version\n")
    assert plugin(made, "remove", "acme-cli").status == 0
    packed = tmp_path / "acme_cli-1.0.tar.gz"
    files = {
        str(one.relative_to(root)): one.read_text()
        for one in root.rglob("*")
        if one.is_file()
    }
    packed.write_bytes(tar_of(files, "acme_cli-1.0/"))
    assert plugin(made, "add", str(packed)).status == 1
    assert plugin(made, "add", str(packed), "--yes").status == 0
    assert made.run("cloud", "py").all == (0, "py one\n", "")
    assert plugin(made, "update").stdout == "acme-cli: 1.0 is the newest version\n"
    named = plugin(made, "add", source, "--name", "other", "--yes")
    assert (
        named.status,
        "is a Python package, which keeps its own name" in named.stderr,
    ) == (
        1,
        True,
    )


def test_a_wheel_with_an_extra(with_uv: Environment) -> None:
    made = with_uv.made
    requirements(with_uv)
    path = with_uv.acme("1.0", requires=("extra; extra == 'more'",))
    added = plugin(made, "add", f"{path}[more]")
    assert added.status == 0, added.stderr
    entry = registry(made)["acme-cli"]
    assert (entry["source"], [one["name"] for one in entry["packages"]]) == (
        f"{path}[more]",
        ["extra"],
    )
    unknown = plugin(made, "add", f"{path}[less]")
    assert unknown.status == 1
    assert "acme-cli 1.0 has no extra less; its extras: more" in unknown.stderr


@pytest.mark.night
def test_a_subdirectory_of_a_repository(install: Install, tmp_path: Path) -> None:
    made = install()
    files = {f"tools/ops/{name}": text for name, text in plugin_files().items()}
    for name, text in plugin_files("other/hi", "other").items():
        files[f"tools/other/{name}"] = text
    repository = Repository(tmp_path / "repo", files)
    source = f"{repository.url}#subdirectory=tools/ops"
    assert plugin(made, "add", source).status == 0
    assert made.run("demo", "hi").stdout == "hi\n"
    assert (registry(made)["ops"]["source"], visible_commands(made)) == (
        source,
        ["demo hi"],
    )
    repository.commit(
        {f"tools/ops/{name}": text for name, text in plugin_files(says="b").items()}
    )
    assert plugin(made, "update").stdout.endswith("updated ops\n")
    assert made.run("demo", "hi").stdout == "b\n"

    # Another subdirectory of the same commit is another version.
    file = made.root / "plugins/registry.json"
    file.write_text(file.read_text().replace("tools/ops", "tools/other"))
    assert plugin(made, "sync").stdout.endswith("installed ops\n")
    assert made.run("other", "hi").stdout == "other\n"
    assert plugin(made, "rollback", "ops").status == 0
    assert made.run("demo", "hi").stdout == "b\n"
    assert registry(made)["ops"]["source"] == source

    packed = tmp_path / "all.tar.gz"
    packed.write_bytes(
        tar_of({f"sub/{n}": t for n, t in plugin_files("packed/hi").items()}, "x/")
    )
    assert plugin(made, "add", f"{packed}#subdirectory=sub").status == 0
    assert made.run("packed", "hi").stdout == "hi\n"
    (repository.path / "tools/out").mkdir()
    (repository.path / "tools/out/link").symlink_to("../../tools")
    repository.commit({"tools/out/a/b/command.json": {}})
    out = plugin(made, "add", f"{repository.url}#subdirectory=tools/out")
    assert (out.status, "the link link leads out of it" in out.stderr) == (1, True), (
        out.stderr
    )
    none = plugin(made, "add", f"{repository.url}#subdirectory=no")
    assert (none.status, "there is no such directory in it" in none.stderr) == (1, True)
    for text in ("../x", "/etc", "a/../../b", ".", "a//b", ""):
        done = plugin(made, "add", f"{repository.url}#subdirectory={text}")
        assert (
            done.status,
            "expected a directory in a git repository" in done.stderr,
        ) == (2, True)
    assert plugin(made, "add", f"{tmp_path}#subdirectory=repo").status == 2
    assert hidden(made) == []

    # A registry of somebody else may name any path.
    theirs = tmp_path / "theirs"
    (theirs / "a/b").mkdir(parents=True)
    shared = tmp_path / "registry.json"
    text = (made.root / "plugins/registry.json").read_text()
    shared.write_text(
        text.replace("#subdirectory=tools/ops", f"#subdirectory={theirs}")
    )
    assert plugin(made, "remove", "ops").status == 0
    done = plugin(made, "sync", str(shared), "--yes")
    assert (done.status, (theirs / "a/b").is_dir()) == (1, True), done.stderr


def visible_commands(made: Made) -> list[str]:
    listing = made.run("self", "list", "--format", "json").stdout
    return [" ".join(one["path"]) for one in json.loads(listing)["commands"]]


@pytest.mark.parametrize(
    "text",
    [
        "git@host.invalid:/srv/git/ops.git",
        "root@host.invalid:~/r",
        "git@host.invalid:a/b",
    ],
)
def test_addresses_as_scp_writes_them(
    install: Install, tmp_path: Path, text: str
) -> None:
    """git gets the address as it is; ssh is one of the test's own."""
    ssh = write_tree(
        tmp_path / "bin",
        {"ssh": f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nexit 1\n'},
    )
    made = install()
    path = f"{ssh}:/usr/bin:/bin"
    done = plugin(made, "add", text, env={"PATH": path})
    assert done.status == 1
    assert text.partition(":")[2] in (tmp_path / "called").read_text()


def test_a_pointer_of_git_lfs(install: Install, tmp_path: Path) -> None:
    made = install()
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    repository = Repository(
        tmp_path / "ops", {**plugin_files(), "demo/hi/tool": pointer}
    )
    done = plugin(made, "add", repository.url)
    assert done.status == 0
    assert (
        "demo/hi/tool is a Git LFS pointer; its content is not fetched" in done.stderr
    )


def test_only_pointers_of_git_lfs_in_the_subdirectory_count(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    inside = {f"tools/{name}": text for name, text in plugin_files().items()}
    files = {**inside, "tools/demo/hi/tool": pointer, "tools2/video": pointer}
    repository = Repository(tmp_path / "ops", files)
    done = plugin(made, "add", f"{repository.url}#subdirectory=tools")
    assert (done.status, done.stderr.count("Git LFS")) == (0, 1)
    assert "tools/demo/hi/tool is a Git LFS pointer" in done.stderr
