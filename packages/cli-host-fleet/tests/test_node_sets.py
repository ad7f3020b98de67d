"""Sets of hosts, in ClusterShell's notation with users."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli_host_fleet.inventory import Inventory
from cli_host_fleet.node_sets import groups_of, names_of
from cli_host_fleet.problem import FleetError
from cli_host_fleet.transport import Host

_INVENTORY = Inventory(
    {name: Host(name) for name in ("web1", "web2", "db1")},
    {"web": ["web1", "web2"], "db": ["db1"], "old": ["web2"]},
    closed=True,
)


@pytest.mark.parametrize(
    ("wanted", "left_out", "names"),
    [
        ("web[1-2]", "", ["web1", "web2"]),
        ("@web,db1", "", ["db1", "web1", "web2"]),
        ("@all", "web1", ["db1", "web2"]),
        ("@all!@web", "", ["db1"]),
        ("@web&@old", "", ["web2"]),
        ("web*", "", ["web1", "web2"]),
        ("*", "@db", ["web1", "web2"]),
        ("@failed", "", ["web2"]),
        ("@all", "@failed", ["db1", "web1"]),
    ],
)
def test_sets(wanted: str, left_out: str, names: list[str]) -> None:
    assert list(names_of(wanted, left_out, _INVENTORY, lambda: ["web2"])) == names


@pytest.mark.parametrize(
    ("wanted", "left_out"),
    [
        ("app[1-3]", "app1*"),
        ("app[1-3]", "*1"),
        ("app[1-3]!app1*", ""),
        ("db1!db1,app[1-3]!app1*", ""),
        ("db1!db*,app[2-3],me@app1!app1*", ""),
        ("app[1-3]&app*!you@*1", ""),
        ("app[2-3],db1^d*", ""),
        ("x!app9,app[2-3],app*!x", ""),
    ],
)
def test_a_wildcard_means_hosts_of_no_list(wanted: str, left_out: str) -> None:
    """Those that the set has selected before it."""
    names = names_of(wanted, left_out, Inventory({}), list)
    assert list(names) == ["app2", "app3"]


@pytest.mark.parametrize(
    ("wanted", "left_out", "said"),
    [
        ("@web", "web1", ""),
        ("@web", "@old", ""),
        ("@web", "*1", ""),
        ("@web", "@db,web1", ""),
        ("@web", "w1", "--except w1: leaves out no host of --on @web"),
        ("@web", "@db", "--except @db: leaves out no host of --on @web"),
        ("@web", "web1,Web2,web02", "--except: not in --on @web: Web2,web02"),
        ("@web", "@old,*2,x[1-2]", "--except: not in --on @web: x[1-2]"),
        (
            "@all!x[1-2]!@db",
            "",
            "--on @all!x[1-2]!@db: not selected before the !: x[1-2]",
        ),
    ],
)
def test_what_is_not_left_out(wanted: str, left_out: str, said: str) -> None:
    warnings: list[str] = []
    names_of(wanted, left_out, _INVENTORY, list, warn=warnings.append)
    assert warnings == [said] * bool(said)


@pytest.mark.parametrize(
    "wanted",
    [
        "@nobody",
        "web[1-",
        "web1!web1",
        "web[",
        "@",
        "",
        "@no:web",
        "@@no",
        "a,,b",
        "!a",
    ],
)
def test_sets_that_mean_nothing(wanted: str) -> None:
    with pytest.raises(FleetError):
        names_of(wanted, "", _INVENTORY, lambda: ["web2"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("web1 web2", "'web1 web2' cannot be the name of a host"),
        ("web1;web2", "'web1;web2' cannot be the name of a host"),
        (" ", "a name of a host or group is missing"),
        ("@maint", "'root@web2' cannot be the name of a host"),
        ("[2001:db8::5]:22", "set the port in ssh_config"),
        ("me@[2001:db8::5]:22", "set the port in ssh_config"),
        ("web1:22", "'web1:22' is not an IPv6 address; set a port in ssh_config"),
        ("web2,docker:web1", "name a place such as docker: once, before the set"),
        ("web[1:3]", "'1:3' is neither a number nor a range"),
        ("web[1_0-1_2]", "'1_0-1_2' is neither a number nor a range"),
        ("web[1-1000000000]", "more than 100000 hosts"),
        ("r[1-1000]n[1-1000]", "more than 100000 hosts"),
        ("@huge", "more than 100000 hosts"),
    ],
)
def test_no_host_has_such_a_name(words: str, said: str) -> None:
    """What is left out by a name that means no host would run there."""
    groups = {"maint": ["root@web2"], "huge": ["web[0-999999]"]}
    inventory = Inventory(_INVENTORY.hosts, groups, closed=True)
    for on, left_out in ((words, ""), ("web2", words), (f"web2!{words}", "")):
        with pytest.raises(FleetError, match=re.escape(said)):
            names_of(on, left_out, inventory, list)


@pytest.mark.parametrize(
    ("wanted", "left_out", "said"),
    [
        ("*", "", "no wildcard can be compared with fe80::1%eth0"),
        ("@all", "fe80::1*", "no wildcard can be compared with fe80::1%eth0"),
        ("fe80::1%wlan0!*1", "", "no wildcard can be compared with fe80::1%"),
        ("web\uff11", "", "web\uff11: write each digit as one of 0 to 9"),
        ("web1", "web[\uff11-2]", "write each digit as one of 0 to 9"),
    ],
)
def test_what_clustershell_would_take_for_another_host(
    wanted: str, left_out: str, said: str
) -> None:
    inventory = Inventory({"fe80::1%eth0": Host("fe80::1%eth0")}, closed=True)
    assert list(names_of("@all", "", inventory, list)) == ["fe80::1%eth0"]
    with pytest.raises(FleetError, match=said):
        names_of(wanted, left_out, inventory, list)


_SOURCE = """
[Main]
default: here
[here]
map: test $GROUP != down && sed -n 's/^$GROUP: //p' $CFGDIR/groups
list: cut -d: -f1 $CFGDIR/groups
"""


@pytest.mark.parametrize(
    "wanted",
    [
        "@x';touch ran;'",
        "@a'$(touch${IFS}ran)'",
        "@here:a'$(touch${IFS}ran)'",
        "me@@x';touch ran;'",
        "@x'\ntouch ran\n'",
        "@-x",
        "@web/w ran",
        "@nested",  # leads to a group with such a name
        "@here:*",
        "@down",
    ],
)
@pytest.mark.parametrize("option", ["on", "except"])
def test_no_name_of_a_group_runs_code(
    wanted: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ClusterShell puts the name into a line of shell, which no error prints."""
    (tmp_path / "groups.conf").write_text(_SOURCE)
    (tmp_path / "groups").write_text(
        "web: web[1-2]\nk=v: db1\nnested: @web,@x';touch${IFS}ran;'\n"
    )
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert [*names_of("@web,@here:k=v", "", Inventory({}), list)] == [
        *("db1", "web1", "web2")
    ]
    on, left_out = (wanted, "") if option == "on" else ("web1", wanted)
    with pytest.raises(FleetError) as error:
        names_of(on, left_out, Inventory({}), list)
    assert "sed" not in str(error.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("groups.conf", "web: web1\n"),
        ("x.yaml", "x: {web: [1, 2]}"),
        ("x.yaml", "x: {web: 3}"),
    ],
)
def test_files_of_groups_that_are_not_valid(
    name: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "groups.conf").write_text("[Main]\ndefault: x\nautodir: $CFGDIR\n")
    (tmp_path / name).write_text(content)
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", str(tmp_path))
    with pytest.raises(FleetError, match="a file with ClusterShell's groups is not"):
        names_of("@web", "", Inventory({}), list)
    assert groups_of(Inventory({})) in ([], ["web"])


