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
    """A clone in which install.sh ran, with its symlink in ~/bin, and an installation `acme`.

    install.sh takes its environment as it is; .ci/run calls it where there is none.
    """
    target = tmp_path_factory.mktemp("a path") / "my 'own' $HOME cli"
    clone(target)
    plain = made_once(
        tmp_path_factory, "plain", partial(make_plain_environment, packages)
    )
    copy_environment(plain, target / ".venv")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for words in ("init", "-q"), ("add", "-A"), ("commit", "-qm", "all"):
        subprocess.run([*git, *words], cwd=target, check=True, capture_output=True)
    bin_dir = ["--bin-dir", f"{env['HOME']}/bin"]
    relative = f"{target.name}/install.sh"
    elsewhere = str(target.parent / "elsewhere")
    misled = {
        **env,
        "CDPATH": str(target.parent),
        "PIP_TARGET": elsewhere,
        "PIP_PREFIX": elsewhere,
        "GIT_DIR": "/nowhere",
    }
    # which takes the place of a module that pip imports
    (target.parent / "types.py").write_text("raise SystemExit('mine')\n")
    done = run("bash", relative, *acme, *bin_dir, env=misled, cwd=target.parent)
    assert done[0] == 0, done
    installed, suggestion = done[1].splitlines()
    assert installed.startswith(f"Installed: {env['HOME']}/bin/acme, not on PATH; ")
    assert installed.endswith(
        f' --name acme --dir "{env["HOME"]}/.local/share/acme"'
        f' --bin-dir "{env["HOME"]}/bin" --add-to-path'
    )
    assert suggestion.endswith(
        "/.local/share/acme/core/acme self new command team hello"
    )
    pasted = run("bash", "-c", suggestion.removeprefix("Next: "), env=env)
    assert (pasted[0], pasted[2]) == (0, "")
    return target


acme = ("--name", "acme")


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
        assert run("bash", checkout / "install.sh", *acme, env=env)[0] == 0
    shutil.rmtree(pip)
    aside.rename(pip)


