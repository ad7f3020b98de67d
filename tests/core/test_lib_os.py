"""os.sh."""

import platform
import re
from pathlib import Path

import pytest

from testing.shells import LIB, shell_path

LOAD = 'set -eu\n. "$LIB_DIR/os.sh"\n'
MAC = platform.system() == "Darwin"
KERNEL = (
    "printf 'is_linux '; is_linux && echo yes || echo no\n"
    "is_mac && echo mac || echo other\nget_simple_os"
)


def test_this_system(run, shell):
    expected = "no\nmac\nmac\n" if MAC else "yes\nother\nlinux\n"
    assert run(shell, LOAD + KERNEL).out == f"is_linux {expected}"


@pytest.mark.parametrize(
    ("ostype", "shown"),
    [
        ("darwin23", "no\nmac\nmac\n"),
        ("linux-gnu", "yes\nother\nlinux\n"),
        ("freebsd14", "no\nother\nunknown\n"),
    ],
)
def test_other_systems(run, shell, ostype, shown):
    assert run(shell, f"{LOAD}OSTYPE={ostype}\n{KERNEL}").out == f"is_linux {shown}"


def test_a_shell_without_ostype_asks_uname(run, shell, stub):
    path = stub("uname", "echo Darwin")
    env = {"PATH": f"{path}:/usr/bin:/bin"}
    assert (
        run(shell, f"{LOAD}unset OSTYPE\n{KERNEL}", env=env).out
        == "is_linux no\nmac\nmac\n"
    )


@pytest.mark.parametrize(
    ("text", "distro", "arch"),
    [
        ('NAME="x"\nID=ubuntu\nID_LIKE=debian\n', "ubuntu", False),
        ('ID="centos"\nID_LIKE="rhel fedora"', "centos", False),
        ("ID=arch\n", "arch", True),
        ("ID='endeavouros'\nID_LIKE=arch\n", "endeavouros", True),
        ("ID=manjaro\n", "manjaro", True),
        ("ID=archcraft\nVARIANT_ID=arch\n", "archcraft", False),
        ("", "unknown", False),
        (None, "unknown", False),
        ("ID=$(touch pwned)\n", "$(touch", False),
    ],
)
def test_distribution(run, tmp_path, text, distro, arch):
    release, copy = tmp_path / "os-release", tmp_path / "os.sh"
    if text is not None:
        release.write_text(text)
    copy.write_text(
        (LIB / "os.sh").read_text().replace("/etc/os-release", str(release))
    )
    script = f"set -eu\nIFS=,\n. {copy}\nget_distro_id; if is_arch; then echo arch; fi"
    for name in ("bash", "zsh", "dash"):
        out = run(shell_path(name), script).out
        assert out == distro + "\n" + ("arch\n" if arch else ""), name
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("/etc/debian_version", "debian"),
        ("/etc/redhat-release", "fedora"),
        ("/etc/fedora-release", "fedora"),
        ("/System/Library/CoreServices/SystemVersion.plist", "macos"),
        ("/etc/other", "unknown"),
    ],
)
def test_os_type(run, tmp_path, file, kind):
    text = (LIB / "os.sh").read_text()
    for path in re.findall(r"-e (/\S+)", text):
        text = text.replace(f"-e {path}", f"-e {tmp_path}{path}")
    (tmp_path / file.lstrip("/")).parent.mkdir(parents=True)
    (tmp_path / file.lstrip("/")).touch()
    copy = tmp_path / "os.sh"
    copy.write_text(text)
    script = f'set -eu\n. {copy}\necho "$OS_TYPE"'
    assert run(shell_path("dash"), script).out == f"{kind}\n"


def test_os_type_of_the_caller_is_kept_and_not_believed(run, shell):
    script = f'{LOAD}echo "$OS_TYPE"; get_simple_os; env | grep ^OS_TYPE='
    system = "mac" if MAC else "linux"
    assert (
        run(shell, script, env={"OS_TYPE": "mine"}).out
        == f"mine\n{system}\nOS_TYPE=mine\n"
    )


@pytest.mark.parametrize(
    ("programs", "shown"), [(["dnf", "yum"], "dnf"), (["yum"], "yum"), ([], "yum")]
)
def test_package_manager_of_red_hat(run, shell, stub, tmp_path, programs, shown):
    path = tmp_path / "stubs"
    for program in programs:
        path = stub(program, ":")
    assert (
        run(shell, f"{LOAD}get_redhat_pkg_manager", env={"PATH": str(path)}).out
        == f"{shown}\n"
    )
