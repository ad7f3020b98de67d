"""What the words of `self plugin` say to people, and what they do with less usual arguments."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builtin_plugins.plugins.inventory import KnownPlugin, named_plugin
from builtin_plugins.registry.entry import Entry
from host import CommandTree, UsageError
from host.lock.first_words import files_by_word
from host.lock.lock import Lock
from host.lock.plugin import Plugin
from testing.fork_server import started
from testing.installation import Made, command
from testing.plugin_sources import (
    Repository,
    listed,
    plugin,
    plugin_files,
    registry,
    tar_of,
    write_tree,
)

Install = Callable[..., Made]

MEANT = {
    "install": "add", "rm": "remove", "uninstall": "remove", "ls": "list", "upgrade": "update",
}  # fmt: skip


@pytest.mark.parametrize(("word", "meant"), MEANT.items(), ids=MEANT)
def test_words_of_other_programs_get_the_one_that_is_meant(
    install: Install, word: str, meant: str
) -> None:
    done = plugin(install(), word, "x")
    assert (done.status, done.stdout) == (2, "")
    said = f"cli: unknown command {word} in self plugin; did you mean cli self plugin {meant}?\n"
    assert done.stderr == said


def test_words_of_a_disabled_plugin_say_so(install: Install, tmp_path: Path) -> None:
    made = install({"commands/demo/own/command.json": {"entrypoint": "x"}})
    inner = {f"in/{name}": text for name, text in plugin_files("demo/hi").items()}
    source = write_tree(tmp_path / "gp", {**inner, "plugin.json": {"directory": "in"}})
    write_tree(
        source, {f"in/{name}": text for name, text in plugin_files("gp/hi").items()}
    )
    assert plugin(made, "add", str(source)).status == 0
    assert plugin(made, "disable", "gp").status == 0
    for _ in range(2):
        assert made.run("gp", "hi").all == (
            2, "", "cli: unknown command gp; plugin gp is disabled\n"
        )  # fmt: skip
        assert made.run("demo", "hi").all == (
            2, "", "cli: unknown command hi in demo; plugin gp is disabled\n"
        )  # fmt: skip
    assert "gp" not in made.run().stdout
    assert made.run("other").stderr == "cli: unknown command other; see: cli --help\n"
    assert plugin(made, "enable", "gp").status == 0
    assert made.run("gp", "hi").stdout == "hi\n"


def test_a_disabled_plugin_that_is_broken_is_silent(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    source = write_tree(tmp_path / "gp", plugin_files("gp/hi"))
    assert plugin(made, "add", str(source)).status == 0
    assert plugin(made, "disable", "gp").status == 0
    (source / "plugin.json").write_text("{")
    assert made.run().stderr == ""


def test_list_has_a_header_and_aligned_columns(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("acme/hi", version="1.0"))
    repository.git("tag", "v1")
    bare = Repository(tmp_path / "bare", plugin_files("other/hi"))
    local = write_tree(tmp_path / "a-longer-name", plugin_files("local/hi"))
    assert (
        "\nstays at v1; to change that: cli self plugin add "
        in plugin(made, "add", repository.url, "--ref", "v1").stdout
    )
    assert plugin(made, "add", bare.url).status == 0
    assert plugin(made, "add", str(local)).status == 0
    commit = bare.git("rev-parse", "HEAD")[:12]
    assert plugin(made, "list").stdout == (
        "NAME           VERSION       KIND         STATE            WORDS  SOURCE\n"
        f"acme           1.0           git          enabled, pinned  acme   {repository.url}\n"
        f"bare           {commit}  git          enabled          other  {bare.url}\n"
        f"a-longer-name  -             local [dev]  enabled          local  {local}\n"
    )
    assert "\nstate:     enabled, pinned\n" in plugin(made, "show", "acme").stdout


def test_a_linked_directory_needs_no_update(install: Install, tmp_path: Path) -> None:
    made = install()
    local = write_tree(tmp_path / "acme", plugin_files("demo/hi"))
    added = plugin(made, "add", str(local))
    assert (
        "edits take effect at once\nremove it with: cli self plugin remove acme\n"
        in added.stdout
    )
    again = plugin(made, "add", str(local))
    assert (
        "is already installed; edits take effect at once; remove it with: "
        in again.stdout
    )
    assert "update it" not in added.stdout + again.stdout


def test_a_name_that_no_plugin_has(install: Install, tmp_path: Path) -> None:
    made = install()
    assert (
        plugin(made, "add", str(write_tree(tmp_path / "deploy", plugin_files()))).status
        == 0
    )
    for words in (
        ["show"],
        ["update"],
        ["remove"],
        ["enable"],
        ["disable"],
        ["rollback"],
    ):
        near = plugin(made, *words, "deploi")
        assert near.all == (
            2,
            "",
            "cli: there is no plugin deploi; did you mean deploy?\n",
        )
    far = plugin(made, "show", "x")
    said = "cli: there is no plugin x; see: cli self plugin list\n"
    assert far.all == (2, "", said)


def test_a_distribution_answers_to_the_names_of_its_entry_points() -> None:
    session: Any = SimpleNamespace(program="cli")
    row = KnownPlugin(Entry("acme-cli", "pip"), "enabled", in_lock=[Plugin("acme")])
    other = KnownPlugin(Entry("tools", "local"), "enabled")
    for name in ("acme-cli", "acme"):
        assert named_plugin(session, name, [other, row]) is row
    with pytest.raises(UsageError, match="there is no plugin acm"):
        named_plugin(session, "acm", [other, row])


def _delete_the_only_command(plugin_dir: Path) -> None:
    shutil.rmtree(plugin_dir / "demo/hi")


def _replace_a_script_by_a_directory(plugin_dir: Path) -> None:
    (plugin_dir / "tool.sh").unlink()
    (plugin_dir / "tool.sh").mkdir()


def _write_the_first_command(plugin_dir: Path) -> None:
    (plugin_dir / "lib/hi").mkdir()
    (plugin_dir / "lib/hi/command.json").write_text("{}")


EDITS = {
    "none": (lambda _: None, ["demo", "tool"]),
    "a folder without commands": (_delete_the_only_command, ["tool"]),
    "no script": (_replace_a_script_by_a_directory, ["demo"]),
    "a first command": (_write_the_first_command, ["demo", "lib", "tool"]),
}


@pytest.mark.parametrize(("edit", "words"), EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("has_other_folder", [True, False])
def test_the_words_of_a_directory_are_those_of_now(
    tmp_path: Path,
    edit: Callable[[Path], None],
    words: list[str],
    has_other_folder: bool,
) -> None:
    (tmp_path / "demo/hi").mkdir(parents=True)
    (tmp_path / "demo/hi/command.json").write_text("{}")
    (tmp_path / "tool.sh").write_text("#!/bin/sh\n")
    if has_other_folder or "lib" in words:
        (tmp_path / "lib").mkdir()
    tree = CommandTree(str(tmp_path), scripts={})
    in_lock = files_by_word(tree)
    edit(tmp_path)
    own = Lock([tree], first_words={tree.path: in_lock})
    row = KnownPlugin(Entry("acme", "local"), "enabled", own=own)
    assert row.words == words


def test_kept_versions_have_names(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", version="1.0"))
    first = repository.git("rev-parse", "HEAD")
    assert plugin(made, "add", repository.url).status == 0
    repository.commit(plugin_files("demo/hi", "two", version="2.0"))
    assert plugin(made, "update").status == 0
    assert f"kept:      1.0 ({first[:12]})\n" in plugin(made, "show", "acme").stdout


def test_a_broken_plugin_is_told_once_in_show(install: Install, tmp_path: Path) -> None:
    made = install()
    source = write_tree(tmp_path / "acme", plugin_files())
    assert plugin(made, "add", str(source)).status == 0
    (source / "plugin.json").write_text("{")
    done = plugin(made, "show", "acme")
    assert done.status == 0
    assert (done.stdout + done.stderr).count("plugin.json") == 1


def test_an_empty_version_is_none(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi"))
    assert plugin(made, "add", repository.url).status == 0
    new = repository.commit(plugin_files("demo/hi", "two"))
    assert plugin(made, "update").status == 0
    done = plugin(made, "rollback", "acme", "")
    assert done.status == 1
    assert 'acme: no version "" is kept; kept versions: ' in done.stderr
    assert registry(made)["acme"]["commit"] == new


def test_add_tells_why_a_plugin_has_no_commands(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    files = {"demo/hi/command.json": {"entrypoint": "x.sh"}, "my folder/x": ""}
    source = write_tree(tmp_path / "acme", files)
    done = plugin(made, "add", str(source))
    assert (done.status, done.stdout) == (1, "")
    left_out, missing, error = done.stderr.splitlines()
    assert left_out.startswith(f"cli: warning: {source}/my folder: left out; ")
    assert missing.startswith(
        f'cli: warning: {source}/demo/hi/command.json: "name": missing; '
    )
    assert error.startswith(f"cli: {source}: contains no commands and no hooks; ")


def test_rollback_to_the_current_version(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", version="1"))
    assert plugin(made, "add", repository.url).status == 0
    commit = repository.git("rev-parse", "HEAD")[:12]
    done = plugin(made, "rollback", "acme", "1")
    assert done.all == (0, f"acme: 1 ({commit}) is the current version\n", "")


def test_sync_of_an_entry_that_cannot_be_used(install: Install, tmp_path: Path) -> None:
    made = install()
    team = tmp_path / "team.json"
    team.write_text(
        json.dumps({"version": "1.0.0", "plugins": [{"name": "a", "kind": "odd"}]})
    )
    done = plugin(made, "sync", str(team))
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr == (
        f'cli: warning: {team}: a: "kind": expected one of archive, environment, git, local, pip\n'
        "cli: registry entries that cannot be used: 1\n"
    )


@pytest.mark.parametrize(
    "kind", ["git", pytest.param("archive", marks=pytest.mark.night), "local"]
)
def test_add_brings_back_what_lost_its_files(
    install: Install, tmp_path: Path, kind: str
) -> None:
    made = install()
    packed = tmp_path / "acme.tar.gz"
    packed.write_bytes(tar_of(plugin_files("demo/hi")))
    source = {
        "git": lambda: Repository(tmp_path / "acme", plugin_files("demo/hi")).url,
        "archive": lambda: str(packed),
        "local": lambda: str(write_tree(tmp_path / "acme", plugin_files("demo/hi"))),
    }[kind]()
    assert plugin(made, "add", source).status == 0
    assert plugin(made, "disable", "acme").status == 0
    if kind == "local":
        (tmp_path / "acme").rename(tmp_path / "away")
    else:
        shutil.rmtree(made.root / "plugins/.versions")
    assert listed(made)["acme"]["state"] == "missing"
    if kind == "local":
        assert plugin(made, "add", source).status == 1
        (tmp_path / "away").rename(tmp_path / "acme")
    else:
        done = plugin(made, "add", source)
        assert done.status == 0, done.stderr
        assert "restored acme\n" in done.stdout
    assert listed(made)["acme"]["state"] == "disabled"
    assert plugin(made, "enable", "acme").status == 0
    assert made.run("demo", "hi").stdout == "hi\n"


def test_names_from_elsewhere_are_shown_escaped(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    files = plugin_files("demo/hi", version="1\x1b[31m", description="d\u202e")
    assert plugin(made, "add", str(write_tree(tmp_path / "acme", files))).status == 0
    for words in (["list"], ["show", "acme"], ["disable", "acme"], ["remove", "acme"]):
        done = plugin(made, *words)
        assert done.status == 0
        assert "\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in done.stdout + done.stderr


def test_waiting_for_another_change_is_reported(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    assert (
        plugin(made, "add", str(write_tree(tmp_path / "acme", plugin_files()))).status
        == 0
    )
    lock = os.open(made.root / "plugins", os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environ = {"PATH": os.environ["PATH"], "HOME": str(made.home)}
        words = [str(made.launcher), "self", "plugin", "disable", "acme"]
        waiting = subprocess.Popen(
            started(words, environ),
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr
        told = waiting.stderr.readline()
    finally:
        os.close(lock)
    assert told == "waiting for another process to finish its change\n"
    assert waiting.communicate(timeout=60) == ("acme is disabled\n", "")


SOURCE = """from host import EnvSource, hookimpl

