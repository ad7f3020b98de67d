"""Packages: what is run of them when, and which names they cannot have."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from packaging.utils import canonicalize_name

from testing.packages import Environment, answering
from testing.plugin_sources import listed, plugin, registry, wheel


def test_nothing_of_a_source_distribution_runs_before_the_question(
    either: Environment, tmp_path: Path
) -> None:
    made, mark = either.made, tmp_path / "mark"
    either.source(either.acme("1.0"), mark)
    refused = answering(made, "n\n", "add", "pip:acme-cli")
    assert refused.status == 1
    assert refused.stdout == (
        "acme-cli 1.0 has no wheel; building one runs the package's own code, and the new commands "
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
    either.source(either.acme("2.0"), mark)
    mark.unlink()
    dry = plugin(made, "update", "--dry-run")
    assert dry.stdout == "acme-cli: 1.0 → 2.0, built from source\n"
    assert answering(made, "n\n", "update").status == 1
    assert not mark.exists()
    assert plugin(made, "update").status == 0
    assert made.run("cloud", "py").stdout == "py 2.0\n"
    mark.unlink()
    assert plugin(made, "update").stdout == "acme-cli: 2.0 is the newest version\n"
    assert not mark.exists()
    either.source(either.acme("3.0"), tmp_path / "nowhere" / "mark")
    failed = plugin(made, "update")
    assert failed.status == 1
    told = ("FileNotFoundError: ", "`backend.get_requires_for_build_wheel` failed")  # pip, uv
    assert any(one in failed.stderr.splitlines()[-1] for one in told)


def test_nothing_of_a_wheel_runs_before_the_question(either: Environment, tmp_path: Path) -> None:
    made, mark = either.made, tmp_path / "mark"
    run = f"import pathlib; pathlib.Path({str(mark)!r}).touch()"
    path = wheel(either.wheels, "broken-cli", "1.0", run, top={"broken.pth": f"{run}\n"})
    for source in ("pip:broken-cli", str(path)):
        assert answering(made, "n\n", "add", source).status == 1
        assert not mark.exists()
    assert listed(made) == {}


def test_wheels_named_like_what_this_program_needs(
    environment: Environment, tmp_path: Path
) -> None:
    made = environment.made
    for name in ("pip", "Pluggy", "importlib_metadata", "cli-host"):
        path = wheel(tmp_path, name, "99", "", points={"evil": "evil.plugin"})
        shutil.copy(path, environment.wheels)
        for source in (str(path), f"pip:{name}==99"):
            done = plugin(made, "add", source)
            last = done.stderr.splitlines()[-1]
            said = "cannot be a plugin: this program itself needs it"
            assert (done.status, last) == (1, f"cli: {canonicalize_name(name)} {said}")
    environment.pip("--version")
    assert listed(made) == {}


def test_a_newer_source_beside_an_older_wheel(environment: Environment, tmp_path: Path) -> None:
    """A wheel is taken where there is one; an update never goes back."""
    made, mark = environment.made, tmp_path / "mark"
    environment.acme("1.0")
    environment.source(environment.acme("2.0"), mark)
    assert plugin(made, "add", "pip:acme-cli").status == 0
    assert (registry(made)["acme-cli"]["version"], mark.exists()) == ("1.0", False)
    assert plugin(made, "remove", "acme-cli").status == 0
    assert plugin(made, "add", "pip:acme-cli>=1.5").status == 0
    assert registry(made)["acme-cli"]["version"] == "2.0"
    assert plugin(made, "update").stdout == "acme-cli: 2.0 is the newest version\n"


def test_what_is_not_to_be_had_is_not_offered_to_be_built(either: Environment) -> None:
    for source in ("pip:no-such-plugin", "pip:acme-cli>=7"):
        either.acme("1.0")
        done = answering(either.made, "y\n", "add", source)
        assert (done.status, "Build it?" in done.stderr) == (1, False), done.stderr


def test_an_environment_made_anew_gets_its_plugins_back(either: Environment) -> None:
    """As after `uv tool upgrade` or `pipx reinstall`; nothing is asked of any index for it."""
    made = either.made
    path = either.acme("1.0", requires=("click>=8",))
    assert plugin(made, "add", str(path)).status == 0
    path.unlink()
    for one in either.packages.glob("acme_cli*"):
        shutil.rmtree(one)
    row = listed(made)["acme-cli"]
    assert (row["state"], row["reason"]) == (
        "missing",
        "its files are missing; restore them with: cli self plugin sync",
    )
    dry = plugin(made, "sync", "--dry-run")
    assert dry.all == (0, f"acme-cli 1.0 (pip, {path})\n", "")
    assert not list(either.packages.glob("acme_cli*"))
    done = plugin(made, "sync")
    assert (done.status, done.stdout) == (
        0,
        f"acme-cli 1.0 (pip, {path})\ninstalled acme-cli\n",
    ), done.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert plugin(made, "sync").stdout == "every plugin is already installed\n"


def test_the_life_of_a_package_with_uv(with_uv: Environment) -> None:
    made = with_uv.made
    wheel(with_uv.wheels, "needed", "2.0", "", points={})
    with_uv.acme("1.0", requires=("needed>=2; extra == 'more'",))
    assert plugin(made, "add", "pip:acme-cli[more]").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert list(with_uv.packages.glob("needed-2.0*"))
    with_uv.acme("2.0", "tape")
    said = "acme-cli: 1.0 → 2.0\n  + cloud tape  tape\n  - cloud disk  disk\n"
    assert plugin(made, "update", "--dry-run").stdout == said
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert plugin(made, "update").stdout == f"{said}updated acme-cli\n"
    assert made.run("cloud", "tape").stdout == "tape 2.0\n"
    assert plugin(made, "rollback", "acme-cli", "1.0").stdout == "acme-cli: 2.0 → 1.0\n"
    assert made.run("cloud", "disk").stdout == "disk 1.0\n"
    assert plugin(made, "remove", "acme-cli").status == 0
    assert listed(made) == {}
    assert not list(with_uv.packages.glob("acme_cli*"))


def test_uv_tells_why_in_one_line(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.acme("1.0", requires=("click<1",))
    done = plugin(made, "add", "pip:acme-cli")
    assert done.status == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("cli: uv pip install: No solution found when resolving dependencies")
    assert "click<1" in last
    assert (
        "Because nothing was not found in the provided package locations and you require nothing, "
        "we can conclude that your requirements are unsatisfiable."
    ) in plugin(made, "add", "pip:nothing").stderr.splitlines()[-1]


def test_uv_does_not_read_the_project_where_it_is_called(
    with_uv: Environment, tmp_path: Path
) -> None:
    with_uv.acme("1.0")
    here = tmp_path / "project"
    here.mkdir()
    (here / "uv.toml").write_text('find-links = ["/nowhere"]\n')
    assert plugin(with_uv.made, "add", "pip:acme-cli", cwd=here).status == 0


def test_a_registry_of_somebody_else_with_an_odd_version(
    environment: Environment, tmp_path: Path
) -> None:
    team = tmp_path / "team.json"
    entry = {"name": "acme-cli", "kind": "pip", "source": "acme-cli", "sha256": "0" * 64}
    for version in ("1.0--pre", "1.0.whl"):
        plugins = [{**entry, "version": version}]
        team.write_text(json.dumps({"version": "1.0.0", "plugins": plugins}))
        done = plugin(environment.made, "sync", str(team))
        assert done.all[::2] == (2, f"cli: acme-cli: {version} is not a valid version\n")


def test_a_kept_wheel_that_is_damaged_is_brought_again(with_uv: Environment) -> None:
    made = with_uv.made
    with_uv.acme("1.0")
    assert plugin(made, "add", "pip:acme-cli").status == 0
    [kept] = (made.root / "plugins/.versions/acme-cli").glob("*/tree/*.whl")
    kept.write_bytes(b"")
    for one in with_uv.packages.glob("acme_cli*"):
        shutil.rmtree(one)
    assert plugin(made, "sync").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    plugin(made, "remove", "acme-cli")
