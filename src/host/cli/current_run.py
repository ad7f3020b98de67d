"""What a command written in Python can find out about the run that it is in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from host.cli.session import Session
from host.errors import HostError
from host.run.definition import Definition
from host.run.installation import Layout
from host.run.layers import SYSTEM, Assignment
from host.run.messages import Messages
from host.run.plan import read_layers

_FRAMEWORK = ("CLI_DIR", "CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "GLOBAL_CONFIG_FILE")


class _Silence(Messages):
    """Says nothing: the run itself has said it."""

    __slots__ = ()

    def line(self, text: str) -> None:
        del text


class RunningCommand:
    """The command that the merged environment `environ` belongs to.

    Raises HostError when the environment is none that the host made, or its
    installation is no longer there.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        name = environ.get("COMMAND_NAME", "")
        category = environ.get("COMMAND_CATEGORY", "")
        root = environ.get("CLI_DIR", "")
        if not name or not root:
            raise HostError("this runs as a command of an installation only")
        self.words = (*filter(None, category.split("/")), name)
        config_file = environ.get("GLOBAL_CONFIG_FILE") or os.path.join(root, "core", "cli.json")
        layout = Layout(name, root, config_file)
        self._session = Session(layout, environ, _Silence("", {}), safe=False)
        found = self._session.find(self.words)
        if found.definition is None or found.words != self.words:
            raise HostError(f"{' '.join(self.words)}: this command is no longer there")
        self.definition: Definition = found.definition

    def origins(self, names: Iterable[str]) -> dict[str, Assignment]:
        """Return, for each of `names` that is set, its value and the source that won.

        The environment is merged once more as if the caller had set none of them; a
        value that comes out otherwise is the caller's.
        """
        asked = [name for name in names if name in self._environ]
        system = {
            name: value
            for name, value in self._environ.items()
            if name not in asked and name not in _FRAMEWORK
        }
        framework = {name: self._environ[name] for name in _FRAMEWORK if name in self._environ}
        layers = read_layers(
            self.words,
            self.definition,
            self._session.lock.sources,
            system,
            framework,
            self._session.messages,
        )
        merged = {winner.name: winner for winner, _ in layers.trace()}
        return {
            name: merged[name]
            if name in merged and merged[name].value == self._environ[name]
            else Assignment(name, self._environ[name], SYSTEM, "environment")
            for name in asked
        }
