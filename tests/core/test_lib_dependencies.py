"""dependencies.sh, with package managers that write down what they are asked."""

import fcntl
import os
import sys
import threading
import time

import pytest

from testing.shells import LIB, shell_path

LOAD = 'set -eu\n. "$LIB_DIR/dependencies.sh"\n'
TOOLS = ["sh", "env", "tr", "ls", "awk", "date", "id", "touch", "chmod", "cat", "sleep"]


@pytest.fixture
def system(tmp_path, stub):
    """A PATH that holds these package managers, which all install into it, and little else."""
    asked = tmp_path / "asked"

    def system(*managers):
        path = tmp_path / "stubs"
        path.mkdir(exist_ok=True)
        for tool in TOOLS:
            (path / tool).symlink_to(shell_path(tool))
        for manager in managers:
            stub(
                manager,
                f'echo "{manager} $*" >>"{asked}"; echo noise\n'
                f'cd "{path}"; for name in curl jq fzf pip3 git; do\n'
                'printf "#!/bin/sh\\n" >"$name"; chmod +x "$name"; done',
            )
        return {"PATH": str(path)}

    system.asked = lambda: asked.read_text().splitlines() if asked.exists() else []
    return system


def test_a_program_exists_or_not(run, shell):
    script = f"""{LOAD}own() {{ :; }}
    for name in sh own "" no/such -v; do
      command_exists "$name" && echo yes || echo no
    done"""
    assert run(shell, script).out.split() == ["yes", "yes", "no", "no", "no"]


def test_missing_programs_are_named_in_one_line(run, shell):
    assert run(shell, f"{LOAD}check_dependencies sh env") == (0, "", "")
    status, out, err = run(shell, f"{LOAD}IFS=,\ncheck_dependencies sh no-a env no-b")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.endswith(" - not installed: no-a, no-b\n")


def test_nothing_happens_when_it_is_there(run, shell, system, stub):
    env = system("apt-get")
    script = LOAD
    for name in ("curl", "jq", "fzf", "pip3"):
        stub(name, ":")
        script += f"ensure_{name}_installed\n"
    assert run(shell, script, env=env) == (0, "", "")
    assert system.asked() == []


@pytest.mark.parametrize(
    ("manager", "name", "asked"),
    [
        ("apt-get", "jq", "apt-get install -y jq"),
        ("apt-get", "pip3", "apt-get install -y python3-pip"),
        ("dnf", "curl", "dnf install -y curl"),
        ("yum", "fzf", "yum install -y fzf"),
        ("pacman", "pip3", "pacman -S --noconfirm python-pip"),
        ("zypper", "jq", "zypper install -y jq"),
        ("apk", "jq", "apk add jq"),
        ("brew", "pip3", "brew install python"),
    ],
)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_package_manager_is_asked(run, system, manager, name, asked):
    env = {**system(manager), "ASSUME_YES": "1"}
    result = run(shell_path("dash"), f"{LOAD}ensure_{name}_installed", env=env)
    assert (result.status, result.out, result.err) == (0, "", "noise\n")
    assert system.asked() == [asked]


def test_others_than_root_go_through_sudo(run, shell, system, stub, tmp_path):
    env = {**system("dnf"), "ASSUME_YES": "1"}
    stub("id", "echo 1000")
    stub("sudo", 'echo sudo; exec "$@"')
    script = f"{LOAD}__cli_is_root() {{ false; }}\nensure_jq_installed"
    result = run(shell, script, env=env)
    assert (result.status, result.err) == (0, "sudo\nnoise\n")


@pytest.mark.parametrize("env", [{}, {"ASSUME_YES": "0"}])
def test_without_a_yes_nothing_is_installed(run, shell, system, env):
    result = run(
        shell,
        f"{LOAD}ensure_jq_installed",
        env={**system("apt-get"), **env},
        stdin="y\n",
    )
    assert (result.status, result.out) == (1, "")
    assert "[ERROR]" in result.err
    assert system.asked() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize(("typed", "installs"), [("yes\n", True), ("\n", False)])
