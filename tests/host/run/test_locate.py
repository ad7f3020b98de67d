"""Words → commands: nesting, precedence, aliases, links, and what is no word."""

import os
import sys

import pytest

from builtin_plugins.directories.finder import holds_commands, subdirectories
from host.errors import DefinitionError
from host.run.locate import locate
from host.run.lock import Declared, Tree
from testing.installation import command

CATEGORY = {"name": "Category", "description": "About"}


@pytest.fixture
def tree(tmp_path):
    """Return `tree(name, files)`, which writes a tree of categories and gives its Tree."""
    import json

    def make(name, files):
        for path, content in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content if isinstance(content, str) else json.dumps(content))
        (tmp_path / name).mkdir(exist_ok=True)
        return Tree(str(tmp_path / name), "" if name == "commands" else name)

    return make


def told(found):
    """Return kind, words and the folders that a Found stands for, without what lies before."""
    return found.kind, " ".join(found.words), [os.path.basename(one) for one in found.directories]


def test_nesting(tree):
    own = tree(
        "commands",
        {
            "a/b/c/d/command.json": command(),
            "a/b/command.json": CATEGORY,
            "a/one/command.json": command(),
            "top/command.json": command(),
        },
    )
    cases = {
        "": ("category", "", ["commands"]),
        "a": ("category", "a", ["a"]),
        "a b": ("category", "a b", ["b"]),
        "a b c": ("category", "a b c", ["c"]),
        "a b c d": ("command", "a b c d", ["d"]),
        "a b c d e f": ("command", "a b c d", ["d"]),
        "a b c d -x": ("command", "a b c d", ["d"]),
        "a one two": ("command", "a one", ["one"]),
        "a -x one": ("category", "a", ["a"]),
        "a x one": ("unknown", "a", ["a"]),
        "top": ("command", "top", ["top"]),
        "x": ("unknown", "", ["commands"]),
        "A": ("unknown", "", ["commands"]),
    }
    found = {words: told(locate(words.split(), [own])) for words in cases}
    assert found == cases
    assert locate(["a", "b"], [own]).definition.name == "Category"


@pytest.mark.parametrize(
    "word", ["..", ".", "a/one", "a/", "/", "", "one ", "a\0", "é", "x" * 300, "~", "*", "\udcff"]
)
def test_what_is_no_word_is_unknown(tree, word):
    own = tree("commands", {"a/one/command.json": command(), "b/c/command.json": command()})
    assert told(locate([word], [own]))[:2] == ("unknown", "")
    assert told(locate(["a", word], [own]))[:2] == ("unknown", "a")


def test_own_commands_win_then_plugins_in_order(tree):
    own = tree("commands", {"a/x/command.json": command(name="own")})
    first = tree("first", {"a/x/command.json": command(), "a/y/command.json": command(name="1")})
    second = tree("second", {"a/y/command.json": command(), "b/z/command.json": command(name="2")})
    trees = [own, first, second]
    names = {
        words: (locate(words.split(), trees).definition.name, locate(words.split(), trees).plugin)
        for words in ("a x", "a y", "b z")
    }
    assert names == {"a x": ("own", ""), "a y": ("1", "first"), "b z": ("2", "second")}
    assert len(locate(["a"], trees).directories) == 3


def test_a_command_and_a_category_of_the_same_words(tree):
    own = tree("commands", {"a/x/deep/command.json": command(name="deep")})
    plugin = tree("plugin", {"a/x/command.json": command(name="flat")})
    assert locate(["a", "x", "deep"], [own, plugin]).definition.name == "deep"
    assert told(locate(["a", "x"], [own, plugin]))[0] == "category"
    assert locate(["a", "x", "deep"], [plugin, own]).definition.name == "flat"
    empty = tree("commands2", {"a/x/notes.txt": ""})
    assert locate(["a", "x"], [empty, plugin]).definition.name == "flat"


