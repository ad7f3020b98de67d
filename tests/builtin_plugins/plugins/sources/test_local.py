"""`self plugin` with directories: linked ones, dropped-in ones, and all that can be wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command
from testing.machine import needs
from testing.packages import answering
from testing.plugin_sources import (
    TELLTALE,
    hidden,
    listed,
    plugin,
    plugin_files,
    registry,
    tar_of,
    visible,
    write_tree,
)

Install = Callable[..., Made]


def test_the_plugins_directory_is_no_plugin(install: Install) -> None:
    made = install({"plugins/p/a/b": "#!/bin/sh\n"})
    failed = plugin(made, "add", str(made.root / "plugins"))
    assert (failed.status, "contains the plugins directory" in failed.stderr) == (
        1,
        True,
    )
    assert listed(made).keys() == {"p"}


def test_a_directory_is_linked_and_live(install: Install, tmp_path: Path) -> None:
    made = install()
    source = write_tree(
        tmp_path / "acme", plugin_files(version="1.2", description="Greets")
    )
    added = plugin(made, "add", str(source))
    assert added.all == (
        0,
        f"acme 1.2 (local, {source})\n  Greets\ncommands: 1\n    demo hi  says hi\nadded acme\n"
        "edits take effect at once\n"
        "remove it with: cli self plugin remove acme\n",
        "",
    )
    assert made.run("demo", "hi", "a b").all == (0, "hi a b\n", "")
    assert "[plugin]" in made.run("demo").stdout
    (source / "demo/hi/main.sh").write_text("#!/bin/sh\necho edited\n")
    assert made.run("demo", "hi").stdout == "edited\n"
    write_tree(source, plugin_files("demo/new", "new"))
    assert made.run("demo", "new").stdout == "new\n"
    entry = registry(made)["acme"]
    assert (entry["kind"], entry["source"], entry["dev"]) == (
        "local",
        str(source),
        True,
    )
    assert (entry["enabled"], entry["version"], entry["commit"]) == (True, "1.2", None)
    assert visible(made) == ["registry.json"]  # nothing is made for it
    assert plugin(made, "list").stdout == (
        "NAME  VERSION  KIND         STATE    WORDS  SOURCE\n"
        f"acme  1.2      local [dev]  enabled  demo   {source}\n"
    )
    assert plugin(made, "update").stdout == "acme: edits take effect at once\n"
    removed = plugin(made, "remove", "acme")
    assert (
        removed.stdout == f"removed acme\nthe plugin's files are untouched: {source}\n"
    )
    assert (source / "demo/hi/main.sh").exists()
    assert made.run("demo", "hi").status == 2
    assert visible(made) == ["registry.json"]
    assert hidden(made) == []


COMPUTED = """
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    fields = {"name": "Py", "description": "Computed", "entrypoint": "platform:main"}
    return [CommandDeclaration(("told", word), fields) for word in ("one", "two")]
"""
WRITTEN = """
import host

@host.hookimpl
def discover_commands(installation):
    fields = None
    yield host.CommandDeclaration(words=("told", "py"), definition={
        "name": "Py", "description": "Written", "entrypoint": "platform:main"})
