"""The JSON of Ansible's `--list`."""

from __future__ import annotations

from typing import Any

import pytest

from cli_host_fleet.listing import from_listing
from cli_host_fleet.problem import FleetError

_LISTING: dict[str, Any] = {
    "_meta": {
        "hostvars": {"db1": {"ROLE": "main", "PORTS": [1, 2], "ansible_port": 2222}}
    },
    "all": {"children": ["web", "db"], "vars": {"ROLE": "any", "ZONE": "north"}},
    "web": {
        "hosts": ["web1", "web2"],
        "vars": {"ROLE": "web", "ON": True, "NONE": None, "BAD": "\ud800"},
    },
    "db": {"children": ["main"], "vars": {"ROLE": "db", "ansible_user": "admin"}},
    "main": {"hosts": ["db1"], "vars": {"ZONE": "south"}},
    "old": ["web2"],
}


def test_a_listing_of_ansible() -> None:
    inventory = from_listing(_LISTING)
    assert sorted(inventory.hosts) == ["db1", "web1", "web2"]
    assert inventory.groups["all"] == ["web1", "web2", "db1"]
    assert (inventory.groups["db"], inventory.groups["old"]) == (["db1"], ["web2"])
    assert inventory.hosts["web1"].variables == {
        "ROLE": "web",
        "ZONE": "north",
        "ON": "true",
    }
    db1 = inventory.hosts["db1"]
    assert (db1.address, db1.port, db1.user) == ("", "2222", "admin")
    assert db1.variables == {"ROLE": "main", "ZONE": "south", "PORTS": "[1,2]"}


def test_the_setting_that_ansible_prefers() -> None:
    variables = {"ansible_ssh_host": "new", "ansible_host": "old", "ansible_user": "me"}
    hosts = from_listing({"_meta": {"hostvars": {"x": variables}}}).hosts
    assert (hosts["x"].address, hosts["x"].user) == ("new", "me")


def test_groups_in_many_groups() -> None:
    """Each is looked at once, however many ways lead to it."""
    listing: dict[str, Any] = {"29-0": {"hosts": ["x"], "vars": {"A": "in"}}}
    for level in range(29):
        children = [f"{level + 1}-{n}" for n in range(9)]
        for number in range(9):
            group = {"children": children, "vars": {"A": "out"}}
            listing[f"{level}-{number}"] = group
    inventory = from_listing(listing)
    assert inventory.groups["0-0"] == ["x"]
    assert inventory.hosts["x"].variables == {"A": "in"}


@pytest.mark.parametrize(
    "listing",
    [
        {"a": 1},
        {"a": {"hosts": "x"}},
        {"a": {"hosts": [1]}},
        {"a": {"vars": [1]}},
        {"a": ["-x"]},
        {"a": ["x y"]},
        {"a": ["x;y"]},
        {"a": {"children": ["b"]}, "b": {"children": ["a"]}},
        {"a": {"children": ["all"]}, "all": {"children": ["a"]}},
        {"_meta": {"hostvars": {"w": 5}}},
        {"_meta": {"hostvars": {"w": "A=1"}}},
    ],
)
def test_what_is_no_inventory(listing: dict[str, Any]) -> None:
    with pytest.raises(FleetError):
        from_listing(listing)
