"""`self init --from`: an installation made of a team's source."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testing.plugin_sources import tar_of, write_tree
from testing.sweep.ground import fingerprint
from testing.team import CLI, LINKED, Team, script


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def test_one_line_leads_to_the_first_command(team: Team) -> None:
    commit = team.plugin.git("rev-parse", "HEAD")
    shown = f"""\
acme from {team.repository.url} will be created in {team.root}
commands: 1
    deploy staging  Says staging
ops (git, {team.plugin.url}, commit {commit[:12]})
commands: 1
    ops hi  says hi
{team.root}: acme has 2 commands, from {team.repository.url}
Tab completion is installed in {team.colleague.home}/.bashrc; open a new shell
start with: acme
to stay current: acme self sync
"""
    assert team.init().all == (0, shown, "")
    assert team.colleague.run("deploy", "staging").all == (0, "staging\n", "")
    assert team.colleague.run("ops", "hi").all == (0, "hi\n", "")
    assert team.status() == ""
    link = team.colleague.home / ".local/bin/acme"
    assert os.readlink(link) == str(team.root / "core/acme")
    assert "acme self completion bash" in (team.colleague.home / ".bashrc").read_text()
    assert (team.root / "cli.lock").is_file()
    assert (team.root / "core/lib/logger.sh").is_file()


def test_a_second_time_changes_nothing(team: Team) -> None:
    made, _completion, *steps = team.init().stdout.splitlines()[-4:]
    before = fingerprint(team.colleague.home, _is_index)
    assert team.init().all == (0, "".join(f"{line}\n" for line in (made, *steps)), "")
    assert fingerprint(team.colleague.home, _is_index) == before


def _is_index(name: str) -> bool:
    """Return whether a file is the index of definitions, which a later listing may write."""
    return name == "cli.lock.index"


def test_a_second_time_completes_what_is_missing(team: Team) -> None:
    team.init()
    link = team.colleague.home / ".local/bin/acme"
    for path in (link, team.root / "core/acme", team.root / "plugins/ops"):
        path.unlink()
    (team.colleague.home / ".bashrc").unlink()
    assert team.init().status == 0
    assert link.is_symlink()
    assert team.colleague.run("ops", "hi").all == (0, "hi\n", "")


@pytest.mark.parametrize("kind", ["directory", "archive", "commands only", "the root"])
def test_a_source_may_be_no_repository(team: Team, tmp_path: Path, kind: str) -> None:
    files = dict(team.files)
    if kind == "commands only":
        del files["core/cli.json"]
    if kind == "the root":
        files["core/cli.json"] = {**CLI, "commands_dir": "."}
        files["deploy/staging.sh"] = files.pop("commands/deploy/staging.sh")
    source = tmp_path / "source.tar.gz"
    if kind == "archive":
        source.write_bytes(tar_of(files, "acme-1.0/"))
    else:
        source = write_tree(tmp_path / "source", files)
    done = team.init(str(source), "--name", "acme")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.endswith("start with: acme\n")
    assert team.colleague.run("deploy", "staging").all == (0, "staging\n", "")
    assert team.colleague.run("--version").stdout.startswith("acme ")
    assert team.init(str(source), "--name", "acme").stdout.startswith(
        f"{team.root}: acme has "
    )


def test_nothing_of_the_source_is_run(team: Team, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    hook = f"#!/bin/sh\ntouch {mark}\n"
    config = tmp_path / "gitconfig"
    config.write_text(
        f"[core]\nhooksPath = {tmp_path}/hooks\n"
        f"[init]\ntemplateDir = {tmp_path}/template\n"
        "[clone]\ndefaultRemoteName = upstream\n"
        f'[filter "evil"]\nsmudge = touch {mark}; cat\nclean = touch {mark}; cat\n'
    )
    for name in ("hooks", "template/hooks"):
        write_tree(tmp_path / name, {"post-checkout": hook, "post-merge": hook})
    team.repository.commit(
        {".gitattributes": "* filter=evil\n", "core/cli": f"{hook}#x"}
    )
    assert team.init(env={"GIT_CONFIG_GLOBAL": str(config)}).status == 0
    assert team.colleague.run("deploy", "staging").all == (0, "staging\n", "")
    team.change()
    synced = team.colleague.run("self", "sync", env={"GIT_CONFIG_GLOBAL": str(config)})
    assert synced.status == 0, synced.stderr
    assert not mark.exists()
    assert not (team.root / ".git/hooks").exists()
    assert team.status() == ""


def test_a_tracked_launcher_is_not_used(team: Team) -> None:
    team.repository.commit({"core/acme": "#!/bin/sh\necho theirs\n"})
    done = team.init()
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr == (
        f"cli: {team.repository.url}: contains core/acme, which the new launcher would replace; "
        "run git rm core/acme in the source, or use --name\n"
    )
    assert not team.root.exists()
    team.repository.commit({"core/cli.json": {**CLI, "name": "UV"}})
    assert team.init().all == (
        1,
        "",
        f"cli: {team.repository.url}: core/cli.json names uv, a program that this one starts; "
        "choose another name with --name NAME\n",
    )
    assert team.init("", "--name", "zed").status == 0


def test_nothing_in_the_way_is_replaced(team: Team) -> None:
    write_tree(team.colleague.home, {".local/bin/acme": "#!/bin/sh\necho other\n"})
    done = team.init()
    assert done.status == 0
    assert done.stdout.splitlines()[-2:] == [
        f"start with: {team.root}/core/acme",
        f"to stay current: {team.root}/core/acme self sync",
    ]
    assert (
        team.colleague.home / ".local/bin/acme"
    ).read_text() == "#!/bin/sh\necho other\n"
    assert (
        f"{team.colleague.home}/.local/bin/acme is another program; to put this one"
        in done.stderr
    )
    assert "put ~/.local/bin first" not in done.stderr
    assert not (team.colleague.home / ".bashrc").exists()


@pytest.mark.parametrize("there", ["x", "core/cli.json"])
def test_a_directory_with_files_of_others_stays(team: Team, there: str) -> None:
    write_tree(team.root, {there: CLI})
    done = team.init("", "--name", "acme")
    assert (done.status, done.stdout) == (1, "")
    assert str(team.root) in done.stderr
    assert "--name NAME\n" in done.stderr
    assert [path for path in team.root.rglob("*") if path.is_file()] == [
        team.root / there
    ]


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"README": "x"}, "contains neither core/cli.json nor commands/"),
        ({"core/cli.json": "{"}, "core/cli.json:1:2"),
        (
            {"core/cli.json": {**CLI, "plugins_dir": "../out"}},
            "must be inside the installation",
        ),
        (
            {"core/cli.json": {**CLI, "commands_dir": "/tmp"}},
            "commands_dir must be inside the installation",
        ),
        (
            {"core/cli.json": {**CLI, "plugins_dir": "x/../.Git"}},
            "core/cli.json: plugins_dir must not be x/../.Git; choose a directory that",
        ),
        (
            {"core/cli.json": CLI, "plugins/registry.json": LINKED},
            "registry.json lists lk in /tmp, outside of it",
        ),
    ],
)
@pytest.mark.parametrize("words", [(), ("--name", "own")], ids=["", "named"])
@pytest.mark.sampled
def test_a_source_that_is_none(
    team: Team, tmp_path: Path, files: dict[str, str], text: str, words: tuple[str, ...]
) -> None:
    source = write_tree(tmp_path / "source", files)
    done = team.init(str(source), *words)
    assert (done.status, done.stdout) == (1, "")
    assert text in done.stderr
    assert ".cli-stage" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir(team.root.parent) == []


@pytest.mark.parametrize(
    "name", [".git/config", "plugins/.versions/x/y/entry.json", "cli.lock"]
)
def test_an_archive_with_what_is_used_unchecked_is_refused(
    team: Team, tmp_path: Path, name: str
) -> None:
    """git runs programs that the settings of a repository name."""
    source = tmp_path / "source.tar.gz"
    source.write_bytes(tar_of({**team.files, name: "{}"}))
    done = team.init(str(source))
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr.startswith(f"cli: {source}: contains ")
    assert os.listdir(team.root.parent) == []


def test_a_link_in_the_place_of_a_directory_is_refused(
    team: Team, tmp_path: Path
) -> None:
    source = write_tree(tmp_path / "source", {"commands/hi.sh": script("hi")})
    (tmp_path / "outside").mkdir()
    (source / "core").symlink_to(tmp_path / "outside")
    done = team.init(str(source))
    assert (done.status, done.stdout) == (1, "")
    assert (
        done.stderr
        == f"cli: {source}: core must be a directory, not a file or a link\n"
    )
    assert os.listdir(tmp_path / "outside") == []
