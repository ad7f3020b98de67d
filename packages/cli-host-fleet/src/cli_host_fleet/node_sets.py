"""Expand sets of hosts, in ClusterShell's notation extended with `USER@`, to names in order."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from ClusterShell.Defaults import config_paths
from ClusterShell.NodeSet import (
    ILLEGAL_GROUP_CHARS,
    RESOLVER_NOGROUP,
    NodeSet,
    NodeSetException,
)
from ClusterShell.NodeUtils import (
    GroupResolver,
    GroupResolverConfig,
    GroupResolverError,
    GroupResolverSourceError,
    GroupSource,
    GroupSourceError,
    GroupSourceQueryFailed,
)

from cli_host_fleet.inventory import Inventory
from cli_host_fleet.problem import FleetError
from cli_host_fleet.remembered import FAILED

# Behind a letter or digit, the brackets are a range, such as Ansible's `web[1:3]`: refused.
_IPV6 = re.compile(r"(?<![\w.\-\]])\[([0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[\w.-]+)?)\]")
_LOGIN = re.compile(
    r"(?<![^\s,!&^])(\w[\w.-]*)@((?:\[[^\]]*\]|[^\s,!&^\[])+)", re.ASCII
)

_NOT_TYPED = set("@*?!&^")

# The name of a group, or of a source of groups. ClusterShell puts it into a line of shell, so it
# has no character that a shell or an option could mean something by; genders has `KEY=VALUE`.
_GROUP = re.compile(r"\w[\w.:%=+-]*")


class _Groups(GroupResolver):  # type: ignore[misc]
    """The groups of an inventory or, without one, ClusterShell's; also `@all` and `@failed`.

    A wildcard also matches the hosts `selected`, which need be in no list.
    """

    def __init__(
        self,
        inventory: Inventory,
        failed: Callable[[], list[str]],
        selected: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self._known = [*inventory.hosts, *selected]
        self._failed = failed
        if not inventory.closed:
            self._inner = GroupResolverConfig(_configured(), ILLEGAL_GROUP_CHARS)
            return

        groups = {}
        for name, hosts in inventory.groups.items():
            groups[name] = ",".join(hosts)
        all_hosts = ",".join(self._known)
        source = GroupSource("inventory", groups, all_hosts)
        self._inner = GroupResolver(source)

    def group_nodes(self, group: str, namespace: str | None = None) -> list[str]:
        # The parser of sets asks here for the groups that a group contains, too.
        for word in (group, namespace):
            if word is not None and not _GROUP.fullmatch(word):
                raise FleetError(f"@{group}: {word!r} cannot be the name of a group")

        if not namespace:
            if group == FAILED:
                return self._failed()
            if group == "all":
                return self._all_hosts()

        with _explained(f"@{group}"):
            nodes: list[str] = self._inner.group_nodes(group, namespace)
        if not nodes:
            raise FleetError(f"@{group}: no such group, or the group is empty")
        return nodes

    def all_nodes(self, namespace: str | None = None) -> list[str]:
        if namespace:
            with _explained(f"@{namespace}:*"):
                nodes: list[str] = self._inner.all_nodes(namespace)
            return nodes

        # These are the hosts that a wildcard can match. ClusterShell takes % for its own.
        nodes = self._all_hosts()
        for node in nodes:
            if "%" in node:
                what = f"no wildcard can be compared with {node}"
                raise FleetError(f"{what}; name hosts in full, or @all")
        return nodes

    def _all_hosts(self) -> list[str]:
        try:
            nodes: list[str] = self._inner.all_nodes()
        except GroupSourceQueryFailed as failure:
            # Without its hosts, `--except 'web*'` would leave out too few.
            raise _failed_source("@all", failure) from None
        except (GroupResolverError, GroupSourceError):
            nodes = []  # there is no group source, or it cannot list all hosts
        return [*nodes, *self._known]

    def grouplist(self, namespace: str | None = None) -> list[str]:
        with _explained(f"@@{namespace or ''}"):
            groups: list[str] = self._inner.grouplist(namespace)
        return groups


@contextlib.contextmanager
def _explained(asked: str) -> Iterator[None]:
    """Raise FleetError for a group source that is unknown or fails; `asked` is the set's part."""
    try:
        yield
    except GroupResolverSourceError:
        raise FleetError(f"{asked}: no such group, or no such source") from None
    except GroupSourceQueryFailed as failure:
        raise _failed_source(asked, failure) from None


