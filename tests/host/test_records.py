"""Records: values by order or by name, equal by value."""

import inspect

import pytest

from host import Command, CommandDeclaration, CommandTree, Watch


def test_values_and_defaults():
    tree = CommandTree("/x", plugin="p")
    assert (tree.path, tree.plugin, tree.dev) == ("/x", "p", False)
    assert repr(Watch("/a")) == "Watch(path='/a')"
    assert tree.replaced(dev=True) == CommandTree("/x", "p", True)
    shown = {"path": "/x", "plugin": "p", "dev": False, "scripts": None, "order": 0}
    assert tree.values() == {**shown, "root": "", "path_folders": (), "under": ()}


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


def test_the_constructor_of_a_command_agrees_with_its_values():
    parameters = inspect.signature(Command).parameters
    assert tuple(parameters) == Command._fields
    given = {name: one.default for name, one in parameters.items()}
    defaults = {
        name: one for name, one in given.items() if one is not inspect.Parameter.empty
    }
    own = vars(Command)
    assert defaults == {name: own[name] for name in Command._fields if name in own}


def test_a_kind_of_command_can_have_more_values_and_other_defaults():
    class Extra(Command):
        plugin: str = "mine"
        extra: str = ""

    found = Extra(("a",), None, "python", extra="x")
    assert (found.plugin, found.extra, found.dev) == ("mine", "x", False)
    assert found.replaced(dev=True).extra == "x"
