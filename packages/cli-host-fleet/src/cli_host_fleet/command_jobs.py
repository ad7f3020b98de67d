"""Run a command of the program on hosts: ship it there, or let an installed program run it.

Only this module queries the program for the command and its variables.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cli_host_fleet import variables
from cli_host_fleet.entrypoint import start_of
from cli_host_fleet.from_host import Facts
from cli_host_fleet.job import Job, Start
from cli_host_fleet.problem import FleetError
from cli_host_fleet.session import Elevation, RefusedError
from cli_host_fleet.shipment import pattern_of
from cli_host_fleet.transport import Host, Transport
from host import (
    Command,
    Definition,
    HostError,
    Program,
    Variable,
    declared_secrets,
    is_trusted,
)

_HEAD = 16 * 1024  # bytes of an entrypoint, for its shebang or its block of PEP 723
# the rank of secret references, which are resolved locally and only once
_SECRETS = 4.5
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HELP = ("--help", "-h")
_INSTALLED = "to run the program that is installed on the hosts: --installed PATH"
_PROJECT = "PROJECT_DIR"


@dataclass(frozen=True, slots=True)
class Order:
    """A command, its arguments, the names of the caller's variables to send, and its stdin.

    `declared` are the variables of the declared arguments.
    """

    command: Command
    args: Sequence[str]
    asked: Sequence[str] = ()
    stdin: str = ""
    declared: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_names(self.asked)


def check_names(asked: Sequence[str]) -> None:
    """Raise FleetError if one of the caller's variables to send is not set."""
    for name in asked:
        is_name = _NAME.fullmatch(name)
        if not is_name or name not in os.environ:
            raise FleetError(f"--env {name}: no variable of that name is set")


