"""Where a tool lives on Linux, and how its variables are called."""

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Places:
    """The Linux paths of one tool: as given, without a slash at the end."""

    tool: str
    install_dir: str
    bin_dir: str
    desktop_file: str

    @classmethod
    def read(cls, tool: str, environ: Mapping[str, str]) -> "Places":
        """Return the places that `environ` names, else the usual ones; checks nothing."""

        def path(suffix: str, default: str) -> str:
            value = environ.get(variable(tool, suffix), default)
            return os.path.normpath(value) if value.startswith("/") else value

        return cls(
            tool,
            path("INSTALL_DIR", f"/opt/{tool}"),
            path("BIN_DIR", "/usr/local/bin"),
            path("DESKTOP_FILE", f"/usr/share/applications/{tool}.desktop"),
        )

    @property
    def link(self) -> str:
        """The symlink that makes the tool a command."""
        return os.path.join(self.bin_dir, self.tool)

    @property
    def stage(self) -> str:
        """The hidden directory beside the install directory where changes are prepared."""
        parent, name = os.path.split(self.install_dir)
        return os.path.join(parent, f".{name}.setup")


def variable(tool: str, suffix: str) -> str:
    """Return the name of a tool's variable: `api-kit`, `SHA256` → `API_KIT_SHA256`."""
    return f"{tool.upper().replace('-', '_').replace('.', '_')}_{suffix}"