@hookimpl
def env_sources(installation):
    good = f"{installation.config_dir}/good.env"
    yield EnvSource("acme", rank=4, files=("FILE", good), words=WORDS)
"""


def _directory(path: Path) -> None:
    path.mkdir()


def _large(path: Path) -> None:
    path.write_bytes(b"A=1\n" * (1 << 19))


def _zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _utf_16(path: Path) -> None:
    path.write_bytes("A=1\n".encode("utf-16"))


def _nul(path: Path) -> None:
    path.write_bytes(b"A=1\nB=\0\n")


def _loop(path: Path) -> None:
    path.symlink_to(path)


BAD_FILES = {
    _directory: "not a regular file",
    _large: "larger than 1048576 bytes",
    _zeros: "not a regular file",
    _fifo: "not a regular file",
    _utf_16: "is UTF-16",
    _nul: "2: contains a NUL",
    _loop: "Too many levels of symbolic links",
}


@pytest.mark.parametrize("make", BAD_FILES, ids=lambda one: one.__name__)
@pytest.mark.sampled
def test_a_bad_file_of_variables_breaks_its_plugin_only(
    install: Install, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    file = tmp_path / "bad.env"
    make(file)
    made = install(
        {
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": '#!/bin/sh\necho "$GOOD"\n',
            "commands/c/d/command.json": command(),
            "commands/c/d/main.sh": "#!/bin/sh\necho other\n",
            "config/good.env": "GOOD=good\n",
            "plugins/acme/plugin.json": {"hooks": "hooks.py"},
            "plugins/acme/hooks.py": SOURCE.replace("FILE", str(file)).replace(
                "WORDS", '("a",)'
            ),
        }
    )
    assert made.run("c", "d").all == (0, "other\n", "")
    told = f"plugin acme is broken: {file}:"
    run = made.run("a", "b")
    assert (run.status, run.stdout, run.stderr.count("\n")) == (0, "good\n", 1)
    assert run.stderr.startswith(f"cli: warning: {told}")
    assert run.stderr.endswith(f"{BAD_FILES[make]}; see: cli self plugin list\n")
    assert made.run("self", "env", "a", "b").stderr == run.stderr
    [row] = json.loads(made.run("self", "plugin", "list", "--format", "json").stdout)[
        "plugins"
    ]
    assert row["state"] == "broken"
    assert row["reason"].endswith(BAD_FILES[make])
    file.rmdir() if file.is_dir() else file.unlink()
    assert made.run("a", "b").all == (0, "good\n", "")


def test_a_bad_file_for_all_commands_stops_none(
    install: Install, tmp_path: Path
) -> None:
    made = install(
        {
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": "#!/bin/sh\necho ran\n",
            "config/good.env": "",
            "plugins/acme/plugin.json": {"hooks": "hooks.py"},
            "plugins/acme/hooks.py": SOURCE.replace("FILE", str(tmp_path)).replace(
                "WORDS", "()"
            ),
        }
    )
    what = f"plugin acme is broken: {tmp_path}: not a regular file"
    told = f"cli: warning: {what}; see: cli self plugin list\n"
    for words in (("a", "b"), ("self", "env", "a", "b"), ("help", "a", "b")):
        run = made.run(*words)
        assert (run.status, run.stderr) == (0, told)
