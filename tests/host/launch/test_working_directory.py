"""`$PWD` is the caller's value only if it names the current directory, as in POSIX shells."""

import os
import subprocess
import sys

import pytest

from host.caller import working_directory
from testing.installation import command


@pytest.fixture
def made(install, tmp_path):
    files = {
        "commands/a/b/command.json": command(
            env_files=["$PWD/.env"], envs={"HERE": "$PWD"}
        ),
        "commands/a/b/main.py": f"#!{sys.executable}\nimport os\n"
        'print("|".join(map(os.environ.get, ("FROM_FILE", "HERE", "PWD"))))\n',
    }
    files["commands/a/b/command.json"]["entrypoint"] = "main.py"
    made = install(files)
    for name in ("one", "two"):
        made.write({f"{tmp_path}/{name}/.env": f"FROM_FILE={name}\n"})
    (tmp_path / "link").symlink_to(tmp_path / "two")
    return made


CALLS = {
    "the caller's PWD is another directory": ("{one}", "{two}", "{two}", "two"),
    "PWD is a link to the current directory": ("{link}", "{two}", "{link}", "two"),
    "PWD is relative": (".", "{two}", "{two}", "two"),
    "PWD does not exist": ("/nowhere", "{two}", "{two}", "two"),
    "PWD is empty": ("", "{two}", "{two}", "two"),
}


@pytest.mark.parametrize(
    ("pwd", "directory", "here", "file"), CALLS.values(), ids=CALLS
)
def test_pwd(made, tmp_path, pwd, directory, here, file):
    """The child's PWD stays the caller's."""
    places = {name: str(tmp_path / name) for name in ("one", "two", "link")}
    pwd = pwd.format(**places)
    done = made.run("a", "b", cwd=directory.format(**places), env={"PWD": pwd})
    assert done.all == (0, f"{file}|{here.format(**places)}|{pwd}\n", "")


def test_started_by_another_program(made, tmp_path):
    """`env -C` changes the directory, but not PWD."""
    words = ["env", "-C", tmp_path / "two", made.launcher, "a", "b"]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(made.home),
        "PWD": str(tmp_path / "one"),
    }
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"two|{tmp_path}/two|")


def test_in_a_deleted_directory(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert working_directory(str(gone)) == str(gone)
