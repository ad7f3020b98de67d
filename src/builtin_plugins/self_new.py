"""`self new`: the way to the commands that make new things."""

from __future__ import annotations

from builtin_plugins.lazy_group import LazyGroup

command = LazyGroup(
    "new",
    "Make something new that works at once.",
    {"plugin": ("builtin_plugins.self_new_plugin:command", "A plugin: a directory, or a package")},
)
