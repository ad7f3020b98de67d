"""Catalogues: what `self plugin search` finds, `self plugin add` takes and Tab offers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testing.httpserver import Site, status
from testing.installation import CLI, Made
from testing.plugin_sources import Repository, plugin, plugin_files, registry, tar_of

Install = Callable[..., Made]


def catalogue(*plugins: dict[str, Any]) -> str:
    return json.dumps({"plugins": plugins})


def team(*addresses: str) -> dict[str, Any]:
    return {"core/cli.json": {**CLI, "team": {"catalogue": addresses}}}


def listed_in(file: Path, *plugins: dict[str, Any]) -> str:
    """Write a catalogue; return its address."""
    file.write_text(catalogue(*plugins))
    return f"file://{file}"


def deploy(tmp_path: Path) -> tuple[Repository, dict[str, Any]]:
    """Return a repository with the tag v1 and a newer commit, and its entry."""
    repository = Repository(tmp_path / "deploy-git", plugin_files("deploy/now", "one"))
    repository.git("tag", "v1")
    repository.commit(plugin_files("deploy/now", "two"))
    about = {"description": "Deploys the shop", "owner": "ops@acme.dev"}
    return repository, {
        "name": "deploy",
        "source": repository.url,
        "ref": "v1",
        **about,
    }


def offered(made: Made, *words: str, env: dict[str, str] | None = None) -> list[str]:
    return made.run("--complete", "fish", *words, env=env).stdout.splitlines()


def test_a_name_is_found_added_at_its_version_and_completed(
    install: Install, tmp_path: Path
) -> None:
    repository, entry = deploy(tmp_path)
    bare = {"name": "bare", "source": "acme/bare", "owner": "", "x-own": 1}
    made = install(team(listed_in(tmp_path / "c.json", entry, bare)))
    assert offered(made, "self", "plugin", "add", "") == [
        "files"
    ]  # Tab fetches nothing
    assert plugin(made, "search").stdout == (
        "NAME    VERSION  OWNER         DESCRIPTION\n"
        "deploy  v1       ops@acme.dev  Deploys the shop\n"
        "bare    -        -\n"
    )
    assert plugin(made, "search", "SHOP", "ops").stdout.count("\n") == 2
    found = json.loads(plugin(made, "search", "deploy", "--format", "json").stdout)
    assert found == {"plugins": [{**entry, "sha256": ""}]}
    assert plugin(made, "search", "sh", "xx").all == (
        1,
        "",
        "cli: no plugin in a catalogue matches sh and xx; to see all: cli self plugin search\n",
    )
    offers = offered(made, "self", "plugin", "add", "")
    assert offers == ["files", "deploy\tDeploys the shop", "bare\t"]

    added = plugin(made, "add", "deploy")
    assert "\nadded deploy\nstays at v1; to change that: " in added.stdout
    assert made.run("deploy", "now").stdout == "one\n"
    kept = registry(made)["deploy"]
    assert (kept["name"], kept["source"], kept["ref"]) == (
        "deploy",
        repository.url,
        "v1",
    )
    assert (
        "deploy: stays at v1; to change that: "
        in plugin(made, "update", "deploy").stdout
    )
    assert "is already installed; stays at v1" in plugin(made, "add", "deploy").stdout


def test_the_plugin_has_the_name_in_the_catalogue(
    install: Install, tmp_path: Path
) -> None:
    _, entry = deploy(tmp_path)
    made = install(team(listed_in(tmp_path / "c.json", {**entry, "name": "shop"})))
    assert "added shop\n" in plugin(made, "add", "shop").stdout
    assert (
        "added mine\n"
        in plugin(made, "add", "shop", "--name", "mine", "--force").stdout
    )


def test_a_checksum_is_checked(install: Install, tmp_path: Path) -> None:
    archive = tmp_path / "gp.tar.gz"
    archive.write_bytes(tar_of(plugin_files("gp/hi")))
    right = hashlib.sha256(archive.read_bytes()).hexdigest()
    good = {"name": "good", "source": str(archive), "sha256": right}
    bad = {"name": "bad", "source": str(archive), "sha256": "0" * 64}
    made = install(team(listed_in(tmp_path / "c.json", good, bad)))
    assert plugin(made, "add", "bad").all == (
        1, "", f"cli: {archive}: the SHA-256 is {right}, expected {'0' * 64}\n"
    )  # fmt: skip
    assert plugin(made, "add", "good").status == 0
    assert made.run("gp", "hi").stdout == "hi\n"


def test_entries_that_cannot_be_added(install: Install, tmp_path: Path) -> None:
    repository, entry = deploy(tmp_path)
    loose = {"name": "loose", "source": repository.url, "owner": "Ann"}
    alone = {"name": "alone", "source": "https://u:s3cr3t@h.test/x?token=s3cr3t"}
    local = {"name": "local", "source": str(tmp_path), "ref": "v1"}
    made = install(team(listed_in(tmp_path / "c.json", entry, loose, alone, local)))
    lacks = "the catalogue lists neither a ref nor a sha256"
    assert plugin(made, "add", "loose").all == (
        1,
        "",
        f"cli: loose: {lacks}; ask Ann for a ref or sha256, or add the plugin from its source: "
        f"{repository.url}\n",
    )
    done = plugin(made, "add", "alone")
    assert f"cli: alone: {lacks}; add a ref or sha256, or " in done.stderr
    assert done.stderr.endswith(" https://…@h.test/x?token=…\n")
    done = plugin(made, "add", "local")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "cli: --ref can only be used with a git repository, not "
    )
    for option in ("--ref=v2", f"--sha256={'0' * 64}"):
        assert plugin(made, "add", "deploy", option).all == (
            2, "", "cli: --ref and --sha256 cannot be used with a name from a catalogue\n"
        )  # fmt: skip
    assert not (made.root / "plugins/registry.json").exists()


def test_a_word_that_no_catalogue_lists(install: Install, tmp_path: Path) -> None:
    _, entry = deploy(tmp_path)
    made = install(team(listed_in(tmp_path / "c.json", entry)))
    ways = "write ./{0} for a directory, or pip:{0} for a package"
    assert plugin(made, "add", "xyz").all == (
        2, "", f"cli: xyz: not in any catalogue; {ways.format('xyz')}\n"
    )  # fmt: skip
    near = plugin(made, "add", "deplyo").stderr
    assert near.endswith(
        f"{ways.format('deplyo')}; did you mean cli self plugin add deploy?\n"
    )
    # Other forms of SOURCE ask no catalogue.
    made.write(team("https://127.0.0.1:1/c.json"))
    for other in ("./xyz", "xyz.zip", "pip:x y", "Xyz"):
        assert "127.0.0.1" not in plugin(made, "add", other).stderr


@pytest.mark.parametrize("address", ["/srv/catalogue.json", "ftp://x/c.json"])
def test_an_address_in_the_settings_that_cannot_be_fetched(
    install: Install, address: str
) -> None:
    made = install(team(address))
    done = plugin(made, "search", "x")
    assert (done.status, done.stdout) == (1, "")
    start = f'cli: {made.root}/core/cli.json: "team.catalogue": {address}: '
    assert done.stderr.startswith(start)


def test_without_a_catalogue(install: Install) -> None:
    made = install()
    done = plugin(made, "search", "x")
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"cli: {made.root}/core/cli.json: no catalogue is configured; add "
    )
    assert "cli: xyz: not a valid SOURCE; write " in plugin(made, "add", "xyz").stderr


def test_a_catalogue_in_git(install: Install, tmp_path: Path) -> None:
    file = "catalogue.json"
    repository = Repository(tmp_path / "team", {file: catalogue()})
    repository.commit(
        {file: catalogue({"name": "gp", "source": "acme/gp", "ref": "v1"})}
    )
    for address in (f"git+{repository.url}", f"{repository.url}/.git"):
        made = install(team(address))
        assert "gp    v1" in plugin(made, "search", "gp").stdout
    repository.git("rm", "-q", file)
    repository.commit({"README": ""})
    done = plugin(made, "search")
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr.startswith(f"cli: {repository.url}/.git: git cat-file: ")


def test_a_catalogue_on_a_server(install: Install, site: Site) -> None:
    one = catalogue({"name": "gp", "source": "acme/one", "ref": "v1"})
    two = catalogue(
        *({"name": name, "source": "acme/two", "ref": "v2"} for name in ("gp", "up"))
    )
    made = install(
        team(site.add("/one.json", one.encode()), site.add("/two", two.encode()))
    )
    found = json.loads(plugin(made, "search", "--format", "json").stdout)["plugins"]
    # Of two with one name the first counts.
    sources = {one["name"]: one["source"] for one in found}
    assert sources == {"gp": "acme/one", "up": "acme/two"}
    assert (site.asked("/one.json"), site.asked("/two")) == (1, 1)
    for words in (["list"], ["show", "gp"], ["sync"], ["add", "./none"]):
        plugin(made, *words)
    made.run()
    assert offered(made, "self", "plugin", "add", "u") == ["files", "up\t"]
    assert (site.asked("/one.json"), site.asked("/two")) == (1, 1)
    site.add("/two", status(404))
    done = plugin(made, "add", "gp")
    assert done.all == (
        1,
        "",
        f"cli: {site.address}/two: the server answered 404, expected 200\n",
    )


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("<html>", ":1:1: "),
        ("[]", ": expected an object, found an array"),
        ("{}", ': "plugins": expected an array of objects, found null'),
        ('{"plugins": [1]}', ': "plugins[0]": expected an object, found a number'),
        (" " * (1 << 20) + "{}", ": larger than 1048576 bytes"),
    ],
)
def test_a_catalogue_that_is_wrong(
    install: Install, tmp_path: Path, content: str, error: str
) -> None:
    file = tmp_path / "c.json"
    file.write_text(content)
    done = plugin(install(team(f"file://{file}")), "search")
    assert (done.status, done.stdout) == (1, "")
    assert done.stderr.startswith("cli: ")
    assert f"{file}{error}" in done.stderr


def test_a_wrong_entry_harms_no_other(install: Install, tmp_path: Path) -> None:
    wrong = [
        {"name": "-x", "source": "y"},
        {"name": "x"},
        {"name": "z", "source": "y", "ref": 1},
    ]
    good = {"name": "gp", "source": "acme/gp"}
    address = listed_in(tmp_path / "c.json", *wrong, good)
    done = plugin(install(team(address)), "search")
    assert done.stdout == "NAME  VERSION  OWNER  DESCRIPTION\ngp    -        -\n"
    label = f"cli: warning: {address}: "
    assert done.stderr.splitlines() == [
        f'{label}"plugins[0].name": not a valid plugin name; use a-z, 0-9, ., _ and -',
        f'{label}"plugins[1].source": missing; expected a string',
        f'{label}"plugins[2].ref": expected a string, found a number',
    ]


@pytest.mark.parametrize(
    ("address", "error"),
    [
        (
            "http://catalogue.acme.dev/c.json",
            "use https; http is only for localhost",
        ),
        ("catalogue", "not an https, file or git address"),
        ("ftp://catalogue.acme.dev/c.git", "use an https, ssh, git or file address"),
        ("file:///nowhere/c.json", "no such file"),
        ("file:///dev/zero", "not a regular file"),
    ],
)
def test_an_address_that_cannot_be_fetched(
    install: Install, address: str, error: str
) -> None:
    done = plugin(install(team(address)), "search")
    assert (done.status in (1, 2), done.stdout) == (True, "")
    assert error in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (1, '"team": expected an object, found a number'),
        (
            {"follow": "always"},
            '"team.follow": expected one of notice, never; found always',
        ),
        (
            {"catalogue": "x"},
            '"team.catalogue": expected an array of strings, found a string',
        ),
    ],
)
def test_team_in_cli_json_is_checked(
    install: Install, values: object, error: str
) -> None:
    done = install({"core/cli.json": {**CLI, "team": values}}).run("demo", "hi")
    assert (done.status, done.stdout) == (1, "")
    assert error in done.stderr


def test_a_slip_in_team_is_reported(install: Install) -> None:
    made = install({"core/cli.json": {**CLI, "team": {"catalog": []}}})
    warned = 'core/cli.json: "team.catalog": unknown key; did you mean "catalogue"?'
    assert warned in made.run().stderr


def test_the_copy_for_tab(install: Install, tmp_path: Path) -> None:
    address = listed_in(
        tmp_path / "c.json", {"name": "gp", "source": "https://u:pw@acme.dev/gp"}
    )
    made = install(team(address))
    cache = made.home / "cache"
    env = {"XDG_CACHE_HOME": str(cache)}
    words = ("self", "plugin", "add", "")
    assert (
        "u:pw"
        not in made.run("self", "plugin", "search", "--format=json", env=env).stdout
    )
    (copy,) = cache.glob("cli-host/*.catalogue")
    assert "acme.dev" not in copy.read_text()
    assert offered(made, *words, env=env) == ["files", "gp\t"]
    for damage in (
        "{",
        "[]",
        '{"plugins": [1]}',
        '{"plugins": [{"name": 1, "description": 2}]}',
    ):
        copy.write_text(damage)
        assert "gp" not in "".join(offered(made, *words, env=env))
    assert made.run("self", "plugin", "search", env=env).status == 0
    assert made.run("self", "uninstall", "--yes", env=env).status == 0
    assert not copy.exists()
