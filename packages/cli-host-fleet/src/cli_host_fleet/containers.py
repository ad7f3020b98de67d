"""The transports that reach containers: docker, podman and kubectl, each by its own program.

`--on docker:SET` and `--on podman:SET` select running containers by name, and
`--on kube:NAMESPACE/SELECTOR` selects running pods by their labels.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence

from cli_host_fleet.problem import FleetError
from cli_host_fleet.programs import output_of
from cli_host_fleet.results import State
from cli_host_fleet.transport import SHELL_NOT_STARTED, Host, not_answered
from host import MissingError

_PLACE = re.compile(r"(docker|podman):|kube:([^/]*)/")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SECONDS = 30  # for a list of containers


def place_of(on: str) -> tuple[str, str]:
    """Return the place that a set of hosts begins with, such as `docker:` or "", and the rest."""
    match = _PLACE.match(on)
    if match is None:
        if on.startswith("kube:"):
            raise FleetError(f"--on {on}: expected kube:NAMESPACE/SELECTOR")
        return "", on

    # The namespace becomes an argument of kubectl, so it must not look like an option.
    namespace = match[2]
    if namespace is not None and not _NAMESPACE.fullmatch(namespace):
        raise FleetError(f"--on {on}: {namespace!r} is not a namespace")
    return match[0], on[match.end() :]


def names_in(place: str, selector: str, environ: Mapping[str, str]) -> list[str]:
    """Return the names of the running containers or pods of a place; raises HostError.

    `selector` selects pods by their labels, and has no effect on other places.
    """
    program = program_of(place)
    if program == "kubectl":
        argv = [program, "get", "pods", "--namespace", _namespace(place)]
        argv.append("--field-selector=status.phase=Running")
        argv.append(f"--selector={selector}")
        argv.append("--output=name")
    else:
        argv = [program, "ps", "--format", "{{.Names}}"]

    try:
        printed = output_of(argv, _SECONDS, environ=environ)
    except OSError as failure:
        raise FleetError(f"{program}: {failure.strerror or failure}") from None
    if printed.status:
        raise FleetError(f"{' '.join(argv[:2])}: ended with status {printed.status}")

    names = []
    text = printed.stdout.decode("utf-8", "replace")
    for word in text.split():
        # A container can have several names, which docker joins by commas; the first is its own.
        name, _, _ = word.removeprefix("pod/").partition(",")
        names.append(name)
    return names


def program_of(place: str) -> str:
    """Return the name of a place's program; raises MissingError if it is not on PATH."""
    program = place.rstrip(":")
    if place.startswith("kube:"):
        program = "kubectl"
    if not shutil.which(program):
        raise MissingError(
            f"{program} is not installed or not on PATH", f"install {program}"
        )
    return program


def _namespace(place: str) -> str:
    return place.removeprefix("kube:").rstrip("/")


class Containers:
    """Reaches the containers of docker or podman, or the pods of a namespace."""

    def __init__(self, place: str, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self._place = place
        self._program = program_of(place)

    def options(self, hosts: Sequence[Host]) -> Mapping[str, Sequence[str]]:
        """Return the namespace of pods, or the user in a container. Raises FleetError."""
        if self._program == "kubectl":
            for host in hosts:
                if host.user:
                    raise FleetError(
                        f"{host.user}: kubectl cannot choose the user in a pod"
                    )
            in_namespace = ["--namespace", _namespace(self._place)]
            return {host.name: in_namespace for host in hosts}

        as_users = {}
        for host in hosts:
            options = []
            if host.user:
                options = ["--user", host.user]
            as_users[host.name] = options
        return as_users

    def argv(self, host: Host, options: Sequence[str], command: str) -> list[str]:
        words = [self._program, "exec", "-i", *options, host.name]
        # kubectl takes its own options to be over only at `--`; docker stops at the name.
        if self._program == "kubectl":
            words.append("--")
        return [*words, "sh", "-c", command]

    def explain(self, status: int, words: str) -> tuple[State, str]:
        """Return the state and the reason: a container without a shell was reached, others not."""
        if status in SHELL_NOT_STARTED:
            return not_answered(status, words)
        reason = words or f"{self._program} exec ended with status {status}"
        return "unreachable", reason
