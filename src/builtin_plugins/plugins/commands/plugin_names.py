"""Plugin names for Tab completion, read only from local files because a shell is waiting."""

import os

from host import DefinitionError
from host.files.json_file import read_json
from host.tab.candidates import FILES, Completer, Offer

# A file may not exist yet, be damaged, or have other content; Tab then offers less.
_UNREADABLE = (OSError, DefinitionError, LookupError, TypeError)


def plugin_names(_given: object, completer: Completer) -> Offer:
    """Return the names in the registry and those of the directories in `plugins/`."""
    plugins_dir = completer.installation.plugins_dir
    # Not `registry`, because importing it takes 8 ms.
    names: set[str] = set()
    for file in ("registry.json", "registry.local.json"):
        try:
            content = read_json(f"{plugins_dir}/{file}")
            names.update(str(entry["name"]) for entry in content["plugins"])
        except _UNREADABLE:
            continue
    # A directory that the user has put there, and what is left of a plugin, have no entry.
    for directory in (plugins_dir, f"{plugins_dir}/.versions"):
        try:
            entries = list(os.scandir(directory))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir() and not entry.name.startswith("."):
                names.add(entry.name)
    return Offer([(name, "") for name in sorted(names)])


def sources(_given: object, completer: Completer) -> Offer:
    """Return the plugin names in the cached catalogues; the shell adds file names."""
    installation = completer.installation
    if not installation.config.catalogues:
        return Offer([], FILES)

    names = []
    try:
        copy = read_json(installation.cache_path("catalogue"))
        for row in copy["plugins"]:
            names.append((str(row["name"]), str(row["description"])))
    except _UNREADABLE:
        pass
    return Offer(names, FILES)
