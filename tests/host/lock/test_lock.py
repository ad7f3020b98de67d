"""The lock: the same result with it, without it and with garbage in it; and never stale."""

import json
import os
import shutil

import pytest

from host.catalog.declared_commands import Declared
from host.installation import Layout, open_installation
from host.lock.lock import FORMAT, Lock, checksum, read_lock, stamp
from host.lock.plugin import Plugin
from host.lock.write_lock import write_lock
from host.record_base import CommandTree, EnvSource
from testing.installation import command


def script(text: str) -> str:
    return f"#!/bin/sh\necho {text}\n"


def add(made, path: str, text: str, **fields) -> None:
    made.write(
        {f"{path}/command.json": command(**fields), f"{path}/main.sh": script(text)}
    )


@pytest.fixture
def made(install):
    made = install()
    add(made, "commands/demo/one", "one", description="First", envs={"A": "1"})
    add(made, "plugins/extra/demo/two", "two")
    made.run("demo", "one")
    return made


WORDS = [
    ("demo", "one"),
    ("demo", "two", "x"),
    ("demo", "none"),
    ("demo",),
    (),
    ("self", "list", "--format", "json"),
    ("demo", "one", "--help"),
]


def answers(made):
    return [made.run(*words).all for words in WORDS]


def sum_kept(body: bytes) -> bytes:
    """Return a lock whose checksum is right and whose content is not."""
    return FORMAT + checksum(body) + b"\n" + body


GARBAGE = {
    "empty": b"",
    "bytes": bytes(range(256)) * 40,
    "no object": sum_kept(b"[]"),
    "null": sum_kept(b"null"),
    "no keys": sum_kept(b"{}"),
    "wrong types": sum_kept(b'{"key": 1, "stamps": [], "trees": 5}'),
    "another installation's": sum_kept(b'{"key": "x", "stamps": {}}'),
    "deep": sum_kept(b"[" * 100_000),
    "not UTF-8": sum_kept(b"\xff"),
}


def spoiled(whole: bytes) -> dict[str, bytes]:
    return {
        **GARBAGE,
        "cut short": whole[: len(whole) // 2],
        "one bit": whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
        "head only": whole.partition(b"\n")[0],
        "no head": whole.partition(b"\n")[2],
        "another version": whole.replace(b"lock ", b"lock 9", 1),
    }


@pytest.mark.night
def test_with_and_without_and_with_garbage_it_is_the_same(made):
    lock = made.root / "cli.lock"
    expected = answers(made)
    assert [status for status, _, _ in expected] == [0, 0, 2, 0, 0, 0, 0]
    assert "Traceback" not in str(expected)
    whole = lock.read_bytes()
    lock.unlink()
    assert answers(made) == expected
    for name, content in spoiled(whole).items():
        lock.write_bytes(content)
        assert made.run(*WORDS[1]).all == expected[1], name
        lock.write_bytes(content)
        assert read_lock([str(lock)], "?") is None
    lock.write_bytes(b"junk")
    assert answers(made) == expected


def test_the_lock_that_tests_begin_with_is_what_a_first_run_writes(install):
    """The builder copies one: a run keeps it, and builds the same without it."""
    made = install()
    add(made, "commands/demo/one", "one")
    lock = made.root / "cli.lock"
    first = lock.read_text()
    assert made.run("demo", "one").stdout == "one\n"
    assert lock.read_text() == first
    lock.unlink()
    assert made.run("demo", "one").stdout == "one\n"
    _, *lines = lock.read_text().split("\n")
    _, *before = first.split("\n")
    assert list(map(json.loads, lines)) == list(map(json.loads, before))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [os.mkdir, os.mkfifo, lambda path: os.symlink(path, path),
     lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("nowhere/x", path)],
    ids=["directory", "fifo", "loop", "device", "dangling"],
)  # fmt: skip
def test_a_lock_that_is_no_file(made, make):
    lock = made.root / "cli.lock"
    lock.unlink()
    make(lock)
    for words, answer in (("one",), "one\n"), (("two", "x"), "two\n"):
        assert made.run("demo", *words).all == (0, answer, "")


@pytest.mark.slow
def test_an_installation_that_cannot_be_written(made):
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("setpriv as root is needed")
    (made.root / "cli.lock").unlink()
    made.root.chmod(0o555)
    drop = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    run = [*drop, made.launcher, "demo", "one"]
    cache = made.home / "cache"
    env = {"XDG_CACHE_HOME": str(cache)}
    try:
        for _ in range(2):
            assert made.run(*run, executable=setpriv, env=env).all == (0, "one\n", "")
        assert not (made.root / "cli.lock").exists()
        assert len(list((cache / "cli-host").iterdir())) == 1
        add(made, "plugins/extra/demo/three", "three")
        run[-1] = "three"
        assert made.run(*run, executable=setpriv, env=env).all == (0, "three\n", "")
        # No place at all: it runs all the same.
        assert (
            made.run(*run, executable=setpriv, env={"XDG_CACHE_HOME": "/proc/x"}).status
            == 0
        )
    finally:
        made.root.chmod(0o755)


