"""Words → commands, over finders that are a dict: nesting, precedence, aliases, what is no word."""

import json
from types import SimpleNamespace

import pytest

from host.errors import DefinitionError
from host.run.locate import Place, below, decide, locate, roots
from host.run.lock import Declared, Tree
from testing.installation import command

CATEGORY = {"name": "Category", "description": "About"}
_DEFAULTS = {"name": "", "description": "", "entrypoint": "", "aliases": (), "warnings": ()}


class DictFinder:
    """A tree of commands as a dict: path → what the definition there says, "{" for a bad one."""

    root = ""

    def __init__(self, files):
        self.files = files

    def enter(self, place, word):
        inner = f"{place}/{word}".lstrip("/")
        return inner if any(path.startswith(f"{inner}/") for path in self.files) else ""

    def read(self, place, name):
        path = f"{place}/{name}".lstrip("/")
        if self.files.get(path) == "{":
            raise DefinitionError(f"{path}: bad")
        said = self.files.get(path)
        return SimpleNamespace(**{**_DEFAULTS, **said}) if said else None

    def command(self, place):
        return self.read(place, "command.json")

    def category(self, place):
        return self.read(place, "category.json")

    def inner(self, place, _tell=None):
        beginning = f"{place}/".lstrip("/")
        below = [path[len(beginning) :] for path in self.files if path.startswith(beginning)]
        words = sorted({path.partition("/")[0] for path in below if "/" in path})
        return [(word, f"{beginning}{word}") for word in words]

    def holds_commands(self, place, _tell=None):
        return f"{place}/category.json" in self.files or any(
            path.startswith(f"{place}/") and path.endswith("/command.json") for path in self.files
        )

    def aliased(self, place, alias):
        for word, inner in self.inner(place):
            said = self.files.get(f"{inner}/command.json")
            if said and said != "{" and said.get("entrypoint") and alias in said.get("aliases", ()):
                return word
        return ""


@pytest.fixture
def tree():
    """Return `tree(name, files)`, the place of no words in a tree whose finder is that dict."""

    def make(name, files):
        owner = Tree(f"/{name}", "" if name == "commands" else name)
        return Place(owner, DictFinder(files), "")

    return make


def told(found):
    """Return kind, words and the folders that a Found stands for, without what lies before."""
    return found.kind, " ".join(found.words), [one.rpartition("/")[2] for one in found.directories]


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
        "": ("category", "", [""]),
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
        "x": ("unknown", "", [""]),
        "A": ("unknown", "", [""]),
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
            "a/one/command.json": command(aliases=["1", "two"]),
            "a/two/command.json": command(name="real two"),
            "a/bad/command.json": "{",
            "a/category.json": {"name": "A", "aliases": ["alpha"]},
            "c/command.json": {**CATEGORY, "aliases": ["sea"]},
        },
    )
    plugin = tree("plugin", {"a/three/command.json": command(aliases=["3", "1"])})
    trees = [own, plugin]
    assert locate(["a", "1"], trees).words == ("a", "one")
    assert locate(["a", "3", "x"], trees).words == ("a", "three")
    assert locate(["a", "two"], trees).definition.name == "real two"
    for words in (["alpha"], ["sea"], ["1"], ["a", ""], ["a", "?"]):
        assert locate(words, trees).kind == "unknown"


def in_code(words, fields):
    return Declared(words, json.dumps(fields).encode(), "p", runs="entrypoint" in fields)


def test_commands_declared_in_code(tree):
    own = tree("commands", {"a/x/command.json": command(name="file"), "a/y/left/notes.txt": ""})
    fields = command(entrypoint="m:f", name="code", aliases=["short"])
    declared = [in_code(words, fields) for words in (("a", "x"), ("a", "y"), ("b", "c", "d"))]
    places = [own, *roots([], declared)]
    found = {
        words: locate(words.split(), places)
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


def test_a_category_declared_in_code_describes_one_that_there_is(tree):
    own = tree("commands", {"a/x/command.json": command()})
    told = {"name": "A", "description": "From code"}
    declared = [in_code(words, told) for words in (("a",), ("b",), ("c",))]
    declared.append(in_code(("b", "y"), command(entrypoint="m:f")))
    places = [own, *roots([], declared)]
    found = {" ".join(words): locate(words, places) for words in (("a",), ("b",), ("c",))}
    assert {words: one.kind for words, one in found.items()} == {
        "a": "category",
        "b": "category",
        "c": "unknown",
    }
    assert (found["b"].name, found["b"].description, found["b"].plugin) == ("A", "From code", "p")
    assert found["a"].name == "a"  # nothing of the plugin is in there
    assert [one.words for one in below(locate([], places), print)] == [("a",), ("b",)]


def test_what_is_below_is_what_a_run_finds(tree):
    own = tree("commands", {"a/x/y/command.json": command(), "a/empty/notes.txt": ""})
    plugin = tree("plugin", {"a/x/command.json": command(), "a/x/z/command.json": command()})
    fields = command(entrypoint="m:f")
    words = ("a", "b", "c"), ("a", "b"), ("a", "d"), ("a", "d", "e")
    declared = [in_code(one, fields) for one in words]
    told = []
    found = {}
    places = [own, plugin, *roots([], declared)]
    pending = [locate([], places)]
    while pending:
        for one in below(pending.pop(), told.append):
            found[" ".join(one.words)] = one.kind
            pending += [one] if one.kind == "category" else []
    assert found == {
        "a": "category",
        "a b": "category",
        "a b c": "command",
        "a d": "command",
        "a x": "category",
        "a x y": "command",
    }
    for words, kind in found.items():
        there = locate(words.split(), places)
        assert (there.kind, " ".join(there.words)) == (kind, words)
    assert told == []


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


def test_what_listings_hear_and_see_of_places_with_the_same_words(tree):
    """A place that runs comes first, then all that it hides; what is wrong is told."""
    trees = [
        tree("commands", {"a/x/command.json": "{"}),
        tree("one", {"a/x/command.json": command(name="one")}),
        tree("two", {"a/x/deep/command.json": command()}),
        tree("three", {"a/x/command.json": command(name="three")}),
        tree("four", {"a/x/notes.txt": {}}),
    ]
    told = []
    found = decide([place.enter("a").enter("x") for place in trees], told.append)
    assert [place.tree.plugin for place in found] == ["one", "two", "three"]
    assert told == ["a/x/command.json: bad"]
    found = decide([place.enter("a").enter("x") for place in reversed(trees)], told.append)
    assert [place.tree.plugin for place in found] == ["three", "two", "one"]
    found = decide([trees[2].enter("a").enter("x"), trees[1].enter("a").enter("x")], told.append)
    assert [place.tree.plugin for place in found] == ["two"]  # a category hides a command


def test_a_run_looks_no_further_than_the_command_that_decides(tree):
    first = tree("commands", {"a/x/command.json": command()})
    second = tree("plugin", {"a/x/command.json": command()})
    second.finder.files["a/x/command.json"] = "{"
    assert locate(["a", "x"], [first, second]).kind == "command"
