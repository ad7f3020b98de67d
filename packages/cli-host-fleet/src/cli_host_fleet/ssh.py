"""Command lines for ssh; fleet's options come first, because ssh uses an option's first value."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cli_host_fleet.problem import FleetError
from cli_host_fleet.transport import Host

# a short path that ssh does not expand
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9._/-]{1,36}")
_LOCALE = ("LANG", "LANGUAGE")
UNSHARED = ("ControlMaster=no", "ControlPath=none")
# ssh_config(5) was read for everything that weakens the check of the host's key, asks a question,
# forwards something, prints, or takes the command's streams or session away.
_FIXED = (
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "NoHostAuthenticationForLocalhost=no",
    "VerifyHostKeyDNS=no",
    "AddKeysToAgent=no",
    "LogLevel=ERROR",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    # A host that has vanished is noticed after 45 seconds.
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
)
# The same, for keywords that old versions and versions without Debian's patches do not have.
_FIXED_IF_KNOWN = (
    "GSSAPIKeyExchange=no",
    "StdinNull=no",
    "SessionType=default",
    "ForkAfterAuthentication=no",
    "LogVerbose=none",
)


@dataclass(frozen=True, slots=True)
class Calling:
    """The parameters of all ssh calls; sockets of shared connections are in `control_directory`.

    If `follows_config` is true and the user's ssh_config shares connections, its sockets are used
    instead.
    """

    config: str = ""
    connect_timeout: int = 10
    keep: str = "60s"
    control_directory: str = ""
    follows_config: bool = False


def call(
    host: Host, calling: Calling, command: str, sharing: Sequence[str] = UNSHARED
) -> list[str]:
    """Return ssh's argv to run `command`; fleet's options override ssh_config.

    Unknown and changed host keys are refused; prompts, forwarding, LocalCommand and RemoteCommand
    are disabled. `sharing` are the options that choose the connection: see `kept_connections`.
    """
    options = [*_FIXED, f"ConnectTimeout={calling.connect_timeout}", *sharing]
    argv = ["ssh"]
    for option in options:
        argv.append(f"-o{option}")
    return [*argv, *_target(host, calling), command]


def fixed_if_known(keywords: Collection[str]) -> list[str]:
    """Return the further options that override ssh_config, for an ssh that has these keywords.

    `keywords` are in lower case, as `ssh -G` prints them.
    """
    options = []
    for option in _FIXED_IF_KNOWN:
        keyword, _, _ = option.partition("=")
        if keyword.lower() in keywords:
            options.append(option)
    return options


def keywords_call() -> list[str]:
    """Return the argv that prints the keywords that this ssh has, with their defaults."""
    return ["ssh", "-G", "-F", "/dev/null", "--", "localhost"]


def settings_call(host: Host, calling: Calling) -> list[str]:
    """Return the argv that prints ssh_config's settings for a host."""
    return ["ssh", "-G", *_target(host, calling)]


def _target(host: Host, calling: Calling) -> list[str]:
    """Return the words of ssh's argv that say which host it connects to."""
    words = []
    if calling.config:
        words += ["-F", calling.config]

    name = host.name
    if host.is_alias:
        name = host.address  # so that the settings of this name in ssh_config apply
    elif host.address:
        # ssh expands % in a HostName; an IPv6 address can have one before its zone.
        address = host.address.replace("%", "%%")
        words.append(f"-oHostName={address}")

    if host.port:
        words.append(f"-oPort={host.port}")
    if host.user:
        words.append(f"-oUser={host.user}")
    return [*words, "--", name]


def environment(caller: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment for ssh, without variables that `SendEnv` usually sends."""
    passed_on = {}
    for name, value in caller.items():
        is_locale = name in _LOCALE or name.startswith("LC_")
        if not is_locale:
            passed_on[name] = value
    return passed_on


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

    # Everybody can make names below /tmp, so the directory may be somebody else's.
    if not _is_private_directory(os.lstat(path)):
        raise FleetError(
            f"{path}: must be a directory that only you can enter; remove it, or use "
            "--keep-connections 0"
        )

    return path


def _is_private_directory(status: os.stat_result) -> bool:
    if not stat.S_ISDIR(status.st_mode):
        return False
    if status.st_uid != os.getuid():
        return False
    permissions = stat.S_IMODE(status.st_mode)
    return not permissions & 0o077