def test_the_first_description_of_a_category_counts(tree):
    own = tree("commands", {"a/x/command.json": command(), "b/category.json": "{"})
    plugin = tree("plugin", {"a/category.json": {"name": "P"}, "b/category.json": {"name": "Q"}})
    assert locate(["a"], [own, plugin]).definition.name == "P"
    assert locate(["a"], [own, plugin]).plugin == "plugin"
    assert locate(["b"], [own, plugin]).definition.name == "Q"
    assert locate(["a"], [own]).definition is None


def test_aliases(tree):
    own = tree(
        "commands",
        {
            "a/one/command.json": command(aliases=["1", "two", "?"]),
            "a/two/command.json": command(name="real two"),
            "a/bad/command.json": "{",
            "a/category.json": {"name": "A", "aliases": ["alpha"]},
            "c/command.json": {**CATEGORY, "aliases": ["sea"]},
        },
    )
    plugin = tree("plugin", {"a/three/command.json": command(aliases=["3", "1"])})
    trees = [own, plugin]
    assert locate(["a", "1"], trees).words == ("a", "one")
    assert locate(["a", "?"], trees).words == ("a", "one")
    assert locate(["a", "3", "x"], trees).words == ("a", "three")
    assert locate(["a", "two"], trees).definition.name == "real two"
    for words in (["alpha"], ["sea"], ["1"], ["a", ""]):
        assert locate(words, trees).kind == "unknown"


def test_commands_declared_in_code(tree):
    own = tree("commands", {"a/x/command.json": command(name="file")})
    fields = command(entrypoint="m:f", name="code", aliases=["short"])
    declared = [Declared(words, fields, "p") for words in (("a", "x"), ("a", "y"), ("b", "c", "d"))]
    found = {
        words: locate(words.split(), [own], declared)
        for words in ("a x", "a y", "a y z", "b", "b c", "b c d", "b c short", "a none", "b c d e")
    }
    assert {words: (one.kind, one.words) for words, one in found.items()} == {
        "a x": ("command", ("a", "x")),
        "a y": ("command", ("a", "y")),
        "a y z": ("command", ("a", "y")),
        "b": ("category", ("b",)),
        "b c": ("category", ("b", "c")),
        "b c d": ("command", ("b", "c", "d")),
        "b c short": ("command", ("b", "c", "d")),
        "a none": ("unknown", ("a",)),
        "b c d e": ("command", ("b", "c", "d")),
    }
    assert found["a x"].definition.name == "file"
    assert (found["a y"].definition.name, found["a y"].plugin) == ("code", "p")


def test_a_bad_definition_harms_only_its_own_command(tree):
    own = tree(
        "commands",
        {
            "a/bad/command.json": "{",
            "a/good/command.json": command(),
            "sub/command.json": "{",
            "sub/good/command.json": command(),
        },
    )
    plugin = tree(
        "plugin",
        {"a/bad/command.json": command(name="P"), "b/c/command.json": command()},
    )
    trees = [own, plugin]
    assert locate(["a", "good"], trees).kind == "command"
    assert locate(["sub", "good"], trees).words == ("sub", "good")
    for words in (["a", "bad"], ["a", "bad", "x"], ["sub"], ["sub", "none"]):
        with pytest.raises(DefinitionError, match=r"(bad|sub)/command\.json"):
            locate(words, trees)
    other = tree("other", {"b/command.json": "{"})
    assert told(locate(["b"], [plugin, other]))[0] == "category"
    broken = tree("broken", {"b/command.json": "{", "b/x/command.json": command()})
    assert locate(["b", "x"], [plugin, broken]).words == ("b", "x")


def test_links_are_followed_once(tree, tmp_path):
    own = tree("commands", {"a/x/command.json": command()})
    elsewhere = tree("elsewhere", {"y/command.json": command(), "z/command.json": command()})
    commands = tmp_path / "commands"
    (commands / "linked").symlink_to(elsewhere.path)
    (commands / "a" / "loop").symlink_to("..")
    (commands / "a" / "self").symlink_to("self")
    (tmp_path / "elsewhere" / "again").symlink_to(commands)
    assert locate(["linked", "y"], [own]).kind == "command"
    assert locate(["a", "self", "x"], [own]).kind == "unknown"
    assert [one.word for one in subdirectories(str(commands))] == ["a", "linked"]
    assert [one.word for one in subdirectories(str(commands / "linked"), True)] == ["y", "z"]
    assert [(one.word, one.linked) for one in subdirectories(str(commands / "a"))] == [
        ("loop", True),
        ("x", False),
    ]


