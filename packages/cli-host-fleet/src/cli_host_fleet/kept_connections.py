"""The ssh options that share connections: by a socket of fleet's own, or by the user's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from cli_host_fleet import ssh, ssh_config
from cli_host_fleet.connection_names import ConnectionNames
from cli_host_fleet.ssh import Calling
from cli_host_fleet.ssh_settings import Settings, parsed
from cli_host_fleet.transport import Host

_AT_ONCE = 8
# values of StrictHostKeyChecking that refuse a changed key
_VERIFIES = {"ask", "true", "yes"}
# settings that, if they are on, accept a host without a look at known_hosts
_ACCEPTS = ("nohostauthenticationforlocalhost", "verifyhostkeydns", "gssapikeyexchange")


def kept_connections(
    hosts: Iterable[Host],
    calling: Calling,
    settings: Settings,
    environ: Mapping[str, str],
) -> dict[str, list[str]]:
    """Map each host to the ssh options that decide which connection it uses."""
    paths = []
    if calling.follows_config:
        paths = ssh_config.values("controlpath", calling.config)
    if not paths and not calling.control_directory:
        # No connection is shared, so `ssh -G` need not run for each host.
        return {host.name: [*ssh.UNSHARED] for host in hosts}

    names = ConnectionNames(settings, environ)

    def options(host: Host) -> tuple[str, list[str]]:
        printed = settings.of_host(host)
        if paths and _distinguish(paths, host):
            users = _users(printed)
            # An empty list is an answer, too: ssh_config says all.
            if users is not None:
                return host.name, users

        if not calling.control_directory:
            return host.name, [*ssh.UNSHARED]
        name = names.name(host, printed)
        return host.name, _fleets(calling, name)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(pool.map(options, hosts))


def _fleets(calling: Calling, name: str) -> list[str]:
    """Return the options for a connection that fleet keeps."""
    return [
        "ControlMaster=auto",
        f"ControlPath={calling.control_directory}/{name}",
        f"ControlPersist={calling.keep}",
    ]


def _distinguish(paths: Iterable[str], host: Host) -> bool:
    """Return whether these values of ControlPath differ with everything that fleet gives to ssh.

    ssh_config does not know the address, port and user of an inventory or of `--on`. So a path
    without them is also that of a connection to another machine, or of another user.
    """
    tokens = []
    if host.address and not host.is_alias:
        tokens.append("%h")
    if host.port:
        tokens.append("%p")
    if host.user:
        tokens.append("%r")

    def names_all(path: str) -> bool:
        return path == "none" or "%C" in path or all(token in path for token in tokens)

    return all(map(names_all, paths))


def _users(printed: str) -> list[str] | None:
    """Return the options for the user's own connection, or None if fleet must open its own.

    fleet opens its own if the user's connection may lead to a host with an unverified key, or if
    the master would end with its first session, which would also end all other sessions.
    """
    settings = parsed(printed)
    path = settings.get("controlpath", "none")
    if path == "none":
        return None
    if not _refuses_wrong_key(settings):
        return None

    if settings.get("controlpersist", "no") != "no":
        return []
    if os.path.exists(path):
        return ["ControlMaster=no"]  # uses the socket, and opens none
    return None


def _refuses_wrong_key(settings: Mapping[str, str]) -> bool:
    """Return whether ssh, with these settings, refuses a host with a wrong key."""
    if settings.get("stricthostkeychecking") not in _VERIFIES:
        return False
    if any(settings.get(keyword) in {"true", "yes"} for keyword in _ACCEPTS):
        return False
    # The socket may be of a connection that compared the key under another name.
    return "hostkeyalias" not in settings
