"""Expand sets of hosts, in ClusterShell's notation extended with `USER@`, to names in order.

ClusterShell expands each part of a set; what `!` and the other operators mean is decided here.
"""

from __future__ import annotations

import configparser
import contextlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator

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
    GroupSourceNoUpcall,
    GroupSourceQueryFailed,
)

from cli_host_fleet.inventory import Inventory
from cli_host_fleet.problem import FleetError
from cli_host_fleet.remembered import FAILED
from cli_host_fleet.set_parts import Part, check_ranges, parts_of
from cli_host_fleet.transport import canonical, is_name, no_name

# The name of a group, or of a source of groups. ClusterShell puts it into a line of shell, so it
# has no character that a shell or an option could mean something by; genders has `KEY=VALUE`.
_GROUP = re.compile(r"\w[\w.:%=+-]*")
# ClusterShell raises these for groups.conf without a section, and for a number in a YAML file.
_BAD_FILES = (configparser.Error, AttributeError, TypeError)
_DIGITS = re.compile(r"[0-9]+")


class _Groups(GroupResolver):  # type: ignore[misc]
    """The groups of an inventory or, without one, ClusterShell's; also `@all` and `@failed`.

    A wildcard also matches the hosts that `selected` returns, which need be in no list.
    """

    def __init__(
        self,
        inventory: Inventory,
        failed: Callable[[], list[str]],
        selected: Callable[[], Iterable[str]] = list,
    ) -> None:
        super().__init__()
        self._known = list(inventory.hosts)
        self._selected = selected
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

        asked = f"@{namespace}:{group}" if namespace else f"@{group}"
        with _explained(asked):
            nodes: list[str] = self._inner.group_nodes(group, namespace)
        if not nodes:
            raise FleetError(f"{asked}: no such group, or the group is empty")
        for node in nodes:
            check_ranges(node)
        return nodes

    def all_nodes(self, namespace: str | None = None) -> list[str]:
        if namespace:
            return self._listed(namespace)

        # These are the hosts that a wildcard can match. ClusterShell takes % for its own.
        nodes = self._all_hosts()
        for node in nodes:
            if "%" in node:
                what = f"no wildcard can be compared with {node}"
                raise FleetError(f"{what}; name hosts in full, or @all")
        return nodes

    def _all_hosts(self) -> list[str]:
        nodes = []
        # Without its hosts, `--except 'web*'` would leave out too few.
        source = self._inner.default_source_name
        if source:
            nodes = self._listed(source)
        return [*nodes, *self._known, *self._selected()]

    def _listed(self, namespace: str) -> list[str]:
        """Return all hosts of a source: without `all`, those of its groups, as in ClusterShell."""
        nodes: list[str] = []
        with _explained(f"@{namespace}:*"):
            try:
                nodes += self._inner.all_nodes(namespace)
            except GroupSourceNoUpcall:
                for group in self._inner.grouplist(namespace):
                    # An empty group is no error here.
                    if self._inner.group_nodes(group, namespace):
                        nodes += self.group_nodes(group, namespace)
        return nodes

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
        # Its text is the line of shell that the source ran, which can contain passwords.
        source = failure.group_source.name
        raise FleetError(f"{asked}: the group source {source!r} failed") from None
    except GroupSourceNoUpcall as failure:
        source = failure.group_source.name
        raise FleetError(
            f"{asked}: the group source {source!r} has no `list`"
        ) from None


def groups_of(inventory: Inventory) -> list[str]:
    """Return the names of the groups that a set of hosts can name, but `all` and `failed`."""
    try:
        return _Groups(inventory, list).grouplist()
    except (FleetError, GroupResolverError, GroupSourceError, *_BAD_FILES):
        return []  # there is no source of groups, or it cannot list them


