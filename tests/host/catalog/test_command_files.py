"""How a tree on disk is looked into: links, loops, odd names, any depth."""

import json
import os
import sys

import pytest

from host.catalog.catalog import Catalog
from host.catalog.command_files import FolderNode
from host.lock.lock import Lock
from host.record_base import CommandTree
from testing.installation import command


@pytest.fixture
def folder(tmp_path):
    """Return `folder(files)`, which writes them below `tmp_path` and returns that."""

    def make(*paths):
        for path in paths:
            file = tmp_path / path / "command.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(command()))
        return tmp_path

    return make


def node_at(root, *words):
    """Return the node that words lead to in the tree at `root`."""
    node = FolderNode(CommandTree(str(root)))
    for word in words:
        node = node.enter(word)
    return node


def test_links_are_followed_once(folder):
    top = folder("commands/a/x", "elsewhere/y", "elsewhere/z")
    commands = top / "commands"
    (commands / "linked").symlink_to(top / "elsewhere")
    (commands / "a" / "self").symlink_to("self")
    (top / "elsewhere" / "more").symlink_to(top)
    assert [*node_at(commands).inside()] == ["a", "linked"]
    assert [*node_at(commands, "linked").inside()] == ["y", "z"]
    catalog = Catalog(Lock([CommandTree(str(commands))]))
    assert catalog.find(["linked", "y"]).kind == "command"
    assert catalog.find(["linked", "more"]).words == ("linked",)
    assert catalog.find(["a", "self", "x"]).kind == "unknown"


@pytest.mark.parametrize("target", ["..", "../..", "/", "."])
def test_a_link_to_a_directory_that_the_tree_lies_in_is_left_out(folder, target):
    commands = folder("commands/a/x") / "commands"
    (commands / "up").symlink_to(target if target != "." else commands)
    node = node_at(commands)
    assert node.enter("up") is None
    node = node_at(commands)
    assert [*node.inside()] == ["a"]
    [line] = node.problems
    assert str(line).startswith(f"{commands}/up: left out; it links to /")
    assert node.enter("up") is None


def test_a_link_to_a_category_beside_it_counts(folder):
    commands = folder("commands/a/x") / "commands"
    (commands / "b").symlink_to("a")
    assert Catalog(Lock([CommandTree(str(commands))])).find(["b", "x"]).words == (
        "b",
        "x",
    )
    (commands / "a" / "loop").symlink_to("..")
    assert [*node_at(commands, "a").inside()] == ["x"]


def test_loops_without_commands_end(tmp_path):
    deep = tmp_path / "one" / "two"
    deep.mkdir(parents=True)
    (deep / "back").symlink_to(tmp_path)
    (deep / "up").symlink_to("..")
    assert not node_at(tmp_path).holds_commands()
    (deep / "command.json").write_text("{}")
    assert node_at(tmp_path).holds_commands()


def test_what_is_left_out_is_told(tmp_path):
    for name in ("good", ".hidden", "__pycache__", "sp ace", "x" * 65, "-dash", "é"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    node = node_at(tmp_path)
    assert [*node.inside()] == ["good"]
    assert sorted(one.path for one in node.problems) == sorted(
        str(tmp_path / name) for name in ("sp ace", "x" * 65, "-dash", "é")
    )
    node = node_at(tmp_path / "none")
    assert [*node.inside()] == []
    assert [*map(str, node.problems)] == [f"{tmp_path}/none: No such file or directory"]


def test_a_folder_is_listed_once(folder):
    commands = folder("commands/a/x", "commands/a/not a word") / "commands"
    node = node_at(commands, "a")
    assert node.aliased("other") == ""
    (commands / "a" / "later").mkdir()
    assert [*node.inside()] == ["x"]
    assert [": left out;" in str(one) for one in node.problems] == [True]


def test_a_folder_that_cannot_be_read_is_a_problem_of_the_one_above(folder):
    commands = folder("commands/a/x") / "commands"
    loop = commands / "b" / "loop"
    loop.parent.mkdir()
    loop.symlink_to("..")
    catalog = Catalog(Lock([CommandTree(str(commands))]))
    _, problems = catalog.children(catalog.find([]))
    assert [one.path for one in problems] == [str(loop)]


@pytest.mark.parametrize(
    "beside", [[], ["commands/a/x/y"]], ids=["alone", "beside a folder"]
)
def test_links_in_the_folder_of_a_command_are_not_followed(folder, beside):
    top = folder("commands/a/x", "elsewhere/z", *beside)
    commands = top / "commands"
    (commands / "a" / "x" / "z").symlink_to(top / "elsewhere" / "z")
    catalog = Catalog(Lock([CommandTree(str(commands))]))
    found = catalog.find(["a", "x", "z"])
    assert (found.kind, found.words) == ("command", ("a", "x"))
    below = [one.words for one in catalog.children(catalog.find(["a", "x"]))[0]]
    assert below == [("a", "x", "y") for _ in beside]


def make_deep(path, levels: int) -> None:
    """Make `levels` directories one in the other, however long their path becomes."""
    start = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=start)
        inner = os.open("d", os.O_RDONLY, dir_fd=start)
        os.close(start)
        start = inner
    with open(
        os.open("command.json", os.O_CREAT | os.O_WRONLY, dir_fd=start), "w"
    ) as file:
        file.write('{"name": "N", "description": "D", "entrypoint": "main.sh"}')
    with open(
        os.open("main.sh", os.O_CREAT | os.O_WRONLY, 0o755, dir_fd=start), "w"
    ) as file:
        file.write("#!/bin/sh\necho deep\n")
    os.close(start)


def remove_deep(path) -> None:
    """Remove what `make_deep` made; shutil.rmtree gives up on it."""
    import subprocess

    subprocess.run(["rm", "-rf", path], check=True)


@pytest.mark.night
@pytest.mark.skipif(sys.platform == "darwin", reason="paths are shorter there")
def test_deep_trees(install):
    made = install({"commands/demo/one/command.json": command()})
    commands = made.root / "commands"
    make_deep(commands, 1_100)  # more than Python may recurse
    words = ["d"] * 1_100
    try:
        assert made.run(*words).all == (0, "deep\n", "")
        assert node_at(commands, "d").holds_commands()
        result = made.run("self", "list")
        assert (result.status, result.stderr) == (0, "")
    finally:
        remove_deep(commands / "d")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="paths are shorter there")
@pytest.mark.night
def test_trees_deeper_than_a_path_can_be(install):
    made = install(
        {
            "commands/demo/one/command.json": command(),
            "commands/demo/one/main.sh": "#!/bin/sh\n",
        }
    )
    commands = made.root / "commands"
    make_deep(commands, 2_050)
    try:
        for words in (("self", "list", "--format", "json"), ("demo", "one")):
            result = made.run(*words)
            assert (result.status, result.stderr) == (0, ""), words
        result = made.run(*["d"] * 2_050)
        assert (result.status, result.stderr.count("\n")) == (1, 1)
        assert result.stderr.endswith("command.json: File name too long\n")
        assert made.run("d").all == (
            2,
            "",
            "cli: unknown command d; see: cli --help\n",
        )
    finally:
        remove_deep(commands / "d")
