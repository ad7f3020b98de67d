"""`self sync`: an installation made of a team's source stays current."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made
from testing.plugin_sources import Repository, plugin_files, write_tree
from testing.team import CLI, LINKED, Team, registry_of, script


@pytest.fixture
def team(tmp_path: Path) -> Team:
    found = Team(tmp_path)
    assert found.init().status == 0
    return found


def test_commands_and_plugins_of_a_second_person_come(team: Team) -> None:
    old, before = team.git("rev-parse", "HEAD"), team.plugin.git("rev-parse", "HEAD")
    team.change()
    new, after = (
        team.repository.git("rev-parse", "HEAD"),
        team.plugin.git("rev-parse", "HEAD"),
    )
    come = f"acme: {old[:12]} → {new[:12]}\n  + deploy prod  Says prod\n"
    plugin = f"ops: {before[:12]} → {after[:12]}\n  + ops bye  says hi\n"
    assert team.colleague.run("self", "sync").all == (
        0,
        f"{come}{plugin}installed ops\n",
        "",
    )
    assert team.colleague.run("deploy", "prod").all == (0, "prod\n", "")
    assert team.colleague.run("ops", "bye").all == (0, "hi\n", "")
    assert team.status() == ""
    nothing = f"acme: {new[:12]} is the newest commit\nnothing to install\n"
    assert team.colleague.run("self", "sync").all == (0, nothing, "")
    assert team.colleague.run("self", "plugin", "rollback", "ops").status == 0
    assert team.colleague.run("ops", "bye").status == 2
    assert team.status() == ""


def test_a_repository_without_cli_json(team: Team) -> None:
    source = Repository(
        team.place / "plain", {"commands/deploy/staging.sh": script("staging")}
    )
    colleague = Made(
        team.place / "plain-acme", team.place / "plain-acme/core/acme", team.root
    )
    assert team.init(source.url, str(colleague.root), "--name", "acme").status == 0
    config = (colleague.root / "core/cli.json").read_bytes()
    source.commit({"commands/deploy/prod.sh": script("prod")})
    absolute = {**json.loads(config), "commands_dir": f"{colleague.root}/commands"}
    (colleague.root / "core/cli.json").write_text(json.dumps(absolute))
    what = "core/cli.json: commands_dir must be inside the installation"
    said = f"acme: {colleague.root}: {what}; give a path relative to its root\n"
    assert colleague.run("self", "sync").all == (1, "", said)
    (colleague.root / "core/cli.json").write_bytes(config)
    done = colleague.run("self", "sync")
    assert (done.status, done.stderr) == (0, "")
    assert colleague.run("deploy", "prod").all == (0, "prod\n", "")
    assert (colleague.root / "core/cli.json").read_bytes() == config
    source.commit({"core/cli.json": {"name": "acme", "version": "2.0.0"}})
    assert colleague.run("self", "sync").status == 0
    assert colleague.run("--version").stdout == "acme 2.0.0\n"


def test_changes_of_the_user_stay(team: Team) -> None:
    team.change()
    mine = team.root / "commands/deploy/staging.sh"
    mine.write_text(script("mine"))
    (team.root / "commands/deploy/own.sh").write_text(script("own"))
    assert team.colleague.run("self", "sync").status == 0
    assert mine.read_text() == script("mine")
    assert team.status() == "M commands/deploy/staging.sh\n?? commands/deploy/own.sh"


@pytest.mark.night
def test_a_sparse_partial_clone_without_a_file_of_the_newest_commit(team: Team) -> None:
    team.repository.git("config", "uploadpack.allowFilter", "true")
    team.git("config", "remote.origin.promisor", "true")
    team.git("config", "remote.origin.partialclonefilter", "blob:none")
    team.git("sparse-checkout", "set", "--no-cone", "/*", "!/docs")
    old = team.git("rev-parse", "HEAD")
    team.repository.commit({"docs/plan.md": "Only git knows this file.\n"})

    done = team.colleague.run("self", "sync")
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr.startswith(f"acme: {team.repository.url}: git archive: ")
    assert team.git("rev-parse", "HEAD") == old


def test_files_of_the_newest_commit_that_the_user_changed_are_named(team: Team) -> None:
    (team.root / "commands/deploy/staging.sh").write_text(script("mine"))
    done = team.colleague.run("self", "sync")
    newest = done.stdout.splitlines()[0]
    changed = "; you changed 1 file of it: commands/deploy/staging.sh"
    assert (done.status, newest.endswith(f" is the newest commit{changed}")) == (
        0,
        True,
    )


@pytest.mark.night
def test_two_syncs_at_once(team: Team) -> None:
    team.change()
    words = [team.colleague.launcher, "self", "sync"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(team.colleague.home)}
    both = [
        subprocess.Popen(
            words, env=environ, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in both:
        _, complaint = process.communicate(timeout=120)
        # The second one says that it waits, if that takes a second.
        assert complaint in (
            b"",
            b"waiting for another process to finish its change\n",
        )
        assert process.returncode == 0
    assert team.colleague.run("deploy", "prod").all == (0, "prod\n", "")
    assert team.status() == ""


def test_a_change_in_the_way_is_refused(team: Team) -> None:
    team.repository.commit({"commands/deploy/staging.sh": script("theirs")})
    mine = team.root / "commands/deploy/staging.sh"
    mine.write_text(script("mine"))
    done = team.colleague.run("self", "sync")
    assert done.all == (
        1,
        "",
        f"acme: {team.root}: git read-tree: error: Entry 'commands/deploy/staging.sh' not "
        "uptodate. Cannot merge.; commit the file or move it\n",
    )
    assert mine.read_text() == script("mine")
    team.git("commit", "-qam", "mine")
    done = team.colleague.run("self", "sync")
    assert done.status == 1
    assert done.stderr.endswith("run: git pull --rebase\n")


def test_what_git_ignores_is_not_replaced(team: Team) -> None:
    """git itself would replace it without a copy."""
    mine = '{"version": "1.0.0", "plugins": []}'
    before = team.repository.git("rev-parse", "HEAD")
    for own, theirs in (
        ("config/settings.conf", "config/settings.conf"),
        ("plugins/registry.local.json", "plugins/registry.local.json"),
        (".env.local", ".env.local/x"),
        ("plugins/.own/x", "plugins/.own"),
    ):
        write_tree(team.root, {own: mine})
        write_tree(team.repository.path, {theirs: "theirs"})
        team.repository.git("add", "-f", theirs)
        team.repository.commit({})
        done = team.colleague.run("self", "sync", "--yes")
        said = f"acme: {team.root}: the update would replace your own {own}; "
        remedy = "move your file, or remove the team's\n"
        assert done.all == (1, "", f"{said}{remedy}")
        assert (team.root / own).read_text() == mine
        (team.root / own).unlink()
        team.repository.git("reset", "-q", "--hard", before)


def test_what_init_refuses_is_refused(team: Team) -> None:
    before = team.repository.git("rev-parse", "HEAD")
    launcher = (team.root / "core/acme").read_bytes()
    for file, content, text in (
        ("core/acme", "x", "contains core/acme, which the new launcher would replace"),
        ("plugins/.versions/x", "x", "contains plugins/.versions, which only this"),
        ("cli.lock", "x", "contains cli.lock, which only this program writes; remove"),
        (
            "core/cli.json",
            {**CLI, "plugins_dir": "../out"},
            "core/cli.json: plugins_dir must be inside the installation",
        ),
        (
            "core/cli.json",
            {**CLI, "plugins_dir": "."},
            "core/cli.json: plugins_dir must not be .; choose a directory",
        ),
        ("plugins/registry.json", LINKED, "registry.json lists lk in /tmp, outside of"),
        ("plugins/registry.json", "{", "plugins/registry.json:1:2: "),
    ):
        write_tree(team.repository.path, {file: content})
        team.repository.git("add", "-f", file)
        team.repository.commit({})
        done = team.colleague.run("self", "sync", "--yes")
        assert (done.status, done.stdout) == (1, "")
        assert done.stderr.startswith(f"acme: {team.repository.url}: {text}")
        assert (team.root / "core/acme").read_bytes() == launcher
        team.repository.git("reset", "-q", "--hard", before)


def test_a_plugin_that_cannot_be_fetched_is_the_only_one_missing(team: Team) -> None:
    entry = {"name": "no", "kind": "git", "source": "file:///no", "commit": "0" * 40}
    plugins = {"version": "1.0.0", "plugins": [entry]}
    team.repository.commit(
        {"commands/new.sh": script("new"), "plugins/registry.json": plugins}
    )
    done = team.colleague.run("self", "sync")
    assert done.status == 1
    assert done.stderr.startswith("acme: no: file:///no: git fetch: ")
    assert done.stderr.endswith("acme: not installed: no; run the command again\n")
    assert team.colleague.run("new").stdout == "new\n"


def test_a_build_needs_an_answer_of_its_own(team: Team, tmp_path: Path) -> None:
    """Whoever agrees to a commit has not agreed to run code of packages now."""
    mark = tmp_path / "mark"
    build = '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
    code = f"open({str(mark)!r}, 'w')\n"
    package = Repository(tmp_path / "p", {"pyproject.toml": build, "b.py": code})
    entry = {"name": "p", "kind": "pip", "source": f"p @ git+{package.url}"}
    entry |= {"version": "1.0", "commit": package.git("rev-parse", "HEAD")}
    plugins = {"version": "1.0.0", "plugins": [entry]}
    team.repository.commit({"plugins/registry.json": plugins})
    said = "p was not installed, because there is no terminal to ask on; "
    for done in (team.colleague.run("self", "sync"), team.init("", "--name", "zed")):
        assert (done.status, mark.exists()) == (1, False)
        assert f"p (pip, p @ git+{package.url}, commit " in done.stdout
        assert said in done.stderr


def test_a_worktree_of_a_clone_made_by_hand(team: Team, tmp_path: Path) -> None:
    """What the user has in info/exclude stays, and what is missing is added."""
    clone = tmp_path / "clone"
    Repository.git(team.repository, "clone", "-q", team.repository.url, str(clone))
    Repository.git(team.repository, "-C", str(clone), "worktree", "add", "../tree")
    upstream = ("branch", "-q", "-u", "origin/main")
    Repository.git(team.repository, "-C", f"{tmp_path}/tree", *upstream)
    exclude = clone / ".git/info/exclude"
    exclude.write_text("mine.env\n__pycache__/")
    tree = Made(tmp_path / "tree", tmp_path / "tree/core/acme", team.colleague.home)
    cli = Path(sys.executable).with_name("cli")
    made = team.colleague.run("self", "init", str(tree.root), executable=cli)
    assert made.status == 0
    (tree.root / "core/cli").rename(tree.launcher)
    assert tree.run("self", "sync").status == 0
    lines = exclude.read_text().splitlines()
    assert lines[:2] == ["mine.env", "__pycache__/"]
    assert lines.count("__pycache__/") == 1
    assert "/cli.lock" in lines


def test_library_files_come_back_and_tracked_ones_stay(team: Team) -> None:
    (team.root / "core/lib/os.sh").unlink()
    write_tree(team.root, {"core/lib/logger.sh": "# the team's\n"})
    team.git("add", "-f", "core/lib/logger.sh")
    assert team.colleague.run("self", "sync").status == 0
    assert (team.root / "core/lib/os.sh").is_file()
    assert (team.root / "core/lib/logger.sh").read_text() == "# the team's\n"

    # A file of an earlier version is not in the way of the team's.
    write_tree(team.root, {"core/lib/os.sh": "# former\n"})
    write_tree(team.repository.path, {"core/lib/os.sh": "# the team's\n"})
    team.git("rm", "-q", "--cached", "core/lib/logger.sh")
    team.repository.git("add", "-f", "core/lib/os.sh")
    team.repository.commit({})
    assert team.colleague.run("self", "sync").status == 0
    assert (team.root / "core/lib/os.sh").read_text() == "# the team's\n"
    assert (team.root / "core/lib/os.sh.old").read_text() == "# former\n"


@pytest.mark.parametrize("target", ["other", "../outside", "/tmp"])
def test_a_link_that_comes_is_refused(team: Team, target: str) -> None:
    team.repository.commit({"other/hi.sh": script("hi")}, remove=("commands",))
    (team.repository.path / "commands").symlink_to(target)
    team.repository.commit({})
    done = team.colleague.run("self", "sync")
    assert (done.status, done.stdout) == (1, "")
    assert "commands" in done.stderr
    assert not (team.root / "commands").is_symlink()


def test_the_programs_own_checkout_is_for_update(install: Callable[..., Made]) -> None:
    made = install({"pyproject.toml": '[project]\nname = "cli-host"\n'})
    (made.root / ".git").mkdir()
    said = f"self sync cannot update the program's own checkout {made.root}"
    said += "; update the checkout with: cli self update"
    assert made.run("self", "sync").all == (1, "", f"cli: {said}\n")


def test_a_changed_command_is_shown_and_a_file_in_the_way_has_a_remedy(
    team: Team,
) -> None:
    changes = {
        "commands/deploy/staging.sh": script("new"),
        "commands/own.sh": script("theirs"),
    }
    team.repository.commit(changes)
    own = team.root / "commands/own.sh"
    own.write_text("mine")
    refused = team.colleague.run("self", "sync")
    assert (refused.status, own.read_text()) == (1, "mine")
    assert "commands/own.sh" in refused.stderr
    assert refused.stderr.endswith("; move your file, or remove the team's\n")
    own.unlink()
    done = team.colleague.run("self", "sync")
    assert done.status == 0
    assert "  ~ deploy staging  Says new\n" in done.stdout


@pytest.mark.night
def test_a_repository_that_is_a_python_project_is_the_teams(team: Team) -> None:
    assert team.init().status == 0
    (team.root / "core/lib/os.sh").unlink()
    project = '[project]\nname = "acme-tools"\ndependencies = ["cli-host"]\n'
    team.repository.commit({"pyproject.toml": project})
    for _ in range(2):
        done = team.colleague.run("self", "sync", "--yes")
        assert (done.status, done.stderr) == (0, "")
    assert (team.root / "pyproject.toml").read_text() == project
    assert (team.root / "core/lib/os.sh").is_file()


def test_without_git_plugins_and_library_come(team: Team, tmp_path: Path) -> None:
    source = write_tree(tmp_path / "source", team.files)
    assert team.init(str(source), "--name", "zed").status == 0
    root = team.root.parent / "zed"
    zed = Made(root, root / "core/zed", team.colleague.home)
    (root / "plugins/ops").unlink()
    (root / "core/lib/os.sh").unlink()
    write_tree(source, {"commands/deploy/prod.sh": script("prod")})
    done = zed.run("self", "sync")
    assert (done.status, done.stdout.splitlines()[0]) == (
        0,
        f"zed: made from {source}, which is no git repository, so its commands are not updated",
    )
    assert zed.run("ops", "hi").all == (0, "hi\n", "")
    assert (root / "core/lib/os.sh").is_file()
    assert not (root / "commands/deploy/prod.sh").exists()


def test_personal_changes_of_plugins_are_not_shared(team: Team, tmp_path: Path) -> None:
    foo = {f"plugins/foo/{name}": text for name, text in plugin_files("foo/hi").items()}
    same = registry_of(team.plugin)
    same["plugins"][0]["source"] += "/.git"
    team.repository.commit({**foo, "plugins/registry.json": same})
    done = team.colleague.run("self", "sync")
    assert done.status == 0
    assert f"\nops (git, {team.plugin.url}/.git, commit " in done.stdout
    shared = team.root / "plugins/registry.json"
    before = shared.read_bytes()
    own = write_tree(tmp_path / "own", plugin_files("own/hi", says="own"))
    run = team.colleague.run
    assert run("self", "plugin", "add", str(own)).status == 0
    assert run("self", "plugin", "disable", "ops").status == 0
    assert run("own", "hi").all == (0, "own\n", "")
    assert run("ops", "hi").status == 2
    assert (shared.read_bytes(), team.status()) == (before, "")
    local = json.loads((team.root / "plugins/registry.local.json").read_text())
    assert {one["name"]: one["enabled"] for one in local["plugins"]} == {
        "own": True,
        "ops": False,
    }

    # The directory that the repository contained is no plugin of the user's own.
    moved = Repository(tmp_path / "moved", plugin_files("foo/hi", says="moved"))
    [entry] = registry_of(moved)["plugins"]
    team.change()
    listed = registry_of(team.plugin)
    listed["plugins"].append({**entry, "name": "foo"})
    team.repository.commit({"plugins/registry.json": listed}, remove=("plugins/foo",))
    done = run("self", "sync")
    assert (done.status, done.stderr) == (0, "")
    assert run("foo", "hi").all == (0, "moved\n", "")
    assert run("ops", "bye").status == 2  # it stays disabled
    assert run("self", "plugin", "enable", "ops").status == 0
    assert run("ops", "bye").all == (0, "hi\n", "")
    done = run("self", "plugin", "remove", "ops")
    assert (done.status, done.stderr) == (
        1,
        "acme: ops: your team's registry.json lists it; disable the plugin, or remove it from "
        "registry.json for everybody\n",
    )

    listed["plugins"][0] |= {"enabled": True}
    moved_files = {
        "core/cli.json": {**CLI, "plugins_dir": "p"},
        "p/registry.json": listed,
    }
    assert run("self", "plugin", "disable", "ops").status == 0
    team.repository.commit(moved_files, remove=("plugins",))
    done = run("self", "sync")
    what = (
        f"acme: {team.root}/plugins: has plugins of your own, and the team moves its "
    )
    what += f"plugins to {team.root}/p; "
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr.startswith(what)
    remedy = done.stderr.removeprefix(what).removesuffix(", and run self sync again\n")
    subprocess.run(["sh", "-c", remedy], check=True)
    assert run("self", "sync").status == 0
    assert run("own", "hi").all == (0, "own\n", "")
    assert run("ops", "hi").status == 2
    assert run("self", "plugin", "remove", "own").status == 0
    assert team.status() == ""


def test_a_plugin_that_the_team_removes_goes(team: Team) -> None:
    team.repository.commit(
        {"plugins/registry.json": {"version": "1.0.0", "plugins": []}}
    )
    assert team.colleague.run("self", "sync").status == 0
    assert team.colleague.run("ops", "hi").status == 2
    assert team.status() == ""


def test_a_plugin_that_the_team_moves_to_another_repository(
    team: Team, tmp_path: Path
) -> None:
    other = Repository(tmp_path / "other", plugin_files("ops/new", "new"))
    registry = registry_of(other)
    registry["plugins"][0]["scripts"] = {"under": "team", "files": False}
    team.repository.commit({"plugins/registry.json": registry})
    done = team.colleague.run("self", "sync")
    assert (done.status, done.stderr) == (0, "")
    assert f"ops (git, {other.url}, commit " in done.stdout
    assert team.colleague.run("team", "ops", "new").all == (0, "new\n", "")
    local = json.loads((team.root / "plugins/registry.local.json").read_text())
    assert (local["plugins"], team.status()) == ([], "")

    # So does the user's own entry for it, and keeps what the user chose.
    run = team.colleague.run
    assert run("self", "plugin", "add", other.url, "--under", "mine").status == 0
    team.repository.commit({"plugins/registry.json": registry_of(team.plugin)})
    done = run("self", "sync")
    assert (done.status, done.stderr) == (0, "")
    assert run("mine", "ops", "hi").all == (0, "hi\n", "")


def test_a_plugin_may_be_added_for_the_team(team: Team, tmp_path: Path) -> None:
    more = Repository(tmp_path / "more", plugin_files("more/hi", says="more"))
    run = team.colleague.run
    done = run("self", "plugin", "add", more.url, "--team")
    assert done.status == 0
    assert done.stdout.endswith(
        "added more\ncommit plugins/registry.json for your team\n"
    )
    assert team.status() == "M plugins/registry.json"
    again = run("self", "plugin", "add", more.url)
    assert again.stdout.endswith(
        "disable it with: acme self plugin disable more; or use --name\n"
    )
    team.git("checkout", "-q", "plugins/registry.json")
    assert run("self", "plugin", "list").status == 0
    assert run("more", "hi").status == 2
    assert run("self", "plugin", "add", more.url).status == 0
    assert team.status() == ""
    done = run("self", "plugin", "add", more.url, "--team")
    said = "more is in plugins/registry.json; commit that file\n"
    assert done.all == (0, said, "")
    assert team.status() == "M plugins/registry.json"
    names = [
        one["name"]
        for one in json.loads((team.root / "plugins/registry.json").read_text())[
            "plugins"
        ]
    ]
    assert names == ["ops", "more"]
    local = json.loads((team.root / "plugins/registry.local.json").read_text())[
        "plugins"
    ]
    assert local == []
    assert run("more", "hi").all == (0, "more\n", "")


def test_a_version_of_ones_own_stays_whole_if_the_team_moves_on(team: Team) -> None:
    """The personal version consists of scripts; the team's next one has definitions."""
    run = team.colleague.run
    team.plugin.commit({"two.sh": script("two")}, remove=("ops",))
    team.plugin.git("tag", "v2")
    team.plugin.commit({"old.sh": script("old")}, remove=("two.sh",))
    assert run("self", "plugin", "update", "ops").status == 0
    assert run("self", "plugin", "add", team.plugin.url, "--team").status == 0
    assert run("self", "plugin", "add", team.plugin.url, "--ref", "v2").status == 0
    assert run("two").all == (0, "two\n", "")

    team.plugin.commit(plugin_files("ops/three", "three"), remove=("old.sh",))
    (team.root / "plugins/registry.json").write_text(
        json.dumps(registry_of(team.plugin))
    )
    assert run("two").all == (0, "two\n", "")
    assert run("self", "plugin", "show", "ops").stdout.count("v2") == 1


