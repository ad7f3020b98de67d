"""A damaged registry, things in the way, and what repair may and may not remove."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from testing.installation import Made
from testing.plugin_sources import (
    Repository,
    hidden,
    listed,
    plugin,
    plugin_files,
    registry,
    tar_of,
    write_tree,
)

Install = Callable[..., Made]

DAMAGE = {
    "cut short": "{",
    "empty": "",
    "of a newer format": '{"version": "9.0.0", "plugins": []}',
    "a directory": None,
}


def _damage(made: Made, content: str | None) -> Path:
    path = made.root / "plugins/registry.json"
    path.unlink()
    if content is None:
        path.mkdir()
    else:
        path.write_text(content)
    return path


@pytest.fixture(scope="module")
def first(shared_install: Install, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Two plugins with one word each, of which the first is switched off, and one of its word."""
    made, sources = shared_install(), tmp_path_factory.mktemp("sources")
    for name, words in (("one", "both/hi"), ("two", "both/hi"), ("three", "other/hi")):
        source = write_tree(sources / name, plugin_files(words, name))
        assert plugin(made, "add", str(source), "--force").status == 0
    assert plugin(made, "disable", "three").status == 0
    return made


@pytest.fixture
def two(first: Made, tmp_path: Path) -> Made:
    """A copy of the first installation, to be damaged."""
    root, home = tmp_path / "installation", tmp_path / "home"
    shutil.copytree(first.root, root, symlinks=True)
    home.mkdir()
    return Made(root, root / "core/cli", home)


