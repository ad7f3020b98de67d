"""A script is started by its owner's own path: links to its tree are resolved, links in it stay."""

import json
import subprocess

import pytest

BASH = '#!/bin/bash\n# Show it.\ncd "$(dirname "$0")/.." && cat lib/x.txt\n'
SOURCE = """#!/bin/bash
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cat "$ROOT/lib/x.txt"
"""
DOUBLE = '#!/bin/sh\ncat "$(dirname "$(dirname "$0")")/lib/x.txt"\n'
PYTHON = (
    "#!/usr/bin/env python3\nfrom pathlib import Path\n"
    "print(Path(__file__).parent.parent.joinpath('lib/x.txt').read_text(), end='')\n"
)
SCRIPTS = {"bash": BASH, "source": SOURCE, "double": DOUBLE, "python": PYTHON}


@pytest.fixture
def made(install, tmp_path):
    made = install({"core/cli.json": {"name": "Test", "version": "1.0.0"}})
    made.write({f"../repo/bin/{name}": text for name, text in SCRIPTS.items()})
    made.write({"../repo/lib/x.txt": "beside\n"})
    return made


def linked_plugin(made):
    done = made.run("self", "plugin", "add", made.root.parent / "repo/bin", "--yes")
    assert done.status == 0, done.stderr
    return ()


def linked_plugin_through_links(made):
    """The user names a link to the folder, in a folder that is a link itself."""
    (made.root.parent / "home-link").symlink_to(made.root.parent / "repo")
    (made.root.parent / "scripts").symlink_to(made.root.parent / "home-link/bin")
    (made.root / "plugins/scripts").symlink_to(made.root.parent / "scripts")
    made.write({"../repo/bin/plugin.json": {"name": "scripts", "scripts": {}}})
    return ()


def linked_folder(made):
    (made.root / "commands/ops").symlink_to(made.root.parent / "repo/bin")
    return ("ops",)


def linked_commands(made):
    (made.root / "commands").rmdir()
    (made.root / "commands").symlink_to(made.root.parent / "repo/bin")
    return ()


def linked_folder_in_a_linked_plugin(made):
    (made.root.parent / "plugin").mkdir()
    (made.root.parent / "plugin/ops").symlink_to(made.root.parent / "repo/bin")
    made.write({"../plugin/plugin.json": {"name": "plugin", "scripts": {}}})
    (made.root / "plugins/plugin").symlink_to(made.root.parent / "plugin")
    return ("ops",)


LINKS = {
    "a plugin": linked_plugin,
    "a plugin, through two links": linked_plugin_through_links,
    "a folder in commands/": linked_folder,
    "commands/ itself": linked_commands,
    "a folder in a linked plugin": linked_folder_in_a_linked_plugin,
}


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())
def test_scripts_find_the_files_beside_their_folder(made, link):
    category = link(made)
    # Each way to find the files is tried for the longest way to the folder.
    for name in SCRIPTS if link is linked_plugin_through_links else ["bash"]:
        assert made.run(*category, name).all == (0, "beside\n", ""), name
    folder = made.root.parent.resolve() / "repo/bin"
    which = json.loads(
        made.run("self", "which", *category, "bash", "--format", "json").stdout
    )
    assert (which["file"], which["definition"]) == (f"{folder}/bash",) * 2
    page = made.run("help", *category, "bash").stdout
    assert f"Defined in {folder}/bash" in page


def test_a_link_inside_the_tree_stays_as_it_is_written(made):
    made.write({"commands/real/where": '#!/bin/sh\necho "$0"\n'})
    (made.root / "commands/alias").symlink_to("real")
    (made.root / "commands/real/other").symlink_to("where")
    commands = made.root.resolve() / "commands"
    for words, file in {
        ("real", "where"): "real/where",
        ("real", "other"): "real/other",
        ("alias", "where"): "alias/where",
    }.items():
        assert made.run(*words).all == (0, f"{commands}/{file}\n", "")


def test_a_linked_script_in_a_linked_folder(made):
    """The tree of such a script is the folder that the link leads to."""
    (made.root.parent / "repo/bin/second").symlink_to("double")
    (made.root / "commands/ops").symlink_to(made.root.parent / "repo/bin")
    assert made.run("ops", "second").all == (0, "beside\n", "")


