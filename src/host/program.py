"""`Program`: this installation as a Python command sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from host.cli.listing import select
from host.cli.session import Session
from host.cli.unknown import find_command
from host.errors import HostError, MissingError
from host.records import Command, Variable
from host.run.installation import Layout
from host.run.layers import Assignment
from host.run.plan import Given, framework_variables, read_layers
from host.run.text import Messages


class Program:
    """An installation: where its files are, what commands it has, what a run of one would get.

    All methods raise HostError. Paths are absolute::

        program = Program.current()
        for command in program.commands(("deploy",)):
            print(" ".join(command.words), command.definition.description)
        program.run(("deploy", "status"), ["--short"])
    """

    def __init__(self, session: Session, words: Sequence[str] = ()) -> None:
        self._session = session
        self.words = tuple(words)  # of the command that this process runs

    @classmethod
    def current(cls, environ: Mapping[str, str] | None = None) -> Program:
        """Return the installation whose command this process runs, by its environment.

        Raises HostError where this process is no command of an installation.
        """
        environ = dict(os.environ if environ is None else environ)
        root, name = environ.get("CLI_DIR", ""), environ.get("COMMAND_NAME", "")
        if not root or not name:
            raise HostError("this works in a command of an installation only")
        words = [*filter(None, environ.get("COMMAND_CATEGORY", "").split("/")), name]
        config_file = environ.get("GLOBAL_CONFIG_FILE") or os.path.join(root, "core", "cli.json")
        called, behind = sys.argv[0], f" {' '.join(words)}"  # as python_entrypoint says it
        program = called.removesuffix(behind) if called.endswith(behind) else "cli"
        messages = Messages(program + behind, environ)
        return cls(
            Session(Layout(program, root, config_file), environ, messages, safe=False), words
        )

    @property
    def name(self) -> str:
        """The name that its executable was called by."""
        return self._session.program

    @property
    def root(self) -> str:
        return self._session.layout.root

    @property
    def version(self) -> str:
        """The version in its cli.json."""
        return self._session.installation.config.version

    @property
    def commands_dir(self) -> str:
        return self._session.installation.commands_dir

    @property
    def plugins_dir(self) -> str:
        return self._session.installation.plugins_dir

    @property
    def core_dir(self) -> str:
        return self._session.layout.core_dir

    @property
    def lib_dir(self) -> str:
        return self._session.layout.lib_dir

    @property
    def config_dir(self) -> str:
        return os.path.join(self.root, "config")

    @property
    def executable(self) -> str:
        """The file that starts it; raises MissingError where its launcher is gone."""
        path = os.path.join(self.core_dir, self.name)
        if not os.access(path, os.X_OK):
            raise MissingError(f"{path}: the launcher is missing", "make it again with: self init")
        return path

    @property
    def messages(self) -> Messages:
        """Lines on stderr: `error(text)`, `warn(text)`, `debug(text)`; text is escaped there."""
        return self._session.messages

    def commands(
        self, words: Sequence[str] = (), *, everything: bool = False
    ) -> tuple[Command, ...]:
        """Return all commands below `words`, sorted, as listings show them.

        With `everything` also hidden ones and those for other systems.
        """
        session = self._session
        inside = session.contents(tuple(words), deep=True)
        found = select(inside, everything=everything).commands
        return tuple(one for one in found if one.words[0] != "self")

    def find(self, words: Sequence[str]) -> Command:
        """Return the command that `words` begin with, by the longest beginning.

        What is behind it are arguments. Raises UsageError, with the nearest names, where
        they name none.
        """
        found = self._session.find(tuple(words))
        named = found.words if found.kind == "command" else tuple(words)
        found, definition = find_command(self._session, named)
        return Command(
            words=found.words,
            definition=definition,
            directory=definition.directory,
            origin="python" if not definition.file else "plugin" if found.plugin else "commands",
            plugin=found.plugin,
            dev=found.dev,
        )

    def arguments(self, command: Command, args: Sequence[str]) -> dict[str, str]:
        """Return the variables `ARG_…` that `args` give to the command's declared arguments.

        Raises UsageError where they do not fit.
        """
        return Given(command.definition, args, self.name, command.words).variables

    def environment(
        self,
        words: Sequence[str],
        caller: Mapping[str, str] | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> dict[str, Variable]:
        """Return each variable that a run of the command would get from a source, by name.

        `caller` is the caller's environment, by default that of this command's own
        caller. `facts` are HOME, USER, HOSTNAME and PWD where the run is to be on another
        machine or for somebody else. What only the caller has is not among the result;
        what `required_envs` names, is. Raises SourceError.
        """
        session = self._session
        command = self.find(words)
        system = {**(session.caller if caller is None else caller), **(facts or {})}
        framework = framework_variables(session.layout, self.plugins_dir, command.words)
        layers = read_layers(
            command.words,
            command.definition,
            session.lock.sources,
            {name: value for name, value in system.items() if name not in framework},
            framework,
            session.messages,
        )
        required = {*command.definition.required_envs, *(facts or {})}
        told = {winner.name for winner, _ in layers.trace()}
        return {
            winner.name: _variable(winner, shadowed)
            for winner, shadowed in layers.trace(everything=True)
            if winner.name in told or winner.name in required
        }

    def run(
        self,
        words: Sequence[str],
        args: Sequence[str] = (),
        *,
        environ: Mapping[str, str] | None = None,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Run a command and wait for it, as this command's own caller would run it.

        `environ` takes the place of the caller's environment; `options` are those of
        `subprocess.run`. Raises MissingError, OSError, subprocess.SubprocessError.
        """
        env = self._session.environ if environ is None else environ  # it takes away what is ours
        return subprocess.run(  # noqa: PLW1510 - check is an option
            [self.executable, *words, *args], env=dict(env), **options
        )


def _variable(one: Assignment, shadowed: Sequence[Assignment]) -> Variable:
    return Variable(
        one.name,
        one.value,
        one.origin,
        int(one.rank) if one.rank == int(one.rank) else one.rank,
        tuple(_variable(weaker, ()) for weaker in shadowed),
    )
