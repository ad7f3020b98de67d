"""A cache of the parts of each definition that listings show, so that no file is parsed twice.

Only recursive listings use it, because a single category is read faster than the index.
An item is valid while its file has the stamp (times, size and inode) that was taken before the file
was read. A file is cached only if it was last changed more than one tick of the coarsest file
system clock ago.
Therefore any later write changes `st_ctime`, which no program can set back.
The index holds no values of variables. Only its owner can read it, because definitions may be
private.
"""

import marshal
import os
import sys
import time

from host.errors import HostError
from host.run import definition as definition_files
from host.run.definition import SYSTEM_OS, Definition
from host.run.files import own_content
from host.run.lock import SLOWEST_CLOCK, checksum, stamp, stamp_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from host.run.installation import OpenInstallation

# marshal's format differs between Python versions; raise the number if `_KEPT` or a default changes
FORMAT = f"cli-host index 20 of {sys.implementation.cache_tag} ".encode()
_HEAD = len(FORMAT) + len(checksum(b""))
_KEPT = (
    *(
        "file",
        "name",
        "description",
        "entrypoint",
        "group",
        "os",
        "sudo",
        "effects",
        "aliases",
    ),
    *(
        "hidden",
        "destroys",
        "examples",
        "starts_commands",
        "usage",
        "path",
        "output",
        "schema",
    ),
    "shell",
    "deprecated",
    "moved_to",
)
_KEPT_IF_EMPTY = (
    *(
        "args",
        "unchecked_args",
        "own_required_envs",
        "own_requires",
        "own_supervisions",
    ),
    "warnings",
)


class DefinitionIndex:
    """Reads definitions as `host.run.definition` does, and caches them."""

    def __init__(self, installation: "OpenInstallation", now: int = 0) -> None:
        """Open the index of an installation; `now` is the time in ns, for tests."""
        directory = os.path.dirname(definition_files.__file__)
        # the folders of this program's modules: `host.run` and `host`
        code = [stamp(directory), stamp(os.path.dirname(directory))]
        self._key = "\n".join([installation.key, SYSTEM_OS, *code])
        self._paths = installation.indexes
        self._settled = (now or time.time_ns()) - SLOWEST_CLOCK
        self._items = self._read()
        self._has_changed = False

    def read_definition(self, path: str) -> Definition:
        """Return what `host.run.definition.read_definition` returns, from the index if possible."""
        now = stamp_numbers(path)
        item = self._items.get(path)
        if item is not None and item[0] == now:
            _, is_plain, kept = item
            return PlainDefinition(kept) if is_plain else CachedDefinition(kept)
        definition = definition_files.read_definition(path)
        if now and max(now[:2]) < self._settled:
            kept = _kept(definition)
            is_plain = not any(getattr(definition, name) for name in _KEPT_IF_EMPTY)
            self._items[path] = (now, is_plain, kept)
            self._has_changed = True
        return definition

    def save(self) -> None:
        """If the index has changed, write it to its first writable path, without deleted files."""
        if not self._has_changed:
            return
        from host.run.replace_file import replace  # most listings change nothing

        items = {path: one for path, one in self._items.items() if os.path.exists(path)}
        body = marshal.dumps((self._key, items))
        any(
            replace(path, FORMAT + checksum(body) + body, 0o600) for path in self._paths
        )

    def _read(self) -> "dict[str, Any]":
        """Return the items of the installation's first intact index, or {} if there is none."""
        for path in self._paths:
            try:
                content = memoryview(own_content(path))
                body = content[_HEAD:]
                if content[:_HEAD] == FORMAT + checksum(body):
                    key, items = marshal.loads(body)  # noqa: S302 - as trusted as .pyc files
                    if key == self._key:
                        return dict(items)
            except (HostError, OSError):
                pass
        return {}


def _kept(definition: Definition) -> "dict[str, Any]":
    """Return the attributes to cache by name, without those that equal a default."""
    from host.listing_json import (
        own_json,
    )  # imports `json`, which a text listing does not need

    kept = {}
    defaults = vars(CachedDefinition)
    for name in _KEPT:
        value = getattr(definition, name)
        if value != defaults.get(name):
            kept[name] = value
    empty = [name for name in _KEPT_IF_EMPTY if not getattr(definition, name)]
    if empty != [*_KEPT_IF_EMPTY]:
        kept |= dict.fromkeys(empty, ())
    if definition.is_command:
        kept["own_json"] = own_json(definition)
    return kept


class CachedDefinition(Definition):
    """A definition from the index; attributes that the index lacks are read from the file.

    The class attributes are defaults; the index has only the values that differ from them.
    """

    name = description = entrypoint = group = usage = output = schema = deprecated = (
        moved_to
    ) = ""
    effects = "change"
    sudo = destroys = hidden = starts_commands = shell = False
    os = aliases = examples = path = ()
    own_json = ""  # see `host.listing_json.own_json`

    def __init__(self, kept: "dict[str, Any]") -> None:
        self.__dict__ = kept.copy()

    def __getattr__(self, name: str) -> "Any":
        """Read the file on the first access to an attribute that the index lacks."""
        if name == "file" or name.startswith(
            "__"
        ):  # `copy` and `pickle` look for such names
            raise AttributeError(name)
        whole = definition_files.read_definition(self.file)
        # keep the attributes that `FolderNode` has changed
        self.__dict__.update({**vars(whole), **self.__dict__})
        return object.__getattribute__(self, name)


class PlainDefinition(CachedDefinition):
    """A definition from the index whose file has none of the keys that the index leaves out.

    Most definitions are plain. Their class has the empty values, so the index need not.
    """

    args = unchecked_args = own_required_envs = own_requires = own_supervisions = (
        warnings
    ) = ()
