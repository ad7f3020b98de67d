"""Trust of linked git work trees, with real repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made
from testing.projects import Shop

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def git(at: Path, *words: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(at), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", "-C", at, *AUTHOR, *words], env=environ, check=True, capture_output=True
    )


@pytest.fixture
def shop(install: Callable[..., Made], tmp_path: Path) -> Shop:
    shop = Shop(install({}), tmp_path / "shop")
    git(shop.root, "init", "-q")
    git(shop.root, "add", ".")
    git(shop.root, "commit", "-qm", "Shop")
    return shop


@pytest.fixture
def linked(shop: Shop) -> Shop:
    """The shop as it is seen from a linked work tree."""
    root = shop.root.parent / "linked"
    git(shop.root, "worktree", "add", "-q", str(root), "-b", "linked")
    there = Shop.__new__(Shop)
    there.made, there.root = shop.made, root
    return there


def test_a_linked_work_tree_of_a_trusted_project_is_trusted(
    shop: Shop, linked: Shop
) -> None:
    assert linked.run("build").all == linked.refusal("build")
    shop.trust()
    done = linked.run("build")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(f"build {linked.root} ")


def test_the_main_work_tree_is_not_trusted_for_a_linked_one(
    shop: Shop, linked: Shop
) -> None:
    linked.trust()
    assert shop.run("build").status == 1


def test_other_definitions_need_trust(shop: Shop, linked: Shop) -> None:
    shop.trust()
    linked.write({".cli/commands/db/category.json": {"name": "db", "envs": {"Y": "z"}}})
    assert linked.run("build").status == 0
    assert linked.run("db", "drop", "x").all == linked.refusal(
        "db drop", "has changed since it was trusted"
    )
    linked.trust()
    assert linked.run("db", "drop", "x").stdout.endswith(" z\n")


def test_work_trees_of_a_bare_repository(shop: Shop) -> None:
    bare = shop.root.parent / "bare.git"
    git(shop.root, "clone", "-q", "--bare", ".", str(bare))
    roots = [shop.root.parent / name for name in ("one", "two")]
    for root in roots:
        git(bare, "worktree", "add", "-q", str(root), "-b", root.name)
    for root in roots:
        shop.root = root
        assert shop.run("build").status == 1
    shop.trust()
    shop.root = roots[0]
    assert shop.run("build").status == 0


def test_a_project_in_a_folder_of_the_repository(
    install: Callable[..., Made], tmp_path: Path
) -> None:
    shop = Shop(install({}), tmp_path / "all" / "shop")
    top = shop.root.parent
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "Shop")
    git(top, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    shop.trust()
    assert shop.run("build", at=tmp_path / "linked/shop").status == 0
    (tmp_path / "linked/shop").rename(tmp_path / "linked/other")
    assert shop.run("build", at=tmp_path / "linked/other").status == 1


def _leads_elsewhere(shop: Shop, linked: Shop) -> None:
    record = shop.root / ".git/worktrees/linked/gitdir"
    record.write_text(f"{shop.root.parent}/other/.git\n")


def _is_a_copy(shop: Shop, linked: Shop) -> None:
    linked.root = linked.root.rename(linked.root.parent / "moved")


def _is_another_repository(shop: Shop, linked: Shop) -> None:
    (linked.root / ".git").unlink()
    git(linked.root, "init", "-q")


def _others_can_write(shop: Shop, linked: Shop) -> None:
    (linked.root / ".git").chmod(0o666)


def _others_can_write_the_record(shop: Shop, linked: Shop) -> None:
    (shop.root / ".git/worktrees/linked").chmod(0o777)


@pytest.mark.parametrize(
    "change",
    [
        _leads_elsewhere,
        _is_a_copy,
        _is_another_repository,
        _others_can_write,
        _others_can_write_the_record,
    ],
)
def test_links_that_prove_nothing(
    shop: Shop, linked: Shop, change: Callable[[Shop, Shop], None]
) -> None:
    shop.trust()
    assert linked.run("build").status == 0
    change(shop, linked)
    assert linked.run("build").all == linked.refusal("build")
