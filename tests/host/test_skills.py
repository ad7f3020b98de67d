"""Skills of plugins: texts for assistants, which are read and never executed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from host.messages import Messages
from host.record_base import CommandTree
from host.records import Skill
from host.skills import find_skills, skill_names
from testing.installation import Made


def _skill(root: Path, name: str, text: str = "text\n") -> Path:
    file = root / "skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def _found(*roots: Path) -> list[Skill]:
    trees = [CommandTree(str(root), root.name) for root in roots]
    return find_skills(trees, Messages("acme", {}))


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("---\nname: x\ndescription: How to deploy\n---\nNow\n", "How to deploy"),
        ('---\ndescription: "How to: deploy"\n---\n', "How to: deploy"),
        ("---\ndescription: >-\n  How\n\n  to deploy\nname: x\n---\n", "How to deploy"),
        ("---\ndescription: How\n  to deploy\n---\n", "How to deploy"),
        ("---\r\ndescription: How to deploy\r\n---\r\n", "How to deploy"),
        ("---\nname: x\n---\ndescription: no\n", ""),
        ("description: no\n", ""),
        ("", ""),
    ],
)
def test_the_description(tmp_path: Path, text: str, description: str) -> None:
    _skill(tmp_path, "deploying", text).write_bytes(text.encode())
    [skill] = _found(tmp_path)
    assert skill == Skill("deploying", description, tmp_path.name, text)


def test_the_earlier_plugin_wins(tmp_path: Path) -> None:
    _skill(tmp_path / "one", "shared")
    _skill(tmp_path / "two", "shared")
    _skill(tmp_path / "two", "own")
    skills = _found(tmp_path / "none", tmp_path / "one", tmp_path / "two")
    named = [(skill.name, skill.plugin) for skill in skills]
    assert named == [("shared", "one"), ("own", "two")]


def test_what_is_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "one"
    outside = tmp_path / "secret"
    outside.write_text("secret")
    _skill(root, "big", "x" * (1 + (64 << 10)))
    _skill(root, "not a word")
    _skill(root, "link").unlink()
    (root / "skills/link/SKILL.md").symlink_to(outside)
    _skill(root, "fifo").unlink()
    os.mkfifo(root / "skills/fifo/SKILL.md")
    (root / "skills/empty").mkdir()
    (root / "skills/file").write_text("x")
    (tmp_path / "two").mkdir()
    (tmp_path / "two/skills").symlink_to(tmp_path / "one/skills")

    assert _found(root) == []
    skills = f"acme: warning: {root}/skills"
    assert capfd.readouterr().err.splitlines() == [
        f"{skills}/big/SKILL.md: larger than 65536 bytes",
        f"{skills}/fifo/SKILL.md: not a regular file",
        f"{skills}/link/SKILL.md: leads out of the plugin's folder: {outside}",
    ]
    assert _found(tmp_path / "two") == []


def test_a_plugin_may_have_skills_only(
    install: Callable[..., Made], tmp_path: Path
) -> None:
    made = install()
    skill = tmp_path / "texts/skills/deploy/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("How to deploy\n")
    added = made.run("self", "plugin", "add", str(tmp_path / "texts"), "--yes")
    assert added.status == 0, added.stderr
    assert "skills, texts for assistants: deploy\n" in added.stdout
    assert [skill.plugin for skill in made.program.skills()] == ["texts"]


def test_a_version_without_a_folder_has_no_skills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the current directory are nobody's."""
    skill = tmp_path / "skills/deploy/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.touch()
    monkeypatch.chdir(tmp_path)
    assert (skill_names(""), skill_names(str(tmp_path))) == ([], ["deploy"])
