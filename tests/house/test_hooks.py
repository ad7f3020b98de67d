"""Every hook is documented with an example and has a test."""

from __future__ import annotations

import inspect
from pathlib import Path

from host import hookspecs
from testing.installation import PROJECT


def test_every_hook_is_documented_with_an_example_and_tested() -> None:
    specs = hookspecs.HOOKS
    assert len(specs) == 8
    tests = "".join(
        path.read_text()
        for path in (PROJECT / "tests").rglob("*.py")
        if path != Path(__file__)
    )
    for name in specs:
        text = inspect.getdoc(getattr(hookspecs, name)) or ""
        assert "Called " in text, name
        assert "@hookimpl" in text, name
        assert f"def {name}(" in tests, f"no test implements {name}"
