"""What the plugin declares, and what its command does."""

from pathlib import Path
from types import SimpleNamespace

from greetings import plugin, shout

from host import Category, CommandDeclaration, CommandTree, EnvSource, Listing


def test_commands():
    tree, command = plugin.discover_commands(None)
    assert isinstance(tree, CommandTree)
    assert (Path(tree.path) / "greetings" / "hello" / "command.json").is_file()
    assert isinstance(command, CommandDeclaration)


def test_source(tmp_path):
    [source] = plugin.env_sources(SimpleNamespace(config_dir=str(tmp_path)))
    assert isinstance(source, EnvSource)
    assert source.rank == 4


def test_renderer_leaves_other_formats_alone():
    assert plugin.render_listing(SimpleNamespace(commands=()), "text") is None


def test_renderer():
    categories = (Category(("a",), "A", "of | all"),)
    commands = (
        SimpleNamespace(
            words=("a", "b"), definition=SimpleNamespace(description="\x1b")
        ),
    )
    listing = Listing(
        "cli", (), "CLI", "", categories=categories, commands=commands, deep=True
    )
    assert plugin.render_listing(listing, "markdown").splitlines()[2:] == [
        "| a | of \\| all |",
        "| a b | \\x1b |",
    ]


def test_shout(capsys, monkeypatch):
    monkeypatch.setenv("GREETING", "good day")
    monkeypatch.setenv("ARG_NAME", "Ada")
    assert shout.main(["Ada"]) == 0
    assert capsys.readouterr().out == "GOOD DAY, ADA!\n"
