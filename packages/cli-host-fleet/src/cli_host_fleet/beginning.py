"""The beginning that `fleet run` and `fleet check` share: the command and the hosts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cli_host_fleet.command_jobs import asks_help, choose
from cli_host_fleet.targets import Targets
from cli_host_fleet.transport import Host
from host import Command, Program


@dataclass(frozen=True, slots=True)
class Beginning:
    """A command of the program, its arguments, and the hosts that `--on` selects."""

    program: Program
    command: Command
    args: Sequence[str]
    hosts: Mapping[str, Host]


def begin(targets: Targets, words: Sequence[str]) -> Beginning:
    """Choose the command that `words` begin with, and the hosts; raises HostError.

    If `words` end with --help, show the help of the command on this machine, and exit.
    """
    program = Program.current()
    if asks_help(program, words):
        shown = program.run(words)
        sys.exit(shown.returncode)

    command, args = choose(program, words)
    hosts = targets.hosts(program)
    return Beginning(program, command, args, hosts)