def test_a_linked_directory_is_not_for_the_team(team: Team, tmp_path: Path) -> None:
    own = write_tree(tmp_path / "own", plugin_files("own/hi", says="own"))
    run = team.colleague.run
    refused = (
        2,
        "",
        "acme: --team cannot be used with a directory; add a git repository instead\n",
    )
    assert run("self", "plugin", "add", str(own), "--team").all == refused
    assert run("self", "plugin", "add", str(own)).status == 0
    assert run("self", "plugin", "add", str(own), "--team").all == refused
    assert team.status() == ""


@pytest.mark.parametrize("file", ["core/cli.json", "plugins/registry.json"])
@pytest.mark.parametrize("is_empty", [True, False], ids=["empty", "missing"])
@pytest.mark.night
def test_a_file_that_a_killed_sync_lost_comes_back(
    team: Team, file: str, is_empty: bool
) -> None:
    run = team.colleague.run
    path = team.root / file
    content = path.read_bytes()

    def lose() -> None:
        path.unlink()
        if is_empty:
            path.touch()

    lose()
    git = f"git -C {team.root} checkout -- {file}"
    if is_empty or file == "core/cli.json":
        assert git in run("ops", "hi").stderr
        assert run("self", "doctor", "--fix").stdout
        assert path.read_bytes() == content
        lose()
    team.change()
    synced = run("self", "sync")
    assert (synced.status, f"restored {file} from git" in synced.stderr) == (0, True)
    assert run("ops", "bye").all == (0, "hi\n", "")
    assert team.status() == ""
