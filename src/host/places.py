"""One installation, ready to use: its layout, its cli.json, and where its lock is."""

import os
import sys

from host.definition import Config, read_config
from host.errors import InstallationError
from host.layout import Layout, home
from host.lock import lock_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.records import Installation


class Places:
    """A layout together with what its cli.json says; `key` names it in its lock."""

    __slots__ = ("commands_dir", "config", "key", "layout", "locks", "plugins_dir")

    def __init__(self, layout: Layout, config: Config, cache_home: str, python_path: str) -> None:
        self.layout = layout
        self.config = config
        self.commands_dir = os.path.join(layout.root, config.commands_dir)
        self.plugins_dir = os.path.join(layout.root, config.plugins_dir)
        self.locks = lock_places(layout.lock_file, cache_home)
        interpreter = os.path.dirname(sys.executable)  # python and python3 of one environment
        directories = f"{layout.root}\n{self.commands_dir}\n{self.plugins_dir}"
        self.key = f"{directories}\n{__file__}\n{sys.version}\n{interpreter}\n{python_path}"

    def installation(self) -> "Installation":
        """Return what hooks are told about the installation."""
        from host.records import Installation

        return Installation(
            program=self.layout.program,
            root=self.layout.root,
            commands_dir=self.commands_dir,
            plugins_dir=self.plugins_dir,
            config_dir=os.path.join(self.layout.root, "config"),
        )


def open_places(layout: Layout, environ: "Mapping[str, str]") -> Places:
    """Return the installation at `layout`; raises InstallationError when it is none."""
    try:
        config = read_config(layout.config_file)
    except InstallationError as error:
        if layout.default and not os.path.lexists(layout.config_file):
            raise InstallationError(
                f"{error}; to make an installation run: {layout.program} self init"
            ) from None
        raise
    cache_home = environ.get("XDG_CACHE_HOME", "")
    if not cache_home.startswith("/"):
        cache_home = os.path.join(home(environ), ".cache")
    python_path = "" if sys.flags.ignore_environment else environ.get("PYTHONPATH", "")
    return Places(layout, config, cache_home, python_path)
