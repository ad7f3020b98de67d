"""`setup <tool>` on Linux, with a real server, real archives and real files."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builtin_plugins.setup import command as setup
from builtin_plugins.setup.linux import is_installed
from builtin_plugins.setup.linux.swap import find_sudo
from builtin_plugins.setup.tool_settings import ToolPaths, ToolSettings
from host.errors import HostError, OperationError, UsageError
from host.text import printable
from testing import httpserver
from testing.applications import PNG, Member, application, directory, symlink, tar
from testing.machine import NOBODY, PATHS, RUN, as_nobody, needs, tool_run, validate
from testing.rows import night_but
from testing.waiting import LONGEST, wait_until


class Desk:
    """A tool's paths in a temporary directory, and runs of its `setup` command."""

    def __init__(self, root: Path, site: httpserver.Site, run: dict[str, str]) -> None:
        self.root, self.site, self.tool_run = root, site, run
        self.install_dir = root / "opt" / "tool"
        self.link = root / "bin" / "tool"
        self.menu = root / "share" / "tool.desktop"
        self.environ = {
            "PATH": f"/usr/bin:/bin:{root}/bin",
            "HOME": str(root / "home"),
            **run,
            "TOOL_INSTALL_DIR": str(self.install_dir),
            "TOOL_BIN_DIR": str(self.link.parent),
            "TOOL_DESKTOP_FILE": str(self.menu),
            "TOOL_DOWNLOAD_URL": site.address + "/tool",
        }
        self.offer(application("one"))

    def at(self, root: Path) -> Desk:
        return Desk(root, self.site, self.tool_run)

    def offer(self, content: bytes | httpserver.Answer) -> None:
        self.site.add("/tool", content)

    def run(self, *options: str, **environ: str) -> int:
        return setup.run(options, self.environ | environ, "linux")

    def version(self) -> str:
        done = subprocess.run(
            [self.link, "I am"], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def files(self) -> list[str]:
        """Return everything below the root but directories, relative to it."""
        return sorted(
            str(path.relative_to(self.root))
            for path in self.root.rglob("*")
            if path.is_symlink() or not path.is_dir()
        )

    def everything(self) -> list[str]:
        """Return what there is, empty directories too."""
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*"))

    def failed(self, *options: str, **environ: str) -> str:
        """Return the one line of a run that fails and leaves everything as it was."""
        before = self.everything()
        with pytest.raises(HostError) as failure:
            self.run(*options, **environ)
        assert self.everything() == before
        return printable(str(failure.value))  # as it is written


@pytest.fixture
def desk(tmp_path: Path, site: httpserver.Site) -> Iterator[Desk]:
    with tool_run() as run:
        yield Desk(tmp_path / "root", site, run)


def test_install_upgrade_uninstall(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    assert desk.run() == 0
    assert desk.version() == "I am version one"
    desk.offer(application("two"))
    assert desk.run("--upgrade") == 0
    assert desk.version() == "I am version two"
    assert desk.run("--uninstall") == 0
    assert desk.everything() == ["bin", "opt", "share"]
    shown = capfd.readouterr()
    assert shown.out == ""
    assert f"Tool is installed: {desk.link}" in shown.err
    assert f"Tool is upgraded: {desk.link}" in shown.err
    assert "Tool is uninstalled; your own data is kept" in shown.err


def elf(machine: int) -> bytes:
    """Return an executable for a processor, as far as its header is read."""
    with open(os.path.realpath(sys.executable), "rb") as file:
        head = bytearray(file.read(64))
    head[18:20] = machine.to_bytes(2, "big" if head[5] == 2 else "little")
    return bytes(head)


S390 = 22
STARTS = b'#!/bin/sh\nHERE=$(dirname "$0")\nexec "$HERE/app/Tool.bin" "$@"\n'


@pytest.mark.parametrize("launcher", ["a program", "a script"])
def test_an_application_for_another_processor_is_not_installed(
    desk: Desk, launcher: str
) -> None:
    desk.run()
    files = [Member("Tool/Tool", elf(S390), 0o755)]
    program = "Tool"
    if launcher == "a script":
        program = "app/Tool.bin"
        files = [
            Member("Tool/Tool", STARTS, 0o755),
            Member(f"Tool/{program}", elf(S390), 0o755),
        ]
    desk.offer(tar(directory("Tool"), *files))
    line = desk.failed("--upgrade")
    assert line.startswith(f"{program} is for s390, and this machine is ")
    assert line.endswith("; set TOOL_DOWNLOAD_URL to the archive for this machine")
    assert desk.version() == "I am version one"


def test_versions_lie_side_by_side_and_one_link_leads_to_the_current_one(
    desk: Desk,
) -> None:
    for version, options in (("one", ()), ("two", ("-u",))):
        archive = application(version)
        desk.offer(archive)
        desk.run(*options)
        name = hashlib.sha256(archive).hexdigest()[:12]
        assert sorted(os.listdir(desk.install_dir)) == sorted(["current", name])
        assert (desk.install_dir / "current").readlink() == Path(name)
        assert desk.link.readlink() == desk.install_dir / "current/Tool"


def test_an_upgrade_to_the_installed_version_unpacks_nothing(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    desk.run()
    before = (desk.install_dir / "current").stat()
    capfd.readouterr()
    assert desk.run("-u", TOOL_CATEGORIES="Development;") == 0
    assert "Unpacking" not in capfd.readouterr().err
    assert os.path.samestat(before, (desk.install_dir / "current").stat())
    assert "Categories=Development;" in desk.menu.read_text()


@pytest.mark.parametrize("spoil", ["app/Tool", "app", "Tool"])
def test_a_version_without_its_launcher_is_replaced(spoil: str, desk: Desk) -> None:
    desk.run()
    path = desk.install_dir / "current" / spoil
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert desk.run() == 0
    assert desk.version() == "I am version one"
    assert len(os.listdir(desk.install_dir)) == 2


def test_the_users_own_things_stay(desk: Desk) -> None:
    own = [desk.root / "home/Tool/collection", desk.root / "home/.config/Tool/settings"]
    for path in own:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    for options in ((), ("-u",), ("--uninstall",)):
        desk.run(*options)
        assert [path.read_text() for path in own] == ["mine", "mine"]


def test_install_when_installed_says_so_and_asks_nobody(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    desk.run()
    capfd.readouterr()
    desk.offer(application("two"))
    assert desk.run() == 0
    assert "Tool is already installed" in capfd.readouterr().err
    assert desk.version() == "I am version one"
    assert desk.site.asked("/tool") == 1


def test_upgrade_when_not_installed_is_an_error(desk: Desk) -> None:
    assert desk.failed("--upgrade") == "Tool is not installed"


def test_uninstall_when_not_installed_says_so(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    assert desk.run("--uninstall") == 0
    assert capfd.readouterr().err == "Tool is not installed\n"


@pytest.mark.parametrize(
    "options",
    [("-q", "-v"), ("-u", "--uninstall"), ("-x",), ("more",), ("--upgrade=yes",)],
    ids=" ".join,
)
def test_wrong_usage(options: tuple[str, ...], desk: Desk) -> None:
    with pytest.raises(UsageError) as failure:
        desk.run(*options)
    assert failure.value.status == 2
    assert "\n" not in str(failure.value)


def test_a_wrong_option_of_a_definition_without_args(desk: Desk) -> None:
    assert desk.failed("--upgrad") == "unrecognized arguments: --upgrad"


def test_quiet_says_nothing_when_all_is_well(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    for options in (("-q",), ("-u", "--quiet"), ("--uninstall", "-q")):
        assert desk.run(*options, DEBUG="true") == 0
    assert capfd.readouterr() == ("", "")


def test_verbose_tells_more(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    desk.run("-v")
    assert "[DEBUG] 2" in capfd.readouterr().err


def test_without_home_nothing_breaks(desk: Desk) -> None:
    del desk.environ["HOME"]
    for options in ((), ("-u",), ("--uninstall",)):
        assert desk.run(*options) == 0


@pytest.mark.parametrize(
    "name",
    [
        "with blank",
        "dollar$quote\"'",
        "per%cent",
        "equals=sign",
        "ümläut",
        "back\\slash",
        "new\nline",
        "semi;colon#`",
    ],
)
def test_odd_places_work_and_the_menu_entry_is_valid(name: str, desk: Desk) -> None:
    odd = desk.at(desk.root / name)
    odd.offer(
        tar(
            Member("T/Tool", b"#!/bin/sh\necho $1 odd\n", 0o755), Member("T/i.png", PNG)
        )
    )
    assert odd.run(TOOL_ICON="i.png") == 0
    assert odd.version() == "I am odd"
    validate(odd.menu)
    assert odd.run("--uninstall") == 0
    assert odd.files() == []


@pytest.mark.parametrize(
    "name", ["plain", "per%cent", "per%%cent %U", "a=b", "new\nline $x`"]
)
def test_the_desktop_starts_the_program(name: str, desk: Desk) -> None:
    """GLib looks for the first word of Exec as it is written, so `%%` in it is refused."""
    needs("gio")
    odd = desk.at(desk.root / name)
    script = b'#!/bin/sh\necho started > "$STARTED"\n'
    odd.offer(tar(Member("T/Tool", script, 0o755), Member("T/x", b"x")))
    odd.run()
    started = desk.root / "started"
    done = subprocess.run(
        ["gio", "launch", odd.menu],
        env={"PATH": "/usr/bin:/bin", "STARTED": str(started), "HOME": str(desk.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    wait_until(lambda: started.exists() and started.read_text())
    assert started.read_text() == "started\n"


@pytest.mark.parametrize("version", ["one", "dollar$", "a=b"])
def test_the_menu_entry_starts_the_program(version: str, desk: Desk) -> None:
    """Undo what the specification says to undo, and run what is left."""
    odd = desk.at(desk.root / version)
    odd.run()
    entry = dict(
        line.split("=", 1) for line in odd.menu.read_text().splitlines() if "=" in line
    )
    line = entry["Exec"].replace("\\\\", "\\").removesuffix(" %U")
    done = subprocess.run(
        ["/bin/sh", "-c", line], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "version one"


def test_the_icon_is_fetched(desk: Desk) -> None:
    desk.run(TOOL_ICON_URL=desk.site.add("/icon", PNG))
    icon = desk.install_dir / "current/.cli-setup/icon"
    assert icon.read_bytes() == PNG
    assert f"Icon={icon}\n" in desk.menu.read_text()
    validate(desk.menu)


@pytest.mark.parametrize(
    "answer", [httpserver.status(404), httpserver.serve(b"<html>")]
)
def test_a_bad_icon_address_is_a_warning(
    answer: httpserver.Answer, desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    desk.site.add("/icon", answer)
    inside = "app/resources/icon.png"
    assert desk.run(TOOL_ICON_URL=f"{desk.site.address}/icon", TOOL_ICON=inside) == 0
    assert f"Icon={desk.install_dir / 'current' / inside}\n" in desk.menu.read_text()
    assert "warning: icon: " in capfd.readouterr().err


def test_the_checksum_is_checked_before_unpacking(desk: Desk) -> None:
    assert "the SHA-256 is" in desk.failed(TOOL_SHA256="0" * 64)
    assert "TOOL_SHA256" in desk.failed(TOOL_SHA256="abc")


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("INSTALL_DIR", "", 'TOOL_INSTALL_DIR="" is not an absolute path'),
        ("INSTALL_DIR", "/", "^/ exists, and setup did not create it"),
        ("INSTALL_DIR", "//usr//", "/usr exists, and setup did not create it"),
        ("INSTALL_DIR", "/usr/lib", "/usr/lib exists, and setup did not create it"),
        (
            "INSTALL_DIR",
            "opt/tool",
            'TOOL_INSTALL_DIR="opt/tool" is not an absolute path',
        ),
        ("INSTALL_DIR", "~/tool", "is not an absolute path"),
        (
            "INSTALL_DIR",
            "/opt/\udcff",
            r'TOOL_INSTALL_DIR="/opt/\\xff" is not an absolute path',
        ),
        ("BIN_DIR", "", 'TOOL_BIN_DIR="" is not an absolute path'),
        ("BIN_DIR", "bin", "is not an absolute path"),
        (
            "DESKTOP_FILE",
            "/x/tool.txt",
            "is not an absolute path that ends in .desktop",
        ),
        (
            "DESKTOP_FILE",
            "/x/.desktop",
            "is not an absolute path that ends in .desktop",
        ),
        ("DESKTOP_FILE", "", 'TOOL_DESKTOP_FILE="" is not'),
        ("DOWNLOAD_URL", "", '^TOOL_DOWNLOAD_URL: "": not an https address'),
        ("DOWNLOAD_URL", "http://example.org/x", "^TOOL_DOWNLOAD_URL: .* use https"),
        ("HOMEBREW_CASK", "--force", "is not the name of a cask"),
        ("TIMEOUT", "soon", "is not a number of seconds"),
        ("TIMEOUT", "-1", "is not a number of seconds"),
        ("TIMEOUT", "nan", "is not a number of seconds"),
        ("LAUNCHER", "../../bin/sh", "is not a path in the archive"),
        ("LAUNCHER", "/bin/sh", "is not a path in the archive"),
        ("CATEGORIES", "A\nExec=x", "is not a list of menu categories"),
    ],
)
def test_a_variable_that_cannot_be_used(
    variable: str, value: str, expected: str, desk: Desk
) -> None:
    import re

    line = desk.failed(**{f"TOOL_{variable}": value.replace("{root}", str(desk.root))})
    assert re.search(expected, line), line
    assert desk.site.requests == []


def test_an_install_directory_that_is_a_link_is_refused(desk: Desk) -> None:
    (desk.root / "elsewhere").mkdir(parents=True)
    desk.install_dir.parent.mkdir()
    desk.install_dir.symlink_to(desk.root / "elsewhere")
    assert (
        "setup did not create it; move it away or set TOOL_INSTALL_DIR" in desk.failed()
    )


@pytest.mark.parametrize("options", [(), ("-u",)], ids=["install", "upgrade"])
@pytest.mark.parametrize("place", ["install_dir", "link", "menu", "link elsewhere"])
def test_foreign_things_stay_and_nothing_is_fetched(
    place: str, options: tuple[str, ...], desk: Desk
) -> None:
    if options:
        desk.run()
        desk.site.requests.clear()
    for path in (desk.install_dir, desk.link, desk.menu):
        path.parent.mkdir(parents=True, exist_ok=True)
    if place == "install_dir":
        shutil.rmtree(desk.install_dir, ignore_errors=True)
        desk.install_dir.mkdir()
        foreign = desk.install_dir / "current/Tool"
        foreign.parent.mkdir()
        foreign.write_text("#!/bin/sh\n")
        foreign.chmod(0o755)
        path = desk.install_dir
    elif place == "menu":
        desk.menu.write_text("[Desktop Entry]\nName=Mine\n")
        path = desk.menu
    else:
        desk.link.unlink(missing_ok=True)
        desk.link.symlink_to("/bin/true") if "elsewhere" in place else desk.link.touch()
        path = desk.link
    line = desk.failed(*options)
    if options and place.startswith("link"):
        assert line == "Tool is not installed"
    else:
        assert line.startswith(f"{path} exists, and setup did not create it; ")
    assert desk.site.requests == []


def test_uninstall_leaves_foreign_things(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    desk.run()
    desk.menu.write_text("[Desktop Entry]\nName=Mine\n")
    assert desk.run("--uninstall") == 0
    assert desk.files() == ["share/tool.desktop"]
    assert (
        "share/tool.desktop is kept: setup did not create it" in capfd.readouterr().err
    )


def test_uninstall_without_the_link_says_what_it_does(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    """It removed the application and said that it was not installed."""
    desk.run()
    desk.link.unlink()
    capfd.readouterr()
    assert desk.run("--uninstall") == 0
    assert capfd.readouterr().err == "Tool is uninstalled; your own data is kept\n"
    assert desk.files() == []
    assert desk.run("--uninstall") == 0
    assert capfd.readouterr().err == "Tool is not installed\n"


def test_an_application_put_there_by_hand_counts_and_stays(desk: Desk) -> None:
    desk.install_dir.mkdir(parents=True)
    (desk.install_dir / "Tool").write_text("#!/bin/sh\n")
    (desk.install_dir / "Tool").chmod(0o755)
    desk.link.parent.mkdir()
    desk.link.symlink_to(desk.install_dir / "Tool")
    assert desk.run() == 0
    assert "setup did not create it" in desk.failed("-u")
    assert "setup did not install it" in desk.failed("--uninstall")


def test_an_empty_install_directory_is_used(desk: Desk) -> None:
    desk.install_dir.mkdir(parents=True)
    assert desk.run() == 0
    assert desk.version() == "I am version one"


@pytest.mark.parametrize("name", [None, "notes", ".stage-x", "0123456789ab", "current"])
def test_a_directory_of_somebody_else_is_not_changed(
    name: str | None, desk: Desk
) -> None:
    (desk.install_dir / (name or "")).mkdir(parents=True)
    desk.failed("-u")
    assert desk.run("--uninstall") == 0
    assert desk.everything() == [
        "opt",
        "opt/tool",
        *([f"opt/tool/{name}"] if name else []),
    ]


def test_a_dangling_link_of_its_own_is_mended(desk: Desk) -> None:
    desk.run()
    shutil.rmtree(desk.install_dir)
    assert desk.run() == 0
    assert desk.version() == "I am version one"


BAD_OFFERS: dict[str, tuple[bytes | httpserver.Answer, str]] = {
    "cut short": (httpserver.cut(application("two"), 100, etag=None), "tried 5 times"),
    "a web page": (b"<!doctype html>", "the file is not a .tar"),
    "204": (httpserver.status(204), "answered 204"),
    "a lie about its length": (application("two")[:-40], "damaged or incomplete"),
    "traversal": (
        tar(Member("../x"), Member("T/Tool", mode=0o755)),
        "points outside the archive",
    ),
    "link out": (
        tar(symlink("T/x", "../../y"), Member("T/Tool", mode=0o755)),
        "outside the archive",
    ),
    "device": (
        tar(Member("T/x", kind=b"3"), Member("T/Tool", mode=0o755)),
        "is not a file",
    ),
    "no launcher": (
        tar(Member("T/other", mode=0o755)),
        "no program to start (looked for Tool, tool, bin/tool)",
    ),
    "launcher not executable": (tar(Member("T/Tool")), "no program to start"),
    "launcher a directory": (
        tar(directory("T/Tool"), Member("T/x")),
        "no program to start",
    ),
}


@pytest.mark.parametrize("options", [(), ("-u",)], ids=["install", "upgrade"])
@pytest.mark.parametrize("name", BAD_OFFERS)
@pytest.mark.sampled
def test_a_bad_offer_changes_nothing(
    name: str, options: tuple[str, ...], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtin_plugins.library.download._PAUSE_SECONDS", 0.01)
    if options:
        desk.run()
    offer, expected = BAD_OFFERS[name]
    desk.offer(offer)
    assert expected in desk.failed(*options)
    if options:
        assert desk.version() == "I am version one"


def test_the_timeout_is_for_the_whole_download(desk: Desk) -> None:
    desk.offer(httpserver.drip(application("two"), 0.05))
    started = time.monotonic()
    assert "not finished within 1 seconds" in desk.failed(TOOL_TIMEOUT="1")
    assert time.monotonic() - started < 60


def test_ctrl_c_leaves_nothing(desk: Desk) -> None:
    def interrupt(handler: httpserver.Handler) -> None:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), 2)).start()
        httpserver.stall(application("two"), 100)(handler)

    desk.offer(interrupt)
    with pytest.raises(KeyboardInterrupt):
        desk.run()
    assert desk.everything() == []


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=str
)
def test_a_run_that_is_ended_tidies_up_and_dies_of_the_signal(
    number: signal.Signals, desk: Desk
) -> None:
    """SIGTERM and SIGHUP left the partial archive."""
    desk.offer(httpserver.stall(application("two"), 100))
    run = subprocess.Popen([sys.executable, "-c", RUN, "-q"], env=_runnable(desk))
    wait_until(lambda: desk.site.asked("/tool"))
    time.sleep(0.2)
    run.send_signal(number)
    assert run.wait(60) == -number
    assert desk.everything() == []


def test_under_nohup_a_hangup_ends_nothing(desk: Desk) -> None:
    hold = threading.Event()

    def slow(handler: httpserver.Handler) -> None:
        hold.wait(60)
        httpserver.serve(application("one"))(handler)

    desk.offer(slow)
    needs("nohup")
    run = subprocess.Popen(
        ["nohup", sys.executable, "-c", RUN, "-q"],
        env=_runnable(desk),
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: desk.site.asked("/tool"))
    run.send_signal(signal.SIGHUP)
    hold.set()
    assert run.wait(60) == 0
    assert desk.version() == "I am version one"


def test_two_at_once_are_told_apart(desk: Desk) -> None:
    hold = threading.Event()

    def slow(handler: httpserver.Handler) -> None:
        hold.wait(60)
        httpserver.serve(application("one"))(handler)

    desk.offer(slow)
    first = subprocess.Popen([sys.executable, "-c", RUN], env=_runnable(desk))
    wait_until(lambda: desk.site.asked("/tool"))
    with pytest.raises(OperationError, match="another change is in progress"):
        desk.run()
    hold.set()
    assert first.wait(60) == 0
    assert desk.version() == "I am version one"


def _runnable(desk: Desk) -> dict[str, str]:
    return desk.environ | {"PYTHONPATH": PATHS}


MANY = {
    "good, without opt": (application("one"), False),
    "bad, with opt": (httpserver.status(404), True),
}


@pytest.mark.parametrize(("offer", "prepared"), night_but(["good, without opt"], MANY))
@pytest.mark.night
def test_many_at_once_end_in_one_whole_installation(
    offer: bytes | httpserver.Answer, prepared: bool, desk: Desk
) -> None:
    """Some of them printed the path of a stage that another one had removed."""
    desk.offer(offer)
    if prepared:
        desk.install_dir.parent.mkdir(parents=True)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", RUN, "-q"],
            env=_runnable(desk),
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    lines = [run.communicate(timeout=LONGEST)[1] for run in runs]
    refusals = (
        f"error: {desk.install_dir}: another change is in progress; try again\n",
        "",
    )
    assert [
        one for one in lines if one not in refusals and "answered 404" not in one
    ] == []
    if isinstance(offer, bytes):
        assert 0 in [run.returncode for run in runs]
        assert desk.version() == "I am version one"
        assert len(os.listdir(desk.install_dir)) == 2
        assert desk.run("--uninstall") == 0
    assert desk.files() == []
    assert not desk.install_dir.exists()


def test_a_directory_that_another_run_removes_needs_no_sudo(tmp_path: Path) -> None:
    """Its rights were asked for after it was gone: `…/tool: No such file or directory`."""
    own = tmp_path / "opt" / "tool"
    own.parent.mkdir()
    code = "import os, sys\nwhile True: os.mkdir(sys.argv[1]); os.rmdir(sys.argv[1])"
    paths = ToolPaths("tool", str(own), str(tmp_path), str(tmp_path / "tool.desktop"))
    with subprocess.Popen([sys.executable, "-c", code, str(own)]) as other:
        try:
            answers = {find_sudo(paths, {}) for _ in range(20_000)}
        finally:
            other.kill()
    assert answers == {None}


@pytest.mark.parametrize(
    "place", ["mark", pytest.param("menu", marks=pytest.mark.night)]
)
def test_a_file_that_cannot_be_read_is_not_taken_for_somebody_elses(
    place: str, desk: Desk, tmp_path: Path
) -> None:
    """A version or menu entry that could not be read counted as foreign; the link then dangled."""
    start = as_nobody()
    root = Path(tempfile.mkdtemp(dir="/var/tmp"))
    try:
        own = desk.at(root / "tool")
        own.run()
        mark = (own.install_dir / "current/.cli-setup/tool").resolve()
        path = mark if place == "mark" else own.menu
        (mark.parent if place == "mark" else path).chmod(0)
        root.chmod(0o755)
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", root / "tool"], check=True)
        before = own.everything()
        done = subprocess.run(
            [*start, sys.executable, "-c", RUN, "--uninstall"],
            env=_runnable(own) | {"HOME": "/nonexistent"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (
            1,
            f"error: {path}: Permission denied\n",
        )
        assert own.everything() == before
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize("free", range(0, 8, 2))
@pytest.mark.night
def test_too_many_open_files_end_in_the_old_state_or_the_new_one(
    free: int, desk: Desk
) -> None:
    """An uninstall reported success and left a dangling link."""
    desk.run()
    before = desk.everything()
    program = (
        "import json, os, resource, sys\n"
        "from builtin_plugins.setup import command\n"
        "from host.errors import HostError\n"
        "command.run([], os.environ, 'linux')\n"  # loads all that an uninstall needs
        "used = len(os.listdir('/proc/self/fd')) - 1\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (used + {free},) * 2)\n"
        "try: command.run(['--uninstall', '-q'], os.environ, 'linux')\n"
        "except HostError as failure: sys.exit(str(failure))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=_runnable(desk),
        capture_output=True,
        text=True,
        check=False,
    )
    line = done.stderr.split("\n")[1]  # the first one is that of the run before
    if done.returncode:
        assert "Too many open files" in line
        if not os.path.lexists(desk.link):  # uninstalled, but for what the line names
            [stage] = desk.install_dir.iterdir()
            assert line.startswith(f"{stage} cannot be removed: ")
            assert not desk.menu.exists()
            return
        assert desk.everything() == before
        assert desk.version() == "I am version one"
    else:
        assert free >= 2
        assert desk.files() == []


def test_modes_do_not_follow_the_umask(desk: Desk) -> None:
    former = os.umask(0o077)
    try:
        desk.run(TOOL_ICON_URL=desk.site.add("/icon", PNG))
    finally:
        os.umask(former)
    for path in [
        desk.install_dir,
        *desk.install_dir.rglob("*"),
        desk.menu,
        desk.link.parent,
    ]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o444 == 0o444, path
        assert path.is_file() or mode & 0o111 == 0o111, path
        assert not mode & 0o7022, path


def test_only_a_link_to_an_executable_inside_counts_as_installed(desk: Desk) -> None:
    paths = ToolSettings.read("tool", "Tool", desk.environ).paths
    assert not is_installed(paths)
    desk.run()
    assert is_installed(paths)
    (desk.install_dir / "current/app/Tool").chmod(0o644)
    assert not is_installed(paths)
    desk.link.unlink()
    desk.link.symlink_to("/bin/true")
    assert not is_installed(paths)


def test_a_second_tool_needs_other_variables_only(
    desk: Desk, site: httpserver.Site, make_definition: Callable[..., Path]
) -> None:
    root = make_definition(
        "api-kit.two",
        name="API Kit",
        envs={"API_KIT_TWO_LAUNCHER": "bin/kit"},
    )
    site.add("/kit", tar(Member("kit-2.0/bin/kit", b"#!/bin/sh\necho kit\n", 0o755)))
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(desk.root / "home"),
        "CLI_DIR": str(root),
        "COMMAND_NAME": "api-kit.two",
        "COMMAND_CATEGORY": "setup",
        "API_KIT_TWO_LAUNCHER": "bin/kit",
        "API_KIT_TWO_INSTALL_DIR": str(desk.root / "opt" / "kit"),
        "API_KIT_TWO_BIN_DIR": str(desk.root / "bin"),
        "API_KIT_TWO_DESKTOP_FILE": str(desk.root / "share" / "kit.desktop"),
        "API_KIT_TWO_DOWNLOAD_URL": site.address + "/kit",
    }
    assert setup.run([], environ, "linux") == 0
    command = desk.root / "bin" / "api-kit.two"
    assert subprocess.check_output([command], text=True) == "kit\n"
    assert "Name=API Kit\n" in (desk.root / "share" / "kit.desktop").read_text()
    validate(desk.root / "share" / "kit.desktop")


@pytest.fixture
def make_definition(tmp_path: Path) -> Callable[..., Path]:
    """Return `make(word, **fields)`, which writes a command.json and returns its CLI_DIR."""
    import json

    def make(word: str, **fields: object) -> Path:
        root = tmp_path / "installation"
        path = root / "commands" / "setup" / word / "command.json"
        path.parent.mkdir(parents=True)
        given = {
            "name": word,
            "description": "d",
            "entrypoint": "builtin_plugins.setup:main",
        }
        path.write_text(json.dumps(given | fields))
        (root / "core").mkdir()
        (root / "core" / "cli.json").write_text('{"name": "CLI", "version": "1.0.0"}')
        return root

    return make
