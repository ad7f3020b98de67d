"""Plugin names for Tab completion, read only from local files because a shell is waiting."""

import os

from host import DefinitionError
from host.files.json_file import read_json
from host.pages.completion import FILES, Completer, Offer


def plugin_names(_given: object, completer: Completer) -> Offer:
    """Return the names of the plugins with a directory in `plugins/` or `plugins/.versions/`."""
    names = set()
    plugins_dir = completer.installation.plugins_dir
    # Not `directory.VERSIONS`, because importing that module takes 8 ms.
    for directory in (plugins_dir, f"{plugins_dir}/.versions"):
        try:
            for entry in os.scandir(directory):
                if entry.is_dir() and not entry.name.startswith("."):
                    names.add(entry.name)
        except OSError:
            pass  # plugins/ or plugins/.versions does not exist yet
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
    except (OSError, DefinitionError, LookupError, TypeError):
        pass  # the cached file does not exist yet, or it is damaged
    return Offer(names, FILES)
