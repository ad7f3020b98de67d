"""Connections that the user's own ssh_config shares: ControlMaster, ControlPath, ControlPersist."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from cli_host_fleet import ssh, ssh_config
from cli_host_fleet.ssh import Calling, Host

_AT_ONCE = 8
_VERIFIES = {"ask", "true", "yes"}  # values of StrictHostKeyChecking that refuse a changed key


def own_connections(
    hosts: Iterable[Host], calling: Calling, environ: Mapping[str, str]
) -> dict[str, list[str]]:
    """Map each host whose connections ssh_config shares to the ssh options for using them."""
    if not calling.own or not ssh_config.uses("controlpath", calling.config):
        return {}

    def options(host: Host) -> tuple[str, list[str] | None]:
        return host.name, _options(_settings(host, calling, environ))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return {name: own for name, own in pool.map(options, hosts) if own is not None}


def _options(settings: Mapping[str, str]) -> list[str] | None:
    """Return ssh's options for the user's connection, or None if fleet must open its own.

    fleet opens its own if the user's connection may lead to a host with an unverified key, or if
    the master would end with its first session, which would also end all other sessions.
    """
    path = settings.get("controlpath", "none")
    verified = settings.get("stricthostkeychecking") in _VERIFIES and "hostkeyalias" not in settings
    if path == "none" or not verified:
        return None
    if settings.get("controlpersist", "no") != "no":
        return []
    return ["ControlMaster=no"] if os.path.exists(path) else None


def _settings(host: Host, calling: Calling, environ: Mapping[str, str]) -> dict[str, str]:
    try:
        done = subprocess.run(
            ssh.settings_call(host, calling),
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=calling.connect_timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}  # ssh will report the error when it connects
    lines = os.fsdecode(done.stdout).splitlines()
    return {word: value for word, _, value in (line.partition(" ") for line in lines)}