def test_the_question_on_a_terminal(on_terminal, shell, system, typed, installs):
    env = {**system("apt-get"), "LIB_DIR": str(LIB), "TERM": "dumb"}
    shown = on_terminal(
        [shell, "-c", f"{LOAD}ensure_jq_installed && echo done"], env, typed
    )
    assert "jq is not installed. Install it with apt-get? [y/N] " in shown
    assert (
        ("done" in shown) == installs == (system.asked() == ["apt-get install -y jq"])
    )


def test_no_package_manager(run, shell, system):
    status, _, err = run(
        shell, f"{LOAD}ensure_jq_installed", env={**system(), "ASSUME_YES": "1"}
    )
    assert status == 1
    assert "no known package manager" in err


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_fresh_package_lists_are_fetched(run, shell, system, stub, tmp_path):
    env = {**system(), "ASSUME_YES": "1"}
    path = tmp_path / "stubs"
    stub(
        "apt-get",
        f'echo "$1" >>"{tmp_path}/asked"; [ "$1" = update ] && exec touch "{path}/lists"\n'
        f'[ -e "{path}/lists" ] && printf "#!/bin/sh\\n" >"{path}/jq" && chmod +x "{path}/jq"',
    )
    assert run(shell, f"{LOAD}ensure_jq_installed", env=env).status == 0
    assert system.asked() == ["install", "update", "install"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_package_manager_that_fails(run, shell, system, stub):
    env = {**system(), "ASSUME_YES": "1"}
    stub("dnf", "exit 1")
    status, out, err = run(shell, f"{LOAD}ensure_jq_installed", env=env)
    assert (status, out) == (1, "")
    assert err.endswith(" - jq could not be installed with dnf.\n")


needs_lock_list = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs /proc/locks"
)


@needs_lock_list
def test_a_held_lock_is_seen_and_waited_for(run, shell, tmp_path):
    lock = tmp_path / "lock"
    script = (
        f"{LOAD}if __cli_is_locked '{tmp_path}/none' '{lock}'; then\n"
        "  echo held; else echo free; fi"
    )
    with lock.open("w") as file:
        assert run(shell, script).out == "free\n"
        fcntl.lockf(file, fcntl.LOCK_EX)
        assert run(shell, script).out == "held\n"


@pytest.mark.slow
@needs_lock_list
def test_the_wait_is_bounded(run):
    script = f"{LOAD}__cli_is_locked() {{ :; }}\nwait_for_apt_lock 1"
    started = time.monotonic()
    status, out, err = run(shell_path("bash"), script)
    assert (status, out, err.count("\n")) == (1, "", 2)
    assert time.monotonic() - started > 0.9


def test_no_time_to_wait(run, shell):
    script = f"{LOAD}__cli_is_locked() {{ :; }}\nwait_for_apt_lock 0"
    status, out, err = run(shell, script)
    assert (status, out, err.count("\n")) == (1, "", 1)


@pytest.mark.slow
@needs_lock_list
def test_the_wait_ends_when_the_lock_is_free(run, tmp_path):
    free = tmp_path / "free"
    script = f"{LOAD}__cli_is_locked() {{ [ ! -e '{free}' ]; }}\nwait_for_apt_lock 600"
    timer = threading.Timer(0.3, free.touch)
    timer.start()
    assert (
        run(shell_path("bash"), script).status == 0
    )  # long before the 600 seconds are over


def test_apt_here(run, shell):
    """It is free, or at work for somebody else just now: the machine is not ours alone."""
    status, out, err = run(shell, f"{LOAD}wait_for_apt_lock 0")
    held = " - another process still holds the lock of the package manager (apt).\n"
    assert (status, out, err[-len(held) :]) in ((0, "", ""), (1, "", held))
