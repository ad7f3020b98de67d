"""install.sh as its user runs it: a real checkout, a real venv, from a path with spaces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from testing.environments import copy_environment, made_once, make_plain_environment
from testing.installation import command
from testing.packages import PLUGIN
from testing.pages import clone
from testing.plugin_sources import wheel, write_tree


def run(
    *argv: str | Path, env: dict[str, str], cwd: Path | None = None
) -> tuple[int, str, str]:
    done = subprocess.run(
        argv, env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def env(
    tmp_path_factory: pytest.TempPathFactory, offline: dict[str, str]
) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    return {
        **offline,
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "SHELL": "/bin/bash",
        "PYTHON": sys.executable,
        "PIP_NO_BUILD_ISOLATION": "0",
    }


@pytest.fixture(scope="module")
def checkout(
    tmp_path_factory: pytest.TempPathFactory, env: dict[str, str], packages: Path
) -> Path:
    """A checkout that was installed once, as `acme`, with its symlink in ~/bin.

    install.sh takes its environment as it is; .ci/run calls it where there is none.
    """
    target = tmp_path_factory.mktemp("a path") / "my 'own' $HOME cli"
    clone(target)
    plain = made_once(
        tmp_path_factory, "plain", partial(make_plain_environment, packages)
    )
    copy_environment(plain, target / ".venv")
    done = run("bash", target / "install.sh", *options(env), env=env, cwd=Path("/"))
    assert done[0] == 0, done
    installed, suggestion = done[1].splitlines()
    assert installed.startswith(f"Installed: {env['HOME']}/bin/acme, not on PATH; ")
    assert installed.endswith(
        f' --name acme --bin-dir "{env["HOME"]}/bin" --add-to-path'
    )
    pasted = run("bash", "-c", suggestion.removeprefix("Next: "), env=env)
    assert (pasted[0], pasted[1][:7], pasted[2]) == (0, "Hello, ", "")
    return target


def options(env: dict[str, str]) -> list[str]:
    return ["--name", "acme", "--bin-dir", f"{env['HOME']}/bin"]


@pytest.fixture
def idle_pip(checkout: Path, env: dict[str, str], tmp_path: Path) -> Iterator[None]:
    """A pip that has nothing to do, as what is to be installed is: that takes seconds each time.

    Then the checkout is installed as it was: workers take the tests in any order.
    """
    venv = checkout / ".venv"
    [pip] = venv.glob("lib/python*/site-packages/pip")
    aside = pip.rename(tmp_path / "pip")
    write_tree(pip, {"__init__.py": "", "__main__.py": ""})
    kept = shutil.copytree(
        venv, tmp_path / "venv", symlinks=True, copy_function=os.link
    )
    yield
    if not venv.exists():
        kept.rename(venv)
        assert run("bash", checkout / "install.sh", *options(env), env=env)[0] == 0
    shutil.rmtree(pip)
    aside.rename(pip)


def test_the_symlink_runs_commands_under_its_name(
    checkout: Path, env: dict[str, str]
) -> None:
    acme = Path(env["HOME"]) / "bin" / "acme"
    assert run(acme, "demo", "hello", "Ada", env=env) == (0, "Hello, Ada!\n", "")
    assert run(acme, "demo", "nope", env=env)[2].startswith(
        "acme: unknown command nope in demo"
    )
    assert acme.resolve() == (checkout / "core" / "acme").resolve()
    assert run(acme, "--version", env=env) == (0, "acme 1.0.0\n", "")
    assert run(acme, env=env)[1].startswith(
        "acme 1.0.0\nYour team's commands under one name\n"
    )


def test_its_man_page_has_its_name(checkout: Path, env: dict[str, str]) -> None:
    page = Path(env["HOME"]) / ".local/share/man/man1/acme.1"
    assert page.readlink() == checkout / ".venv/share/man/man1/acme.1"
    assert '\n.TH ACME 1 "' in page.read_text()
    assert "\\fBacme\\fR self plugin add" in page.read_text()
    assert "\\fBcli\\fR" not in page.read_text()


def test_a_package_comes_and_goes_with_the_pip_that_comes_with_python(
    tmp_path: Path, checkout: Path, env: dict[str, str]
) -> None:
    """Other tests have a newer one in their environments."""
    text = PLUGIN.format(name="acme-cli", package="acme_cli", version="1.0")
    files = {"commands/cloud/disk/command.json": command()}
    wheel(tmp_path, "acme-cli", "1.0", text, files)
    acme, there = checkout / "core/acme", {**env, "PIP_FIND_LINKS": str(tmp_path)}
    assert run(acme, "self", "plugin", "add", "pip:acme-cli", env=there)[0] == 0
    assert run(acme, "cloud", "py", env=env) == (0, "py 1.0\n", "")
    assert run(acme, "self", "plugin", "remove", "acme-cli", env=there)[0] == 0
    assert run(acme, "cloud", "py", env=env)[0] == 2


def test_installations_that_self_init_made_keep_what_they_need(
    tmp_path: Path, checkout: Path, env: dict[str, str]
) -> None:
    sibling = tmp_path / "a sibling"
    acme = checkout / "core/acme"
    assert run(acme, "self", "init", sibling, "--name", "sister", env=env)[0] == 0
    recorded = (checkout / ".venv/cli-host-installations").read_text().splitlines()
    assert {str(checkout), str(sibling)} <= set(recorded)
    done = run("bash", checkout / "install.sh", *options(env), "--uninstall", env=env)
    assert done[0] == 0, done
    assert done[1].endswith(f"Its packages stay, because they are used by: {sibling}\n")
    sister = sibling / "core/sister"
    assert run(sister, "demo", "hello", "Ada", env=env) == (0, "Hello, Ada!\n", "")
    packages = next((checkout / ".venv/lib").glob("python*/site-packages"))
    (packages / "host").rename(packages / "away")
    assert run(sister, "demo", "hello", env=env) == (
        1, "", f"{sister}: No module named 'host': cli-host is no longer installed in "
        f"{checkout}/.venv; install it there again, or remove this file\n",
    )  # fmt: skip
    (packages / "away").rename(packages / "host")
    sister.unlink()
    assert run("bash", checkout / "install.sh", *options(env), env=env)[0] == 0


@pytest.mark.usefixtures("idle_pip")
def test_a_renamed_launcher_gets_its_symlink_with_name_and_is_uninstalled_alone(
    checkout: Path, env: dict[str, str]
) -> None:
    binaries = Path(env["HOME"]) / "bin"
    assert run("bash", checkout / "install.sh", *_named("first", env), env=env)[0] == 0
    (checkout / "core/first").rename(checkout / "core/second")
    found = {**env, "PATH": f"{binaries}:{env['PATH']}"}
    done = run("bash", checkout / "install.sh", *_named("second", env), env=found)
    assert done[0] == 0, done
    assert done[1].endswith("\nNext: second demo hello\n")
    # cli.json has the name already: it is no longer the one that it came with.
    assert run(binaries / "second", "--version", env=env) == (0, "acme 1.0.0\n", "")
    gone = f"Removing {binaries}/first: its target {checkout}/core/first no longer exists\n"
    assert gone in done[1]
    assert run(binaries / "second", "demo", "hello", "Ada", env=env) == (
        0,
        "Hello, Ada!\n",
        "",
    )
    assert not os.path.lexists(binaries / "first")
    pages = Path(env["HOME"]) / ".local/share/man/man1"
    assert sorted(os.listdir(pages)) == ["acme.1", "second.1"]
    done = run(
        "bash", checkout / "install.sh", *_named("second", env), "--uninstall", env=env
    )
    assert done[0] == 0, done
    assert done[1].endswith(
        f"Its packages stay, because they are used by: {checkout}/core/acme\n"
    )
    assert not os.path.lexists(binaries / "second")
    assert run(binaries / "acme", "demo", "hello", "Ada", env=env) == (
        0,
        "Hello, Ada!\n",
        "",
    )


def _named(name: str, env: dict[str, str]) -> list[str]:
    return ["--name", name, "--bin-dir", f"{env['HOME']}/bin"]


@pytest.mark.usefixtures("idle_pip")
def test_add_to_path_writes_one_line_and_uninstall_removes_it(
    checkout: Path, env: dict[str, str]
) -> None:
    rc = Path(env["HOME"]) / ".bashrc"
    rc.write_text("alias ll='ls -l'\n")
    before = (checkout / "core" / "acme").read_bytes()
    for _ in range(2):  # neither changes what an earlier run left
        done = run(
            "bash", checkout / "install.sh", *options(env), "--add-to-path", env=env
        )
        assert done[0] == 0, done
        assert (checkout / "core" / "acme").read_bytes() == before
    assert rc.read_text().count("added by install.sh") == 1
    assert rc.read_text().count("# completion of acme\n") == 1
    found = run("bash", "-c", ". ~/.bashrc; command -v acme", env=env)
    assert found == (0, f"{env['HOME']}/bin/acme\n", "")

    elsewhere = {**env, "SHELL": "/bin/zsh"}  # not the shell that it was added for
    done = run(
        "bash", checkout / "install.sh", *options(env), "--uninstall", env=elsewhere
    )
    assert done[0] == 0, done
    assert rc.read_text() == "alias ll='ls -l'\n\n"
    assert not os.path.lexists(f"{env['HOME']}/bin/acme")
    assert os.listdir(f"{env['HOME']}/.local/share/man/man1") == []
    assert not (checkout / "core" / "acme").exists()
    assert not (checkout / ".venv").exists()
    assert (checkout / "commands" / "demo" / "hello" / "main.sh").exists()


def test_what_is_in_the_way_stays(tmp_path: Path, env: dict[str, str]) -> None:
    checkout = tmp_path / "cli"
    clone(checkout)
    theirs = [tmp_path / "bin/acme", tmp_path / "share/man/man1/acme.1"]
    for path in theirs:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    words = ["--uninstall", "--name", "acme", "--bin-dir", str(tmp_path / "bin")]
    assert run("bash", checkout / "install.sh", *words, env=env)[0] == 0
    assert [path.read_text() for path in theirs] == ["mine", "mine"]
    (checkout / "core" / "acme").write_text("mine too")
    run("bash", checkout / "install.sh", *words, env=env)
    assert (checkout / "core" / "acme").read_text() == "mine too"


@pytest.mark.usefixtures("idle_pip")
def test_a_link_into_a_removed_checkout_is_replaced(
    checkout: Path, env: dict[str, str], tmp_path: Path
) -> None:
    link, page = tmp_path / "bin/cli", tmp_path / "share/man/man1/cli.1"
    for one, target in ((link, "core/cli"), (page, ".venv/share/man/man1/cli.1")):
        one.parent.mkdir(parents=True)
        one.symlink_to(tmp_path / "removed" / target)
    words = ["--bin-dir", str(link.parent)]
    assert run("bash", checkout / "install.sh", *words, env=env)[0] == 0
    assert link.readlink() == checkout / "core/cli"
    assert page.readlink() == checkout / ".venv/share/man/man1/cli.1"
    assert run(link, "demo", "hello", "Ada", env=env) == (0, "Hello, Ada!\n", "")
    assert run("bash", checkout / "install.sh", *words, "--uninstall", env=env)[0] == 0
    assert not os.path.lexists(link)
    assert not os.path.lexists(page)


@pytest.mark.parametrize(
    "target", ["/bin/true", "gone", "gone/core/other", "there/core/cli", None]
)
def test_any_other_link_or_file_stays_and_is_one_line(
    tmp_path: Path, env: dict[str, str], target: str | None
) -> None:
    checkout, link = tmp_path / "checkout", tmp_path / "bin/cli"
    clone(checkout)
    link.parent.mkdir()
    (tmp_path / "there").mkdir()
    if target is None:
        link.write_text("mine")
    else:
        link.symlink_to(tmp_path / target)
    before = os.lstat(link).st_ino
    done = run("bash", checkout / "install.sh", "--bin-dir", link.parent, env=env)
    said = f"install.sh: {link} exists and is not a link to {checkout}/core/cli; "
    assert done == (1, "", f"{said}remove it, or use --name or --bin-dir\n")
    assert os.lstat(link).st_ino == before
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--help"], 0, ""),
        (["--bogus"], 2, "install.sh: unknown option --bogus; see install.sh --help\n"),
        (["--name"], 2, "install.sh: --name needs a value; see install.sh --help\n"),
        (
            ["--name", "../x"],
            2,
            "install.sh: ../x cannot be the name of a program; use letters",
        ),
        (["--name", "lib"], 2, "install.sh: lib cannot be the name of a program"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_options(
    tmp_path: Path, env: dict[str, str], words: list[str], status: int, message: str
) -> None:
    clone(tmp_path)
    done = run("bash", tmp_path / "install.sh", *words, env=env)
    assert done[0] == status
    assert done[2].startswith(message)
    assert not (tmp_path / ".venv").exists()


def test_no_python_is_one_line(tmp_path: Path, env: dict[str, str]) -> None:
    clone(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "readlink", "cat", "rm"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    bare = {"PATH": str(tools), "HOME": env["HOME"], "BIN_DIR": str(tmp_path / "bin")}
    done = run("/usr/bin/bash", tmp_path / "install.sh", env=bare)
    assert done[0] == 1
    assert done[2].startswith("install.sh: Python 3.11 or newer was not found")