def test_the_clone_stays_as_git_has_it(checkout: Path) -> None:
    command = ["git", "status", "--porcelain"]
    done = subprocess.run(
        command, cwd=checkout, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert (checkout / ".venv/cli-host-commit").read_text()


def test_both_symlinks_run_commands_under_their_names(
    checkout: Path, env: dict[str, str]
) -> None:
    acme, cli = (Path(env["HOME"]) / "bin" / name for name in ("acme", "cli"))
    assert acme.resolve() == Path(env["HOME"]) / ".local/share/acme/core/acme"
    assert cli.resolve() == (checkout / "core/cli").resolve()
    assert os.listdir(Path(env["HOME"]) / ".local") == ["share"]  # no second link
    for program in (acme, cli):
        assert run(program, "demo", "hello", "Ada", env=env) == (0, "Hello, Ada!\n", "")
    assert run(acme, "demo", "nope", env=env)[2].startswith(
        "acme: unknown command nope in demo"
    )
    assert run(acme, "--version", env=env) == (0, "acme 1.0.0\n", "")
    assert run(acme, env=env)[1].startswith(
        "acme 1.0.0\nYour team's commands under one name\n"
    )
    assert run(cli, "--version", env=env) == (0, "CLI 1.0.0\n", "")


@pytest.mark.usefixtures("checkout")
def test_its_man_page_has_its_name(env: dict[str, str]) -> None:
    pages = Path(env["HOME"]) / ".local/share/man/man1"
    assert sorted(os.listdir(pages)) == ["acme.1", "cli.1"]
    text = (pages / "acme.1").read_text()
    assert '\n.TH ACME 1 "' in text
    assert "\\fBacme\\fR self plugin add" in text
    assert "\\fBcli\\fR" not in text


@pytest.mark.night
def test_a_package_comes_and_goes_with_the_pip_that_comes_with_python(
    tmp_path: Path, checkout: Path, env: dict[str, str]
) -> None:
    """Other tests have a newer one in their environments."""
    text = PLUGIN.format(name="acme-cli", package="acme_cli", version="1.0")
    files = {"commands/cloud/disk/command.json": command()}
    wheel(tmp_path, "acme-cli", "1.0", text, files)
    cli, there = checkout / "core/cli", {**env, "PIP_FIND_LINKS": str(tmp_path)}
    assert run(cli, "self", "plugin", "add", "pip:acme-cli", env=there)[0] == 0
    assert run(cli, "cloud", "py", env=env) == (0, "py 1.0\n", "")
    assert run(cli, "self", "plugin", "remove", "acme-cli", env=there)[0] == 0
    assert run(cli, "cloud", "py", env=env)[0] == 2


@pytest.mark.usefixtures("idle_pip")
@pytest.mark.night
def test_an_installation_is_used_again_and_keeps_what_it_needs(
    tmp_path: Path, checkout: Path, env: dict[str, str]
) -> None:
    sister = tmp_path / "a sister"
    words = [
        "--name",
        "sister",
        "--dir",
        str(sister),
        "--bin-dir",
        str(tmp_path / "bin"),
    ]
    for _ in range(2):
        done = run("bash", checkout / "install.sh", *words, env=env)
        assert done[0] == 0, done
        (sister / "commands/own.sh").write_text("#!/bin/sh\necho own\n")
        (sister / "core/sister").unlink()  # as after a reinstallation elsewhere
        assert run("bash", checkout / "install.sh", *words, env=env)[0] == 0
    link = tmp_path / "bin/sister"
    assert run(link, "own", env=env) == (0, "own\n", "")
    done = run("bash", checkout / "install.sh", "--uninstall", env=env)
    assert done[0] == 0, done
    assert done[1].splitlines()[-1] == (
        "Uninstalled cli. Its packages stay, because they are used by: "
        f"{env['HOME']}/.local/share/acme, {sister}"
    )
    assert run(link, "own", env=env) == (0, "own\n", "")
    packages = next((checkout / ".venv/lib").glob("python*/site-packages"))
    (packages / "host").rename(packages / "away")
    assert run(link, "own", env=env) == (
        1, "", f"{link}: No module named 'host': cli-host is no longer installed in "
        f"{checkout}/.venv; install it there again, or remove this file\n",
    )  # fmt: skip
    (packages / "away").rename(packages / "host")
    # The program links where it did last.
    assert run("bash", checkout / "install.sh", env=env)[0] == 0
    assert (tmp_path / "bin/cli").is_symlink()
    gone = run(link, "self", "uninstall", "--yes", env=env)
    assert f"to remove it: bash '{checkout}/install.sh' --uninstall".replace(
        "'", ""
    ) in (gone[1].replace("'", "").replace('"', ""))
    assert (sister / "commands/own.sh").is_file()


NOT_MADE = {
    "a folder that is no installation": (
        "--name other --dir {tmp}/there",
        "{tmp}/there exists and",
    ),
    "the clone": ("--name other --dir {clone}", "{clone} is the clone;"),
    "a name that is taken": (
        "--name ls --dir {tmp}/new --bin-dir /bin",
        "/bin/ls exists and",
    ),
}


@pytest.mark.parametrize(("words", "message"), NOT_MADE.values(), ids=NOT_MADE)
def test_an_installation_in_the_way_is_refused_before_any_change(
    tmp_path: Path, env: dict[str, str], words: str, message: str
) -> None:
    checkout = tmp_path / "clone"
    clone(checkout)
    write_tree(tmp_path, {"there/file": "mine"})
    named = words.format(tmp=tmp_path, clone=checkout).split()
    done = run("bash", checkout / "install.sh", *named, env=env)
    assert done[:2] == (1, "")
    assert done[2].startswith(
        f"install.sh: {message.format(tmp=tmp_path, clone=checkout)} "
    )
    assert not (checkout / ".venv").exists()


@pytest.mark.usefixtures("idle_pip")
def test_add_to_path_writes_one_line_and_uninstall_removes_it(
    checkout: Path, env: dict[str, str]
) -> None:
    rc = Path(env["HOME"]) / ".bashrc"
    rc.write_text("alias ll='ls -l'\n")
    before = (checkout / "core/cli").read_bytes()
    bin_dir = ["--bin-dir", f"{env['HOME']}/bin"]
    for _ in range(2):  # neither changes what an earlier run left
        done = run("bash", checkout / "install.sh", *bin_dir, "--add-to-path", env=env)
        assert done[0] == 0, done
        assert (checkout / "core/cli").read_bytes() == before
    assert rc.read_text().count("added by install.sh") == 1
    assert rc.read_text().count("# completion of cli\n") == 1
    found = run("bash", "-c", ". ~/.bashrc; command -v cli", env=env)
    assert found == (0, f"{env['HOME']}/bin/cli\n", "")

    # Nothing else needs the program any more; SHELL is not the one that it was added for.
    shutil.move(f"{env['HOME']}/.local/share/acme", f"{env['HOME']}/aside")
    elsewhere = {**env, "SHELL": "/bin/zsh"}
    done = run("bash", checkout / "install.sh", "--uninstall", env=elsewhere)
    shutil.move(f"{env['HOME']}/aside", f"{env['HOME']}/.local/share/acme")
    assert done[0] == 0, done
    assert rc.read_text() == "alias ll='ls -l'\n\n"
    assert not os.path.lexists(f"{env['HOME']}/bin/cli")
    assert not os.path.lexists(f"{env['HOME']}/.local/share/man/man1/cli.1")
    assert not (checkout / "core/cli").exists()
    assert not (checkout / ".venv").exists()
    assert (checkout / "commands/demo/hello/main.sh").exists()


def test_what_is_in_the_way_stays(tmp_path: Path, env: dict[str, str]) -> None:
    checkout = tmp_path / "cli"
    clone(checkout)
    theirs = [tmp_path / "bin/cli", tmp_path / "share/man/man1/cli.1"]
    for path in theirs:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    words = ["--uninstall", "--bin-dir", str(tmp_path / "bin")]
    assert run("bash", checkout / "install.sh", *words, env=env)[0] == 0
    assert [path.read_text() for path in theirs] == ["mine", "mine"]
    (checkout / "core/cli").write_text("mine too")
    run("bash", checkout / "install.sh", *words, env=env)
    assert (checkout / "core/cli").read_text() == "mine too"


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


@pytest.mark.usefixtures("idle_pip")
@pytest.mark.parametrize("target", ["gone/core/other", "there/core/cli", None])
def test_any_other_link_or_file_stays(
    checkout: Path, tmp_path: Path, env: dict[str, str], target: str | None
) -> None:
    link = tmp_path / "bin/cli"
    link.parent.mkdir()
    (tmp_path / "there").mkdir()
    if target is None:
        link.write_text("mine")
    else:
        link.symlink_to(tmp_path / target)
    before = os.lstat(link).st_ino
    done = run("bash", checkout / "install.sh", "--bin-dir", link.parent, env=env)
    assert done[0] == 0, done
    said = f"{link} is another program, so this one is not linked; see --bin-dir\n"
    assert done[1].startswith(f"{said}Installed: {checkout}/core/cli")
    assert os.lstat(link).st_ino == before


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
        (["--name", "cli"], 2, "install.sh: cli is the program of this clone; choose"),
        (["--dir", "x"], 2, "install.sh: --dir needs --name\n"),
        (
            ["--uninstall", "--name", "x"],
            2,
            "install.sh: to remove the installation x: x self uninstall\n",
        ),
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


def test_an_environment_stays_until_there_is_another(
    tmp_path: Path, env: dict[str, str]
) -> None:
    clone(tmp_path)
    fails = '#!/bin/sh\ncase $* in *venv*) exit 1 ;; *print*) echo "$0" ;; esac\n'
    write_tree(tmp_path, {".venv/cli-host-bin-dir": "/mine", "python": fails})
    (tmp_path / "python").chmod(0o755)
    python = {"PYTHON": str(tmp_path / "python")}
    done = run("bash", tmp_path / "install.sh", env={**env, **python})
    assert (done[0], done[2][:25]) == (1, "install.sh: cannot create")
    assert os.listdir(tmp_path / ".venv") == ["cli-host-bin-dir"]
    assert not (tmp_path / ".venv-former").exists()


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
