"""The transport that uses the user's own ssh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cli_host_fleet import ssh
from cli_host_fleet.kept_connections import kept_connections
from cli_host_fleet.results import State
from cli_host_fleet.ssh import Calling
from cli_host_fleet.ssh_settings import Settings
from cli_host_fleet.transport import Host, not_answered

_SSH_FAILED = 255


class Ssh:
    """Reaches hosts with ssh; `caller` is the environment of this process."""

    def __init__(self, calling: Calling, caller: Mapping[str, str]) -> None:
        self.environ: Mapping[str, str] = ssh.environment(caller)
        self._calling = calling

    def options(self, hosts: Sequence[Host]) -> Mapping[str, Sequence[str]]:
        """Return the options that choose a kept connection or a new one, after the fixed ones."""
        settings = Settings(self._calling, self.environ)
        fixed = ssh.fixed_if_known(settings.keywords())
        sharing = kept_connections(hosts, self._calling, settings, self.environ)
        return {name: [*fixed, *options] for name, options in sharing.items()}

    def argv(self, host: Host, options: Sequence[str], command: str) -> list[str]:
        return ssh.call(host, self._calling, command, options)

    def explain(self, status: int, words: str) -> tuple[State, str]:
        if status == _SSH_FAILED:
            return "unreachable", words or "ssh could not connect"
        return not_answered(status, words)
