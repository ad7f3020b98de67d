"""The names of plugins, for Tab: from directories alone, because a shell waits."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.run.installation import OpenInstallation


def plugin_names(
    _given: object, installation: "OpenInstallation", _lock: object
) -> "list[tuple[str, str]]":
    """Return the names of the directories in `plugins/`, and of packages with a kept version."""
    names = set()
    for directory in (installation.plugins_dir, f"{installation.plugins_dir}/.versions"):
        try:
            names |= {one.name for one in os.scandir(directory) if one.is_dir()}
        except OSError:
            pass  # there is none yet
    return [(name, "") for name in sorted(names) if not name.startswith(".")]