"""
DECLARED = (
    "commands: 0; its Python code may declare more\nPython hooks: discover_commands\n"
)


@pytest.mark.parametrize(
    "hooks",
    [
        pytest.param(COMPUTED, id="computed"),
        pytest.param(WRITTEN, id="written out", marks=pytest.mark.night),
    ],
)
def test_commands_that_python_declares(
    install: Install, tmp_path: Path, hooks: str
) -> None:
    made = install()
    files = {"plugin.json": {"hooks": "hooks.py"}, "hooks.py": hooks}
    added = plugin(made, "add", str(write_tree(tmp_path / "acme", files)))
    assert (added.status, added.stderr) == (0, "")
    assert f"{DECLARED}added acme\n" in added.stdout
    assert "[plugin]" in made.run("told").stdout
    assert "\n    told " in plugin(made, "show", "acme").stdout
    assert plugin(made, "disable", "acme").status == 0
    assert (
        made.run("told").stderr
        == "cli: unknown command told; plugin acme is disabled\n"
    )


def test_a_dropped_in_directory_works_and_the_next_change_registers_it(
    install: Install,
) -> None:
    made = install()
    made.write({f"plugins/mine/{name}": text for name, text in plugin_files().items()})
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert plugin(made, "show", "mine").stdout.startswith("name:     mine\n")
    assert registry(made) == {}
    assert plugin(made, "disable", "mine").status == 0
    assert (registry(made)["mine"]["kind"], registry(made)["mine"]["dev"]) == (
        "local",
        False,
    )
    assert made.run("demo", "hi").status == 2
    assert plugin(made, "enable", "mine").status == 0

    # The files may be the only copy.
    directory = made.root / "plugins/mine"
    refused = plugin(made, "remove", "mine")
    assert (refused.status, f"rm -r {directory}" in refused.stderr) == (1, True)
    assert made.run("demo", "hi").status == 0
    shutil.rmtree(directory)
    assert plugin(made, "remove", "mine").status == 0
    assert listed(made) == {}


def test_list_shows_what_was_dropped_in_without_running_its_hooks(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    mark = tmp_path / "mark"
    hooks = TELLTALE.format(mark=str(mark))
    source = write_tree(
        tmp_path / "acme", {**plugin_files(hooks="h.py"), "h.py": hooks}
    )
    added = plugin(made, "add", str(source))
    assert "Python hooks: discover_commands\n" in added.stdout
    made.write(
        {"plugins/other/plugin.json": {"hooks": "h.py"}, "plugins/other/h.py": hooks}
    )
    for words in (["list"], ["list", "--format", "json"], ["show", "acme"], ["update"]):
        assert plugin(made, *words).status == 0
    assert set(listed(made)) == {"acme", "other"}
    assert made.run("--version").status == 0
    assert not mark.exists()
    assert "py" in made.run("told").stdout
    assert mark.exists()
    assert made.run("--safe", "told").status == 2


def test_an_edit_of_a_hooks_file_shows_at_once(install: Install) -> None:
    made = install()
    hooks = TELLTALE.format(mark="/dev/null")
    made.write({"plugins/a/plugin.json": {"hooks": "h.py"}, "plugins/a/h.py": hooks})
    assert "Python" in made.run("told").stdout
    made.write({"plugins/a/h.py": hooks.replace('"py"', '"snake"')})
    assert "  snake  Python [plugin]\n" in made.run("told").stdout
    assert not (made.root / "plugins/a/__pycache__").exists()
    plugin(made, "disable", "a")
    assert made.run("told").status == 2


def test_switching_off_and_on(install: Install) -> None:
    made = install()
    made.write({f"plugins/mine/{name}": text for name, text in plugin_files().items()})
    assert plugin(made, "disable", "mine").stdout == "mine is disabled\n"
    assert made.run("demo", "hi").status == 2
    assert listed(made)["mine"]["state"] == "disabled"
    assert plugin(made, "disable", "mine").stdout == "mine is disabled already\n"
    assert plugin(made, "enable", "mine").stdout == "mine is enabled\n"
    assert made.run("demo", "hi").stdout == "hi\n"


def test_adding_twice_says_how_to_go_on(install: Install, tmp_path: Path) -> None:
    made = install()
    source = write_tree(tmp_path / "acme", plugin_files())
    assert plugin(made, "add", str(source)).status == 0
    hints = (
        "edits take effect at once; remove it with: cli self plugin remove acme; "
        "or use --name\n"
    )
    again = plugin(made, "add", str(source))
    assert again.all == (0, f"acme (local, {source}) is already installed; {hints}", "")
    other = write_tree(tmp_path / "other/acme", plugin_files("x/y"))
    refused = plugin(made, "add", str(other))
    assert refused.all == (
        1,
        "",
        f"cli: acme is already the name of the plugin from {source}; to add both, choose another "
        "name with --name; or remove it with: cli self plugin remove acme\n",
    )


def test_a_command_below_an_existing_command_is_refused(
    install: Install, tmp_path: Path
) -> None:
    made = install(
        {
            "commands/demo/hi/command.json": command(),
            "commands/demo/hi/main.sh": "echo own $1",
        }
    )
    source = write_tree(tmp_path / "acme", plugin_files("demo/hi/there"))
    refused = plugin(made, "add", str(source))
    line = (
        "demo hi there would be below demo hi, which is already a command of commands/"
    )
    more = "--force adds acme anyway, but the existing command still runs"
    assert (refused.status, refused.stderr) == (1, f"cli: {line}; {more}\n")
    assert (
        f"{line}; the existing command is used"
        in plugin(made, "add", str(source), "--force").stderr
    )
    assert made.run("demo", "hi", "there").stdout == "own there\n"


def test_words_already_taken_are_refused_or_forced(
    install: Install, tmp_path: Path
) -> None:
    made = install(
        {
            "commands/demo/hi/command.json": command(),
            "commands/demo/hi/main.sh": "echo own",
        }
    )
    source = write_tree(
        tmp_path / "acme", {**plugin_files(), **plugin_files("demo/more", "more")}
    )
    refused = plugin(made, "add", str(source))
    assert refused.status == 1
    assert refused.stderr == (
        "cli: demo hi is already a command of commands/; --force adds acme anyway, but the "
        "existing command still runs\n"
    )
    assert registry(made) == {}
    forced = plugin(made, "add", str(source), "--force")
    assert (
        forced.status,
        "demo hi is already a command of commands/; the existing command is used"
        in forced.stderr,
    ) == (
        0,
        True,
    )
    assert made.run("demo", "hi").stdout == "own\n"
    assert made.run("demo", "more").stdout == "more\n"


def test_words_can_be_forced_while_a_distribution_is_switched_off(
    install: Install, tmp_path: Path
) -> None:
    off = {"name": "acme-cli", "kind": "pip", "source": "acme-cli", "enabled": False}
    made = install(
        {"plugins/registry.json": json.dumps({"version": "1.0.0", "plugins": [off]})}
    )
    for name in ("one", "two"):
        source = write_tree(tmp_path / name, plugin_files("demo/hi", name))
        assert plugin(made, "add", str(source), "--force").status == 0
    assert made.run("demo", "hi").stdout == "one\n"


NAMES = {
    "self": 1, "registry.json": 1, "setup": 1, "help": 1, "Upper": 1, "../x": 1, "a/b": 1,
    ".hidden": 1, "-x": 1, "a b": 1, "x" * 65: 1, "é": 1, "ok-1.2_x": 0,
}  # fmt: skip


@pytest.mark.parametrize(("name", "status"), NAMES.items())
@pytest.mark.sampled
def test_names(install: Install, tmp_path: Path, name: str, status: int) -> None:
    made = install()
    source = write_tree(tmp_path / "acme", plugin_files())
    done = plugin(made, "add", str(source), f"--name={name}")
    assert done.status == status, done.stderr
    assert [*registry(made)] == ([] if status else [name])


BAD_MANIFESTS = {
    "not JSON": ("{", "plugin.json:1:2"),
    "array": ("[]", "expected an object"),
    "name a number": ('{"name": 1}', '"name": expected a string'),
    "bad name": ('{"name": "../../x"}', "is not a valid plugin name"),
    "directory out": ('{"directory": "../.."}', "is outside the plugin"),
    "directory absolute": ('{"directory": "/etc"}', "is outside the plugin"),
    "directory missing": ('{"directory": "nothing"}', "nothing does not exist"),
    "hooks out": ('{"hooks": "../h.py"}', "is outside the plugin"),
    "hooks missing": ('{"hooks": "h.py"}', "h.py does not exist"),
    "key twice": ('{"name": "a", "name": "b"}', "occurs twice"),
    "NUL": ('{"hooks": "a\\u0000b"}', "contains a NUL character"),
}


@pytest.mark.parametrize(("text", "reason"), BAD_MANIFESTS.values(), ids=BAD_MANIFESTS)
@pytest.mark.sampled
def test_a_bad_plugin_json(
    install: Install, tmp_path: Path, text: str, reason: str
) -> None:
    made = install()
    source = write_tree(tmp_path / "acme", {**plugin_files(), "plugin.json": text})
    done = plugin(made, "add", str(source))
    assert (done.status, done.stdout) == (1, "")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
    assert visible(made) == []
    good = {f"plugins/good/{name}": content for name, content in plugin_files().items()}
    bad = {
        f"plugins/bad/{name}": content for name, content in plugin_files("x/y").items()
    }
    made.write({**good, **bad, "plugins/bad/plugin.json": text})
    assert made.run("demo", "hi").stdout == "hi\n"
    if reason not in ("is not a valid plugin name", "h.py does not exist"):
        assert listed(made)["bad"]["state"] == "broken"


def test_a_link_out_of_the_plugin_is_no_directory_of_it(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    outside = write_tree(tmp_path / "outside", plugin_files())
    made.write({"plugins/a/plugin.json": {"directory": "in"}})
    (made.root / "plugins/a/in").symlink_to(outside)
    assert made.run("demo", "hi").status == 2
    assert "is outside the plugin" in listed(made)["a"]["reason"]


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "../x", "kind": "local"},
        {"name": "a", "kind": "local", "directory": "../../outside"},
        {"name": "a", "kind": "local", "hooks": "../../evil.py"},
        {"name": "a", "kind": "what"},
        {"name": "a", "kind": "local", "enabled": "yes"},
        {"name": "a", "kind": "git", "commit": "../../x"},
        {"name": 3, "kind": "local"},
        {"name": "a", "kind": "archive", "sha256": "0/../../../0000"},
    ],
)
@pytest.mark.sampled
def test_a_hostile_registry_harms_nobody(
    install: Install, tmp_path: Path, entry: dict[str, object]
) -> None:
    made = install(
        {
            "commands/demo/hi/command.json": command(),
            "commands/demo/hi/main.sh": "echo own",
        }
    )
    write_tree(made.root / "outside", plugin_files("evil/x"))
    (made.root / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (made.root / "plugins/a").mkdir()
    content = {"version": "1.0.0", "plugins": [entry], "team": {"n": 1.50}}
    made.write({"plugins/registry.json": content})
    assert made.run("demo", "hi").stdout == "own\n"
    assert made.run("evil", "x").status == 2
    assert plugin(made, "list").status == 0
    assert not (tmp_path / "ran").exists()
    source = write_tree(tmp_path / "acme", plugin_files("ok/ok"))
    assert plugin(made, "add", str(source)).status == 0
    assert json.loads((made.root / "plugins/registry.json").read_text())["team"] == {
        "n": 1.5
    }


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"version": "2.0.0", "plugins": []}',
        pytest.param('{"version": 1}', marks=pytest.mark.night),
        pytest.param("[]", marks=pytest.mark.night),
        pytest.param('{"version":"1.0.0"}', marks=pytest.mark.night),
    ],
)
def test_an_unreadable_or_newer_registry_is_left_alone(
    install: Install, tmp_path: Path, content: str
) -> None:
    made = install()
    good = {f"plugins/good/{name}": text for name, text in plugin_files().items()}
    made.write(good)
    assert made.run("demo", "hi").stdout == "hi\n"
    made.write({"plugins/registry.json": content})
    assert made.run("demo", "hi").status == 2
    source = write_tree(tmp_path / "acme", plugin_files("x/y"))
    for words in (
        ["add", str(source)],
        ["remove", "good"],
        ["disable", "good"],
        ["update"],
        ["list"],
    ):
        done = plugin(made, *words)
        assert done.status == 1, words
        assert "registry.json" in done.stderr
    assert (made.root / "plugins/registry.json").read_text() == content


def test_remove_heals_what_is_half_there(install: Install, tmp_path: Path) -> None:
    made = install()
    source = write_tree(tmp_path / "acme", plugin_files())
    plugin(made, "add", str(source))
    shutil.rmtree(source)
    assert listed(made)["acme"]["state"] == "missing"
    assert plugin(made, "remove", "acme").status == 0
    assert registry(made) == {}
    (made.root / "plugins/gone").symlink_to("/nowhere")
    assert plugin(made, "remove", "gone").status == 0
    assert visible(made) == ["registry.json"]
    assert plugin(made, "remove", "gone").all == (
        2,
        "",
        "cli: there is no plugin gone; see: cli self plugin list\n",
    )


def test_it_asks_on_a_terminal(install: Install, tmp_path: Path) -> None:
    made = install()
    source = write_tree(tmp_path / "acme", plugin_files())
    for answer, expected in (("n\n", 1), ("y\n", 0)):
        assert answering(made, answer, "add", str(source)).status == expected
        assert ("acme" in registry(made)) == (expected == 0)


def test_no_plugin_directory_yet_and_odd_places(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    (made.root / "plugins").rmdir()
    assert plugin(made, "list").stdout == (
        "no plugins yet; add one with: cli self plugin add SOURCE\n"
    )
    assert plugin(made, "add", str(made.root)).status == 1
    assert plugin(made, "add", str(tmp_path / "nothing")).stderr.endswith(
        "nothing: no such file or directory\n"
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "contains no command" in plugin(made, "add", str(empty)).stderr
    write_tree(
        empty, {"plugin.json": {"direcotry": "x"}, "a/b/command.json": command()}
    )
    slip = f'{empty}/plugin.json: "direcotry": unknown key; did you mean "directory"?\n'
    assert slip in plugin(made, "add", str(empty)).stderr
    assert plugin(made, "lst").stderr == (
        "cli: unknown command lst in self plugin; did you mean cli self plugin list?\n"
    )
    assert "rollback" in plugin(made).stdout
    assert "SOURCE is one of" in made.run("help", "self", "plugin", "add").stdout


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("enabled", "no"),
        ("kind", "svn"),
        pytest.param("version", 1.5, marks=pytest.mark.night),
        pytest.param("sha256", 3, marks=pytest.mark.night),
    ],
)
def test_an_entry_that_cannot_be_read_costs_no_file(
    install: Install, tmp_path: Path, field: str, value: object
) -> None:
    made = install()
    archive = tmp_path / "acme.tar.gz"
    archive.write_bytes(tar_of(plugin_files()))
    assert plugin(made, "add", str(archive)).status == 0
    good = json.loads((made.root / "plugins/registry.json").read_text())
    bad = json.loads(json.dumps(good))
    bad["plugins"][0][field] = value
    made.write({"plugins/registry.json": bad})
    assert made.run("demo", "hi").status == 2
    row = listed(made)["acme"]
    assert (row["state"], f'"{field}"' in row["reason"]) == ("broken", True)
    source = write_tree(tmp_path / "other", plugin_files("ok/ok"))
    assert plugin(made, "add", str(source)).status == 0
    assert registry(made)["acme"][field] == value
    made.write({"plugins/registry.json": good})
    assert made.run("demo", "hi").stdout == "hi\n"
    assert listed(made)["acme"]["state"] == "enabled"


def test_a_dropped_in_directory_named_like_a_word_of_the_program(
    install: Install,
) -> None:
    made = install()
    words = ("self", "help", "setup")
    for word in words:
        write_tree(made.root / "plugins" / word, plugin_files("demo/hi"))
    rows = listed(made)
    for word in words:
        place = made.root / "plugins" / word
        rule = "use a-z, 0-9, ., _ and -; self, help and setup are reserved"
        reason = f"{place}: is not a valid plugin name; rename the directory: {rule}"
        assert (rows[word]["state"], rows[word]["reason"]) == ("broken", reason)
    assert made.run("demo", "hi").status == 2
    assert registry(made) == {}


def test_a_dropped_in_directory_that_is_gone(install: Install, tmp_path: Path) -> None:
    made = install()
    write_tree(made.root / "plugins/acme", plugin_files())
    mine = write_tree(tmp_path / "mine", plugin_files("mine/hi"))
    assert plugin(made, "add", str(mine)).status == 0
    assert set(listed(made)) == {"acme", "mine"}
    shutil.rmtree(made.root / "plugins/acme")
    shutil.rmtree(mine)
    rows = listed(made)
    for name in ("acme", "mine"):
        assert (rows[name]["state"], rows[name]["reason"]) == (
            "missing",
            "its files are missing",
        )
        assert plugin(made, "remove", name).status == 0
    assert listed(made) == {}


def test_a_reason_is_shown_once(install: Install) -> None:
    made = install()
    files = plugin_files(hooks="hooks.py") | {"hooks.py": "raise OSError('no')\n"}
    write_tree(made.root / "plugins/bunk", files)
    done = made.run("demo", "hi")
    assert done.stdout == "hi\n"
    said = made.run().stderr
    assert said.count(f"{made.root}/plugins/bunk: ") == 1
    assert listed(made)["bunk"]["reason"].count("bunk: ") == 1


def test_a_package_is_told_how_it_is_written(install: Install, tmp_path: Path) -> None:
    made = install()
    assert (
        made.run("self", "new", "plugin", "--python", "greet", cwd=tmp_path).status == 0
    )
    added = plugin(made, "add", str(tmp_path / "greet"))
    assert added.status == 1
    assert "building one runs the package's own code" in added.stdout
    assert "--yes" in added.stderr
    assert registry(made) == {}


def test_a_directory_of_categories_that_comes_later_is_noticed(
    install: Install,
) -> None:
    made = install({"plugins/acme/plugin.json": {"directory": "in/there"}})
    missing = f"there is no directory {made.root}/plugins/acme/in/there"
    assert f"plugin acme is broken: {missing}; " in made.run("demo", "hi").stderr
    assert made.run().stderr.count("\n") == 1
    assert listed(made)["acme"]["reason"] == missing
    assert made.run("demo", "hi").status == 2
    (made.root / "plugins/acme/in").mkdir()
    assert listed(made)["acme"]["state"] == "broken"
    write_tree(made.root / "plugins/acme/in/there", plugin_files())
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert listed(made)["acme"]["state"] == "enabled"


def test_an_addition_that_is_killed_leaves_nothing(
    install: Install, tmp_path: Path
) -> None:
    needs("strace")
    made = install()
    source = write_tree(tmp_path / "bin", {"acme-hello": "#!/bin/sh\necho hello\n"})
    (source / "acme-hello").chmod(0o755)
    renames = "rename,renameat,renameat2"
    # The lock and the index are up to date, so the first rename is that of registry.json.
    assert made.run("self", "plugin", "list").status == 0
    kill = ["-e", f"trace={renames}", "-e", f"inject={renames}:signal=KILL:when=1"]
    words = [
        made.launcher,
        "self",
        "plugin",
        "add",
        source,
        "--prefix",
        "acme-",
        "--name",
        "tools",
    ]
    killed = subprocess.run(
        ["strace", "-f", "-qqq", "-o", "/dev/null", *kill, *words],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
        capture_output=True,
        check=False,
    )
    assert killed.returncode in (-9, 137), killed.stderr
    assert made.run("hello").status == 2
    assert listed(made) == {}
    assert visible(made) == []
    assert plugin(made, *map(str, words[3:])).status == 0
    assert made.run("hello").stdout == "hello\n"
