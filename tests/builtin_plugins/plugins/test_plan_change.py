"""What a command does with a version of a plugin, decided from the registry alone."""

from __future__ import annotations

from typing import Any

import pytest

from builtin_plugins.plugins.plan_change import (
    Add,
    Nothing,
    Plan,
    Restore,
    Update,
    is_unchanged,
    plan_change,
)
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import Registry, RegistryFile
from builtin_plugins.registry.version import PluginVersion

_ONE = Entry("ops", "git", "https://h.test/ops", commit="1" * 40, enabled=False)
_TWO = _ONE.replaced(commit="2" * 40, enabled=True)
_PART = _ONE.replaced(source="https://h.test/ops#subdirectory=a")
_OTHER_PART = _ONE.replaced(source="https://h.test/ops#subdirectory=b/c")

CASES: dict[str, tuple[Entry | None, Entry, bool, type[Plan]]] = {
    "new": (None, _ONE, False, Add),
    "the same": (_ONE, _ONE.replaced(installedAt="later"), True, Nothing),
    "another version": (_ONE, _TWO, True, Update),
    "another ref of the same commit": (_ONE, _ONE.replaced(ref="v1"), True, Update),
    "another source": (_ONE, _ONE.replaced(source="https://x.test"), True, Update),
    "another subdirectory of the same commit": (_PART, _OTHER_PART, True, Update),
    "other words": (_ONE, _ONE.replaced(scripts={"under": "a"}), True, Update),
    "other folders": (_ONE, _ONE.replaced(path=()), True, Update),
    "its files are missing": (_ONE, _ONE, False, Restore),
    "files of a former version are missing": (_ONE, _TWO, False, Restore),
}


@pytest.mark.parametrize(
    ("recorded", "entry", "is_present", "kind"), CASES.values(), ids=CASES
)
def test_plans(
    recorded: Entry | None, entry: Entry, is_present: bool, kind: type[Plan]
) -> None:
    items = [] if recorded is None else [recorded.fields()]
    values = {"version": "1.0.0", "plugins": items}
    registry = Registry(RegistryFile("r", values), RegistryFile("l"))
    plan = plan_change(registry, PluginVersion(entry), is_present=is_present)
    assert type(plan) is kind
    if "subdirectory" in entry.source:
        assert plan.is_new_version
    assert plan.former == recorded
    if recorded is not None:
        assert plan.entry.enabled is recorded.enabled


@pytest.mark.parametrize(
    ("facts", "unchanged"),
    [
        ({"enabled": True, "installedAt": "later"}, True),
        ({"commit": "2" * 40}, False),
        ({"ref": "v1"}, False),
        ({"pinned": True}, False),
        ({"scripts": {"under": "a"}}, False),
        ({"path": ()}, False),
    ],
)
def test_what_another_process_changed(facts: dict[str, Any], unchanged: bool) -> None:
    assert is_unchanged(_ONE.replaced(**facts), _ONE) is unchanged
