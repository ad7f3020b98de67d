"""What plugins declare: the records of each hook, and the order that they come in."""

from __future__ import annotations

import posix
import sys
from pathlib import Path

import pytest

from host import (
    BrokenPlugin,
    CommandTree,
    Disabled,
    PluginFile,
    Watch,
    hookimpl,
)
from host.installation import Layout, OpenInstallation, open_installation
from host.lock import discovery
from host.lock.plugin import Plugin
from testing.installation import Made, builder, command


class Scanner:
    """A plugin that finds others, as our own plugin for `plugins/` does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @hookimpl
    def find_plugins(self) -> list[PluginFile | Disabled | Watch | BrokenPlugin]:
        return [
            Watch(str(self.folder)),
            PluginFile("found", "here", str(self.folder / "hooks.py")),
            Disabled("acme-cli"),
            BrokenPlugin("half", "only half of it is there"),
        ]

    @hookimpl
    def discover_commands(self) -> list[CommandTree]:
        return [CommandTree(str(self.folder), plugin="found")]


@pytest.fixture
def places(tmp_path: Path) -> OpenInstallation:
    made: Made = builder(tmp_path)({"commands/a/b/command.json": command()})
    root = str(made.root)
    return open_installation(
        Layout("cli", root, f"{root}/core/cli.json"), {"HOME": str(made.home)}
    )


def test_plugins_that_a_plugin_of_ours_finds(
    places: OpenInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "found"
    folder.mkdir()
    (folder / "hooks.py").write_text(
        "from host import hookimpl, CommandDeclaration\n@hookimpl\ndef discover_commands():\n"
        "  yield CommandDeclaration(('x', 'y'), dict(name='Y', description='', entrypoint='m:f'))\n"
    )
    scanner = Scanner(folder)
    monkeypatch.setitem(sys.modules, "a_scanner", scanner)
    monkeypatch.setattr(
        discovery,
        "entry_points",
        lambda: [
            Plugin("builtin.scanner", "cli-host", reference="a_scanner", ours=True),
            Plugin("acme", "Acme.CLI", reference="not_there", package="acme-cli"),
        ],
    )
    lock = discovery.query_plugins(places, "all")
    assert [(tree.path, tree.plugin) for tree in lock.trees] == [(str(folder), "found")]
    assert [one.words for one in lock.commands] == [("x", "y")]
    assert lock.plugins["half"].broken == "only half of it is there"
    assert "acme" not in lock.plugins
    assert str(folder) in lock.stamps
    discovery.refresh(places, messages=_Silent(), safe=True)


class _Silent:
    program = "cli"

    def warn(self, text: str) -> None:
        assert "half" in text


def test_without_the_plugin_of_directories_only_those_are_gone(
    places: OpenInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(places.plugins_dir) / "dropped"
    (folder / "c" / "d").mkdir(parents=True)
    (folder / "plugin.json").write_text('{"hooks": "hooks.py"}')
    (folder / "hooks.py").write_text("")
    everything = discovery.query_plugins(places, "all")
    left = [one for one in discovery.entry_points() if one.name != "builtin.plugins"]
    monkeypatch.setattr(discovery, "entry_points", lambda: left)
    without = discovery.query_plugins(places, "all")
    assert [tree.plugin for tree in everything.trees] == ["", "dropped"]
    assert [tree.plugin for tree in without.trees] == [""]
    gone = everything.plugins.keys() - without.plugins.keys()
    assert gone == {"builtin.plugins", "dropped"}
    left_words = {one.words for one in without.commands}
    for words in {one.words for one in everything.commands} - left_words:
        assert words[:2] in {("self", "plugin"), ("self", "add")}
    assert [one.name for one in without.sources] == [
        one.name for one in everything.sources
    ]


def test_rights_hang_on_the_distribution(
    places: OpenInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pretender:
        @hookimpl
        def discover_commands(self) -> list[Disabled]:
            return [Disabled("another-plugin")]

    monkeypatch.setitem(sys.modules, "a_pretender", Pretender())
    points = [Plugin("builtin.pretender", "stranger", reference="a_pretender")]
    monkeypatch.setattr(discovery, "entry_points", lambda: points)
    lock = discovery.query_plugins(places, "all")
    assert lock.trees == []
    assert "expected one of CommandTree" in lock.plugins["builtin.pretender"].broken
    assert lock.disabled_owner(["x"]) == ""


def test_our_own_defaults_are_right_and_cost_no_child_process(
    places: OpenInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without_children:
        without_children.setattr(
            posix, "fork", None
        )  # a pattern would be matched in one
        commands = discovery.own_commands(places.layout)
    assert ("self", "plugin", "add") in {one.words for one in commands}
    for declared in commands:
        for argument in declared.definition.args:
            if argument.default is not None:
                assert argument.accepts(argument.default), declared.words
