"""What plugins declare: the records of each hook, and the order that they come in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from host import (
    CommandTree,
    Disabled,
    Installation,
    PluginFile,
    Problem,
    Watch,
    hookimpl,
)
from host.planning import discovery
from host.planning.distributions import entry_points
from host.planning.needed_plugins import serving
from host.run.installation import Layout, OpenInstallation, open_installation
from host.run.lock import Plugin
from host.run.text import Messages
from testing.installation import Made, builder, command


class Scanner:
    """A plugin that finds others, as our own plugin for `plugins/` does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prepared = 0

    @hookimpl
    def prepare(self, installation: Installation) -> None:
        assert installation.root
        self.prepared += 1

    @hookimpl
    def find_plugins(self) -> list[PluginFile | Disabled | Watch | Problem]:
        return [
            Watch(str(self.folder)),
            PluginFile("found", "here", str(self.folder / "hooks.py")),
            Disabled("acme-cli"),
            Problem("half", "only half of it is there"),
        ]

    @hookimpl
    def discover_commands(self) -> list[CommandTree]:
        return [CommandTree(str(self.folder), plugin="found")]


@pytest.fixture
def places(tmp_path: Path) -> OpenInstallation:
    made: Made = builder(tmp_path)({"commands/a/b/command.json": command()})
    root = str(made.root)
    return open_installation(Layout("cli", root, f"{root}/core/cli.json"), {"HOME": str(made.home)})


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
            Plugin("acme", "Acme.CLI", reference="not_there", project="acme-cli"),
        ],
    )
    lock = discovery.ask_plugins(places, python=True)
    assert [(tree.path, tree.plugin) for tree in lock.trees] == [(str(folder), "found")]
    assert [one.words for one in lock.commands] == [("x", "y")]
    assert lock.plugins["half"].broken == "only half of it is there"
    assert "acme" not in lock.plugins
    assert str(folder) in lock.stamps
    assert scanner.prepared == 0
    discovery.refresh(places, messages=_Silent())
    assert scanner.prepared == 1


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
    everything = discovery.ask_plugins(places, python=True)
    left = [one for one in entry_points() if one.name != "builtin.plugins_folder"]
    monkeypatch.setattr(discovery, "entry_points", lambda: left)
    without = discovery.ask_plugins(places, python=True)
    assert [tree.plugin for tree in everything.trees] == ["", "dropped"]
    assert [tree.plugin for tree in without.trees] == [""]
    gone = everything.plugins.keys() - without.plugins.keys()
    assert gone == {"builtin.plugins_folder", "dropped"}
    assert [one.words for one in without.commands] == [one.words for one in everything.commands]
    assert [one.name for one in without.sources] == [one.name for one in everything.sources]


SERVES = {  # words, what the plugin's Python says, whether it is asked
    "our command, a plugin of commands": ("a b", "discover_commands", False),
    "our command, a plugin of variables": ("a b", "env_sources", True),
    "our command, hooks of another package": ("a b", "from shared_hooks import  *", True),
    "a plugin's command, one that may go before it": ("p c", "discover_commands tryfirst", True),
    "a plugin's command, one that may not": ("p c", "discover_commands", False),
    "a command that is nowhere else": ("x y", "discover_commands", True),
    "a listing": ("", "is_installed", True),
}


@pytest.mark.parametrize(("words", "says", "asked"), SERVES.values(), ids=SERVES)
def test_where_no_lock_can_be_written_a_run_asks_only_who_may_serve_it(
    tmp_path: Path, words: str, says: str, asked: bool
) -> None:
    """A package that hangs would cost three seconds in each run."""
    made: Made = builder(tmp_path)(
        {
            "commands/a/b/command.json": command(),
            "plugins/one/p/c/command.json": command(),
            "plugins/two/plugin.json": {"hooks": "hooks.py"},
            "plugins/two/hooks.py": f"# {says}\nopen({str(tmp_path / 'asked')!r}, 'w')\n",
        }
    )
    layout = Layout("cli", str(made.root), f"{made.root}/core/cli.json")
    installation = open_installation(layout, {"HOME": str(made.home)})
    installation.locks = ("/dev/null/cli.lock",)
    discovery.refresh(installation, Messages("cli", {}), run=tuple(words.split()))
    assert (tmp_path / "asked").exists() == asked


PACKAGES = {  # files, the entry point, whether the package may have variables
    "none": ({"hooks.py": "x = 1\n"}, "acme.hooks", False),
    "in one of its files": ({"hooks.py": "", "z.py": "def env_sources(): ...\n"}, "acme", True),
    "too many files to look at": ({f"m{number}.py": "" for number in range(2001)}, "acme", True),
    "an object that may be anybody's": ({"hooks.py": "from b import it\n"}, "acme.hooks:it", True),
}


@pytest.mark.parametrize(("files", "reference", "asked"), PACKAGES.values(), ids=PACKAGES)
def test_a_package_is_left_out_only_where_all_of_it_was_looked_at(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    reference: str,
    asked: bool,
) -> None:
    package = tmp_path / "acme"
    package.mkdir()
    for name, text in {"__init__.py": "", **files}.items():
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    plugin = Plugin("acme", "acme", reference=reference)
    assert serving([plugin], ["a", "b"], []) == [plugin] * asked


def test_rights_hang_on_the_distribution(
    places: OpenInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pretender:
        @hookimpl
        def discover_commands(self) -> list[CommandTree]:
            return [CommandTree("/x", finder="antigravity:fly")]

    monkeypatch.setitem(sys.modules, "a_pretender", Pretender())
    points = [Plugin("builtin.pretender", "stranger", reference="a_pretender")]
    monkeypatch.setattr(discovery, "entry_points", lambda: points)
    lock = discovery.ask_plugins(places, python=True)
    assert lock.trees == []
    assert "only plugins of cli-host may name one" in lock.plugins["builtin.pretender"].broken
