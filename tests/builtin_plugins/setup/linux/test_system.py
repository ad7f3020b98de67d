"""`setup` where the system itself matters: mounts, rights, sudo, full disks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.setup import command as setup
from host.errors import OperationError
from testing import httpserver
from testing.applications import Member, tar
from testing.machine import PATHS, as_nobody, in_mounts, needs, tool_run

Install = Callable[..., Any]

PRIVATE = "".join(
    f"mount -t tmpfs -o mode=0755 tmpfs {path};"
    for path in ("/opt", "/usr/local/bin", "/usr/share/applications")
)


def test_the_usual_places_of_a_system(site: httpserver.Site) -> None:
    done = in_mounts(
        PRIVATE + "setup -q; tool hello; cat /usr/share/applications/tool.desktop;"
        "readlink /usr/local/bin/tool; setup --uninstall;"
        "ls -A /opt /usr/local/bin /usr/share/applications",
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
        PATH=f"/usr/local/bin:{os.environ['PATH']}",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "hello version one",
        "[Desktop Entry]",
        "Type=Application",
        "Name=Tool",
        "Exec=/usr/local/bin/tool %U",
        "Terminal=false",
        "Categories=Utility;",
        "X-CLI-Setup=tool",
        "/opt/tool/current/Tool",
        *("/opt:", "", "/usr/local/bin:", "", "/usr/share/applications:"),
    ]


@pytest.mark.parametrize(
    ("size", "inodes"),
    [
        (28, 8),
        (28, 400),
        *(
            pytest.param(*place, marks=pytest.mark.night)
            for place in [
                (400, 8),
                (4, 400),
                (12, 400),
                (40, 400),
                (80, 400),
                (400, 400),
            ]
        ),
    ],
)
def test_a_full_disk_changes_nothing(
    size: int, inodes: int, site: httpserver.Site
) -> None:
    """One tmpfs after another, each a little larger, until all fits."""
    site.add("/big", tar(*(Member(f"T/{n}", os.urandom(3000)) for n in range(9)),
                         Member("T/Tool", b"#!/bin/sh\necho big\n", 0o755)))  # fmt: skip
    done = in_mounts(
        f"mount -t tmpfs -o size={size}k,nr_inodes={inodes} tmpfs /opt;"
        "mount -t tmpfs tmpfs /usr/local/bin; mount -t tmpfs tmpfs /usr/share/applications;"
        "status=0; setup -q || status=$?;"
        "echo $status; find /opt /usr/local/bin /usr/share/applications -mindepth 1 | wc -l",
        TOOL_DOWNLOAD_URL=f"{site.address}/big",
    )
    status, count = map(int, done.stdout.split())
    if status:
        assert (status, count) == (1, 0), done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert any(
            word in done.stderr
            for word in ("No space left", "bytes needed", "bytes of disk space")
        )
    else:
        assert count == 17
        assert (size, inodes) == (400, 400) or size >= 40


def test_a_full_disk_keeps_the_old_version_and_lets_it_be_removed(
    site: httpserver.Site,
) -> None:
    done = in_mounts(
        "mount -t tmpfs -o size=200k tmpfs /opt;"
        "mount -t tmpfs tmpfs /usr/local/bin; mount -t tmpfs tmpfs /usr/share/applications;"
        "setup -q; dd if=/dev/zero of=/opt/fill 2>/dev/null || true;"
        f"export TOOL_DOWNLOAD_URL={site.address}/two; setup -q -u || echo $?;"
        "/usr/local/bin/tool; ls -A /opt; setup -q --uninstall; ls -A /opt",
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
    )
    assert done.stdout.split("\n") == [
        "1",
        "version one",
        "fill",
        "tool",
        "fill",
        "",
    ], done.stderr


def test_places_on_different_file_systems(site: httpserver.Site) -> None:
    """The install directory may be a mount point: versions are prepared in it."""
    done = in_mounts(
        PRIVATE + "mkdir /opt/other; mount -t tmpfs tmpfs /opt/other;"
        "export TOOL_INSTALL_DIR=/opt/other; setup -q; tool; setup -q --uninstall;"
        "ls -A /opt /opt/other /usr/local/bin",
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
        PATH=f"/usr/local/bin:{os.environ['PATH']}",
    )
    assert done.stderr == ""
    assert done.stdout.split() == [
        "version",
        "one",
        "/opt:",
        "other",
        "/opt/other:",
        "/usr/local/bin:",
    ]


def test_without_rights_and_sudo_it_says_so_before_a_download(
    site: httpserver.Site,
) -> None:
    start = " ".join(as_nobody())
    done = in_mounts(
        PRIVATE + "for one in /usr/local/bin /usr/bin /bin; do"
        "  if [ -x $one/sudo ]; then mount --bind /dev/null $one/sudo; fi; done;"
        f'{start} "$PYTHON" -c "$RUN"',
        TOOL_INSTALL_DIR="/opt/not-there/tool",
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: no permission to write to /opt, /usr/local/bin, /usr/share/applications, and sudo "
        "is not installed; run setup as root, or set TOOL_INSTALL_DIR, TOOL_BIN_DIR, "
        "TOOL_DESKTOP_FILE to your own paths\n"
    )
    assert site.requests == []


def test_sudo_is_asked_for_the_last_step_only(site: httpserver.Site) -> None:
    """The real sudo, the real rights of nobody, and root's own directories."""
    needs("sudo")
    start = as_nobody()
    if subprocess.run(
        [sys.executable, "-Ic", "import builtin_plugins"],
        capture_output=True,
        check=False,
    ).returncode:
        pytest.skip("the packages are not installed for an isolated interpreter")
    done = in_mounts(
        PRIVATE + "mount -t tmpfs -o mode=0755 tmpfs /etc/sudoers.d;"
        "mount -t tmpfs -o mode=1777 tmpfs /var/tmp;"
        'echo "nobody ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/tests;'
        f'as() {{ {" ".join(start)} "$PYTHON" -c "$RUN" "$@"; }};'
        f"as; tool; export TOOL_DOWNLOAD_URL={site.address}/two; as -u -q; tool;"
        "stat -c '%U %a' /opt/tool /opt/tool/current/app/Tool;"
        "as --uninstall -q; ls -A /opt /usr/local/bin /var/tmp /usr/share/applications",
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
        PATH=f"/usr/local/bin:{os.environ['PATH']}",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == [
        "version one",
        "version two",
        "root 755",
        "root 755",
    ]
    assert [
        line for line in done.stdout.split("\n")[4:] if line and line[0] != "/"
    ] == []
    assert "sudo is needed to change /opt/tool, /usr/local/bin/tool" in done.stderr


@pytest.fixture
def tool() -> Iterator[dict[str, str]]:
    with tool_run() as run:
        yield run


def installing(tool: dict[str, str], place: Path, url: str) -> dict[str, str]:
    """Return the environment of a run that installs the archive at `url` below `place`."""
    return {
        **tool,
        "TMPDIR": str(place),
        "TOOL_INSTALL_DIR": str(place / "opt/tool"),
        "TOOL_DOWNLOAD_URL": url,
    }


@pytest.fixture
def stub_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sudo that notes its arguments and drops the environment; asked for in every case."""
    stub = tmp_path / "stub" / "sudo"
    stub.parent.mkdir()
    stub.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$@" >> {stub.parent}/log\n'
        'exec env -i PATH="$PATH" SUDO_USER=u "$@"\n'
    )
    stub.chmod(0o755)
    monkeypatch.setattr(
        "builtin_plugins.setup.linux.swap.find_sudo", lambda *_: str(stub)
    )
    return stub


def test_the_elevated_step_gets_every_path_as_an_argument(
    stub_sudo: Path,
    tool: dict[str, str],
    site: httpserver.Site,
    tmp_path: Path,
) -> None:
    environ = {
        **tool,
        "PATH": "/usr/bin:/bin",
        "TMPDIR": str(tmp_path / "own"),
        "HOME": str(tmp_path / "home"),
        "TOOL_INSTALL_DIR": str(tmp_path / "opt/a b"),
        "TOOL_BIN_DIR": str(tmp_path / "bin"),
        "TOOL_DESKTOP_FILE": str(tmp_path / "share/tool.desktop"),
        "TOOL_DOWNLOAD_URL": f"{site.address}/one",
    }
    (tmp_path / "own").mkdir()
    assert setup.run([], environ, "linux") == 0
    version = (tmp_path / "opt/a b/current").readlink().name
    asked = (stub_sudo.parent / "log").read_text().splitlines()
    assert re.fullmatch(rf"{tmp_path}/own/cli-setup-\w+/new", asked[-1])
    assert asked[1:11] == [
        *("-I", "-m", "builtin_plugins.setup.linux.swap", "tool"),
        *(f"{tmp_path}/opt/a b", f"{tmp_path}/bin", f"{tmp_path}/share/tool.desktop"),
        *(version, "Tool", "[Desktop Entry]"),
    ]
    assert (
        subprocess.check_output([tmp_path / "bin/tool"], text=True) == "version one\n"
    )
    assert list((tmp_path / "own").iterdir()) == []
    assert setup.run(["--uninstall"], environ, "linux") == 0
    assert list((tmp_path / "opt").iterdir()) == []
    assert not os.path.lexists(tmp_path / "bin/tool")


def test_a_refusal_of_sudo_is_one_line(
    stub_sudo: Path,
    tool: dict[str, str],
    site: httpserver.Site,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    stub_sudo.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    environ = installing(tool, tmp_path, f"{site.address}/one")
    with pytest.raises(
        OperationError, match="sudo failed: sudo: a password is required"
    ):
        setup.run([], environ, "linux")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stub"]


def test_all_that_sudo_says_is_told(
    stub_sudo: Path,
    tool: dict[str, str],
    site: httpserver.Site,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Only the last line of it was."""
    words = "sudo: unable to resolve host\\nSorry, try again.\\n\\nsudo: 3 incorrect attempts"
    stub_sudo.write_text(f"#!/bin/sh\nprintf '{words}\\n' >&2\nexit 1\n")
    environ = installing(tool, tmp_path, f"{site.address}/one")
    with pytest.raises(OperationError) as failure:
        setup.run([], environ, "linux")
    assert str(failure.value) == (
        "sudo failed: sudo: unable to resolve host; Sorry, try again.; sudo: 3 incorrect attempts"
    )
    stub_sudo.write_text("#!/bin/sh\necho 'sudo: a warning' >&2\n")
    capfd.readouterr()
    setup.run([], environ, "linux")
    assert "warning: sudo: a warning\n" in capfd.readouterr().err


def test_sudo_is_the_first_on_the_callers_path() -> None:
    start = as_nobody()
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    try:
        folder.chmod(0o755)
        (folder / "sudo").write_text("#!/bin/sh\n")
        (folder / "sudo").chmod(0o755)
        code = (
            "import os\n"
            "from builtin_plugins.setup.linux.swap import ToolPaths, find_sudo\n"
            "paths = ToolPaths('t', '/opt/t', '/usr/local/bin', '/usr/share/t.desktop')\n"
            "print(find_sudo(paths, os.environ))"
        )
        found = subprocess.check_output(
            [*start, sys.executable, "-c", code],
            env={"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": PATHS},
            text=True,
        )
    finally:
        shutil.rmtree(folder)
    assert found == f"{folder}/sudo\n"


def test_the_need_for_sudo_is_reported_before_the_download(
    stub_sudo: Path,
    tool: dict[str, str],
    site: httpserver.Site,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    environ = installing(tool, tmp_path, f"{site.address}/absent") | {
        "PATH": "/usr/bin:/bin"
    }
    with pytest.raises(OperationError, match="404"):
        setup.run([], environ, "linux")
    assert (
        capfd.readouterr().err.splitlines()[0].startswith("sudo is needed to change ")
    )