def test_loops_without_commands_end(tmp_path):
    deep = tmp_path / "one" / "two"
    deep.mkdir(parents=True)
    (deep / "back").symlink_to(tmp_path)
    (deep / "up").symlink_to("..")
    assert not holds_commands(str(tmp_path))
    (tmp_path / "link").symlink_to(tmp_path)
    assert not holds_commands(str(tmp_path / "link"))
    (deep / "command.json").write_text("{}")
    assert holds_commands(str(tmp_path))


def test_subdirectories_tell_what_they_leave_out(tmp_path):
    for name in ("good", ".hidden", "__pycache__", "sp ace", "x" * 65, "-dash", "é"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    warnings: list[str] = []
    assert [one.word for one in subdirectories(str(tmp_path), warn=warnings.append)] == ["good"]
    assert sorted(warning.partition(": left out")[0] for warning in warnings) == sorted(
        str(tmp_path / name) for name in ("sp ace", "x" * 65, "-dash", "é")
    )
    warnings.clear()
    assert subdirectories(str(tmp_path / "none"), warn=warnings.append) == []
    assert warnings == [f"{tmp_path}/none: No such file or directory"]
    assert subdirectories(str(tmp_path / "none")) == []


def make_deep(path, levels: int) -> None:
    """Make `levels` directories one in the other, however long their path becomes."""
    start = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=start)
        inner = os.open("d", os.O_RDONLY, dir_fd=start)
        os.close(start)
        start = inner
    with open(os.open("command.json", os.O_CREAT | os.O_WRONLY, dir_fd=start), "w") as file:
        file.write('{"name": "N", "description": "D", "entrypoint": "main.sh"}')
    with open(os.open("main.sh", os.O_CREAT | os.O_WRONLY, 0o755, dir_fd=start), "w") as file:
        file.write("#!/bin/sh\necho deep\n")
    os.close(start)


def remove_deep(path) -> None:
    """Remove what `make_deep` made; shutil.rmtree gives up on it."""
    import subprocess

    subprocess.run(["rm", "-rf", path], check=True)


@pytest.mark.skipif(sys.platform == "darwin", reason="paths are shorter there")
def test_deep_trees(install):
    made = install({"commands/demo/one/command.json": command()})
    commands = made.root / "commands"
    make_deep(commands, 800)
    words = ["d"] * 800
    try:
        assert made.run(*words).all == (0, "deep\n", "")
        assert holds_commands(str(commands / "d"))
        result = made.run(timeout=50)
        assert (result.status, result.stderr) == (0, "")
        result = made.run("self", "list", timeout=50)
        assert (result.status, result.stderr) == (0, "")
    finally:
        remove_deep(commands / "d")


@pytest.mark.skipif(sys.platform == "darwin", reason="paths are shorter there")
def test_trees_deeper_than_a_path_can_be(install):
    made = install(
        {"commands/demo/one/command.json": command(), "commands/demo/one/main.sh": "#!/bin/sh\n"}
    )
    commands = made.root / "commands"
    make_deep(commands, 3_000)
    try:
        for words in (("self", "list", "--format", "json"), ("demo", "one")):
            result = made.run(*words, timeout=50)
            assert result.status == 0, words
            warned = words[0] == "self"
            assert result.stderr.count("\n") == warned
            assert ("characters): File name too long" in result.stderr) == warned
        result = made.run(*["d"] * 3_000)
        assert (result.status, result.stderr.count("\n")) == (1, 1)
        assert result.stderr.endswith("command.json: File name too long\n")
        result = made.run("d")
        assert result.status == 2
        reason, answer = result.stderr.splitlines()
        assert reason.endswith("File name too long")
        said = "holds no command.json that makes it a command"
        assert answer == f"cli: unknown category d; {commands}/d {said}"
    finally:
        remove_deep(commands / "d")
