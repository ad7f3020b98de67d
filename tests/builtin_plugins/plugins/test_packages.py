"""Packages: what is run of them when, and which names they cannot have."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.collisions import check_declared_commands
from builtin_plugins.plugins.resolution import install_into, resolve
from builtin_plugins.registry.entry import Entry, Package
from builtin_plugins.registry.version import PluginVersion
from host import HostError, OperationError
from testing.packages import Environment, answering
from testing.plugin_sources import (
    listed,
    plugin,
    plugin_files,
    registry,
    wheel,
    write_tree,
)


def test_nothing_of_a_source_distribution_runs_before_the_question(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "mark"
    with_uv.source(with_uv.acme("1.0"), mark)
    refused = answering(made, "n\n", "add", "pip:acme-cli")
    assert refused.status == 1
    assert refused.stdout == (
        "acme-cli 1.0: no wheel; building one runs the package's own code, and the new commands "
        "are shown after the build\n"
    )
    assert "Build it? [y/N] " in refused.stderr
    assert refused.stderr.endswith("cli: error: nothing was changed\r\n")
    assert not mark.exists()
    seen = answering(made, "y\nn\n", "add", "pip:acme-cli")
    assert (seen.status, "cloud disk  disk" in seen.stdout) == (1, True)
    assert mark.exists()
    assert listed(made) == {}
    added = answering(made, "y\ny\n", "add", "pip:acme-cli")
    assert (added.status, "added acme-cli" in added.stdout) == (0, True), added.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    with_uv.source(with_uv.acme("2.0"), mark)
    mark.unlink()
    dry = plugin(made, "update", "--dry-run")
    assert dry.stdout == "acme-cli: 1.0 → to be built: acme-cli 2.0\n"
    unattended = plugin(made, "update")
    assert (unattended.status, mark.exists()) == (1, False)
    assert "to skip the question, add --yes" in unattended.stderr
    assert plugin(made, "update", "--yes").status == 0
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    mark.unlink()
    assert plugin(made, "update").stdout == "acme-cli: 2.0 is the newest version\n"
    assert not mark.exists()
    with_uv.source(with_uv.acme("3.0"), tmp_path / "nowhere" / "mark")
    failed = plugin(made, "update", "--yes")
    assert failed.status == 1
    assert "`backend.get_requires_for_build_wheel` failed" in failed.stderr


def test_a_disabled_package_is_not_asked_for_its_commands(tmp_path: Path) -> None:
    session: Any = SimpleNamespace(safe=False)
    change = Change(session, str(tmp_path), 1.0)
    (tmp_path / "version/tree").mkdir(parents=True)
    disabled = PluginVersion(Entry("acme", "pip", enabled=False))
    check_declared_commands(disabled, change, force=True)


def test_only_what_the_user_agreed_to_is_built(tmp_path: Path) -> None:
    change = Change(None, str(tmp_path), 1.0)  # type: ignore[arg-type]
    packages = [Package(name, "1.0", built=name != "c") for name in "abc"]
    with pytest.raises(OperationError, match=r"^acme: nobody agreed to build b$"):
        install_into("folder", Entry("acme", "pip"), packages, "", {"a": "1.0"}, change)


def test_nothing_of_a_wheel_runs_before_the_question(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "mark"
    run = f"import pathlib; pathlib.Path({str(mark)!r}).touch()"
    pth = {"broken.pth": f"{run}\n"}
    path = wheel(with_uv.wheels, "broken-cli", "1.0", run, top=pth)
    for source in ("pip:broken-cli", str(path)):
        assert answering(made, "n\n", "add", source).status == 1
        assert not mark.exists()
    assert listed(made) == {}


@pytest.mark.night
def test_a_source_distribution_among_what_it_needs(
    environment: Environment, tmp_path: Path
) -> None:
    made, mark = environment.made, tmp_path / "mark"
    environment.acme("1.0", requires=("needed",))
    environment.source(wheel(environment.wheels, "needed", "1.0", "", points={}), mark)
    refused = plugin(made, "add", "pip:acme-cli")
    assert (refused.status, mark.exists()) == (1, False)
    assert refused.stdout.startswith(
        "needed 1.0: no wheel; building one runs the package's own"
    )
    added = plugin(made, "add", "pip:acme-cli", "--yes")
    assert added.status == 0, added.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert [one["built"] for one in registry(made)["acme-cli"]["packages"]] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("hostile", "said"),
    [
        ("source", "^source requires third from an address; "),
        ("other", "^pip install "),
    ],
)
def test_who_agrees_to_one_build_agrees_to_no_other(
    with_uv: Environment, tmp_path: Path, hostile: str, said: str
) -> None:
    """The source that is built, or another package, requires a third one from an address.

    The installer is the pip of the tests' environment: uv refuses that itself.
    """
    mark, folder = tmp_path / "mark", with_uv.wheels
    third = with_uv.source(wheel(folder, "third", "1.0", "", points={}), mark)
    needs = {"source": (), "other": (), hostile: (f"third @ {third.as_uri()}",)}
    with_uv.acme("1.0", requires=(*needs,))
    for name, requires in needs.items():
        built = wheel(folder, name, "1.0", "", points={}, requires=requires)
        if name == "source":
            with_uv.source(built, tmp_path / "agreed")
    (tmp_path / "area").mkdir()
    session = SimpleNamespace(environ=with_uv.made.environment(None))
    change = Change(session, str(tmp_path / "area"), 60.0)  # type: ignore[arg-type]
    with pytest.raises(HostError, match=said):
        resolve("acme-cli", change, {"source": "1.0"})
    assert (tmp_path / "agreed").exists()
    assert not mark.exists()


@pytest.mark.night
def test_a_source_distribution_among_what_a_wheel_needs(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "mark"
    path = with_uv.acme("1.0", requires=("needed",))
    with_uv.source(wheel(with_uv.wheels, "needed", "1.0", "", points={}), mark)
    refused = plugin(made, "add", str(path))
    assert (refused.status, mark.exists()) == (1, False)
    assert refused.stdout.startswith(
        "needed 1.0: no wheel; building one runs the package's own"
    )
    added = plugin(made, "add", str(path), "--yes")
    assert added.status == 0, added.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    # What was built once is not built again without the question, either.
    mark.unlink()
    shutil.rmtree(made.root / "plugins/.versions")
    refused = plugin(made, "sync")
    assert (refused.status, mark.exists()) == (1, False)
    assert plugin(made, "sync", "--yes").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"


@pytest.mark.night
def test_a_newer_source_beside_an_older_wheel(
    with_uv: Environment, tmp_path: Path
) -> None:
    """A wheel is taken where there is one; an update never goes back."""
    made, mark = with_uv.made, tmp_path / "mark"
    with_uv.acme("1.0")
    with_uv.source(with_uv.acme("2.0"), mark)
    assert plugin(made, "add", "pip:acme-cli").status == 0
    assert (registry(made)["acme-cli"]["version"], mark.exists()) == ("1.0", False)
    assert plugin(made, "remove", "acme-cli").status == 0
    assert plugin(made, "add", "pip:acme-cli>=1.5", "--yes").status == 0
    assert registry(made)["acme-cli"]["version"] == "2.0"
    assert plugin(made, "update").stdout == "acme-cli: 2.0 is the newest version\n"


@pytest.mark.night
def test_the_version_that_is_built_is_the_one_that_was_agreed_to(
    with_uv: Environment, tmp_path: Path
) -> None:
    made, mark = with_uv.made, tmp_path / "mark"
    for version in ("1.0", "2.0"):
        with_uv.source(with_uv.acme(version), mark)
        needed = wheel(with_uv.wheels, "needed", version, "", points={})
        with_uv.source(needed, mark)
    added = plugin(made, "add", "pip:acme-cli<2", "--yes")
    assert (added.status, added.stdout.splitlines()[0][:14]) == (0, "acme-cli 1.0: ")
    # The registry is all that another machine has.
    shutil.rmtree(made.root / "plugins/.versions")
    synced = plugin(made, "sync", "--yes")
    assert (synced.status, "acme-cli 1.0: " in synced.stdout) == (0, True)

    mark.unlink()
    with_uv.acme("3.0", requires=("needed<2",))
    refused = plugin(made, "add", "pip:acme-cli==3.0", "--yes")
    assert refused.stdout.startswith("needed 2.0: no wheel; ")
    assert (refused.status, "needed==2.0" in refused.stderr) == (1, True)
    assert not mark.exists()


def test_what_is_not_to_be_had_is_not_offered_to_be_built(either: Environment) -> None:
    either.acme("1.0")
    done = answering(either.made, "y\n", "add", "pip:acme-cli>=7")
    assert (done.status, "Build it?" in done.stderr) == (1, False), done.stderr


def test_a_registry_of_somebody_else_with_odd_packages(
    with_uv: Environment, tmp_path: Path
) -> None:
    team = tmp_path / "team.json"
    entry = {"name": "acme-cli", "kind": "pip", "source": "acme-cli", "version": "1.0"}
    good = {"name": "acme-cli", "version": "1.0", "sha256": ["0" * 64]}
    for odd in (
        {"name": "-r/etc/passwd"},
        {"version": "1.0 --index-url=x"},
        {"sha256": ["x"]},
        {"sha256": "0" * 64},
    ):
        plugins = [{**entry, "packages": [{**good, **odd}]}]
        team.write_text(json.dumps({"version": "1.0.0", "plugins": plugins}))
        done = plugin(with_uv.made, "sync", str(team))
        assert (done.status, "expected a" in done.stderr) == (1, True), done.stderr


def test_the_order_of_the_registry_decides_between_packages_and_directories(
    with_uv: Environment, tmp_path: Path
) -> None:
    """The package has `cloud disk` in a folder, and declares `cloud py` in code."""
    made = with_uv.made
    with_uv.place(with_uv.acme("1.0"))
    directory = write_tree(tmp_path / "ops", plugin_files("cloud/py", "ops"))
    write_tree(directory, plugin_files("cloud/disk", "ops"))
    refused = plugin(made, "add", str(directory))
    assert (
        refused.status,
        "already a command of the plugin acme-cli" in refused.stderr,
    ) == (
        1,
        True,
    )
    assert plugin(made, "add", str(directory), "--force").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert made.run("cloud", "disk").stdout == "disk 1.0\n"
    assert "Python" in made.run("cloud").stdout
    path = made.root / "plugins/registry.json"
    values = json.loads(path.read_text())
    values["plugins"].reverse()
    path.write_text(json.dumps(values))
    assert made.run("cloud", "py").stdout == "ops\n"
    assert made.run("cloud", "disk").stdout == "ops\n"