@pytest.mark.parametrize("content", DAMAGE.values(), ids=DAMAGE)
def test_the_last_intact_state_counts(two: Made, content: str | None) -> None:
    path = _damage(two, content)
    done = two.run("both", "hi")
    assert (done.status, done.stdout) == (0, "one\n")
    assert two.run("other", "hi").status == 2
    told = two.run()
    assert told.status == 0
    assert "its last intact version is used until it is repaired" in told.stderr
    assert told.stderr.count("\n") == 1
    states = {name: row["state"] for name, row in listed(two).items()}
    assert states == {"one": "enabled", "two": "enabled", "three": "disabled"}
    refused = plugin(two, "enable", "three")
    assert (refused.status, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert path.is_dir() if content is None else path.read_text() == content


def test_a_registry_that_is_lost_comes_back_as_it_was(two: Made) -> None:
    path = two.root / "plugins/registry.json"
    before = path.read_text()
    path.unlink()
    assert two.run("other", "hi").status == 2
    assert two.run("both", "hi").stdout == "one\n"
    assert path.read_text() == before


def test_what_was_written_by_hand_is_an_intact_state_too(two: Made) -> None:
    path = two.root / "plugins/registry.json"
    path.write_text(path.read_text().replace('"enabled": true', '"enabled": false', 1))
    assert two.run("both", "hi").stdout == "two\n"
    _damage(two, "{")
    assert two.run("both", "hi").stdout == "two\n"


def _replace(text: str, pattern: str, by: str) -> bytes:
    changed, count = re.subn(pattern, by, text)
    assert count
    return changed.encode()


# What a file may become. "name", "enabled" and "kind" change one value or key of a disabled plugin.
WHOLE: dict[str, Callable[[str], bytes | None]] = {
    "truncated": lambda text: text[:-4].encode(),
    "garbage": lambda _: b"\x8f\x00 garbage",
    "array": lambda _: b"[]",
    "newer": lambda text: text.replace(
        '"version": "1.0.0"', '"version": "2.0.0"', 1
    ).encode(),
    "FIFO": lambda _: None,
    "dangling link": lambda _: None,
    "lost": lambda _: None,
}
PARTS: dict[str, Callable[[str], bytes]] = {
    "name": lambda text: _replace(
        text, r'"name": "(linked|dropped|packed)"', r'"name": "x\1"'
    ),
    "bad name": lambda text: _replace(
        text, r'"name": "(linked|dropped|packed)"', r'"name": "X \1"'
    ),
    "no name": lambda text: _replace(
        text, r'"name": "(linked|dropped|packed)"', r'"nome": "\1"'
    ),
    "odd name": lambda text: _replace(
        text, r'"name": "(linked|dropped|packed)"', r'"name": ["\1"]'
    ),
    "enabled": lambda text: _replace(text, '"enabled": false', '"enabled": 0'),
    "key": lambda text: _replace(text, '"enabled": false', '"enable": false'),
}


@pytest.fixture(scope="module")
def switched_off(
    shared_install: Install, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    """One plugin of each kind is disabled, and one more is enabled."""
    made, sources = shared_install(), tmp_path_factory.mktemp("sources")
    write_tree(made.root / "plugins/dropped", plugin_files("off/dropped"))
    linked = write_tree(sources / "linked", plugin_files("off/linked"))
    packed = sources / "packed.tar.gz"
    packed.write_bytes(tar_of(plugin_files("off/packed")))
    running = sources / "running.tar.gz"
    running.write_bytes(tar_of(plugin_files("on/hi", "hi")))
    for source in (linked, packed, running):
        assert plugin(made, "add", str(source)).status == 0
    assert set(listed(made)) == {"dropped", "linked", "packed", "running"}
    return made


@pytest.fixture(scope="module")
def disabled(
    switched_off: Made, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Return `disabled(name)`: a root with three plugins disabled in that file, made once."""

    @cache
    def make(name: str) -> Path:
        place = tmp_path_factory.mktemp("disabled")
        root = shutil.copytree(switched_off.root, place / "installation", symlinks=True)
        made = Made(root, root / "core/cli", place)
        path = root / "plugins" / name
        if name == "registry.local.json":
            path.write_text('{"version": "1.0.0", "plugins": []}')
        for plugin_name in ("dropped", "linked", "packed"):
            assert plugin(made, "disable", plugin_name).status == 0
        assert path.read_text().count('"enabled": false') == 3
        return root

    return make


@pytest.fixture(params=["registry.json", "registry.local.json"])
def damaged(
    disabled: Callable[[str], Path], tmp_path: Path, request: pytest.FixtureRequest
) -> Path:
    """Return the path of one of the two files, in which three plugins are disabled."""
    root, home = tmp_path / "installation", tmp_path / "home"
    shutil.copytree(disabled(request.param), root, symlinks=True)
    home.mkdir()
    made = Made(root, root / "core/cli", home)
    assert made.run("on", "hi").stdout == "hi\n"
    return root / "plugins" / str(request.param)


def _runs(path: Path) -> tuple[list[str], str]:
    """Return the disabled commands that run, and what the listing reports."""
    root = path.parent.parent
    made = Made(root, root / "core/cli", root.parent / "home")
    for _ in range(2):  # before and after a repair
        for name in ("dropped", "linked", "packed"):
            if made.run("off", name).status != 2:
                return [name], ""
    return [], made.run().stderr


@pytest.mark.parametrize("damage", WHOLE)
def test_a_file_that_cannot_be_read_enables_nothing(damaged: Path, damage: str) -> None:
    content = WHOLE[damage](damaged.read_text())
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)
    elif damage == "FIFO":
        os.mkfifo(damaged)
    elif damage == "dangling link":
        damaged.symlink_to("gone/file")
    running, reported = _runs(damaged)
    assert running == []
    made = Made(
        damaged.parent.parent, damaged.parent.parent / "core/cli", damaged.parents[2]
    )
    assert made.run("on", "hi").stdout == "hi\n"
    write_tree(damaged.parent / "late", plugin_files("late/hi", "late"))
    if damage == "lost":  # it comes back as it was
        assert (reported, damaged.read_text().count('"enabled": false')) == ("", 3)
        assert made.run("late", "hi").stdout == "late\n"
        return
    assert f"{damaged}" in reported
    assert "its last intact version is used until it is repaired" in reported
    assert reported.count("\n") == 1
    assert made.run("late", "hi").status == 2  # nobody knows whether it was disabled
    refused = plugin(made, "enable", "linked")
    assert (refused.status, refused.stdout, str(damaged) in refused.stderr) == (
        1,
        "",
        True,
    )


@pytest.mark.parametrize("damage", PARTS)
def test_a_damaged_entry_enables_nothing(damaged: Path, damage: str) -> None:
    damaged.write_bytes(PARTS[damage](damaged.read_text()))
    running, reported = _runs(damaged)
    assert running == []
    if damage != "name" or damaged.name == "registry.local.json":
        assert f"plugins/{damaged.name}" in reported
        other = {"registry.json", "registry.local.json"} - {damaged.name}
        assert f"plugins/{other.pop()}" not in reported


def test_without_an_intact_copy_no_plugin_runs(damaged: Path) -> None:
    for copy in damaged.parent.glob(".registry*.last.json"):
        copy.unlink()
    damaged.write_text("{")
    running, reported = _runs(damaged)
    assert (running, str(damaged) in reported) == ([], True)


def test_somebody_may_enable_a_plugin_by_hand(damaged: Path) -> None:
    values = json.loads(damaged.read_text())
    for entry in values["plugins"]:
        if entry["name"] == "linked":
            entry["enabled"] = True
    damaged.write_text(json.dumps(values))
    assert _runs(damaged)[0] == ["linked"]


def _without_rights(made: Made, *words: str) -> subprocess.CompletedProcess[str]:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    drop = [
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-all",
    ]
    return subprocess.run(
        [*drop, made.launcher, *words], capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
    )  # fmt: skip


def test_files_that_cannot_be_removed_are_named_and_never_installed(
    install: Install, tmp_path: Path
) -> None:
    """As after a command that filled a module cache of Go: its directories are read-only."""
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    plugins = made.root / "plugins"
    assert plugin(made, "add", repository.url).status == 0
    write_tree(plugins / "acme", {"cache/mod/file": "x"})
    (plugins / "acme/cache/mod").chmod(0o555)
    removed = _without_rights(made, "self", "plugin", "remove", "acme")
    [left] = plugins.glob(".versions/acme/.cli-stage-*")
    problem = f"{left} cannot be removed: Permission denied; rm -r {left}\n"
    assert (removed.returncode, removed.stdout) == (1, "removed acme\n")
    assert removed.stderr == f"cli: {problem}"
    added = _without_rights(made, "self", "plugin", "add", repository.url)
    assert (added.returncode, added.stderr) == (0, f"cli: warning: {problem}")
    assert _without_rights(made, "demo", "hi").stdout == "hi\n"
    assert sorted(os.listdir(plugins / "acme")) == ["demo"]
    (left / "tree/cache/mod").chmod(0o755)
    removed = _without_rights(made, "self", "plugin", "remove", "acme")
    assert (removed.returncode, removed.stdout, removed.stderr) == (
        0,
        "removed acme\n",
        "",
    )
    assert hidden(made) == []
    assert list((plugins / ".versions").iterdir()) == []


def test_a_kept_version_that_lost_files_is_not_used(
    install: Install, tmp_path: Path
) -> None:
    """As a removal left it that did not take versions away in one step."""
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    versions = made.root / "plugins/.versions/acme"
    for record in (True, False):
        assert plugin(made, "add", repository.url).status == 0
        shutil.copytree(versions, tmp_path / f"kept-{record}")
        assert plugin(made, "remove", "acme").status == 0
        shutil.copytree(tmp_path / f"kept-{record}", versions)
        [script] = versions.rglob("main.sh")
        script.unlink()
        if not record:
            next(versions.rglob("entry.json")).unlink()
        assert plugin(made, "add", repository.url).status == 0
        assert made.run("demo", "hi").stdout == "hi\n"
        assert plugin(made, "remove", "acme").status == 0


def test_others_read_what_was_added_under_a_narrow_umask(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(tar_of(plugin_files("packed/hi")))
    for source in (repository.url, str(packed)):
        assert (
            plugin(made, "add", source, preexec_fn=lambda: os.umask(0o077)).status == 0
        )
    repository.commit(plugin_files("demo/hi", "new"))
    assert (
        plugin(made, "update", "acme", preexec_fn=lambda: os.umask(0o077)).status == 0
    )
    for path in (made.root / "plugins").rglob("*"):
        mode = path.stat().st_mode & 0o777
        assert mode & 0o044 == 0o044, path
        assert not path.is_dir() or mode & 0o055 == 0o055, path


def test_a_pipe_as_hooks_file_hangs_nobody(install: Install, tmp_path: Path) -> None:
    files = plugin_files("demo/hi", name="acme", hooks="hooks.py")
    made = install({f"plugins/acme/{name}": text for name, text in files.items()})
    os.mkfifo(made.root / "plugins/acme/hooks.py")
    for words in ([], ["self", "plugin", "show", "acme"], ["self", "plugin", "list"]):
        assert made.run(*words).status == 0
    source = write_tree(tmp_path / "other", files)
    os.mkfifo(source / "hooks.py")
    refused = plugin(made, "add", str(source), "--name", "other")
    assert refused.all == (1, "", f"cli: {source}/hooks.py: not a regular file\n")


@pytest.mark.parametrize("name", [".versions", ".cli-stage-12345678", ".removed"])
def test_repair_never_follows_a_link(
    install: Install, tmp_path: Path, name: str
) -> None:
    """What lies behind it may be another installation's."""
    made, other = install(), install()
    (tmp_path / "packed.tar.gz").write_bytes(tar_of(plugin_files("demo/hi")))
    for one in (made, other):
        assert plugin(one, "add", str(tmp_path / "packed.tar.gz")).status == 0
    theirs = other.root / "plugins" / name
    write_tree(theirs, {"acme/0123/file": "theirs"})
    own = made.root / "plugins" / name
    if own.is_dir():
        own.rename(tmp_path / "away")
    own.symlink_to(theirs)
    before = sorted(theirs.rglob("*"))
    (made.root / "cli.lock").unlink(missing_ok=True)
    assert made.run("--help").status == 0
    assert plugin(made, "list").status == 0
    removed = plugin(made, "remove", "packed")
    if name.startswith(".cli-stage-"):  # no name of ours, so it is in nobody's way
        assert removed.all == (0, "removed packed\n", "")
    else:
        assert removed.all == (1, "", f"cli: {own}: must not be a link; remove it\n")
    assert own.is_symlink()
    assert sorted(theirs.rglob("*")) == before


def test_repair_removes_what_it_can_prove_to_have_made(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(tar_of(plugin_files("demo/hi")))
    assert plugin(made, "add", str(packed)).status == 0
    plugins = made.root / "plugins"
    foreign = {
        ".versions/mine/notes": "x", ".versions/packed/backup/file": "x", ".change-log/file": "x",
        ".editor.tmp": "x", ".versions/packed/0123/entry.json": "{}",
    }  # fmt: skip
    write_tree(plugins, foreign)
    for version in (plugins / ".versions/packed").iterdir():
        if (version / "tree").is_dir():
            shutil.copytree(version, plugins / ".versions/gone" / version.name)
            entry = plugins / ".versions/gone" / version.name / "entry.json"
            entry.write_text(entry.read_text().replace('"packed"', '"gone"'))
    write_tree(plugins, {".cli-stage-abcd1234/tree/half": "x"})
    (plugins / ".registry.json.tmp").write_text("half")
    (plugins / ".linked.tmp").symlink_to(tmp_path)
    assert plugin(made, "disable", "packed").status == 0
    assert all((plugins / name).read_text() for name in foreign)
    assert not (plugins / ".versions/gone").exists()
    assert not (plugins / ".cli-stage-abcd1234").exists()
    assert not (plugins / ".registry.json.tmp").exists()
    assert not (plugins / ".linked.tmp").is_symlink()
    assert set(registry(made)) == {"packed"}
    assert hidden(made) == [".change-log", ".editor.tmp"]


def test_an_interrupted_removal_is_undone_or_finished(two: Made) -> None:
    """As a kill leaves it before the registry is written, and after that."""
    plugins = two.root / "plugins"
    for name in ("before", "after"):
        write_tree(plugins / name, plugin_files(f"{name}/hi"))
    assert set(listed(two)) == {"one", "two", "three", "before", "after"}
    for name in ("three", "before", "after"):
        (plugins / name).rename(plugins / f".{name}.cli-former")
    values = json.loads((plugins / "registry.json").read_text())
    values["plugins"] = [one for one in values["plugins"] if one["name"] != "after"]
    (plugins / "registry.json").write_text(json.dumps(values))
    assert two.run("before", "hi").status == 0
    assert set(registry(two)) == set(listed(two)) == {"one", "two", "three", "before"}
    [kept] = (plugins / ".removed").iterdir()
    assert kept.name.startswith("after-")
    assert hidden(two) == []


def test_an_interrupted_addition_of_a_directory(
    install: Install, tmp_path: Path
) -> None:
    """The link to a user's directory gets its name only if the registry has the plugin."""
    made = install()
    directory = write_tree(tmp_path / "linked", plugin_files("linked/hi"))
    assert plugin(made, "add", str(directory)).status == 0
    plugins = made.root / "plugins"
    (plugins / "linked").rename(plugins / ".linked.cli-next")
    (plugins / ".other.cli-next").symlink_to(directory)
    assert made.run("linked", "hi").stdout == "hi\n"
    assert set(listed(made)) == {"linked"}
    assert hidden(made) == []
