"""Packages from an index that needs a password: pip's and uv's own settings hold it."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from testing import httpserver
from testing.packages import Environment
from testing.plugin_sources import plugin, registry, wheel, write_tree

_LOGIN = "Basic " + base64.b64encode(b"user:pa55").decode()
# It answers like the real program: pip asks for a pair, and uv for the password.
_KEYRING = """#!/bin/sh
case "$*" in
--mode=creds*) echo '{"username": "user", "password": "pa55"}' ;;
"get http"*" user") echo pa55 ;;
*) exit 1 ;;
esac
"""


def _index(site: httpserver.Site, *files: Path) -> str:
    """Serve files as a package index, only to those who log in; return its address."""

    def private(content: bytes) -> httpserver.Answer:
        good = httpserver.body(
            content, content_length=len(content), content_type="text/html"
        )

        def answer(handler: httpserver.Handler) -> None:
            if handler.headers.get("Authorization") == _LOGIN:
                good(handler)
                return
            handler.head(401, www_authenticate='Basic realm="index"', content_length=0)

        return answer

    pages: dict[str, str] = {}
    for file in files:
        content = file.read_bytes()
        site.add(f"/files/{file.name}", private(content))
        project = file.name.split("-")[0].replace("_", "-")
        digest = hashlib.sha256(content).hexdigest()
        link = f'<a href="/files/{file.name}#sha256={digest}">{file.name}</a>\n'
        pages[project] = pages.get(project, "") + link
    for project, page in pages.items():
        site.add(f"/simple/{project}/", private(page.encode()))
    return f"{site.address}/simple"


@pytest.mark.parametrize(
    ("either", "place"),
    [
        pytest.param("pip", "address", marks=pytest.mark.night),
        pytest.param("pip", "keyring", marks=pytest.mark.night),
        ("uv", "keyring"),
        pytest.param("uv", "netrc", marks=pytest.mark.night),
    ],
    indirect=["either"],
)
def test_the_settings_of_the_installer_hold_the_password(
    either: Environment, site: httpserver.Site, tmp_path: Path, place: str
) -> None:
    made, home = either.made, either.made.home
    plain = either.acme("1.0", requires=("needed",))
    needed = wheel(either.wheels, "needed", "1.0", "", points={})
    index = _index(site, plain, needed)
    if place == "netrc":
        write_tree(home, {".netrc": "machine 127.0.0.1 login user password pa55\n"})
        (home / ".netrc").chmod(0o600)
    else:
        login = "user:pa55@" if place == "address" else "user@"
        index = index.replace("://", f"://{login}")
    settings = f"[global]\nindex-url = {index}\n"
    uv = (
        f'keyring-provider = "subprocess"\n[[index]]\nurl = "{index}"\ndefault = true\n'
    )
    if place == "keyring":
        settings += "keyring-provider = subprocess\n"
    write_tree(home, {".config/pip/pip.conf": settings, ".config/uv/uv.toml": uv})
    tools = write_tree(tmp_path / "tools", {"keyring": _KEYRING})
    environ = {
        "PATH": f"{tools}:{made.environ['PATH']}",
        "PIP_NO_INDEX": "0",
        "PIP_FIND_LINKS": "",
        "PIP_CONFIG_FILE": str(home / ".config/pip/pip.conf"),
        "PIP_NO_CACHE_DIR": "1",
    }

    added = plugin(made, "add", "pip:acme-cli", env=environ)

    assert added.status == 0, added.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    recorded = (made.root / "plugins/registry.json").read_text()
    assert "pa55" not in recorded + added.stdout + added.stderr
    files = {
        package["name"]: package for package in registry(made)["acme-cli"]["packages"]
    }
    assert files.keys() == {"acme-cli", "needed"}
    assert files["acme-cli"]["url"] == f"{site.address}/files/{plain.name}"
    team = tmp_path / "team.json"
    team.write_text(recorded)
    assert plugin(made, "remove", "acme-cli").status == 0
    environ["UV_CACHE_DIR"] = str(tmp_path / "cache")  # it knows no page of the index
    synced = plugin(made, "sync", str(team), env=environ)
    assert synced.status == 0, synced.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    assert json.loads(recorded)["plugins"][0]["source"] == "acme-cli"
