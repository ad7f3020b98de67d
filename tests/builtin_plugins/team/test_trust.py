"""`self trust`, and the words that make a project or write into one."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made
from testing.projects import BUILD, Shop

TOOLS = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}


@pytest.fixture
def shop(install: Callable[..., Made], tmp_path: Path) -> Shop:
    return Shop(install({}), tmp_path / "shop")


def test_trust_by_path_and_its_list(shop: Shop) -> None:
    root = str(shop.root)
    above = shop.root.parent
    assert shop.run("self", "trust", "--list").all == (0, "no project is trusted\n", "")
    assert (
        shop.run("self", "trust", root, "--yes", at=above).stdout
        == f"{root}: trusted\n"
    )
    assert shop.run("build").status == 0
    assert shop.run("self", "trust", "--list").stdout == f"{root}\n"
    shutil.rmtree(root)
    done = shop.run("self", "trust", "--list", "--format", "json", at=above)
    assert json.loads(done.stdout) == {"projects": [{"path": root}]}
    forgotten = (0, f"{root}: no longer trusted\n", "")
    for _ in range(2):
        assert shop.run("self", "trust", root, "--forget", at=above).all == forgotten


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--list", "--yes"], "self trust: --list and --yes cannot be given together"),
        (["--list", "x"], "self trust: --list and directory cannot be given together"),
    ],
)
def test_options_that_do_not_fit(shop: Shop, words: list[str], line: str) -> None:
    assert shop.run("self", "trust", *words).all == (2, "", f"cli: {line}\n")


def test_what_is_no_project(shop: Shop) -> None:
    above = shop.root.parent
    done = shop.run("self", "trust", "--yes", at=above)
    assert done.all == (
        *(1, ""),
        "cli: there is no project here: no .cli/commands in this directory or above it; "
        "to make one: cli self init --project\n",
    )
    done = shop.run("self", "trust", str(above), "--yes")
    remedy = "a project is a directory that contains .cli/commands/"
    assert done.all == (1, "", f"cli: {above} is not a project; {remedy}\n")
    shop.root.chmod(0o777)
    assert "every user can write to it" in shop.run("self", "trust", "--yes").stderr


@pytest.mark.slow
def test_a_new_project_has_an_example_that_runs(shop: Shop) -> None:
    place = shop.root.parent / "new/here"
    place.mkdir(parents=True)
    shop.made.write({"commands/hello": BUILD})  # the README's first command
    done = shop.run("self", "init", "--project", at=place)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(
        f"made {place}/.cli/commands/where\ntry it:  cli where\n"
    )
    where = (0, f"This is {place}; you are in {place}.\n", "")
    assert shop.run("where", at=place).all == where
    done = shop.run("self", "init", "--project", at=place)
    assert done.all == (0, f"{place}/.cli: already exists\n", "")
    assert shop.run("self", "trust", "--forget", str(place)).status == 0
    assert shop.run("self", "init", "--project", str(place)).status == 0
    assert shop.run("where", at=place).status == 1
    for other in ("--name", "--from"):
        assert shop.run("self", "init", "--project", other, "x").status == 2


@pytest.mark.slow
def test_import_into_the_nearest_project(shop: Shop) -> None:
    shop.write(
        {
            "Makefile": "all: ## Build\n\t@echo made in $(notdir $(CURDIR))\n",
            "src/x": "",
        }
    )
    words = ("self", "import", "../Makefile", "--project")
    done = shop.run(*words, at=shop.root / "src", **TOOLS)
    assert (done.status, done.stderr) == (0, "")
    written = shop.root / ".cli/commands/make/all.sh"
    assert str(shop.root) not in written.read_text()
    shop.trust()
    assert shop.run("make", "all", **TOOLS).all == (0, "made in shop\n", "")
    (shop.root / ".cli/commands/away").symlink_to(shop.root.parent)
    for words in ("away x", "away --update"):
        done = shop.run("self", "import", "Makefile", *words.split(), "--project")
        assert (done.status, "leads out of the project" in done.stderr) == (1, True)
    outside = shop.root.parent / "Makefile"
    outside.write_text("all:\n\t@echo outside\n")
    words = ("self", "import", str(outside), "out", "--project")
    assert shop.run(*words, **TOOLS).status == 0
    assert str(outside.parent) in (shop.root / ".cli/commands/out/all.sh").read_text()
    done = shop.run("self", "import", str(outside), "--project", at=shop.root.parent)
    assert (done.status, "self init --project" in done.stderr) == (1, True)
    assert shop.run("self", "import", "x", "--project", "--plugin", "y").status == 2


@pytest.mark.slow
def test_lint_and_doctor_of_projects(shop: Shop) -> None:
    shop.trust()
    shop.made.write({"commands/own/build": BUILD, "commands/build": BUILD})
    findings = json.loads(shop.run("self", "lint", "--format", "json").stdout)[
        "findings"
    ]
    [hint] = [one for one in findings if one["rule"] == "shadowed"]
    assert (hint["file"], hint["line"]) == (".cli/commands/build", 1)
    what = f"build is hidden by {shop.made.root}/commands/build; "
    assert hint["message"] == f"{what}rename one of the two, or disable the plugin"
    shop.write({".cli/commands/db/drop/command.json": "{"})
    done = shop.run("self", "lint")
    assert done.status == 1
    assert "\n.cli/commands/db/drop/command.json:1:2: " in f"\n{done.stdout}"
    assert shop.run("self", "lint", at=shop.root.parent).status == 0
    done = shop.run("self", "lint", str(shop.root), at=shop.root.parent)
    assert (done.status, "db/drop/command.json:1:2: " in done.stdout) == (1, True)


def test_lint_and_doctor_check_the_scripts_of_projects(shop: Shop) -> None:
    shop.write({".cli/commands/lost.sh": "echo x\n", ".cli/project.json": "{"})
    (shop.root / ".cli/commands/lost.sh").chmod(0o644)
    left_out = ".cli/commands/lost.sh:1:1: it is not executable and has no shebang; "
    wrong = ".cli/project.json:1:2: "
    done = shop.run("self", "lint")
    lines = done.stdout.splitlines()
    assert (done.status, done.stderr) == (1, "")
    assert len([one for one in lines if one.startswith(left_out)]) == 1
    assert len([one for one in lines if one.startswith(wrong)]) == 1
    shop.write({".cli/project.json": "{}"})
    done = shop.run("self", "lint")
    assert (
        done.status,
        "--help shows the help page: build, db drop" in done.stdout,
    ) == (0, True)
    assert f"hint   {left_out}"[:60] in shop.run("self", "doctor").stdout
    assert not shop.ran


@pytest.mark.slow
def test_doctor_of_projects(shop: Shop) -> None:
    def found() -> list[tuple[str, str, bool]]:
        rows = json.loads(shop.run("self", "doctor", "--format", "json").stdout)[
            "findings"
        ]
        return [
            (one["message"], one["remedy"], one["hint"])
            for one in rows
            if one["check"] in ("projects", "definitions")
        ]

    text = (
        "this project has commands that are not trusted; you are asked before one runs"
    )
    assert found() == [(f"{shop.root}: {text}", f"cli self trust {shop.root}", True)]
    shop.trust()
    assert found() == []
    shop.root.chmod(0o777)
    text = "every user can write to it, so this project is ignored"
    chmod = f"run: chmod o-w {shop.root}"
    assert found() == [(f"{shop.root}:1:1: {text}", chmod, False)]