def _failed_source(asked: str, failure: GroupSourceQueryFailed) -> FleetError:
    # Its text is the line of shell that the source ran, which can contain passwords.
    source = failure.group_source.name
    return FleetError(f"{asked}: the group source {source!r} failed")


def groups_of(inventory: Inventory) -> list[str]:
    """Return the names of the groups that a set of hosts can name, but `all` and `failed`."""
    try:
        return _Groups(inventory, list).grouplist()
    except (FleetError, GroupResolverError, GroupSourceError):
        return []  # there is no source of groups, or it cannot list them


def folded(names: Sequence[str]) -> str:
    """Return the shortest notation for these hosts, such as `web[01-58]`."""
    try:
        return str(NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP))
    except NodeSetException:
        return ",".join(names)


def _configured() -> list[str]:
    """Return the paths of ClusterShell's group files, without the sample that pip installs."""
    sample = os.path.join(sys.prefix, "etc", "clustershell")
    paths: list[str] = config_paths("groups.conf")
    if sys.prefix == "/usr":
        return paths  # with the system's Python, the administrator may write there
    return [path for path in paths if os.path.dirname(path) != sample]


def names_of(
    selection: str,
    left_out: str,
    inventory: Inventory,
    failed: Callable[[], list[str]],
    login: str = "",
    place: str = "",
    warn: Callable[[str], None] = lambda _: None,
) -> dict[str, str]:
    """Map each host in `selection` but not in `left_out` to the user to log in as.

    The user is the one before `@` in `selection`, else `login`, else, for a host of `@failed`, the
    user of the last run, else "" (ssh decides). Raises FleetError. `failed` returns the hosts of
    `@failed`, each as `HOST` or `USER@HOST`, and may raise FleetError. In messages, `place` stands
    before `selection`. `warn` gets a line about a `left_out` that has no effect.
    """
    last_users: dict[str, str] = {}

    def failed_names() -> list[str]:
        for host in failed():
            user, _, name = host.rpartition("@")
            last_users[name] = user
        return list(last_users)

    groups = _Groups(inventory, failed_names)
    on = f"--on {place}{selection}"
    without_users, logins = _split(selection)
    try:
        # What stands behind `!` may be a wildcard for hosts that stand before it.
        before, mark, _ = without_users.partition("!")
        if mark:
            selected = NodeSet(before, resolver=groups)
            groups = _Groups(inventory, failed_names, selected)
        nodes = NodeSet(without_users, resolver=groups)
        if left_out:
            # A user in --except says nothing: `me@web1` leaves out web1.
            excluded, _ = _split(left_out)
            groups = _Groups(inventory, failed_names, nodes)
            without = NodeSet(excluded, resolver=groups)
            # Of a group or a wildcard, not every host need be in `selection`.
            is_typed = not _NOT_TYPED & set(excluded)
            if not without & nodes:
                warn(f"--except {left_out}: leaves out no host of {on}")
            elif is_typed and without - nodes:
                warn(f"--except: not in {on}: {without - nodes}")
            nodes.difference_update(without)

        typed = _typed_users(logins, groups, on)
    except (NodeSetException, GroupResolverError, GroupSourceError) as failure:
        raise FleetError(f"{on}: {failure or type(failure).__name__}") from None
    if not nodes:
        raise FleetError(f"{on}: selects no host")

    users = {}
    for node in nodes:
        name = str(node)
        last_user = last_users.get(name, "")
        users[name] = typed.get(name) or login or last_user
    return users


def _typed_users(
    logins: Iterable[tuple[str, str]], groups: GroupResolver, on: str
) -> dict[str, str]:
    """Map each host of a `USER@HOSTS` to its user; raises FleetError for two users of a host."""
    typed: dict[str, str] = {}
    for user, part in logins:
        for name in NodeSet(part, resolver=groups):
            former = typed.setdefault(name, user)
            if former != user:
                raise FleetError(f"{on}: {name} has two users: {former}, {user}")
    return typed


def _split(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return `text` without users and IPv6 brackets, and (user, hosts) per `USER@HOSTS` in it.

    Raises FleetError for a digit that ClusterShell would replace by one of 0 to 9.
    """
    if any(letter.isdigit() and not letter.isascii() for letter in text):
        raise FleetError(f"{text}: write each digit as one of 0 to 9")
    text = _IPV6.sub(r"\1", text)
    without_users = _LOGIN.sub(r"\2", text)
    return without_users, _LOGIN.findall(text)