def test_a_command_in_a_linked_folder_has_the_names_of_the_link(made):
    """The words are those of the tree, whatever the name of the folder that the link leads to."""
    made.write(
        {"../repo/ship/main": '#!/bin/sh\n# Ship it.\necho "$0 $COMMAND_NAME"\n'}
    )
    (made.root / "commands/ops").mkdir()
    (made.root / "commands/ops/deploy").symlink_to(made.root.parent / "repo/ship")
    file = made.root.parent.resolve() / "repo/ship/main"
    assert made.run("ops", "deploy").all == (0, f"{file} deploy\n", "")
    listed = json.loads(made.run("self", "list", "--format", "json").stdout)["commands"]
    assert [(one["path"], one["name"]) for one in listed] == [
        (["ops", "deploy"], "deploy")
    ]


def test_an_error_names_the_users_own_file(made):
    made.write({"../repo/bin/bad": '#!/bin/sh\n# /// command\n# {"sudo": 3}\n# ///\n'})
    (made.root / "commands/ops").symlink_to(made.root.parent / "repo/bin")
    done = made.run("ops", "bad")
    assert done.status == 1
    assert f"{made.root.parent.resolve()}/repo/bin/bad:3" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("linked", "inside"),
    [
        (".cli", True),
        (".cli", False),
        (".cli/commands", False),
        (".cli/commands/ops", True),
    ],
)
def test_a_linked_folder_of_a_project(made, tmp_path, linked, inside):
    """Trust knows a project's files by their paths in the project, also behind a link."""
    shop = tmp_path / "shop"
    shared = shop / "shared" if inside else tmp_path / "elsewhere"
    category = ("ops",) if linked.endswith("ops") else ()
    below = {".cli": "commands/", ".cli/commands": "", ".cli/commands/ops": ""}[linked]
    made.write({f"{shared}/{below}where": '#!/bin/sh\n# Where.\necho "$0"\n'})
    made.write({f"{shared}/{below}category.json": {"name": "ops", "envs": {"A": "a"}}})
    (shop / linked).parent.mkdir(parents=True, exist_ok=True)
    (shop / linked).symlink_to(shared)
    words = (*category, "where")
    assert made.run(*words, cwd=shop).status == 1
    assert made.run("self", "trust", shop, "--yes").status == 0
    file = f"{shared.resolve()}/{below}where"
    assert made.run(*words, cwd=shop).all == (0, f"{file}\n", "")
    made.write({f"{shared}/{below}category.json": {"name": "ops", "envs": {"A": "b"}}})
    assert made.run(*words, cwd=shop).status == 1


@pytest.mark.slow
def test_a_git_plugin_runs_from_its_current_version(made, tmp_path):
    repository = tmp_path / "tools"
    made.write({f"{repository}/bin/show": DOUBLE, f"{repository}/lib/x.txt": "one\n"})
    made.write(
        {
            f"{repository}/plugin.json": {
                "name": "tools",
                "directory": "bin",
                "scripts": {},
            }
        }
    )
    git = [
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-C",
        repository,
    ]
    subprocess.run(["git", "init", "-q", repository], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    added = made.run(
        "self", "plugin", "add", f"file://{repository}", "--name", "tools", "--yes"
    )
    assert added.status == 0, added.stderr
    assert made.run("show").all == (0, "one\n", "")
    file = json.loads(made.run("self", "which", "show", "--format", "json").stdout)[
        "file"
    ]
    first = f"{made.root.resolve()}/plugins/.versions/tools/"
    assert file.startswith(first)
    assert file.endswith("/tree/bin/show")
    (repository / "lib/x.txt").write_text("two\n")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    assert made.run("self", "plugin", "update", "tools").status == 0
    assert made.run("show").all == (0, "two\n", "")


@pytest.mark.parametrize("where", ["tree", "version"])
def test_a_link_out_of_plugins_is_refused(made, tmp_path, where):
    """Also in the place of a kept version, or of its files, to which the plugin's link leads."""
    made.write({f"{tmp_path}/evil/tree/show": "#!/bin/sh\necho evil\n"})
    made.write({f"{tmp_path}/evil/tree/plugin.json": {"name": "tools", "scripts": {}}})
    version = made.root / "plugins/.versions/tools/0123456789abcdef"
    version.parent.mkdir(parents=True)
    if where == "version":
        version.symlink_to(tmp_path / "evil")
    else:
        version.mkdir()
        (version / "tree").symlink_to(tmp_path / "evil/tree")
    (made.root / "plugins/tools").symlink_to(".versions/tools/0123456789abcdef/tree")
    entry = {
        "name": "tools",
        "kind": "git",
        "source": "file:///x",
        "commit": "0123456789abcdef" * 2 + "01234567",
    }
    made.write({"plugins/registry.json": {"version": "1.0.0", "plugins": [entry]}})
    done = made.run("show")
    assert (done.status, done.stdout) == (2, "")
    assert "links to a directory outside the plugins directory" in done.stderr
