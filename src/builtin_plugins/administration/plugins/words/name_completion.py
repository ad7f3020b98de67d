"""The names of plugins, for Tab: read as they stand, since a shell waits."""

import os

from host import HostError
from host.run.json_file import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.run.installation import OpenInstallation


def plugin_names(
    _given: object, installation: "OpenInstallation", _lock: object
) -> "list[tuple[str, str]]":
    """Return the names in the registry, and of directories that it does not have yet."""
    names = set()
    try:
        values = read_json(os.path.join(installation.plugins_dir, "registry.json"))
        names = {str(one["name"]) for one in values["plugins"]}
    except (HostError, OSError, LookupError, TypeError):
        pass  # the directories are there all the same
    try:
        names |= {one for one in os.listdir(installation.plugins_dir) if "." not in one}
    except OSError:
        pass
    return [(name, "") for name in sorted(names)]
