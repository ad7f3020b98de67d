"""sudo.sh, as root and as nobody, with a sudo that writes down what it is asked."""

import os

import pytest

LOAD = 'set -eu\n. "$LIB_DIR/sudo.sh"\n'
ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="needs root to become another user")


def test_asking_for_information_needs_no_rights(statuses, shell):
    asking = [
        *(
            "-h",
            "--help",
            "install x --help",
            "--version",
            "-V",
            "--info",
            "help",
            "version now",
        )
    ]
    other = ["", "install", "-v", "install help", "-- --help", "--helpful", "'a -h'"]
    call = 'eval "should_bypass_sudo $value"'
    found = statuses(shell, LOAD, call, [*asking, *other])
    assert found == [0] * len(asking) + [1] * len(other)


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_root_is_asked_nothing(run, shell, stub):
    path = stub("sudo", "echo called")
    script = f"{LOAD}check_sudo && required_sudo install && echo on"
    assert run(shell, script, env={"PATH": f"{path}:/usr/bin:/bin"}) == (0, "on\n", "")


@needs_root
def test_check_warns(run, shell):
    status, out, err = run(shell, f"{LOAD}check_sudo", nobody=True)
    assert (status, out, err[:9]) == (1, "", "[WARNING]")


@needs_root
@pytest.mark.parametrize(
    ("body", "asked", "status"),
    [
        ('echo "$*"; exit 0', "-n true\n", 0),
        ('echo "$*"; [ "$1" = -v ]', "-n true\n-v\n", 0),
        ('echo "$*"; exit 1', "-n true\n-v\n", 1),
    ],
)
def test_sudo_is_asked_to_authenticate(run, shell, stub, body, asked, status):
    path = stub("sudo", body)
    script = f"{LOAD}required_sudo install; echo on"
    result = run(shell, script, env={"PATH": f"{path}:/usr/bin:/bin"}, nobody=True)
    assert (result.status, result.out) == (status, asked + ("" if status else "on\n"))
    assert ("[ERROR]" in result.err) == bool(status)


@needs_root
def test_sudo_is_not_asked_for_help(run, shell, stub):
    path = stub("sudo", "echo called")
    env = {"PATH": f"{path}:/usr/bin:/bin"}
    assert run(shell, f"{LOAD}required_sudo --help", env=env, nobody=True) == (
        0,
        "",
        "",
    )


@needs_root
def test_no_sudo_at_all(run, shell, tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ["id", "date"]:
        (tmp_path / "bin" / name).symlink_to(f"/usr/bin/{name}")
    env = {"PATH": str(tmp_path / "bin")}
    status, out, err = run(shell, f"{LOAD}required_sudo; echo on", env=env, nobody=True)
    assert (status, out) == (1, "")
    assert "sudo is not installed" in err