@pytest.mark.parametrize(
    ("name", "content", "selected"),
    [
        ("x.yaml", "x: {all: 'web1,db1', web: web3}", ["db1", "new1", "web1"]),
        ("x.yaml", "x: {web: '@a', a: 'web[1-2]', b: ''}", ["new1", "web1", "web2"]),
        ("x.conf", "[x]\nmap: echo $GROUP[1-2]\nlist: echo a", ["a1", "a2", "new1"]),
        ("x.conf", "[x]\nmap: echo web1", "the group source 'x' has no `list`"),
    ],
)
@pytest.mark.parametrize("wanted", ["@all", "@*", "*", "@x:*"])
def test_all_hosts_of_a_source(
    wanted: str,
    name: str,
    content: str,
    selected: list[str] | str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without `all`, those of its groups: none may be missing where hosts are left out."""
    main = "[Main]\ndefault: x\nautodir: $CFGDIR\nconfdir: $CFGDIR\n"
    (tmp_path / "groups.conf").write_text(main)
    (tmp_path / name).write_text(content)
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", str(tmp_path))
    if isinstance(selected, str):
        with pytest.raises(FleetError, match=selected):
            names_of(f"new1,{wanted}", "", Inventory({}), list)
        return
    assert [*names_of(f"new1,{wanted}", "", Inventory({}), list)] == selected


def test_a_thousand_hosts_keep_their_order() -> None:
    names = names_of("n[0001-1000]", "", Inventory({}), list)
    assert list(names) == [f"n{number:04}" for number in range(1, 1001)]


@pytest.mark.parametrize(
    ("wanted", "login", "users"),
    [
        ("me@web1", "", {"web1": "me"}),
        ("me@web1", "you", {"web1": "me"}),
        ("web1,db1", "you", {"db1": "you", "web1": "you"}),
        ("me@web[1-2],db1", "", {"db1": "", "web1": "me", "web2": "me"}),
        ("me@web[1-2]!web2", "", {"web1": "me"}),
        ("db1,me@@web", "you", {"db1": "you", "web1": "me", "web2": "me"}),
        ("me@web*", "", {"web1": "me", "web2": "me"}),
        ("@failed", "", {"db1": "", "web2": "last"}),
        ("@failed", "you", {"db1": "you", "web2": "you"}),
        ("me@@failed", "", {"db1": "me", "web2": "me"}),
    ],
)
def test_users(wanted: str, login: str, users: dict[str, str]) -> None:
    names = names_of(wanted, "", _INVENTORY, lambda: ["last@web2", "db1"], login)
    assert names == users


def test_a_user_does_not_hide_a_host_from_except() -> None:
    assert names_of("me@web[1-3]", "web2,you@web3", Inventory({}), list) == {
        "web1": "me"
    }


def test_two_users_of_a_host() -> None:
    with pytest.raises(FleetError, match="web1 has two users: me, you"):
        names_of("me@web1,you@web[1-2]", "", Inventory({}), list)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("::1", ["::1"]),
        ("[2001:db8::1],web1", ["2001:db8::1", "web1"]),
        ("me@[2001:db8::1]", ["2001:db8::1"]),
        ("fe80::1%eth0", ["fe80::1%eth0"]),
        ("2001:db8::[1-2]", ["2001:db8::1", "2001:db8::2"]),
        ("::2,2001:db8::[1-2]!2001:DB8:0::1!0::2", ["2001:db8::2"]),
        ("::A,::a", ["::A"]),
    ],
)
def test_ipv6(wanted: str, names: list[str]) -> None:
    assert [
        Host(name).name for name in names_of(wanted, "", Inventory({}), list)
    ] == names


def test_an_ipv6_address_in_another_spelling() -> None:
    hosts = {name: Host(name) for name in ("2001:DB8::1", "2001:db8::2")}
    inventory = Inventory(hosts, {"old": ["2001:db8:0::2"]}, closed=True)
    assert [*names_of("2001:db8::1,2001:DB8::2", "@old", inventory, list)] == [
        "2001:DB8::1"
    ]
