"""The plugins that a team's source contains are shown before any of their code runs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from builtin_plugins.team.contained import changed_lines
from host import Messages
from host.installation import Layout
from host.session.session import Session
from testing.plugin_sources import Files, Repository, plugin_files, write_tree
from testing.team import CLI, Team, registry_of


def hooks(mark: Path, text: str = "") -> str:
    """Return hooks that leave a mark when they are imported."""
    return (
        "from pathlib import Path\n"
        "from host import hookimpl\n"
        f"Path({str(mark)!r}).touch()\n{text}"
        "@hookimpl\ndef discover_commands(installation):\n    return []\n"
    )


def contained(mark: Path, text: str = "") -> dict[str, object]:
    """Return the files of a plugin with hooks, as a team's repository contains it."""
    files = plugin_files("extra/hi", "hi", name="extra", hooks="hooks.py")
    files["hooks.py"] = hooks(mark, text)
    return {f"plugins/extra/{name}": content for name, content in files.items()}


def answered(team: Team, words: list[str | Path], answer: str) -> tuple[int, str]:
    """Run a program on a terminal, and return its status and its output."""
    parent, child = pty.openpty()
    environ = {"PATH": team.path, "HOME": str(team.colleague.home), "TERM": "dumb"}
    process = subprocess.Popen(
        words, env=environ, stdin=child, stdout=subprocess.PIPE, stderr=child, text=True
    )
    os.close(child)
    os.write(parent, f"{answer}\n".encode())
    stdout, _ = process.communicate(timeout=120)
    os.close(parent)
    return process.returncode, stdout


SHELL_CODE = {"config/settings.conf": "A=1\n", "core/lib/own.sh": "own() { :; }\n"}


@pytest.mark.parametrize("answer", ["n", "y"])
def test_init_shows_them_with_their_hooks_and_asks_first(
    tmp_path: Path, answer: str
) -> None:
    team, mark = Team(tmp_path), tmp_path / "ran"
    team.repository.commit({**contained(mark), **SHELL_CODE})
    cli = Path(sys.executable).with_name("cli")
    status, shown = answered(
        team, [cli, "self", "init", "--from", team.repository.url], answer
    )
    lines = shown.splitlines()
    at = lines.index("extra (local)")
    assert lines[at + 1].startswith("commands: 1; its Python code may declare more")
    assert lines[at + 2].split() == ["extra", "hi", "says", "hi"]
    assert "Python hooks: discover_commands" in lines[at:]
    code = "shell code of every run: config/settings.conf, core/lib/own.sh"
    assert code in lines[:at]
    assert "plugins whose Python code runs in the program: extra" in lines[at:]
    assert (status == 0, mark.exists()) == (answer == "y", answer == "y")


@pytest.mark.parametrize("answer", ["n", "y"])
def test_sync_shows_new_and_changed_ones_first(tmp_path: Path, answer: str) -> None:
    team, mark, second = Team(tmp_path), tmp_path / "ran", tmp_path / "ran again"
    assert team.init().status == 0
    listed = registry_of(team.plugin)
    files = plugin_files("more/hi", "hi", name="more", hooks="hooks.py")
    more = Repository(tmp_path / "more", {**files, "hooks.py": hooks(mark)})
    commit = more.git("rev-parse", "HEAD")
    entry = {"name": "more", "kind": "git", "source": more.url, "commit": commit}
    both = {**listed, "plugins": [*listed["plugins"], entry]}
    team.repository.commit(
        {**contained(mark), **SHELL_CODE, "plugins/registry.json": both}
    )

    words = [team.colleague.launcher, "self", "sync"]
    library = team.root / "core/lib/os.sh"
    library.write_text("# former\n")
    status, shown = answered(team, words, answer)
    assert (library.read_text() == "# former\n") == (answer == "n")
    lines = shown.splitlines()
    assert lines[1].startswith("  ~ shell code of every run: config/settings.conf")
    for heading in ("extra (local)", f"more (git, {more.url}, commit {commit[:12]})"):
        at = lines.index(heading)
        assert "Python hooks: discover_commands" in lines[at : at + 4]
    assert (status == 0, mark.exists()) == (answer == "y", False)
    if answer == "n":
        return

    # The same version, but with another choice of the team.
    entry["path"] = ["more"]
    team.repository.commit({"plugins/registry.json": both})
    status, shown = answered(team, words, "y")
    assert "folders that a run appends to PATH: more\n" in shown
    assert (status, mark.exists()) == (0, False)
    assert team.colleague.run("extra", "hi").stdout == "hi\n"
    assert mark.exists()
    team.repository.commit(contained(second))
    status, shown = answered(team, words, "n")
    assert "  ~ Python code, with the hooks discover_commands\n" in shown
    assert "shell code" not in shown
    assert (status, second.exists()) == (1, False)
    status, shown = answered(team, words, "y")
    assert (status, second.exists()) == (0, False)
    assert team.colleague.run("extra", "hi").status == 0
    assert second.exists()


HOOKS = "from host import hookimpl\n@hookimpl\ndef before_run(installation): ...\n"
CODE = "  ~ Python code, with the hooks before_run"


CHANGES: dict[str, tuple[Files, bool]] = {
    "hooks": ({"lib/zed/hooks": f"{HOOKS}x"}, True),
    "other hooks": ({"lib/zed/plugin.json": {"hooks": "near.py"}}, True),
    "an imported file": ({"lib/zed/near.py": f"{HOOKS}x"}, True),
    "a file behind a link": ({"lib/zed/more/far.py": f"{HOOKS}x"}, True),
    "no code": ({"lib/zed/README.md": "x"}, False),
}


@pytest.mark.parametrize(("files", "is_shown"), CHANGES.values(), ids=CHANGES)
def test_code_behind_links_is_compared(
    tmp_path: Path, files: Files, is_shown: bool
) -> None:
    """The directory for plugins is a link, and so is the plugin in it."""
    tree = {
        "core/cli.json": {**CLI, "plugins_dir": "p"},
        "lib/zed/plugin.json": {"hooks": "hooks"},
        **dict.fromkeys(("lib/zed/hooks", "lib/zed/near.py", "lib/far/far.py"), HOOKS),
    }
    sessions = []
    for name in ("before", "after"):
        root = write_tree(tmp_path / name, tree)
        (root / "real").mkdir()
        (root / "p").symlink_to("real")
        (root / "real/zed").symlink_to("../lib/zed")
        (root / "lib/zed/more").symlink_to("../far")
        layout = Layout("acme", str(root), f"{root}/core/cli.json")
        sessions.append(Session(layout, {}, Messages("acme", {}), safe=False))

    write_tree(root, files)
    *_, last = "", *changed_lines(*sessions, "called")
    assert last == (CODE if is_shown else "")


def test_a_new_directory_of_commands_is_read_from_the_new_commit(
    tmp_path: Path,
) -> None:
    team = Team(tmp_path)
    assert team.init().status == 0
    config = {"name": "acme", "version": "2", "commands_dir": "scripts"}
    script = "#!/bin/sh\n# Says new\necho new\n"
    team.repository.commit({"core/cli.json": config, "scripts/fresh.sh": script})
    done = team.colleague.run("self", "sync")
    assert (done.status, "  + fresh" in done.stdout) == (0, True)
    team.repository.commit({"core/cli.json": "{"})
    before = team.git("rev-parse", "HEAD")
    refused = team.colleague.run("self", "sync")
    assert refused.status == 1
    assert refused.stderr.startswith(
        f"acme: {team.repository.url}: core/cli.json:1:2: "
    )
    assert team.git("rev-parse", "HEAD") == before
