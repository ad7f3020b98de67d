"""`self plugin sync`: one registry file, the same plugins on every machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from testing import httpserver
from testing.installation import Made
from testing.plugin_sources import (
    Repository,
    listed,
    plugin,
    plugin_files,
    registry,
    tar_of,
    write_tree,
)

Install = Callable[..., Made]


def test_two_installations(
    install: Install, tmp_path: Path, site: httpserver.Site
) -> None:
    ours, theirs = install(), install()
    repository = Repository(tmp_path / "acme", plugin_files("git/one", "one"))
    address = site.add("/packed.tar.gz", tar_of(plugin_files("packed/hi", "packed")))
    local = write_tree(tmp_path / "mine", plugin_files("mine/hi"))
    for source in (repository.url, address, str(local)):
        assert plugin(ours, "add", source).status == 0
    plugin(ours, "disable", "packed")
    repository.commit(plugin_files("git/two", "two"))
    team = tmp_path / "team.json"
    shutil.copy(ours.root / "plugins/registry.json", team)
    own = write_tree(tmp_path / "own", plugin_files("own/hi"))
    plugin(theirs, "add", str(own))
    values = json.loads(team.read_text())
    values["plugins"].append({**registry(ours)["acme"], "name": "own"})
    team.write_text(json.dumps(values))
    dry = plugin(theirs, "sync", str(team), "--dry-run")
    assert dry.status == 0
    assert set(registry(theirs)) == {"own"}
    done = plugin(theirs, "sync", str(team))
    assert done.status == 0, done.stderr
    assert "mine is a directory on another machine" in done.stderr
    stays = (
        "own is the name of a plugin of your own, which stays; to use the listed one, "
    )
    assert f"{stays}first: cli self plugin remove own" in done.stderr
    assert set(registry(theirs)) == {"own", "acme", "packed"}
    assert registry(theirs)["own"]["source"] == str(own)
    for name in ("acme", "packed"):
        for key in ("commit", "sha256", "source", "ref", "enabled", "version", "kind"):
            assert registry(theirs)[name][key] == registry(ours)[name][key], (name, key)
    assert theirs.run("git", "one").stdout == "one\n"
    assert theirs.run("git", "two").status == 2
    assert theirs.run("packed", "hi").status == 2
    plugin(theirs, "add", repository.url, "--under", "below")
    plugin(ours, "update", "acme")
    shutil.copy(ours.root / "plugins/registry.json", team)
    assert "acme (git, " in plugin(theirs, "sync", str(team), "--dry-run").stdout
    assert plugin(theirs, "sync", str(team)).status == 0
    assert theirs.run("below", "git", "two").stdout == "two\n"
    again = plugin(theirs, "sync", str(team))
    assert (again.status, again.stdout) == (0, "nothing to install\n")
    assert "mine is a directory on another machine" in again.stderr


def test_a_registry_that_came_by_itself(install: Install, tmp_path: Path) -> None:
    """As when it is kept in the team's repository: the file is there, the plugins are not."""
    ours, theirs = install(), install()
    repository = Repository(tmp_path / "acme", plugin_files())
    plugin(ours, "add", repository.url)
    shutil.copy(
        ours.root / "plugins/registry.json", theirs.root / "plugins/registry.json"
    )
    assert listed(theirs)["acme"]["state"] == "missing"
    nowhere = plugin(theirs, "sync", "./nowhere.json")
    assert nowhere.all == (2, "", "cli: ./nowhere.json: no such file\n")
    assert plugin(theirs, "sync", str(tmp_path)).status == 1
    assert theirs.run("demo", "hi").status == 2
    assert plugin(theirs, "sync").status == 0
    assert theirs.run("demo", "hi").stdout == "hi\n"


def test_a_changed_source_is_refused(
    install: Install, tmp_path: Path, site: httpserver.Site
) -> None:
    ours, theirs = install(), install()
    address = site.add("/packed.tar.gz", tar_of(plugin_files()))
    plugin(ours, "add", address)
    site.add("/packed.tar.gz", tar_of(plugin_files("demo/evil")))
    done = plugin(theirs, "sync", str(ours.root / "plugins/registry.json"))
    assert done.status == 1
    assert "the SHA-256 is" in done.stderr
    assert registry(theirs) == {}


def test_an_entry_without_a_checksum_cannot_be_restored(install: Install) -> None:
    entry = {"name": "acme", "kind": "pip", "source": "acme", "version": "1.0"}
    made = install(
        {"plugins/registry.json": json.dumps({"version": "1.0.0", "plugins": [entry]})}
    )
    refused = plugin(made, "sync")
    said = "no commit or sha256 is recorded; remove and re-add the plugin"
    assert (refused.status, refused.stderr) == (1, f"cli: {said}\n")


def test_a_hostile_registry_file(install: Install, tmp_path: Path) -> None:
    made = install()
    mark = tmp_path / "mark"
    entries = [
        {
            "name": "a",
            "kind": "git",
            "source": f"ext::touch {mark}",
            "commit": "0" * 40,
        },
        {
            "name": "b",
            "kind": "git",
            "source": f"--upload-pack=touch {mark}",
            "commit": "0" * 40,
        },
        {
            "name": "c",
            "kind": "pip",
            "source": "-r /etc/passwd",
            "version": "1",
            "sha256": "0" * 64,
        },
        {
            "name": "d",
            "kind": "git",
            "source": "file:///x",
            "ref": "--x",
            "commit": "0" * 40,
        },
        {"name": "e", "kind": "archive", "source": "/etc/passwd", "sha256": "0" * 64},
        {"name": "g", "kind": "archive", "source": "/dev/zero", "sha256": "0" * 64},
        {"name": "../f", "kind": "git", "source": "file:///x", "commit": "0" * 40},
    ]
    team = tmp_path / "team.json"
    team.write_text(json.dumps({"version": "1.0.0", "plugins": entries}))
    done = plugin(made, "sync", str(team))
    assert done.status == 1
    assert "Traceback" not in done.stderr
    assert "g: /dev/zero: not a regular file\n" in done.stderr
    assert registry(made) == {}
    assert not mark.exists()


def test_a_source_that_cannot_be_fetched_can_be_removed(install: Install) -> None:
    """A hand-written registry may hold one; listing, doctor and remove still work."""
    entry = {"name": "acme", "kind": "pip", "source": "acme @ git+ftp://h.test/acme"}
    made = install(
        {"plugins/registry.json": json.dumps({"version": "1.0.0", "plugins": [entry]})}
    )
    assert plugin(made, "list").status == 0
    refused = plugin(made, "sync")
    assert refused.status == 1
    assert "no commit or sha256 is recorded" in refused.stderr
    assert "the files of plugin acme are missing" in made.run("self", "doctor").stdout
    assert plugin(made, "remove", "acme").all == (0, "removed acme\n", "")
