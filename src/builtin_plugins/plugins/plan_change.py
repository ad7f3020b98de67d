"""What a command does with a plugin: one of four plans, made from the registry and one version.

`plan_change` decides; it reads nothing. `preview` shows a plan, and `Transaction.save` carries it
out. `add`, `update`, `sync`, `rollback` and `doctor --fix` all work so.
"""

from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import Registry
from builtin_plugins.registry.version import PluginVersion
from host import Record


class Plan(Record):
    """A plan for a `version` of a plugin, whose recorded entry is `former`."""

    version: PluginVersion
    former: Entry | None = None

    @property
    def entry(self) -> Entry:
        return self.version.entry

    @property
    def is_new_version(self) -> bool:
        """Return whether another version becomes the current one."""
        return self.former is None or self.former.version_dir != self.entry.version_dir


class Nothing(Plan):
    """The version is the current one, with the same choices of the user."""


class Add(Plan):
    """There is no plugin of this name yet."""


class Update(Plan):
    """The version, its source, or the user's choices about it replace those of `former`."""


class Restore(Plan):
    """The files of `former` are missing; the version takes its place."""


def plan_change(
    registry: Registry, version: PluginVersion, *, is_present: bool
) -> Plan:
    """Return the plan that makes `version` the current one.

    `is_present` tells whether the files of the recorded version can be used.
    """
    former = registry.entries.get(version.entry.name)
    if former is None:
        return Add(version)

    # What the user has disabled stays disabled.
    entry = version.entry.replaced(enabled=former.enabled)
    version = version.replaced(entry=entry)
    if not is_present:
        return Restore(version, former)
    if is_same_version(entry, former) and not has_other_choices(entry, former):
        return Nothing(version, former)
    return Update(version, former)


def is_same_version(entry: Entry, former: Entry) -> bool:
    """Return whether both entries have the same version, from the same source and ref."""
    if entry.source_and_ref != former.source_and_ref:
        return False
    return entry.version_dir == former.version_dir


def has_other_choices(entry: Entry, former: Entry) -> bool:
    """Return whether the user has chosen other command words or PATH folders than before."""
    return (entry.scripts, entry.path) != (former.scripts, former.path)


def is_unchanged(entry: Entry, former: Entry) -> bool:
    """Return whether an entry has the version, source, pin and choices that it had before."""
    if entry.pinned != former.pinned or has_other_choices(entry, former):
        return False
    return is_same_version(entry, former)
