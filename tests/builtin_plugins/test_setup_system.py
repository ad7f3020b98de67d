"""`setup` where the system itself matters: mounts, rights, sudo, full disks, kills."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpserver
import pytest
from applications import Member, application, tar

from builtin_plugins import setup
from builtin_plugins.setup_state import Places
from builtin_plugins.setup_steps import exchange

HERE = Path(__file__).parent
RUN = (
    "import sys; from builtin_plugins.setup import main; from host.errors import HostError\n"
    "try: sys.exit(main(sys.argv[1:]))\n"
    "except HostError as failure: sys.stderr.write(f'error: {failure}\\n'); sys.exit(failure.status)"
)
NOBODY = 65534


@pytest.fixture
def site() -> Iterator[httpserver.Site]:
    with httpserver.running() as site:
        site.add("/one", application("one"))
        site.add("/two", application("two"))
        site.add("/moved", application("moved", "Moved"))
        yield site


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def needs_mounts() -> None:
    needs("unshare", "mount")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no right to make a mount namespace")


def in_mounts(script: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a mount namespace of its own; `$PYTHON -c "$RUN"` is a setup run."""
    return subprocess.run(
        ["unshare", "-m", "sh", "-ec", script, "sh", *arguments],
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "RUN": RUN,
            "COMMAND_NAME": "tool",
            **environ,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


PRIVATE = "".join(
    f"mount -t tmpfs -o mode=0755 tmpfs {path};"
    for path in ("/opt", "/usr/local/bin", "/usr/share/applications")
)


def test_the_usual_places_of_a_system(site: httpserver.Site) -> None:
    needs_mounts()
    done = in_mounts(
        PRIVATE + '"$PYTHON" -c "$RUN" -q; tool hello; cat /usr/share/applications/tool.desktop;'
        'readlink /usr/local/bin/tool; "$PYTHON" -c "$RUN" --uninstall;'
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
        "/opt/tool/Tool",
        *("/opt:", "", "/usr/local/bin:", "", "/usr/share/applications:"),
    ]


def test_a_read_only_system_is_named_before_a_download(site: httpserver.Site) -> None:
    needs_mounts()
    done = in_mounts(
        PRIVATE + 'mount -o remount,ro tmpfs /opt; "$PYTHON" -c "$RUN"',
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
    )
    assert (done.returncode, done.stderr) == (1, "error: /opt is on a read-only file system\n")
    assert site.requests == []


@pytest.mark.parametrize("size", [4, 12, 20, 28, 40, 52, 80, 400])
@pytest.mark.parametrize("inodes", [8, 400])
def test_a_full_disk_changes_nothing(size: int, inodes: int, site: httpserver.Site) -> None:
    """One tmpfs after another, each a little larger, until all fits."""
    needs_mounts()
    site.add("/big", tar(*(Member(f"T/{n}", os.urandom(3000)) for n in range(9)),
                         Member("T/Tool", b"#!/bin/sh\necho big\n", 0o755)))  # fmt: skip
    done = in_mounts(
        f"mount -t tmpfs -o size={size}k,nr_inodes={inodes} tmpfs /opt;"
        "mount -t tmpfs tmpfs /usr/local/bin; mount -t tmpfs tmpfs /usr/share/applications;"
        'status=0; "$PYTHON" -c "$RUN" -q || status=$?;'
        "echo $status; find /opt /usr/local/bin /usr/share/applications -mindepth 1 | wc -l",
        TOOL_DOWNLOAD_URL=f"{site.address}/big",
    )
    status, count = map(int, done.stdout.split())
    if status:
        assert (status, count) == (1, 0), done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert any(word in done.stderr for word in ("No space left", "bytes needed"))
    else:
        assert count == 16
        assert (size, inodes) == (400, 400) or size >= 40


def test_a_full_disk_keeps_the_old_version_and_lets_it_be_removed(site: httpserver.Site) -> None:
    needs_mounts()
    done = in_mounts(
        "mount -t tmpfs -o size=200k tmpfs /opt;"
        "mount -t tmpfs tmpfs /usr/local/bin; mount -t tmpfs tmpfs /usr/share/applications;"
        '"$PYTHON" -c "$RUN" -q; dd if=/dev/zero of=/opt/fill 2>/dev/null || true;'
        f'export TOOL_DOWNLOAD_URL={site.address}/two; "$PYTHON" -c "$RUN" -q -u || echo $?;'
        '/usr/local/bin/tool; ls -A /opt; "$PYTHON" -c "$RUN" -q --uninstall; ls -A /opt',
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
    )
    assert done.stdout.split("\n") == ["1", "version one", "fill", "tool", "fill", ""], done.stderr


def test_places_on_different_file_systems(site: httpserver.Site) -> None:
    """Every place is a mount of its own, so no rename between them can work."""
    needs_mounts()
    done = in_mounts(
        PRIVATE + '"$PYTHON" -c "$RUN" -q; mkdir /opt/other;'
        "mount -t tmpfs tmpfs /opt/other; export TOOL_INSTALL_DIR=/opt/other;"
        'rm /usr/local/bin/tool /usr/share/applications/tool.desktop;'
        '"$PYTHON" -c "$RUN" -q || echo $?; ls -A /opt/other /opt /usr/local/bin',
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
    )
    assert "1\n" in done.stdout
    assert "busy" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert ".other.setup" not in done.stdout


# -- rights ---------------------------------------------------------------------------


def as_nobody() -> list[str]:
    """Return the start of a command line that runs what follows without any rights."""
    needs("setpriv")
    start = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    code = "import requests, click, builtin_plugins.setup"
    tried = subprocess.run(
        [*start, sys.executable, "-c", code],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    if tried.returncode:
        pytest.skip("nobody cannot start this interpreter")
    return start


def test_without_rights_and_sudo_it_says_so_before_a_download(
    site: httpserver.Site, tmp_path: Path
) -> None:
    start = as_nobody()
    done = subprocess.run(
        [shutil.which("setpriv") or "", *start[1:], sys.executable, "-c", RUN],
        env={
            "PATH": "/nonexistent",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "COMMAND_NAME": "tool",
            "TOOL_INSTALL_DIR": "/opt/not-there/tool",
            "TOOL_DOWNLOAD_URL": f"{site.address}/one",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: no right to write to /opt, /usr/local/bin, /usr/share/applications, and there is "
        "no sudo; run it as root, or set TOOL_INSTALL_DIR, TOOL_BIN_DIR and TOOL_DESKTOP_FILE to "
        "places of your own\n"
    )
    assert site.requests == []


def test_sudo_is_asked_for_the_last_step_only(site: httpserver.Site) -> None:
    """The real sudo, the real rights of nobody, and root's own directories."""
    needs_mounts()
    needs("sudo")
    start = as_nobody()
    if subprocess.run(
        [sys.executable, "-Ic", "import builtin_plugins"], capture_output=True, check=False
    ).returncode:
        pytest.skip("the packages are not installed for an isolated interpreter")
    done = in_mounts(
        PRIVATE + "mount -t tmpfs tmpfs /etc/sudoers.d;"
        "mount -t tmpfs -o mode=1777 tmpfs /var/tmp;"
        'echo "nobody ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/tests;'
        f'as() {{ {" ".join(start)} "$PYTHON" -c "$RUN" "$@"; }};'
        f"as; tool; export TOOL_DOWNLOAD_URL={site.address}/two; as -u -q; tool;"
        "stat -c '%U %a' /opt/tool /opt/tool/app/Tool;"
        "as --uninstall -q; ls -A /opt /usr/local/bin /var/tmp /usr/share/applications",
        TOOL_DOWNLOAD_URL=f"{site.address}/one",
        PATH=f"/usr/local/bin:{os.environ['PATH']}",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == ["version one", "version two", "root 755", "root 755"]
    assert [line for line in done.stdout.split("\n")[4:] if line and line[0] != "/"] == []
    assert "sudo will be asked to change /opt/tool, /usr/local/bin/tool" in done.stderr


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
    monkeypatch.setattr("builtin_plugins.setup_linux.find_elevation", lambda *_: str(stub))
    return stub


def test_the_elevated_step_gets_every_path_as_an_argument(
    stub_sudo: Path, site: httpserver.Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtin_plugins.setup_elevated.ISOLATION", ())
    monkeypatch.setattr("sys.executable", _with_path(tmp_path))
    environ = {
        "COMMAND_NAME": "tool",
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
    said = (stub_sudo.parent / "log").read_text().splitlines()
    assert said[1:] == [
        *("-m", "builtin_plugins.setup_elevated", "put", "--tool", "tool"),
        *("--install-dir", str(tmp_path / "opt/a b"), "--bin-dir", str(tmp_path / "bin")),
        *("--desktop-file", str(tmp_path / "share/tool.desktop")),
        *("--tree", str(tmp_path / f"own/cli-setup-{os.geteuid()}-tool/new")),
    ]
    assert subprocess.check_output([tmp_path / "bin/tool"], text=True) == "version one\n"
    assert list((tmp_path / "own").iterdir()) == []
    assert setup.run(["--uninstall"], environ, "linux") == 0
    assert list((tmp_path / "opt").iterdir()) == []
    assert not os.path.lexists(tmp_path / "bin/tool")


def _with_path(tmp_path: Path) -> str:
    """Return an interpreter that finds the packages without any environment."""
    made = tmp_path / "python"
    made.write_text(
        f"#!/bin/sh\nPYTHONPATH='{os.pathsep.join(sys.path)}' exec {sys.executable} \"$@\"\n"
    )
    made.chmod(0o755)
    return str(made)


def test_a_refusal_of_sudo_is_one_line(
    stub_sudo: Path, site: httpserver.Site, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from host.errors import OperationError

    stub_sudo.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    environ = {
        "COMMAND_NAME": "tool",
        "TMPDIR": str(tmp_path),
        "TOOL_INSTALL_DIR": str(tmp_path / "opt/tool"),
        "TOOL_DOWNLOAD_URL": f"{site.address}/one",
    }
    with pytest.raises(OperationError, match="with sudo: sudo: a password is required"):
        setup.run([], environ, "linux")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stub"]


def test_root_copies_no_link_that_leaves_and_no_file_of_others(tmp_path: Path) -> None:
    from builtin_plugins.setup_elevated import copy_tree
    from host.errors import OperationError

    source = tmp_path / "source"
    source.mkdir()
    (source / "file").write_text("x")
    (source / "out").symlink_to("/etc/passwd")
    with pytest.raises(OperationError, match="not a relative path"):
        copy_tree(str(source), str(tmp_path / "one"))
    (source / "out").unlink()
    os.mkfifo(source / "fifo")
    with pytest.raises(OperationError, match="no regular file"):
        copy_tree(str(source), str(tmp_path / "two"))
    (source / "fifo").unlink()
    if os.geteuid() == 0:
        os.chown(source / "file", NOBODY, NOBODY)
        with pytest.raises(OperationError, match="belongs to another user"):
            copy_tree(str(source), str(tmp_path / "three"))


# -- kills and failing system calls ---------------------------------------------------


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("gcc")
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c", "-ldl"], check=True
    )
    return library


ACTIONS = {
    "install": ("install", "two", False),
    "upgrade": ("upgrade", "two", False),
    "upgrade without exchange": ("upgrade", "two", True),
    "upgrade to another launcher": ("upgrade", "moved", False),
    "uninstall": ("uninstall", "two", False),
    "elevated upgrade": ("put", "two", False),
    "elevated without exchange": ("put", "moved", True),
}


@pytest.mark.parametrize("error", [0, errno.ENOSPC, errno.EIO], ids=["SIGKILL", "ENOSPC", "EIO"])
@pytest.mark.parametrize("name", ACTIONS)
def test_whatever_step_breaks_a_version_starts_and_a_second_run_converges(
    name: str, error: int, faults: Path, site: httpserver.Site, tmp_path: Path
) -> None:
    """SETUP_SWEEP=full breaks every step, else each third of the error runs and every kill."""
    if not exchange_works(tmp_path) and "without" not in name:
        pytest.skip("this file system cannot exchange directories")
    action, target, bare = ACTIONS[name]
    stride = 1 if os.environ.get("SETUP_SWEEP") == "full" or not error else 3
    asked = {
        "root": str(tmp_path / "ground"),
        "addresses": {version: f"{site.address}/{version}" for version in ("one", "two", "moved")},
        "action": action,
        "target": target,
        "error": error,
        "bare": bare,
        "stride": stride,
    }
    done = subprocess.run(
        [sys.executable, HERE / "sweep.py", json.dumps(asked)],
        env={
            "PATH": os.environ["PATH"],
            "LD_PRELOAD": str(faults),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    print(f"sweep: {name}, {errno.errorcode.get(error, 'SIGKILL')}: {result['runs']} runs")
    assert result["broken"] == []
    assert result["runs"] > (15 if stride == 1 else 5)


def exchange_works(tmp_path: Path) -> bool:
    one, other = tmp_path / "a", tmp_path / "b"
    one.mkdir()
    other.mkdir()
    return exchange(str(one), str(other))


# -- what a listing asks --------------------------------------------------------------


class _Command:
    """As much of a listing's record as the hook looks at."""

    def __init__(self, entrypoint: str, envs: dict[str, str]) -> None:
        self.words = ("setup", "tool")
        self.definition = type("D", (), {"entrypoint": entrypoint, "envs": envs})


def test_the_hook_answers_for_its_own_commands_only(
    site: httpserver.Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from builtin_plugins import setup_installer

    envs = {
        "BASE": str(tmp_path),
        "TOOL_INSTALL_DIR": "$BASE/opt",
        "TOOL_BIN_DIR": "${BASE}/bin",
        "TOOL_DESKTOP_FILE": "$BASE/t.desktop",
    }
    ours = _Command("builtin_plugins.setup:main", envs)
    assert setup_installer.is_installed(_Command("main.sh", envs)) is None
    assert setup_installer.is_installed(ours) is False
    environ = {name: text.replace("$BASE", str(tmp_path)) for name, text in envs.items()}
    environ |= {"TOOL_BIN_DIR": f"{tmp_path}/bin", "COMMAND_NAME": "tool"}
    setup.run([], environ | {"TOOL_DOWNLOAD_URL": f"{site.address}/one"}, "linux")
    assert setup_installer.is_installed(ours) is True
    monkeypatch.setenv("TOOL_BIN_DIR", "/nowhere")
    assert setup_installer.is_installed(ours) is False


def test_the_hook_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, builtin_plugins.setup_installer\n"
            "print(sorted({'requests', 'urllib3', 'tarfile', 'zipfile', 'click'} & set(sys.modules)))",
        ],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_places_without_variables_are_the_usual_ones() -> None:
    places = Places.read("tool", {})
    assert (places.install_dir, places.link, places.desktop_file) == (
        "/opt/tool",
        "/usr/local/bin/tool",
        "/usr/share/applications/tool.desktop",
    )


def test_a_new_installation_from_listing_to_listing(
    install: Callable[..., object], site: httpserver.Site, tmp_path: Path
) -> None:
    """As a new user would: a second tool by copying a directory and editing its JSON."""
    shipped = HERE.parent.parent / "commands" / "setup" / "postman" / "command.json"
    definition = json.loads(shipped.read_text().replace("POSTMAN", "TOOL"))
    definition |= {"name": "Tool", "description": "A copy"}
    definition["envs"] |= {
        "TOOL_DOWNLOAD_URL": f"{site.address}/one",
        "TOOL_INSTALL_DIR": str(tmp_path / "opt" / "tool"),
        "TOOL_BIN_DIR": str(tmp_path / "bin"),
        "TOOL_DESKTOP_FILE": str(tmp_path / "share" / "tool.desktop"),
        "TOOL_ICON_URL": "",
        "TOOL_ICON": "app/resources/icon.png",
        "TOOL_LAUNCHER": "Tool",
    }
    made = install({"commands/setup/tool/command.json": definition})
    run = made.run  # type: ignore[attr-defined]
    assert "✓" not in run("setup").stdout
    done = run("setup", "tool")
    assert (done.status, done.stdout) == (0, ""), done.stderr
    assert f"Tool is installed: {tmp_path}/bin/tool" in done.stderr
    assert "✓" in run("setup", env={"LC_ALL": "C.UTF-8"}).stdout
    assert subprocess.check_output([tmp_path / "bin/tool"], text=True) == "version one\n"
    done = run("setup", "tool", "-u", env={"TOOL_DOWNLOAD_URL": f"{site.address}/two"})
    assert done.status == 0, done.stderr
    assert subprocess.check_output([tmp_path / "bin/tool"], text=True) == "version two\n"
    assert "TOOL_LAUNCHER" in run("setup", "tool", "--help").stdout
    assert run("setup", "tool", "--uninstall").status == 0
    assert "✓" not in run("setup").stdout
    assert run("setup", "tool", "-u").all == (1, "", "cli setup tool: Tool is not installed\n")
    assert run("setup", "tool", "-q", "-v").all == (
        2,
        "",
        "cli setup tool: --quiet and --verbose exclude each other\n",
    )
