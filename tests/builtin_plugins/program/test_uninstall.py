"""`self uninstall`: what goes, what stays, and that it asks."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command

Install = Callable[..., Made]

MINE = {
    "commands/mine/x/command.json": command(),
    "commands/mine/x/main.sh": "#!/bin/bash\necho ran\n",
    "config/settings.conf": "A=1\n",
}


@pytest.fixture
def made(install: Install, tmp_path: Path) -> Made:
    """An installation that `self init` made, with a command and settings of somebody's."""
    root = tmp_path / "acme"
    assert install().run("self", "init", str(root), "--name", "acme").status == 0
    made = Made(root, root / "core/acme", tmp_path / "home")
    made.write(MINE)
    return made


def files_of(root: Path) -> set[str]:
    return {str(one.relative_to(root)) for one in root.rglob("*") if not one.is_dir()}


@pytest.mark.slow
def test_what_is_somebodys_stays(made: Made, tmp_path: Path) -> None:
    made.write({"commands/demo/hello/main.sh": "#!/bin/bash\necho mine\n"})
    links = tmp_path / "bin"
    links.mkdir()
    for name in ("acme", "short"):
        (links / name).symlink_to(made.launcher)
    assert made.run("mine", "x").stdout == "ran\n"  # and there is a lock
    assert (made.root / "cli.lock").is_file()
    done = made.run(
        "self", "uninstall", "--yes", env={"PATH": f"{links}:{os.environ['PATH']}"}
    )
    assert (done.status, done.stderr) == (0, "")
    goes, _, stays = done.stdout.partition("will stay:\n")
    for path in (links / "acme", made.launcher, made.root / "cli.lock"):
        assert f"  {path}\n" in goes
    assert f"  all other files in {made.root}\n" in stays
    assert done.stdout.endswith("uninstalled acme\n")
    assert files_of(made.root) == {
        *MINE,
        "commands/demo/hello/main.sh",
        "core/cli.json",
    }
    assert os.listdir(links) == []


@pytest.mark.slow
def test_purge_leaves_nothing_of_it(made: Made) -> None:
    done = made.run("self", "uninstall", "--purge", "--yes")
    assert (done.status, done.stderr) == (0, "")
    assert not made.root.exists()


@pytest.mark.slow
@pytest.mark.parametrize("purge", [False, True])
def test_the_history_and_the_locks_stay_unless_they_are_purged(
    made: Made, purge: bool
) -> None:
    made.write({"commands/mine/x/command.json": command(record=True, exclusive=True)})
    assert made.run("mine", "x").status == 0
    assert made.run("self", "history").status == 0  # this makes the database
    assert made.run("mine", "x").status == 0
    state = made.home / ".local/state/cli-host"
    [locks] = (state / "locks").iterdir()
    own = [*(state / "history").iterdir(), locks]
    assert {path.suffix for path in own} == {".sqlite3", ""}
    other = state / "history/other-12345678.sqlite3"
    other.write_text("")
    done = made.run("self", "uninstall", "--yes", *(["--purge"] if purge else []))
    assert (done.status, done.stderr) == (0, "")
    goes, _, stays = done.stdout.partition("will stay:\n")
    for path in own:
        assert path.exists() is not purge
        if purge:
            assert f"  {path}\n" in goes
        else:
            assert f"  {path}: a record of runs; to remove it, add --purge\n" in stays
    assert other.exists()


@pytest.mark.slow
def test_purge_where_one_directory_is_in_another(made: Made) -> None:
    made.write(
        {
            "core/cli.json": {
                "name": "A",
                "version": "1",
                "plugins_dir": "commands/plugins",
            }
        }
    )
    made.write({"commands/plugins/p/x/y/command.json": command()})
    assert made.run("self", "uninstall", "--purge", "--yes").status == 0
    assert not made.root.exists()


@pytest.mark.slow
def test_purge_leaves_what_is_beside_it(made: Made, tmp_path: Path) -> None:
    made.write({"notes.txt": "mine"})
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (plugin / "file").write_text("mine")
    (made.root / "plugins/dev").symlink_to(plugin)
    assert made.run("self", "uninstall", "--purge", "--yes").status == 0
    assert files_of(made.root) == {"notes.txt"}
    assert files_of(plugin) == {"file"}


@pytest.mark.slow
def test_purge_follows_no_link_of_core(made: Made, tmp_path: Path) -> None:
    elsewhere = (made.root / "core").rename(tmp_path / "elsewhere")
    (made.root / "core").symlink_to(elsewhere)
    (elsewhere / "notes").write_text("mine")
    env = {"CLI_DIR": str(made.root)}
    assert made.run("self", "uninstall", "--purge", "--yes", env=env).status == 0
    assert (elsewhere / "notes").read_text() == "mine"


