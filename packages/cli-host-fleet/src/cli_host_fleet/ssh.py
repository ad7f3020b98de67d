"""Command lines for ssh; fleet's options come first, because ssh uses an option's first value."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cli_host_fleet.problem import FleetError
from cli_host_fleet.transport import Host

_PLAIN_PATH = re.compile(
    r"/[A-Za-z0-9._/-]{1,36}"
)  # a short path that ssh does not expand
_LOCALE = ("LANG", "LANGUAGE")
UNSHARED = ("ControlMaster=no", "ControlPath=none")


@dataclass(frozen=True, slots=True)
class Calling:
    """The parameters of all ssh calls; sockets of shared connections are in `control_directory`.

    If `own` is true and the user's ssh_config shares connections, its sockets are used instead.
    """

    config: str = ""
    connect_timeout: int = 10
    keep: str = "60s"
    control_directory: str = ""
    own: bool = False


def call(
    host: Host, calling: Calling, command: str, sharing: Sequence[str] = UNSHARED
) -> list[str]:
    """Return ssh's argv to run `command`; fleet's options override ssh_config.

    Unknown and changed host keys are refused; prompts, forwarding, LocalCommand and RemoteCommand
    are disabled. `sharing` are the options that choose the connection: see `kept_connections`.
    """
    options = [
        *("BatchMode=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"),
        *("ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"),
        *("PermitLocalCommand=no", "RemoteCommand=none", "RequestTTY=no"),
        *("ServerAliveInterval=15", "ServerAliveCountMax=3"),
        f"ConnectTimeout={calling.connect_timeout}",
        *sharing,
    ]
    return [
        "ssh",
        *(f"-o{option}" for option in options),
        *_target(host, calling),
        command,
    ]


def settings_call(host: Host, calling: Calling) -> list[str]:
    """Return the argv that prints ssh_config's settings for a host."""
    return ["ssh", "-G", *_target(host, calling)]


def _target(host: Host, calling: Calling) -> list[str]:
    replaces = bool(host.address) and not host.is_alias
    options = [
        *([f"HostName={host.address.replace('%', '%%')}"] if replaces else []),
        *([f"Port={host.port}"] if host.port else []),
        *([f"User={host.user}"] if host.user else []),
    ]
    config = ["-F", calling.config] if calling.config else []
    name = host.address if host.is_alias else host.name
    return [*config, *(f"-o{option}" for option in options), "--", name]


def environment(caller: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment for ssh, without variables that `SendEnv` usually sends."""
    return {
        name: value
        for name, value in caller.items()
        if name not in _LOCALE and not name.startswith("LC_")
    }


def control_directory(caller: Mapping[str, str]) -> str:
    """Return the private directory for shared connections; raises FleetError.

    Its name is short because a socket's path is limited to about 100 bytes.
    """
    parent = caller.get("XDG_RUNTIME_DIR", "")
    path = f"{parent}/cli-fleet"
    if not parent or not _PLAIN_PATH.fullmatch(path):
        path = f"/tmp/cli-fleet-{os.getuid()}"  # noqa: S108 - owner and mode are checked
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as failure:
        raise FleetError(
            f"{path}: {failure.strerror}; try --keep-connections 0"
        ) from None
    found = os.lstat(path)
    private = stat.S_ISDIR(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o077
    if not private or found.st_uid != os.getuid():
        raise FleetError(
            f"{path}: must be a directory that only you can enter; remove it, or use "
            "--keep-connections 0"
        )
    return path
