"""Words → commands, over small trees: nesting, precedence, aliases, what is no word."""

import json

import pytest

from host.catalog.catalog import Catalog
from host.catalog.declared_commands import Declared
from host.errors import DefinitionError
from host.lock.lock import Lock
from host.record_base import CommandTree
from testing.installation import command

CATEGORY = {"name": "Category", "description": "About"}


@pytest.fixture
def tree(tmp_path):
    """Return `tree(name, files)`, which writes a tree and returns its record."""

    def make(name, files):
        for path, content in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(
                json.dumps(content) if isinstance(content, dict) else content
            )
        (tmp_path / name).mkdir(exist_ok=True)
        return CommandTree(str(tmp_path / name), "" if name == "commands" else name)

    return make


def find(words, trees, declared=()):
    return Catalog(Lock(trees, declared)).find(words)


def shown(found):
    """Return kind, words and the last name of each folder of a match."""
    return (
        found.kind,
        " ".join(found.words),
        [one.rpartition("/")[2] for one in found.directories],
    )


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
    found = {words: shown(find(words.split(), [own])) for words in cases}
    assert found == cases
    assert find(["a", "b"], [own]).definition.name == "Category"


@pytest.mark.parametrize(
    "word",
    [
        "..",
        ".",
        "a/one",
        "a/",
        "/",
        "",
        "one ",
        "a\0",
        "é",
        "x" * 300,
        "~",
        "*",
        "\udcff",
    ],
)
def test_what_is_no_word_is_unknown(tree, word):
    own = tree(
        "commands", {"a/one/command.json": command(), "b/c/command.json": command()}
    )
    assert shown(find([word], [own]))[:2] == ("unknown", "")
    assert shown(find(["a", word], [own]))[:2] == ("unknown", "a")


def test_own_commands_win_then_plugins_in_order(tree):
    own = tree("commands", {"a/x/command.json": command(name="own")})
    first = tree(
        "first", {"a/x/command.json": command(), "a/y/command.json": command(name="1")}
    )
    second = tree(
        "second", {"a/y/command.json": command(), "b/z/command.json": command(name="2")}
    )
    trees = [own, first, second]
    names = {
        words: (
            find(words.split(), trees).definition.name,
            find(words.split(), trees).plugin,
        )
        for words in ("a x", "a y", "b z")
    }
    assert names == {"a x": ("own", ""), "a y": ("1", "first"), "b z": ("2", "second")}
    assert len(find(["a"], trees).directories) == 3


def test_a_command_and_a_category_of_the_same_words(tree):
    own = tree("commands", {"a/x/deep/command.json": command(name="deep")})
    plugin = tree("plugin", {"a/x/command.json": command(name="flat")})
    assert find(["a", "x", "deep"], [own, plugin]).definition.name == "deep"
    assert shown(find(["a", "x"], [own, plugin]))[0] == "category"
    assert find(["a", "x", "deep"], [plugin, own]).definition.name == "flat"
    empty = tree("commands2", {"a/x/notes.txt": ""})
    assert find(["a", "x"], [empty, plugin]).definition.name == "flat"


def test_the_first_description_of_a_category_counts(tree):
    own = tree("commands", {"a/x/command.json": command(), "b/category.json": "{"})
    plugin = tree(
        "plugin", {"a/category.json": {"name": "P"}, "b/category.json": {"name": "Q"}}
    )
    assert find(["a"], [own, plugin]).definition.name == "P"
    assert find(["a"], [own, plugin]).plugin == "plugin"
    assert find(["b"], [own, plugin]).definition.name == "Q"
    assert find(["a"], [own]).definition is None


def test_aliases(tree):
    own = tree(
        "commands",
        {
            "a/one/command.json": command(aliases=["1", "two"]),
            "a/two/command.json": command(name="real two"),
            "a/bad/command.json": "{",
            "a/category.json": {"name": "A", "aliases": ["alpha"]},
            "c/command.json": {**CATEGORY, "aliases": ["sea"]},
        },
    )
    plugin = tree("plugin", {"a/three/command.json": command(aliases=["3", "1"])})
    trees = [own, plugin]
    assert find(["a", "1"], trees).words == ("a", "one")
    assert find(["a", "3", "x"], trees).words == ("a", "three")
    assert find(["a", "two"], trees).definition.name == "real two"
    for words in (["alpha"], ["sea"], ["1"], ["a", ""], ["a", "?"]):
        assert find(words, trees).kind == "unknown"


def in_code(words, fields):
    return Declared(
        words, json.dumps(fields).encode(), "p", runs="entrypoint" in fields
    )


