"""Which projects are found, in what order, and that the installation's words win."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from host.catalog.catalog import Catalog
from host.errors import Problem
from host.lock.lock import Lock
from host.projects.projects import Project
from host.record_base import CommandTree
from testing.installation import Made, command
from testing.projects import BUILD, Shop


def script(text: str, about: str = "") -> str:
    return f"#!/bin/sh\n# {about}\necho {text}\n"


@pytest.fixture
def shop(install: Callable[..., Made], tmp_path: Path) -> Shop:
    files = {
        "commands/own": script("own"),
        "commands/team/hello": script("hello"),
        "commands/long/command.json": command(aliases=["l"]),
        "commands/long/main.sh": script("long"),
        "commands/tool/category.json": {"name": "tool", "entrypoint": "run.sh"},
        "commands/tool/run.sh": script("tool"),
    }
    return Shop(install(files), tmp_path / "shop")


def names(shop: Shop, at: Path, **env: str) -> list[str]:
    """Return the words of projects' commands that a listing shows in a directory."""
    done = shop.run("self", "list", "--format", "json", at=at, **env)
    assert (done.status, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["commands"]
    return [" ".join(one["path"]) for one in rows if one["origin"] == "project"]


def test_where_the_search_ends(shop: Shop) -> None:
    deep = shop.root / "a/b"
    deep.mkdir(parents=True)
    found = ["build", "db drop"]
    assert names(shop, deep) == found
    assert names(shop, shop.root.parent) == []
    (shop.root / "a/.git").write_text("gitdir: elsewhere\n")  # a worktree or submodule
    assert names(shop, deep) == []
    (shop.root / "a/.git").rename(shop.root / ".git")
    assert names(shop, deep) == found
    assert names(shop, deep, HOME=str(shop.root)) == found
    assert names(shop, deep, HOME=str(shop.root / "a")) == []


def test_a_deleted_directory_has_no_project(shop: Shop) -> None:
    gone = shop.root / "gone"
    gone.mkdir()
    words = (
        f'cd {gone} && rmdir {gone} && "{shop.made.launcher}" own && '
        f'"{shop.made.launcher}" team'
    )
    shop.made.write({"commands/sh": f"#!/bin/sh\n{words}\n"})
    done = shop.run("sh")
    assert (done.status, done.stdout.startswith("own\nteam\n")) == (0, True)


@pytest.mark.slow
def test_the_nearest_project_wins_and_all_are_used(shop: Shop) -> None:
    inner = Shop(shop.made, shop.root / "inner")
    inner.write(
        {".cli/commands/more": BUILD, ".cli/project.json": {"envs": {"X": "in"}}}
    )
    inner.trust()
    assert inner.run("build").all == (0, f"build {inner.root} {inner.root} in\n", "")
    shop.write({".cli/commands/outer": script("outer")})
    assert inner.run("outer").all == shop.refusal("outer")
    shop.trust()
    assert inner.run("outer").stdout == "outer\n"
    shadows = inner.run("self", "which", "build", "--all").stdout
    assert f"shadows:     {shop.root}/.cli/commands/build\n" in shadows
    shop.write({".cli/commands/both.sh": BUILD})
    inner.write({".cli/commands/both.sh": BUILD})
    shadows = inner.run("self", "which", "both", "--all").stdout
    assert f"shadows:     {shop.root}/.cli/commands/both.sh\n" in shadows
    found = inner.run("self", "lint").stdout
    assert f"{shop.root}/.cli/commands/both.sh:1:1: both is hidden by " in found


@pytest.mark.slow
def test_the_words_of_the_installation_win(shop: Shop) -> None:
    shop.write(
        {
            ".cli/commands/own": script("project"),
            ".cli/commands/team/hello": script("project"),
            ".cli/commands/team/more": script("project"),
            ".cli/commands/l": script("project"),
            ".cli/commands/own.d/x": script("project"),
            ".cli/commands/tool/run": script("project"),
            ".cli/commands/self/x": script("project"),
            ".cli/commands/help": script("project"),
        }
    )
    shop.trust()
    assert shop.run("own").stdout == "own\n"
    assert shop.run("team", "hello").stdout == "hello\n"
    assert shop.run("l").stdout == "long\n"
    assert shop.run("tool", "-x").stdout == "tool\n"
    assert shop.run("team", "more").stdout == "project\n"
    assert shop.run("tool", "run").stdout == "project\n"
    assert shop.run("self", "x").status == 2
    assert shop.run("self", "which", "l").stdout.startswith(
        f"file:        {shop.made.root}/commands/long/main.sh\n"
    )
    shown = shop.run("self", "which", "own", "--all").stdout
    assert f"shadows:     {shop.root}/.cli/commands/own\n" in shown
    assert (
        f"hides {shop.root}/.cli/commands/team/hello" in shop.run("self", "list").stdout
    )


def test_a_projects_own_rows(shop: Shop) -> None:
    shop.write({".cli/commands/team/more": script("more", "More.")})
    root = shop.run().stdout
    assert (
        "\nwebshop:\n  build  Build the shop. [project]\n  db     \n".replace(
            "     \n", ""
        )
        in root
    )
    assert "\n  own" in root.partition("\nwebshop:")[0]
    team = shop.run("team").stdout
    assert team.endswith("Commands:\n  hello\n\nwebshop:\n  more   More. [project]\n")
    [row] = [
        one
        for one in json.loads(shop.run("--format", "json").stdout)["commands"]
        if one["path"] == ["build"]
    ]
    assert (row["origin"], row["plugin"], row["dev"]) == ("project", None, False)
    assert "build  Build the shop. [project]" in shop.run("--format", "tree").stdout


def test_projects_can_be_turned_off(shop: Shop) -> None:
    config = shop.made.root / "core/cli.json"
    values = json.loads(config.read_text())
    config.write_text(json.dumps({**values, "projects": False}))
    assert names(shop, shop.root) == []
    assert shop.run("build", CLI_TRUST=str(shop.root)).status == 2
    refused = shop.run("self", "trust", "--yes")
    assert (refused.status, refused.stdout) == (1, "")
    remedy = 'to use projects, remove "projects": false'
    assert f'{config}: "projects" is false; {remedy}\n' in refused.stderr
    config.write_text(json.dumps({**values, "projects": True}))
    assert names(shop, shop.root) == ["build", "db drop"]
    config.write_text(json.dumps({**values, "projects": "no"}))
    assert 'cli.json: "projects": expected true or false' in shop.run("build").stderr


def test_an_installation_is_no_project_of_its_own(shop: Shop) -> None:
    link = shop.root / "sub"
    link.mkdir()
    (link / ".cli").symlink_to(shop.made.root)
    (link / ".git").mkdir()
    assert names(shop, link) == []


def test_the_home_directory_can_be_a_project(shop: Shop) -> None:
    home = shop.made.home
    (home / ".cli/commands").mkdir(parents=True)
    (home / ".cli/commands/mine").write_text(script("mine"))
    below = home / "x"
    below.mkdir()
    assert names(shop, below) == ["mine"]


def test_the_remedy_of_a_project_in_a_folder_with_a_blank_can_be_pasted(
    shop: Shop,
) -> None:
    root = shop.root.rename(shop.root.with_name("web shop"))
    root.chmod(0o777)
    said = shop.made.run(cwd=root).stderr
    subprocess.run(["sh", "-c", said.partition("run: ")[2]], check=True)
    assert shop.made.run(cwd=root).stderr == ""


def test_an_open_project_is_one_line_in_a_listing(shop: Shop) -> None:
    shop.root.chmod(0o1777)
    done = shop.run()
    assert (done.status, "webshop" in done.stdout) == (0, False)
    assert done.stderr == (
        f"cli: warning: {shop.root}: every user can write to it, so this project is ignored\n"
    )  # nobody should close /tmp
    shop.root.chmod(0o777)
    assert shop.run().stderr.endswith(f"is ignored; run: chmod o-w {shop.root}\n")
    assert shop.run("own").all == (0, "own\n", "")


def test_info_names_the_nearest_project(shop: Shop) -> None:
    assert f"\nproject:       {shop.root}\n" in shop.run("self", "info").stdout
    outside = shop.run("self", "info", "--format", "json", at=shop.root.parent).stdout
    assert "project" not in json.loads(outside)["paths"]


def test_a_wrong_project_json_stops_only_the_projects_commands(shop: Shop) -> None:
    shop.write({".cli/project.json": '{"envs": []}'})
    line = f'{shop.root}/.cli/project.json: "envs": expected an object of strings, found an array\n'
    assert shop.run("build").all == (1, "", f"cli: {line}")
    assert shop.run("own").all == (0, "own\n", "")
    assert shop.run().stderr == f"cli: warning: {line}"
    shop.write({".cli/project.json": {"asistants": True}})
    assert 'did you mean "assistants"?' in shop.run().stderr


def test_a_nested_run_does_not_keep_project_dir(shop: Shop) -> None:
    shop.made.write({"commands/env": "#!/bin/sh\nenv\n"})
    launcher = shop.made.launcher
    shop.write(
        {".cli/commands/nested": f'#!/bin/sh\n"{launcher}" env; "{launcher}" build\n'}
    )
    shop.trust()
    shown = shop.run("nested").stdout
    assert "PROJECT_DIR=" not in shown
    assert shown.endswith(f"build {shop.root} {shop.root} {shop.root}/x\n")
    assert "PROJECT_DIR=/mine\n" in shop.run("env", PROJECT_DIR="/mine").stdout


def test_settings_apply_to_a_projects_command(shop: Shop) -> None:
    shop.made.write({"config/settings.conf": "X=settings\nWHERE=$PROJECT_DIR\n"})
    shop.write(
        {".cli/commands/env": "#!/bin/sh\necho $X $WHERE\n", ".cli/project.json": {}}
    )
    shop.trust()
    assert shop.run("env").stdout == f"settings {shop.root}\n"


def test_a_run_of_the_installation_looks_for_no_project(shop: Shop) -> None:
    looked = []

    def around() -> tuple[list[Project], list[Problem]]:
        looked.append(1)
        return [], []

    catalog = Catalog(
        Lock([CommandTree(f"{shop.made.root}/commands", scripts={})]), around=around
    )
    assert catalog.find(["own", "x"]).kind == "command"
    assert catalog.find(["team", "hello"]).kind == "command"
    assert looked == []
    assert catalog.find(["more"]).kind == "unknown"
    assert catalog.find(["team"]).kind == "category"
    assert len(looked) == 1