def choose(program: Program, words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """Return the command that `words` begin with, and its arguments.

    Raises UsageError if they name no command, and NotConfirmedError for an untrusted project.
    """
    command, args = program.choose(words)
    if not is_trusted(command.definition):
        # This raises the error that a local run would raise.
        program.environment(command.words)
    return command, args


def asks_help(program: Program, words: Sequence[str]) -> bool:
    """Return whether `words` ask for the help of a command or category, as in a local run."""
    if words[-1] not in _HELP:
        return False
    try:
        command = program.find(words)
    except HostError:
        return True  # a category, or words that a local run would refuse

    # Beside other arguments, --help belongs to the command.
    return len(command.words) == len(words) - 1


def check_shippable(command: Command) -> None:
    """Raise FleetError if the command needs more of this machine than its folder."""
    name = " ".join(command.words)
    if command.definition.in_python:
        raise FleetError(f"{name}: a Python command cannot be shipped; {_INSTALLED}")

    # These folders may be anywhere on this machine, and of any size.
    if command.definition.path_folders:
        raise FleetError(
            f'{name}: the folders of "path" are not sent to hosts; {_INSTALLED}'
        )


class CommandJob(Job):
    """Carries out an order on many hosts."""

    def __init__(
        self, program: Program, order: Order, hosts: Mapping[str, Host]
    ) -> None:
        super().__init__(hosts)
        self.order = order
        self._program = program
        self._secrets: Mapping[str, str] = {}
        self._referenced: Mapping[str, str] = {}  # values of references in `env_files`
        self.add_stdin(order.stdin)

    def recorded_as(self, program: Program) -> tuple[Sequence[str], Sequence[str]]:
        return self.order.command.words, self.order.args

    def secret_values(self) -> Collection[str]:
        values = [*super().secret_values()]
        values += [*self._secrets.values(), *self._referenced.values()]
        declared = self.order.declared
        # Such a value may be in another word, too, or an answer to a question and in none.
        for argument in self.order.command.definition.args:
            if argument.secret:
                values += [declared[name] for name in declared if argument.owns(name)]
        return values

    def _secrets_among(self, variables: Mapping[str, str]) -> list[str]:
        declared = declared_secrets(self.order.command.definition, variables)
        values = super()._secrets_among(variables)
        return [*values, *map(variables.__getitem__, declared)]

    def _local_variables(self) -> Mapping[str, str]:
        environment = self._program.environment(self.order.command.words)
        values = {name: variable.value for name, variable in environment.items()}
        return {**os.environ, **values}

    def _words(self) -> Sequence[str]:
        command = self.order.command
        masked = self._program.masked_arguments(command, self.order.args)
        return [*command.words, *masked]

    def _environment_on_host(
        self, host: Host, facts: Mapping[str, str], place: str
    ) -> dict[str, str]:
        """Return the command's environment on a host; raises HostError and RefusedError."""
        command = self.order.command
        inventory = {**self._referenced, **host.variables}
        caller = variables.caller_on_host(os.environ, inventory, facts)
        # Nothing on this machine gets what a host or an inventory says: neither code, such as
        # settings.conf, nor the paths of `env_files`. There, HOSTNAME is the name in `--on`.
        here = {**os.environ, "HOSTNAME": host.name}
        there = {name: caller[name] for name in {*inventory, *facts}}
        environment = self._program.environment(command.words, here, there)

        # The references stand for the values that `connect` has resolved, once for all hosts.
        for name, value in self._secrets.items():
            variable = environment.get(name)
            if variable is not None and variable.rank == _SECRETS:
                environment[name] = variable.replaced(value=value)

        requested = {}
        for name in self._requested_names(inventory):
            if name in caller:
                requested[name] = caller[name]

        return self._chosen(list(environment.values()), requested, place)

    def _requested_names(self, inventory: Mapping[str, str]) -> set[str]:
        """Return the variables that are sent if they are set, even if no source names them."""
        definition = self.order.command.definition
        names = {*inventory, *self.order.asked, *definition.required_envs}
        for argument in definition.args:
            names.add(argument.env)
        return names

    def _chosen(
        self,
        environment: Collection[Variable],
        requested: Mapping[str, str],
        place: str,
    ) -> dict[str, str]:
        """Return `requested`, and those of the command's variables that the job sends.

        Raises RefusedError if a required variable is missing or invalid.
        """
        raise NotImplementedError


class ShippedJob(CommandJob):
    """Ships the command's folder and core/lib to each host, and runs the command there."""

    def __init__(
        self, program: Program, order: Order, hosts: Mapping[str, Host]
    ) -> None:
        super().__init__(program, order, hosts)
        command = order.command
        definition = command.definition
        check_shippable(command)

        folders = ["commands", *command.words]
        self._folder = "/".join(folders)
        self._prefix, loads_library = _start(command)
        self._library = ""
        if loads_library and definition.gets_library(command.plugin):
            self._library = program.name.replace(":", "")  # see CLI_HOST_INIT in run.sh
        self._requires = [needed.row() for needed in definition.requires]

        references = []
        for level in definition.chain:
            for file in level.env_files:
                if ":" in file:
                    references.append(file)
        self._references = tuple(references)
        self._has_unresolved = bool(definition.secrets or self._references)

        self._ship(definition)
        if definition.project is not None:
            self._check_project()

    def _ship(self, definition: Definition) -> None:
        """Add core/lib and the command's folder, or only its file if it has no folder."""
        program = self._program
        # For scripts that read them; all else of the cli.json stays on this machine.
        fields = {"name": program.name, "version": program.version}
        self.shipment.add_tree(program.lib_dir, "core/lib", [program.root])
        self.shipment.add_text("core/cli.json", json.dumps(fields))

        if definition.is_script:
            place = f"{self._folder}/{definition.entrypoint}"
            self.shipment.add_file(definition.file, place)
        else:
            directory = self.order.command.directory
            excluded = self._excluded(definition)
            roots = definition.roots
            self.shipment.add_tree(directory, self._folder, roots, excluded)
        self.shipment.close()

    def _excluded(self, definition: Definition) -> list[str]:
        """Return patterns of the files that hold the variables or secrets of the command."""
        files = _files_named(definition)
        values = dict(os.environ)
        patterns: list[str] = []
        if any("$" in file for file, _ in files):
            # A host whose name leads to other files is refused: see `_chosen`.
            values["HOSTNAME"] = next(iter(self.hosts))
            words = self.order.command.words
            environment = self._program.environment(words, values)
            patterns += map(glob.escape, _files_of(environment.values()))
            for name, variable in environment.items():
                values[name] = variable.value

        patterns += [pattern_of(file, directory, values) for file, directory in files]
        return patterns

    def _check_project(self) -> None:
        """Raise FleetError if the command uses PROJECT_DIR, which would be unset on the hosts.

        Then "$PROJECT_DIR/build" would be /build. References in `env_files` and `secrets` are
        harmless, because they are expanded on this machine.
        """
        command = self.order.command
        places = []
        for level in command.definition.chain:
            for name, value in level.envs.items():
                if _PROJECT in value:
                    places.append(f"envs: {name}")
        word = _PROJECT.encode()
        for file in self.shipment.mentions(word, self._folder):
            if file != "command.json":  # its `envs` are in the chain
                places.append(file)

        if places:
            name = " ".join(command.words)
            raise FleetError(
                f"{name} uses {_PROJECT} ({places[0]}), a directory that hosts "
                "do not have; pass what it needs from there as arguments or with --stdin"
            )

    def connect(self, transport: Transport, elevation: Elevation | None) -> None:
        super().connect(transport, elevation)
        if self._has_unresolved:
            self._resolve()
            self._has_unresolved = False

    def _resolve(self) -> None:
        """Ask the providers of secrets, on this machine and once; raises HostError."""
        words = self.order.command.words
        environment = self._program.environment(words, os.environ, secrets=True)

        secrets = {}
        referenced = {}
        for name, variable in environment.items():
            if variable.rank == _SECRETS:
                secrets[name] = variable.value
            # Other sources can expand these values: they join the caller's environment.
            if variable.source.startswith(self._references):
                referenced[name] = variable.value
        self._secrets = secrets
        self._referenced = referenced

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        definition = self.order.command.definition
        if definition.os and facts.system not in definition.os:
            systems = " and ".join(definition.os)
            raise RefusedError(f"runs on {systems} only; this is {facts.system}")

        file = f"{place}/{self._folder}/{definition.entrypoint}"
        argv = [*self._prefix, file, *self.order.args]
        environment = self._environment_on_host(host, facts.variables(), place)
        return Start(argv, environment, self._library, self._requires)

    def _chosen(
        self,
        environment: Collection[Variable],
        requested: Mapping[str, str],
        place: str,
    ) -> dict[str, str]:
        sent = _files_of(environment) & self.shipment.paths
        if sent:
            what = f"{min(sent)} has variables of this command, but would be sent"
            raise RefusedError(f"{what}; rename it to .env.NAME")

        chosen = {
            **variables.shipped(environment, requested, place),
            **self.order.declared,
        }
        if self._has_unresolved:
            return chosen  # a preview: the required variables may be among the secrets

        problems = []
        for name in self.order.command.definition.required_envs:
            fault = name.fault(chosen.get(name))
            if fault:
                problems.append(f"{name} {fault}")
                if name.hint:
                    problems.append(name.hint)
        if problems:
            raise RefusedError("; ".join(problems))
        return chosen


class InstalledJob(CommandJob):
    """Runs the command with the program on each host; that program adds its own variables."""

    def __init__(
        self, program: Program, order: Order, hosts: Mapping[str, Host], path: str
    ) -> None:
        super().__init__(program, order, hosts)
        # The answer to a question about a secret argument is not in `args`, so no host would get
        # it: this raises the error of a missing argument.
        program.arguments(order.command, order.args)
        self._path = path
        self.shipment.close()

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        program = path_on_host(self._path, facts)
        words = self.order.command.words
        argv = [program, *words, *self.order.args]
        environment = self._environment_on_host(host, facts.variables(), place)
        return Start(argv, environment)

    def _chosen(
        self,
        environment: Collection[Variable],
        requested: Mapping[str, str],
        place: str,
    ) -> dict[str, str]:
        sent = variables.for_installed(environment, requested)
        return {**sent, **self.recorded}


def path_on_host(path: str, facts: Facts) -> str:
    """Return a path on a host, with `~/` expanded to the host's home directory."""
    if path.startswith("~/"):
        return facts.home + path.removeprefix("~")
    return path


def _files_named(definition: Definition) -> list[tuple[str, str]]:
    """Return the files in `env_files` and `secrets`, each with the directory of its definition."""
    named = []
    for level in definition.chain:
        files = [*level.env_files]
        for reference in (*level.env_files, *level.secrets.values()):
            # The file of a reference such as sops:secrets.yaml#key
            _, _, rest = reference.partition(":")
            path, _, _ = rest.partition("#")
            if path:
                files.append(path)
        named += [(file, level.directory) for file in files]
    return named


def _files_of(environment: Iterable[Variable]) -> set[str]:
    """Return the real paths of the files that variables are from."""
    paths = set()
    for variable in environment:
        for origin in (variable, *variable.shadows):
            path, _, line = origin.source.rpartition(":")
            if line.isdigit():
                paths.add(os.path.realpath(path))
    return paths


def _start(command: Command) -> tuple[list[str], bool]:
    """Return the interpreter's argv or [], and whether bash loads core/lib; raises FleetError."""
    entrypoint = command.definition.entrypoint
    file = os.path.join(command.directory, entrypoint)
    try:
        with open(file, "rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            head = opened.read(_HEAD)
    except OSError as failure:
        raise FleetError(f"{file}: {failure.strerror}") from None

    return start_of(head, executable=bool(mode & 0o111), name=entrypoint)