@pytest.mark.slow
def test_no_temporary_file_is_left(made):
    (made.root / "cli.lock").unlink()
    made.run("demo", "one")
    assert sorted(path.name for path in made.root.iterdir()) == [
        *("cli.lock", "commands", "core", "plugins"),
    ]


def test_it_holds_no_values(made):
    made.write({"config/settings.conf": "TOKEN=secret-1\n"})
    add(made, "commands/demo/one", "one", envs={"TOKEN": "secret-2"})
    made.run("demo", "one", env={"TOKEN": "secret-3"})
    assert b"secret-" not in (made.root / "cli.lock").read_bytes()


def runner(made):
    """Return `run(*words)`, which gives status and stdout: one run after each change."""

    def run(*words):
        result = made.run(*words)
        return result.status, result.stdout.strip()

    return run


@pytest.mark.slow
def test_each_change_of_a_command_shows_in_the_very_next_run(made):
    commands = made.root / "commands"
    run = runner(made)
    add(made, "commands/demo/new", "new")
    assert run("demo", "new") == (0, "new")
    made.write({"commands/demo/new/main.sh": script("edited")})
    assert run("demo", "new") == (0, "edited")
    made.write({"commands/demo/new/command.json": command(entrypoint="other.sh")})
    made.write({"commands/demo/new/other.sh": script("other")})
    assert run("demo", "new") == (0, "other")
    made.write({"commands/demo/new/command.json": "{"})
    assert run("demo", "new") == (1, "")
    made.write({"commands/demo/new/command.json": command(aliases=["neu"])})
    assert run("demo", "neu") == (0, "edited")
    (commands / "demo" / "new").rename(commands / "demo" / "renamed")
    assert run("demo", "new")[0] == 2
    assert run("demo", "renamed") == (0, "edited")
    shutil.rmtree(commands / "demo" / "renamed")
    assert run("demo", "renamed")[0] == 2
    # Shadowing, and what was shadowed coming back.
    add(made, "commands/demo/two", "own two")
    assert run("demo", "two") == (0, "own two")
    shutil.rmtree(commands / "demo" / "two")
    assert run("demo", "two") == (0, "two")


@pytest.mark.slow
def test_each_change_of_a_plugin_shows_in_the_very_next_run(made):
    plugins = made.root / "plugins"
    run = runner(made)
    add(made, "plugins/drop/drops/it", "dropped")
    assert run("drops", "it") == (0, "dropped")
    add(made, "plugins/drop/inner/inside/it", "inside")
    made.write({"plugins/drop/plugin.json": {"name": "drop", "directory": "inner"}})
    assert run("inside", "it") == (0, "inside")
    assert run("drops", "it")[0] == 2
    made.write({"plugins/drop/plugin.json": {"name": "drop"}})
    assert run("drops", "it") == (0, "dropped")
    (plugins / "drop").rename(made.root / "elsewhere")
    assert run("drops", "it")[0] == 2
    (plugins / "linked").symlink_to(made.root / "elsewhere")
    assert run("drops", "it") == (0, "dropped")
    shutil.copytree(made.root / "elsewhere", made.root / "another")
    made.write({"another/drops/it/main.sh": script("another")})
    (plugins / "linked").unlink()
    (plugins / "linked").symlink_to(made.root / "another")
    assert run("drops", "it") == (0, "another")
    (plugins / "linked").unlink()
    assert run("drops", "it")[0] == 2


@pytest.mark.slow
def test_each_change_of_configuration_shows_in_the_very_next_run(made):
    run = runner(made)
    add(made, "elsewhere/drops/it", "dropped")
    config = made.root / "core" / "cli.json"
    old = config.read_text()
    config.write_text(json.dumps({**json.loads(old), "commands_dir": "elsewhere"}))
    assert run("drops", "it") == (0, "dropped")
    config.write_text(old)
    assert run("drops", "it")[0] == 2
    # Settings and .env files come and go too.
    made.write({"commands/demo/one/main.sh": '#!/bin/sh\necho "$S"\n'})
    made.write({"config/settings.conf": "S=set\n"})
    assert run("demo", "one") == (0, "set")
    (made.root / "config" / "settings.conf").unlink()
    assert run("demo", "one") == (0, "")


@pytest.mark.slow
def test_the_whole_installation_moves(made):
    """A lock that came along with a copy or a move counts for nothing."""
    from dataclasses import replace

    from builtin_plugins.program.launcher import write_launcher

    moved = made.root.parent / "moved"
    shutil.copytree(made.root, moved, symlinks=True)
    copy = replace(made, root=moved, launcher=moved / "core" / "cli")
    write_launcher(str(copy.launcher))
    copy.write({"plugins/extra/demo/two/main.sh": script("moved")})
    assert copy.run("demo", "two").all == (0, "moved\n", "")
    assert made.run("demo", "two").all == (0, "two\n", "")


