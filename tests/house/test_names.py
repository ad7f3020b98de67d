"""Names, and what stands where: modules after what they are for, tests in the folders of src."""

from __future__ import annotations

import re

from testing.installation import PROJECT


def test_no_module_is_called_after_nothing() -> None:
    vague = re.compile(r"(util|helper|common|manager|handler|data|context)s?\b")
    names = [path.stem for path in (PROJECT / "src").rglob("*.py")]
    assert [
        name for name in names if any(vague.fullmatch(part) for part in name.split("_"))
    ] == []


def test_tests_stand_in_the_folders_of_src() -> None:
    there = {
        path.parent.relative_to(PROJECT / "src")
        for path in (PROJECT / "src").rglob("*.py")
    }
    tests = PROJECT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    mirrored = {
        one
        for one in folders
        if one.parts and one.parts[0] in ("host", "builtin_plugins")
    }
    assert mirrored - there == set()
