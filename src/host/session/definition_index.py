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

from host.catalog import definition as definition_files
from host.catalog.definition import SYSTEM_OS, Definition
from host.errors import HostError
from host.files.paths import own_content
from host.lock.lock import SLOWEST_CLOCK, checksum, stamp, stamp_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from host.installation import OpenInstallation

# marshal's format differs between Python versions; raise the number if a default below changes
FORMAT = f"cli-host index 22 of {sys.implementation.cache_tag} ".encode()
_HEAD = len(FORMAT) + len(checksum(b""))


class DefinitionIndex:
    """Reads definitions as `host.catalog.definition` does, and caches them."""

    def __init__(self, installation: "OpenInstallation", now: int = 0) -> None:
        """Open the index of an installation; `now` is the time in ns, for tests."""
        # the folders of this program's modules: `host.catalog` and `host`
        catalog_folder = os.path.dirname(definition_files.__file__)
        host_folder = os.path.dirname(catalog_folder)
        code = [stamp(catalog_folder), stamp(host_folder)]
        self._key = "\n".join([installation.key, SYSTEM_OS, *code])
        self._paths = installation.indexes
        if not now:
            now = time.time_ns()
        self._settled = now - SLOWEST_CLOCK
        self._items = self._read()
        self._has_changed = False

    def read_definition(self, path: str) -> Definition:
        """Return the definition in the file `path`, from the index if possible."""
        now = stamp_numbers(path)
        item = self._items.get(path)
        if item is not None:
            former, is_plain, values = item
            if former == now:
                if is_plain:
                    return PlainDefinition(values)
                return CachedDefinition(values)

        definition = definition_files.read_definition(path)
        if now and max(now[:2]) < self._settled:
            is_plain, values = _to_keep(definition)
            self._items[path] = (now, is_plain, values)
            self._has_changed = True
        return definition

    def save(self) -> None:
        """If the index has changed, write it to its first writable path, without deleted files."""
        if not self._has_changed:
            return
        from host.files.replace_file import replace  # most listings change nothing

        paths = filter(os.path.exists, self._items)
        items = {path: self._items[path] for path in paths}
        body = marshal.dumps((self._key, items))
        content = FORMAT + checksum(body) + body
        for path in self._paths:
            if replace(path, content, 0o600):
                break

    def _read(self) -> "dict[str, Any]":
        """Return the items of the installation's first intact index, or {} if there is none."""
        for path in self._paths:
            try:
                content = memoryview(own_content(path))
            except (HostError, OSError):
                continue  # there is none, or somebody else may have written it
            body = content[_HEAD:]
            if content[:_HEAD] != FORMAT + checksum(body):
                continue
            key, items = marshal.loads(body)  # noqa: S302 - as trusted as .pyc files
            if key == self._key:
                return dict(items)
        return {}


class CachedDefinition(Definition):
    """A definition from the index; attributes that the index lacks are read from the file.

    The index has the attributes below, where they differ from these defaults.
    """

    name = ""
    description = ""
    entrypoint = ""
    group = ""
    os = ()
    sudo = False
    effects = "change"
    own_effects = ""
    is_declared = True
    aliases = ()
    hidden = False
    examples = ()
    starts_commands = False
    usage = ""
    path = ()
    shell = False
    output = ""
    schema = ""
    deprecated = ""
    moved_to = ""
    own_json = ""  # see `host.listing_json.own_json`

    def __init__(self, values: "dict[str, Any]") -> None:
        self.__dict__ = values.copy()

    def __getattr__(self, name: str) -> "Any":
        """Read the file on the first access to an attribute that the index lacks."""
        # `copy` and `pickle` look for names with underscores
        if name == "file" or name.startswith("__"):
            raise AttributeError(name)
        whole = definition_files.read_definition(self.file)
        # keep the attributes that `FolderNode` has changed
        self.__dict__.update({**vars(whole), **self.__dict__})
        return object.__getattribute__(self, name)


class PlainDefinition(CachedDefinition):
    """A definition from the index whose file has none of the keys below.

    Most definitions are plain. Their class has the empty values, so the index need not: of any
    other definition, it has the empty ones of these, and the rest is read from the file.
    """

    args = ()
    unchecked_args = ()
    own_required_envs = ()
    own_requires = ()
    own_supervisions = ()
    warnings = ()


def _to_keep(definition: Definition) -> "tuple[bool, dict[str, Any]]":
    """Return whether a definition is plain, and the attributes to cache by name."""
    # imports `json`, which a text listing does not need
    from host.listing_json import own_json

    values: dict[str, Any] = {"file": definition.file}
    for name, default in _defaults(CachedDefinition).items():
        value = getattr(definition, name, default)
        if value != default:
            values[name] = value
    if definition.is_command:
        # `marshal` writes an interned text only once, and most definitions have the same one.
        values["own_json"] = sys.intern(own_json(definition))

    heavy = _defaults(PlainDefinition)
    empty = {name: () for name in heavy if not getattr(definition, name)}
    is_plain = len(empty) == len(heavy)
    if not is_plain:
        values |= empty
    return is_plain, values


def _defaults(kind: type) -> "dict[str, Any]":
    """Return the attributes that a class of this module has itself, with their values."""
    attributes = vars(kind).items()
    return {name: value for name, value in attributes if not name.startswith("__")}