def folded(names: Iterable[str]) -> str:
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
    before `selection`. `warn` gets a line about hosts to leave out that are not selected.
    """
    last_users: dict[str, str] = {}

    def failed_names() -> list[str]:
        for host in failed():
            user, _, name = host.rpartition("@")
            last_users[name] = user
        return list(last_users)

    on = f"--on {place}{selection}"
    selected = _Selection(on, selection, inventory, failed_names)
    hosts = selected.hosts
    if selected.absent:
        warn(f"{on}: not selected before the !: {folded(selected.absent)}")

    if left_out:
        without = _Selection(
            f"--except {left_out}", left_out, inventory, failed_names, hosts
        )
        # Of a group or a wildcard, not every host need be in `selection`.
        absent = without.typed - hosts
        if not without.hosts & hosts:
            warn(f"--except {left_out}: leaves out no host of {on}")
        elif absent:
            warn(f"--except: not in {on}: {folded(absent)}")
        hosts = hosts - without.hosts

    if not hosts:
        raise FleetError(f"{on}: selects no host")

    users = {}
    for name in sorted(hosts, key=_in_order):
        last_user = last_users.get(name, "")
        users[name] = selected.users.get(name) or login or last_user
    return users


def _in_order(name: str) -> tuple[str, list[int]]:
    """Return what sorts names as ClusterShell does: web2 before web10."""
    numbers = [int(digits) for digits in _DIGITS.findall(name)]
    return _DIGITS.sub("%s", name), numbers


class _Selection:
    """The hosts that a set selects; `said` is the set with its option, for messages.

    `hosts`   those that the parts select, from left to right; a wildcard also means those before it
    `users`   the user of each host of a part `USER@HOSTS`
    `typed`   the hosts that a part names in full
    `absent`  the hosts that a part names in full behind `!`, but no part before it selects

    An IPv6 address has the spelling of the inventory or of `others`, else its first one.
    """

    def __init__(
        self,
        said: str,
        text: str,
        inventory: Inventory,
        failed: Callable[[], list[str]],
        others: Collection[str] = (),
    ) -> None:
        self.hosts: set[str] = set()
        self.users: dict[str, str] = {}
        self.typed: set[str] = set()
        self.absent: set[str] = set()
        self._said = said
        self._spellings: dict[str, str] = {}
        for name in (*inventory.hosts, *others):
            self._spelled(name)

        groups = _Groups(inventory, failed, lambda: (*others, *self.hosts))
        for part in parts_of(text):
            self._add(part, groups)

    def _add(self, part: Part, groups: GroupResolver) -> None:
        names = self._names_of(part, groups)
        if part.operator == ",":
            self.hosts |= names
        elif part.operator == "!":
            if part.is_typed:
                self.absent |= names - self.hosts
            self.hosts -= names
            return  # who would log in there says nothing
        elif part.operator == "&":
            self.hosts &= names
        else:
            self.hosts ^= names

        if part.is_typed:
            self.typed |= names
        if part.user:
            self._log_in(part.user, names)

    def _names_of(self, part: Part, groups: GroupResolver) -> set[str]:
        try:
            nodes = NodeSet(part.hosts, resolver=groups)
        except (NodeSetException, GroupResolverError, GroupSourceError) as failure:
            why = failure or type(failure).__name__
            raise FleetError(f"{self._said}: {why}") from None
        except _BAD_FILES as failure:
            what = f"a file with ClusterShell's groups is not valid: {failure}"
            raise FleetError(f"{self._said}: {what}") from None

        names = set()
        for node in nodes:
            name = str(node)
            # A name that can be no host would leave out nothing.
            if not is_name(name):
                raise FleetError(f"{self._said}: {no_name(name)}")
            names.add(self._spelled(name))
        return names

    def _spelled(self, name: str) -> str:
        if ":" not in name:
            return name
        return self._spellings.setdefault(canonical(name), name)

    def _log_in(self, user: str, names: Iterable[str]) -> None:
        for name in names:
            former = self.users.setdefault(name, user)
            if former != user:
                both = f"{former}, {user}"
                raise FleetError(f"{self._said}: {name} has two users: {both}")
