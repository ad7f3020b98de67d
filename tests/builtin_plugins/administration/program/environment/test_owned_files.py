"""Which files a package may bring, by their paths alone."""

from __future__ import annotations

import pytest

from builtin_plugins.administration.program.environment.owned_files import (
    InstalledFiles,
    problems,
    run_at_start,
    wheel_paths,
)

SITE = "lib/python3.11/site-packages"
OURS, NOBODY = "the environment itself", ""
THERE = InstalledFiles(
    SITE,
    {
        f"{SITE}/host/secrets.py": "cli-host",
        f"{SITE}/one/plugin.py": "one",
        f"{SITE}/mine.py": "acme",
        f"{SITE}/taken.py": "click",
        "bin/cli": "cli-host",
        "lib64": OURS,
        "pyvenv.cfg": OURS,
    },
    {"host": "cli-host", "click": "click"},
)
OWNERS = {
    f"{SITE}/acme/plugin.py": NOBODY,
    f"{SITE}/acme-2.0.dist-info/RECORD": NOBODY,
    f"{SITE}/one/other.py": NOBODY,  # as in a namespace
    f"{SITE}/mine.py": NOBODY,
    "share/man/man1/host.1": NOBODY,
    f"{SITE}/hosts.py": NOBODY,
    f"{SITE}/one/plugin.py": "one",
    f"{SITE}/one/plugin.py/x.py": "one",
    f"{SITE}/taken.py": "click",
    f"{SITE}/host/secrets/__init__.py": "cli-host",
    f"{SITE}/HOST/new.py": "cli-host",
    f"{SITE}/click.cpython-311-x86_64-linux-gnu.so": "click",
    f"{SITE}/one-1.0.dist-info/x": "one",
    f"{SITE}/Click-99.DIST-INFO/METADATA": "click",
    f"{SITE}/click.egg-info": "click",
    "bin/CLI": "cli-host",
    "pyvenv.cfg": OURS,
    f"{SITE.replace('lib', 'lib64', 1)}/host/new.py": OURS,
}


@pytest.mark.parametrize(("path", "owner"), OWNERS.items(), ids=OWNERS)
def test_to_whom_a_place_belongs(path: str, owner: str) -> None:
    shown = path.removeprefix(f"{SITE}/")
    expected = [f"{shown} belongs to {owner}"] if owner else []
    assert list(problems([path], {"acme"}, THERE)) == expected


def test_what_comes_along_may_replace_its_own() -> None:
    paths = [f"{SITE}/one/plugin.py", f"{SITE}/one-2.0.dist-info/RECORD"]
    assert list(problems(paths, {"acme", "one"}, THERE)) == []
    assert list(problems([f"{SITE}/click-9.dist-info/x"], {"acme", "click"}, THERE)) != []


PLACES = {
    "acme/plugin.py": f"{SITE}/acme/plugin.py",
    "acme-1.data/purelib/host/x.py": f"{SITE}/host/x.py",
    "acme-1.data/platlib/x.so": f"{SITE}/x.so",
    "acme-1.data/scripts/python": "bin/python",
    "acme-1.data/headers/x.h": "include/site/python3.11/acme/x.h",
    "acme-1.data/data/etc/acme.conf": "etc/acme.conf",
}


def test_where_the_files_of_a_wheel_go() -> None:
    assert dict(zip(PLACES, wheel_paths(PLACES, [], SITE, "acme"), strict=True)) == PLACES
    assert list(wheel_paths([], ["acme-tool"], SITE, "acme")) == ["bin/acme-tool"]


ODD = ["../x", "a/../../x", "..", ".", "/x", "./host/x.py", "host//x.py", "host\\x.py", ""]
ODD += ["a.data/lib/x", "a.data/data", "a.data/data/../x"]


@pytest.mark.parametrize("name", ODD)
def test_names_that_may_lead_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match=r"is no plain path|is in no place of a wheel"):
        list(wheel_paths([name], [], SITE, "acme"))


def test_a_script_that_leads_elsewhere() -> None:
    with pytest.raises(ValueError, match="is no plain path"):
        list(wheel_paths([], ["../pyvenv.cfg"], SITE, "acme"))


def test_what_each_start_runs() -> None:
    names = [
        "b.pth",
        "a.pth",
        "acme/c.pth",
        "sitecustomize.py",
        "usercustomize/__init__.py",
        "x.py",
    ]
    found = run_at_start([*(f"{SITE}/{one}" for one in names), "share/d.pth"], SITE)
    assert found == ["a.pth", "b.pth", "sitecustomize.py", "usercustomize"]