def test_commands_declared_in_code(tree):
    own = tree(
        "commands", {"a/x/command.json": command(name="file"), "a/y/left/notes.txt": ""}
    )
    fields = command(entrypoint="m:f", name="code", aliases=["short"])
    declared = [
        in_code(words, fields) for words in (("a", "x"), ("a", "y"), ("b", "c", "d"))
    ]
    found = {
        words: find(words.split(), [own], declared)
        for words in (
            "a x",
            "a y",
            "a y z",
            "b",
            "b c",
            "b c d",
            "b c short",
            "a none",
            "b c d e",
        )
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


def test_a_category_declared_in_code_describes_one_that_there_is(tree):
    own = tree("commands", {"a/x/command.json": command()})
    about = {"name": "A", "description": "From code"}
    declared = [in_code(words, about) for words in (("a",), ("b",), ("c",))]
    declared.append(in_code(("b", "y"), command(entrypoint="m:f")))
    found = {
        " ".join(words): find(words, [own], declared)
        for words in (("a",), ("b",), ("c",))
    }
    assert {words: one.kind for words, one in found.items()} == {
        "a": "category",
        "b": "category",
        "c": "unknown",
    }
    assert (found["b"].name, found["b"].description, found["b"].plugin) == (
        "A",
        "From code",
        "p",
    )
    assert found["a"].name == "a"  # nothing of the plugin is in there
    catalog = Catalog(Lock([own], declared))
    children, problems = catalog.children(catalog.find([]))
    assert ([one.words for one in children], problems) == ([("a",), ("b",)], [])


def test_what_is_below_is_what_a_run_finds(tree):
    own = tree("commands", {"a/x/y/command.json": command(), "a/empty/notes.txt": ""})
    plugin = tree(
        "plugin", {"a/x/command.json": command(), "a/x/z/command.json": command()}
    )
    fields = command(entrypoint="m:f")
    words = ("a", "b", "c"), ("a", "b"), ("a", "d"), ("a", "d", "e")
    declared = [in_code(one, fields) for one in words]
    found = {}
    catalog = Catalog(Lock([own, plugin], declared))
    pending = [catalog.find([])]
    while pending:
        children, problems = catalog.children(pending.pop())
        assert problems == []
        for one in children:
            found[" ".join(one.words)] = one.kind
            pending += [one] if one.kind == "category" or one.has_below else []
    assert found == {
        "a": "category",
        "a b": "command",
        "a b c": "command",
        "a d": "command",
        "a d e": "command",
        "a x": "category",
        "a x y": "command",
    }
    for words, kind in found.items():
        there = catalog.find(words.split())
        assert (there.kind, " ".join(there.words)) == (kind, words)


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
    assert find(["a", "good"], trees).kind == "command"
    assert find(["sub", "good"], trees).words == ("sub", "good")
    for words in (["a", "bad"], ["a", "bad", "x"], ["sub"], ["sub", "none"]):
        with pytest.raises(DefinitionError, match=r"(bad|sub)/command\.json"):
            find(words, trees)
    other = tree("other", {"b/command.json": "{"})
    assert shown(find(["b"], [plugin, other]))[0] == "category"
    broken = tree("broken", {"b/command.json": "{", "b/x/command.json": command()})
    assert find(["b", "x"], [plugin, broken]).words == ("b", "x")


def test_what_listings_show_of_trees_with_the_same_words(tree):
    """The command that runs comes first, then all that it shadows; problems are listed."""
    trees = [
        tree("commands", {"a/x/command.json": "{"}),
        tree("one", {"a/x/command.json": command(name="one")}),
        tree("two", {"a/x/deep/command.json": command()}),
        tree("three", {"a/x/command.json": command(name="three")}),
        tree("four", {"a/x/notes.txt": ""}),
    ]

    def listed(trees):
        catalog = Catalog(Lock(trees))
        [match], problems = catalog.children(catalog.find(["a"]))
        return [node.tree.plugin for node in (*match.nodes, *match.shadowed)], problems

    plugins, [problem] = listed(trees)
    assert plugins == ["one", "two", "three"]
    assert problem.path == f"{trees[0].path}/a/x/command.json"
    assert listed(trees[::-1])[0] == ["three", "two", "one"]
    assert listed([trees[2], trees[1]]) == (
        ["two", "one"],
        [],
    )  # a category hides a command


def test_a_run_reads_no_further_than_the_command_that_decides(tree):
    first = tree("commands", {"a/x/command.json": command()})
    second = tree("plugin", {"a/x/command.json": "{"})
    assert find(["a", "x"], [first, second]).kind == "command"