def test_two_programs_share_an_installation(made):
    other = made.root / "core" / "other"
    shutil.copy(made.launcher, other)
    for executable in (None, other, None):
        assert made.run("demo", "two", executable=executable).all == (0, "two\n", "")


def test_stamps(tmp_path):
    file = tmp_path / "file"
    assert stamp(str(file)) == ""
    file.write_text("1")
    first = stamp(str(file))
    assert first
    file.write_text("22")
    assert stamp(str(file)) != first


def test_places(tmp_path):
    config = tmp_path / "cli.json"
    config.write_text('{"name": "N", "version": "1.0.0"}')

    def places(root):
        layout = Layout("cli", root, str(config))
        return open_installation(layout, {"XDG_CACHE_HOME": "/cache"}).locks

    assert places("/a%b/c") == (
        "/a%b/c/cli.lock",
        "/cache/cli-host/%2Fa%25b%2Fc%2Fcli.lock",
    )
    for part in ("x", "会" * 80):
        _, cached = places(f"/{part}" * 3000)
        assert len(os.path.basename(cached).encode()) <= 255


def a_lock(**stamps: str) -> Lock:
    plugin = Plugin("p", "distribution", "1.0", "p.hooks")
    plugin.hooks, plugin.trees = {"env_sources": -1}, ["/t"]
    broken = Plugin("q")
    broken.broken = "a reason"
    return Lock(
        [CommandTree("/t", "p", dev=True)],
        [Declared(("a", "b"), b'{"name": "B", "entrypoint": "m:f"}', "p", ours=True)],
        [EnvSource("s", 2.5, ("/f",), "", ("w",), plugin="p")],
        plugins={plugin.name: plugin, broken.name: broken},
        stamps=stamps,
    )


def test_written_and_read(tmp_path):
    place = str(tmp_path / "deep" / "lock")
    watched = tmp_path / "watched"
    written = a_lock(**{str(watched): stamp(str(watched))})
    write_lock([place], "key", written)
    found = read_lock([str(tmp_path / "none"), place], "key")
    for kind in ("trees", "commands", "sources"):
        [one], [again] = getattr(written, kind), getattr(found, kind)
        assert json.dumps(again.row(), default=repr) == json.dumps(
            one.row(), default=repr
        )
    assert found.plugins.keys() == written.plugins.keys()
    for name, plugin in written.plugins.items():
        assert json.dumps(found.plugins[name].row()) == json.dumps(plugin.row())
    assert found.warnings("acme") == [
        "plugin q is broken: a reason; see: acme self plugin list"
    ]
    assert read_lock([place], "other key") is None
    watched.write_text("")
    assert read_lock([place], "key") is None


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666], ids=oct)
def test_a_lock_that_others_can_write_is_none(tmp_path, mode):
    place = tmp_path / "lock"
    write_lock([str(place)], "key", a_lock())
    assert read_lock([str(place)], "key") is not None
    place.chmod(mode)
    assert read_lock([str(place)], "key") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_lock_of_somebody_else_is_none(tmp_path):
    place = tmp_path / "lock"
    write_lock([str(place)], "key", a_lock())
    os.chown(place, 65534, 65534)
    assert read_lock([str(place)], "key") is None


def test_what_a_killed_writer_left_is_taken_over(tmp_path):
    (tmp_path / ".lock.new").write_text("half of a lo" * 1000)
    write_lock([str(tmp_path / "lock")], "key", a_lock())
    assert os.listdir(tmp_path) == ["lock"]
    assert read_lock([str(tmp_path / "lock")], "key") is not None


ODD = {
    "another shape": {"trees": [[1]]},
    "a finder of somebody": {"trees": [["/t", "", False, None, "antigravity:fly"]]},
    "no stamps": {"stamps": None},
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_odd_contents_with_a_checksum_are_no_lock(tmp_path, change):
    place = tmp_path / "lock"
    write_lock([str(place)], "key", a_lock())
    _, body, *definitions = place.read_bytes().split(b"\n")
    raw = b"\n".join([json.dumps(json.loads(body) | change).encode(), *definitions])
    place.write_bytes(sum_kept(raw))
    assert read_lock([str(place)], "key") is None


def test_what_changed_meanwhile_is_not_written(tmp_path):
    place = tmp_path / "lock"
    write_lock([str(place)], "key", a_lock(**{str(tmp_path): "1 2 3 4"}))
    assert not place.exists()


def test_a_place_that_cannot_be_replaced(tmp_path):
    (tmp_path / "lock").mkdir()
    (tmp_path / "file").write_text("")
    places = [
        str(tmp_path / "file" / "x"),
        str(tmp_path / "lock"),
        str(tmp_path / "good"),
    ]
    write_lock(places, "key", a_lock())
    assert sorted(os.listdir(tmp_path)) == ["file", "good", "lock"]
    assert read_lock(places, "key") is not None
