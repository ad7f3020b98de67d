"""Records: values by order or by name, equal by value."""

import pytest

from host import CommandDeclaration, CommandTree, Watch


def test_values_and_defaults():
    tree = CommandTree("/x", plugin="p")
    assert (tree.path, tree.plugin, tree.dev) == ("/x", "p", False)
    assert repr(Watch("/a")) == "Watch(path='/a')"
    assert tree.replaced(dev=True) == CommandTree("/x", "p", True)
    assert tree.values() == {"path": "/x", "plugin": "p", "dev": False, "scripts": None}


def test_equal_by_kind_and_value():
    assert Watch("/a") == Watch(path="/a")
    assert Watch("/a") != Watch("/b")
    assert Watch("/a") != CommandTree("/a")
    assert len({Watch("/a"), Watch("/a"), Watch("/b")}) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: CommandDeclaration(("a",)),
        lambda: Watch("/a", "/b"),
        lambda: Watch("/a", path="/b"),
        lambda: Watch(place="/a"),
    ],
    ids=["missing", "too many", "twice", "unknown"],
)
def test_what_does_not_fit_is_told(make):
    with pytest.raises(TypeError, match="each once"):
        make()
