"""Which files a package may bring, by their paths alone."""

from __future__ import annotations

import pytest

from builtin_plugins.administration.program.environment.owned_files import (
    InstalledFiles,
    problems,
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
