"""How pip and uv are called: where, with which settings, and what the user sees of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from builtin_plugins.plugins.commands.change_each import change_each
from builtin_plugins.plugins.pip_or_uv import (
    Answer,
    Installer,
    InstallerError,
    find_false,
)
from builtin_plugins.registry.entry import Entry
from host import Messages, OperationError
from testing import httpserver
from testing.environments import copy_environment, made_once
from testing.packages import Environment
from testing.plugin_sources import listed, plugin, registry, wheel, write_tree

# The oldest pip that comes with a supported Python.
OLDEST_PIP = "22.3"


def test_relative_settings_are_those_of_the_current_directory(
    either: Environment, tmp_path: Path
) -> None:
    """A project in this directory is not asked for its own settings."""
    either.acme("1.0")
    either.acme("2.0")
    here = write_tree(tmp_path / "here", {"only.txt": "acme-cli<2\n"})
    either.wheels.rename(here / "wheels")
    (here / "uv.toml").write_text('find-links = ["/nowhere"]\n')
    write_tree(either.made.home, {".config/uv/uv.toml": "no-index = true\n"})
    environ = {
        "PIP_FIND_LINKS": "wheels",
        "PIP_CONSTRAINT": "only.txt",
        "UV_FIND_LINKS": "wheels",
        "UV_CONSTRAINT": "only.txt",
    }
    done = plugin(either.made, "add", "pip:acme-cli", cwd=here, env=environ)
    assert done.status == 0, done.stderr
    assert registry(either.made)["acme-cli"]["version"] == "1.0"


def test_a_requirement_with_an_address_starts_nothing(
    either: Environment, tmp_path: Path
) -> None:
    """A wheel is refused by its metadata; for an index, there is no version control on PATH."""
    made, mark = either.made, tmp_path / "mark"
    touch = f"#!/bin/sh\ntouch {mark}\n"
    names = ("git", "hg", "svn", "bzr", "ssh")
    tools = write_tree(tmp_path / "tools", dict.fromkeys(names, touch))
    environ = {"PATH": f"{tools}:{made.environ['PATH']}"}
    packed = either.source(wheel(either.wheels, "needed", "2.0", "", points={}), mark)
    for address in (
        "hg+https://127.0.0.1:9/x",
        "git+ssh://x@127.0.0.1:9/x",
        packed.as_uri(),
    ):
        built = either.acme("1.0", requires=(f"needed @ {address}",))
        for source in (str(built), "pip:acme-cli"):
            added = plugin(made, "add", source, env=environ)
            assert (added.status, mark.exists()) == (1, False), (address, added.all)
            if source == str(built):
                assert added.stderr == (
                    "cli: acme-cli requires needed from an address; "
                    "only packages of an index can be required\n"
                )
    assert listed(made) == {}


def test_an_index_that_refuses_the_login(
    either: Environment, site: httpserver.Site
) -> None:
    """What pip and uv say about it is shown, without the password."""
    site.add("/simple/acme-cli/", httpserver.status(401))
    login = site.address.replace("://", "://user:pa55@")
    environ = _online(either, f"{login}/simple")
    refused = plugin(either.made, "add", "pip:acme-cli", env=environ)
    assert refused.status == 1
    assert " for acme-cli: exit status 1; it said:\n" in refused.stderr
    assert "401" in refused.stderr
    assert "pa55" not in refused.stderr


def test_an_index_that_does_not_answer(
    either: Environment, site: httpserver.Site, tmp_path: Path
) -> None:
    """The installer is ended at the time limit, and leaves nothing in TMPDIR."""
    site.add("/simple/acme-cli/", httpserver.stall(b"<", 0))
    environ = _online(either, f"{site.address}/simple")
    environ["TMPDIR"] = str(tmp_path / "tmp")
    (tmp_path / "tmp").mkdir()
    late = plugin(either.made, "add", "pip:acme-cli", "--timeout", "2", env=environ)
    assert (late.status, "not finished within 2 seconds" in late.stderr) == (
        1,
        True,
    ), late.stderr
    assert not list((tmp_path / "tmp").iterdir())


def _online(either: Environment, index: str) -> dict[str, str]:
    """Return the settings for an index, in the place of a folder of wheels."""
    (either.made.home / ".config/uv/uv.toml").unlink(missing_ok=True)
    pip = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": index}
    return {**pip, "PIP_CONFIG_FILE": os.devnull, "UV_DEFAULT_INDEX": index}


def _answer(seconds: float) -> Answer:
    return Answer(
        "",
        ("no answer",),
        failed="exit status 1",
        seconds=seconds,
        called="pip install",
    )


class _Session:
    """The part of a session that `change_each` uses."""

    messages = Messages("cli", {})


@pytest.mark.parametrize(("seconds", "asked"), [(0.1, "abcd"), (9.0, "ad")])
def test_packages_wait_once_for_an_index_that_does_not_answer(
    capfd: pytest.CaptureFixture[str], seconds: float, asked: str
) -> None:
    entries = [Entry(name, "pip") for name in "abc"]
    tried = []

    def action(entry: Entry) -> None:
        tried.append(entry.name)
        raise InstallerError(entry.name, _answer(seconds))

    failed = change_each(_Session, [*entries, Entry("d", "git")], action)  # type: ignore[arg-type]
    assert ("".join(tried), sorted(failed)) == (asked, ["a", "b", "c", "d"])
    skipped = "cli: b, c: not tried, because an installer took long to fail\n"
    assert (skipped in capfd.readouterr().err) == (asked == "ad")


def test_a_traceback_of_an_installer_is_not_shown(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    printed = (
        "downloading https://me:secret@127.0.0.1/x\n"
        "error: one\n  cause: two\n"
        "Traceback (most recent call last):\n"
        '  File "x.py", line 1, in <module>\n'
        "    raise ValueError()\n"
        "ValueError: three\n"
    )
    uv.write_text(f"#!/bin/sh\ncat >&2 <<'TEXT'\n{printed}TEXT\nexit 2\n")
    uv.chmod(0o755)
    installer = Installer({"PATH": f"{tmp_path}:/usr/bin:/bin"}, 60, str(tmp_path))
    answer = installer.uv("pip", "compile", can_build=False)
    lines = ("error: one", "  cause: two", "ValueError: three")
    assert answer.said[1:] == lines
    assert "secret" not in answer.said[0]


@pytest.mark.parametrize("printed", ["uv 0.9.30", "uv 0.11.14 (a1b2 2026-04-30)", ""])
def test_a_uv_that_writes_scripts_anywhere(tmp_path: Path, printed: str) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\necho '{printed}'\n")
    uv.chmod(0o755)
    installer = Installer({"PATH": f"{tmp_path}:/usr/bin:/bin"}, 60, str(tmp_path))
    with pytest.raises(OperationError) as refused:
        installer.check_uv()
    assert refused.value.remedy == "update uv to 0.11.15 or newer"


@pytest.mark.parametrize("path", [os.environ["PATH"], "", "/nonexistent"])
def test_the_interpreter_of_builds_that_nobody_allowed_fails(path: str) -> None:
    program = find_false({"PATH": path})
    assert os.path.isabs(program)
    assert subprocess.run([program, "-c", ""], check=False).returncode == 1


def test_a_script_that_names_a_path(either: Environment, tmp_path: Path) -> None:
    """Neither pip nor uv writes it; what pip takes for the name may be in the value."""
    for script in (
        f"{tmp_path}/mark = acme_cli:x",
        f"a = {tmp_path}/mark = acme_cli:x",
    ):
        either.acme("1.0", scripts=f"[console_scripts]\n{script}\n")
        refused = plugin(either.made, "add", "pip:acme-cli")
        assert refused.status == 1
        assert "mark" in refused.stderr
        assert not (tmp_path / "mark").exists()
    assert listed(either.made) == {}


@pytest.mark.night  # it fetches that pip
def test_the_oldest_pip(
    own_environment: Environment,
    environment_of_all: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """It writes the checksums of files elsewhere into its report."""
    made = own_environment.made

    def install(target: Path) -> None:
        venv = copy_environment(environment_of_all / "venv", target)
        pip = [venv / "bin/python", "-m", "pip", "-q", "install", f"pip=={OLDEST_PIP}"]
        subprocess.run(pip, check=True, capture_output=True)

    venv = made_once(tmp_path_factory, f"pip-{OLDEST_PIP}", install)
    for path in next((venv / "lib").glob("python*")).glob("site-packages/pip*"):
        shutil.copytree(path, own_environment.packages / path.name)
    own_environment.acme("1.0", requires=("needed",))
    needed = wheel(own_environment.wheels, "needed", "1.0", "", points={})
    added = plugin(made, "add", "pip:acme-cli")
    assert added.status == 0, added.stderr
    assert made.run("cloud", "py").stdout == "py 1.0\n"
    files = [one["file"] for one in registry(made)["acme-cli"]["packages"]]
    assert files == ["acme_cli-1.0-py3-none-any.whl", needed.name]
    assert all(one["sha256"] for one in registry(made)["acme-cli"]["packages"])
    shutil.rmtree(made.root / "plugins/.versions")
    assert plugin(made, "sync").status == 0
    assert made.run("cloud", "py").stdout == "py 1.0\n"

    own_environment.acme("2.0", scripts=f"[console_scripts]\n{made.home}/x = a:b\n")
    refused = plugin(made, "update")
    assert f"the script {made.home}/x = a:b names a path" in refused.stderr
    assert not (made.home / "x").exists()