@pytest.mark.slow
def test_it_asks(made: Made) -> None:
    before = files_of(made.root)
    refused = made.run("self", "uninstall")
    assert refused.status == 1
    assert refused.stderr == (
        "acme: nothing was removed, because there is no terminal to ask on; "
        "to skip the question, add --yes\n"
    )
    assert f"  {made.launcher}\n" in refused.stdout
    assert files_of(made.root) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "env"),
    [(["--yes"], {}), ([], {"CLI_YES": "1"})],
    ids=["--yes", "CLI_YES"],
)
def test_who_is_sure_is_not_asked(
    made: Made, options: list[str], env: dict[str, str]
) -> None:
    assert made.run(*options, "self", "uninstall", env=env).status == 0
    assert not made.launcher.exists()


@pytest.mark.slow
def test_a_checkout_keeps_its_files(made: Made) -> None:
    made.write({".git/HEAD": "ref: refs/heads/main\n"})
    before = files_of(made.root)
    purge = made.run("self", "uninstall", "--purge", "--yes")
    assert (purge.status, purge.stdout) == (1, "")
    assert "is a git checkout" in purge.stderr
    assert made.run("self", "uninstall", "--yes").status == 0
    assert before - files_of(made.root) == {"core/acme"}


@pytest.mark.slow
def test_a_sibling_is_told_of_and_works(made: Made, tmp_path: Path) -> None:
    sibling = tmp_path / "home/.local/share/other"
    assert made.run("self", "init", str(sibling), "--name", "other").status == 0
    done = made.run("self", "uninstall", "--yes")
    assert f"  {sibling}/core/other: another installation, which needs" in done.stdout
    other = Made(sibling, sibling / "core/other", made.home)
    assert other.run("demo", "hello", "Ada").stdout == "Hello, Ada!\n"


@pytest.mark.slow
def test_the_environments_own_program_is_no_installation(
    made: Made, tmp_path: Path
) -> None:
    links = tmp_path / "bin"
    links.mkdir()
    (links / "cli").symlink_to(Path(sys.executable).with_name("cli"))
    env = {"PATH": f"{links}:{os.environ['PATH']}"}
    shown = made.run("self", "uninstall", env=env).stdout
    assert "will stay:\n" in shown
    assert "another installation" not in shown


@pytest.mark.slow
def test_completion_goes_and_nothing_else_of_the_start_up_files(made: Made) -> None:
    made.home.mkdir(exist_ok=True)
    (made.home / ".bashrc").write_text("alias a=b\nexport X=1")
    for shell in ("bash", "zsh", "fish"):
        assert made.run("self", "completion", shell, "--install").status == 0
    with (made.home / ".bashrc").open("a") as file:
        file.write("alias c=d\n")
    fish = made.home / ".config/fish/conf.d/acme.fish"
    assert fish.is_file()
    done = made.run("self", "uninstall", "--yes")
    assert (done.status, done.stderr) == (0, "")
    for name, shell in ((".bashrc", "bash"), (".zshrc", "zsh"), (fish, "fish")):
        assert f"  the line in {made.home / name}\n" in done.stdout, shell
    assert (made.home / ".bashrc").read_text() == "alias a=b\nexport X=1\nalias c=d\n"
    assert (made.home / ".zshrc").read_text() == ""
    assert not fish.exists()


@pytest.mark.slow
def test_completion_of_somebody_else_stays(made: Made) -> None:
    fish = made.home / ".config/fish/conf.d/acme.fish"
    fish.parent.mkdir(parents=True)
    fish.write_text("complete -c acme\n")
    assert (
        made.run("self", "completion", "fish", "--uninstall").stdout
        == f"removed from {fish}\n"
    )
    for option in ("--install", "--uninstall"):
        assert made.run("self", "completion", "fish", option).status == 0
    # Another installation of that name completes by the same line.
    sibling = made.home / ".local/share/acme"
    assert made.run("self", "init", str(sibling), "--name", "acme").status == 0
    assert made.run("self", "completion", "bash", "--install").status == 0
    before = (made.home / ".bashrc").read_text()
    assert "the line in" not in made.run("self", "uninstall", "--yes").stdout
    assert (made.home / ".bashrc").read_text() == before
    assert fish.read_text() == "complete -c acme\n"


def test_without_an_installation(install: Install, tmp_path: Path) -> None:
    done = install().run(
        "self", "uninstall", "--yes", env={"CLI_DIR": str(tmp_path / "no")}
    )
    assert (done.status, done.stdout) == (1, "")
    assert "configuration file not found" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "status"), [("n", 1), ("y", 0)])
def test_the_answer_counts(made: Made, answer: str, status: int) -> None:
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [made.launcher, "self", "uninstall"],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home)},
        stdin=child,
        stdout=subprocess.DEVNULL,
        stderr=child,
    )
    os.close(child)
    os.write(parent, f"{answer}\n".encode())
    assert process.wait(60) == status
    os.close(parent)
    assert made.launcher.exists() == bool(status)
