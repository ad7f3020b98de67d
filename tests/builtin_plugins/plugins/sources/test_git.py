"""Plugins from git: real repositories over file:// and a daemon, honest and hostile ones."""

from __future__ import annotations

import os
import pty
import resource
import shutil
import signal
import socket
import ssl
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, Thread

import pytest

from builtin_plugins.library import git as git_calls
from builtin_plugins.library.git import Git, fetch_newest, login_of
from builtin_plugins.plugins.sources.git import write_commit
from host.errors import HostError
from host.variables.masking import masked_text
from testing.fork_server import started
from testing.installation import Made
from testing.plugin_sources import (
    TELLTALE,
    Repository,
    hidden,
    listed,
    plugin,
    plugin_files,
    registry,
    visible,
)

Install = Callable[..., Made]

UPDATED = {
    **plugin_files("demo/bye", "bye"),
    "demo/hi/command.json": {
        "name": "Hi",
        "description": "says hi",
        "entrypoint": "main.sh",
        "sudo": True,
        "envs": {"GREETING": "hi"},
    },
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "acme", plugin_files(name="acme", version="1.0"))


def test_from_a_server_added_run_updated_rolled_back(
    install: Install, repository: Repository, daemon: str
) -> None:
    made = install()
    first = repository.git("rev-parse", "HEAD")
    added = plugin(made, "add", f"{daemon}/acme")
    assert added.status == 0, added.stderr
    assert f"acme 1.0 (git, {daemon}/acme, commit {first[:12]})\n" in added.stdout
    assert made.run("demo", "hi").all == (0, "hi\n", "")
    assert registry(made)["acme"]["commit"] == first
    assert (
        plugin(made, "update").stdout
        == f"acme: 1.0 ({first[:12]}) is the newest version\n"
    )
    second = repository.commit(
        {**UPDATED, "plugin.json": {"name": "acme", "version": "2.0"}}
    )
    said = (
        f"acme: 1.0 ({first[:12]}) → 2.0 ({second[:12]})\n"
        "  + demo bye  says bye\n"
        "  ~ demo hi   says hi [sudo]\n"
        "  ! new sudo: demo hi\n"
        "  ! new variables: GREETING\n"
    )
    assert plugin(made, "update", "--dry-run").stdout == said
    assert registry(made)["acme"]["commit"] == first
    assert plugin(made, "update", "acme").stdout == f"{said}updated acme\n"
    assert made.run("demo", "bye").stdout == "bye\n"
    rolled = plugin(made, "rollback", "acme")
    assert rolled.stdout == f"acme: 2.0 ({second[:12]}) → 1.0 ({first[:12]})\n"
    assert made.run("demo", "bye").status == 2
    assert "no earlier version" in plugin(made, "rollback", "acme").stderr
    assert plugin(made, "rollback", "acme", second[:8]).status == 0
    assert made.run("demo", "bye").stdout == "bye\n"
    assert plugin(made, "rollback", "acme", "9.9").status == 1
    assert hidden(made) == []


def test_branch_tag_and_commit(
    install: Install, repository: Repository, daemon: str
) -> None:
    made = install()
    repository.git("tag", "v1")
    repository.git("tag", "-a", "v1a", "-m", "annotated")
    first = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "-b", "feature/x")
    branch = repository.commit(plugin_files("demo/branch", "branch"))
    repository.git("checkout", "-q", "main")
    second = repository.commit(plugin_files("demo/two", "two"))
    wanted = {
        "v1": first, "v1a": first, "feature/x": branch, "main": second, first: first,
        first[:10]: first, second: second,
    }  # fmt: skip
    for index, (ref, commit) in enumerate(wanted.items()):
        name = f"p{index}"
        done = plugin(
            made, "add", f"{daemon}/acme", "--ref", ref, "--name", name, "--force"
        )
        assert done.status == 0, (ref, done.stderr)
        assert registry(made)[name]["commit"] == commit, ref
        assert registry(made)[name]["ref"] == ref
    third = repository.commit({})
    said = plugin(made, "update").stdout
    for index, ref in enumerate(wanted):
        if ref == "feature/x":
            assert f"p{index}: 1.0 ({branch[:12]}) is the newest version" in said
        elif ref == "main":
            assert f"updated p{index}" in said
            assert registry(made)[f"p{index}"]["commit"] == third
        else:
            assert f"p{index}: stays at {ref}; to change that: " in said
    missing = plugin(made, "add", f"{daemon}/acme", "--ref", "nope", "--name", "x")
    assert (
        missing.stderr
        == f"cli: {daemon}/acme: there is no branch, tag or commit nope\n"
    )


def _added_at_once(made: Made, sources: list[str]) -> list[tuple[int, str]]:
    """Add plugins on terminals, which agree when all have asked; return status and last line."""
    all_asked = Barrier(len(sources), timeout=60)
    environ = {"PATH": os.environ["PATH"], "HOME": str(made.home), "TERM": "dumb"}

    def add(source: str) -> tuple[int, str]:
        terminal, child = pty.openpty()
        process = subprocess.Popen(
            started([str(made.launcher), "self", "plugin", "add", source], environ),
            stdin=child,
            stdout=child,
            stderr=child,
            env=environ,
        )
        os.close(child)
        shown = b""
        with suppress(OSError):  # the other end is closed and all is read
            while b"Add it?" not in shown and (chunk := os.read(terminal, 4096)):
                shown += chunk
            all_asked.wait()
            os.write(terminal, b"y\n")
            while chunk := os.read(terminal, 4096):
                shown += chunk
        os.close(terminal)
        return process.wait(60), shown.decode().splitlines()[-1]

    with ThreadPoolExecutor(len(sources)) as threads:
        return sorted(threads.map(add, sources))


@pytest.mark.night
def test_five_at_once_add_one_repository(
    install: Install, repository: Repository
) -> None:
    made = install()
    commit = repository.git("rev-parse", "HEAD")
    ways = (
        "update it with: cli self plugin update acme; remove it with: cli self "
        "plugin remove acme"
    )
    heading = f"acme 1.0 (git, {repository.url}, commit {commit[:12]})"
    late = (0, f"{heading} is already installed; {ways}")
    first = (0, "remove it with: cli self plugin remove acme")
    assert _added_at_once(made, [repository.url] * 5) == [*[late] * 4, first]
    assert (visible(made), hidden(made)) == (["acme", "registry.json"], [])
    assert made.run("demo", "hi").stdout == "hi\n"


def test_one_name_from_two_repositories_at_once(
    install: Install, repository: Repository, tmp_path: Path
) -> None:
    made = install()
    other = Repository(tmp_path / "other/acme", plugin_files("demo/other"))
    results = _added_at_once(made, [repository.url, other.url])
    assert results == [
        (0, "remove it with: cli self plugin remove acme"),
        (1, "cli: error: acme is already the name of another plugin; or use --name"),
    ]


@pytest.mark.night
def test_three_earlier_versions_are_kept(
    install: Install, repository: Repository
) -> None:
    made = install()
    commits = [repository.git("rev-parse", "HEAD")]
    assert plugin(made, "add", repository.url).status == 0
    for number in range(5):
        commits.append(repository.commit(plugin_files("demo/hi", f"v{number}")))
        assert plugin(made, "update").status == 0
    kept = sorted(
        path.name for path in (made.root / "plugins/.versions/acme").iterdir()
    )
    assert kept == sorted(commit[:16] for commit in commits[-4:])
    for commit in reversed(commits[-4:-1]):
        assert plugin(made, "rollback", "acme").status == 0
        assert registry(made)["acme"]["commit"] == commit


def test_nothing_of_the_repository_is_run(
    install: Install, repository: Repository, tmp_path: Path
) -> None:
    made = install()
    mark = tmp_path / "mark"
    script = f"#!/bin/sh\ntouch {mark}\n"
    template = tmp_path / "template/hooks"
    template.mkdir(parents=True)
    for name in ("post-checkout", "post-merge", "reference-transaction"):
        (template / name).write_text(script)
        (template / name).chmod(0o755)
    (tmp_path / "home").mkdir(exist_ok=True)
    (made.home / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = touch {mark}\n\tprocess = touch {mark}\n'
        f"[core]\n\tfsmonitor = touch {mark}\n\thooksPath = {template}\n"
        f"[init]\n\ttemplateDir = {template.parent}\n[submodule]\n\trecurse = true\n"
    )
    repository.commit(
        {
            ".gitattributes": (
                "* filter=evil ident\n*.py export-ignore\n*.txt export-subst text eol=crlf\n"
                "*.bin working-tree-encoding=ISO-8859-1\n"
            ),
            "said.txt": "$Format:%H$ $Id$\n",
            "said.bin": "ä\n",
            "hooks.py": TELLTALE.format(mark=str(mark)),
            "plugin.json": {"name": "acme", "version": "1", "hooks": "hooks.py"},
            ".lfsconfig": "[lfs]\n\turl = https://127.0.0.1:1/\n",
        }
    )
    repository.git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        repository.url,
        "sub",
    )
    repository.commit({})
    env = {
        "GIT_TEMPLATE_DIR": str(template.parent),
        "GIT_DIR": "/nowhere",
        "GIT_WORK_TREE": "/x",
    }
    added = plugin(made, "add", repository.url, env=env)
    assert added.status == 0, added.stderr
    assert (
        f"{repository.url}: sub is a submodule; its content is not fetched"
        in added.stderr
    )
    repository.commit(plugin_files("demo/hi", "two"))
    assert plugin(made, "update", env=env).status == 0
    assert plugin(made, "list").status == plugin(made, "show", "acme").status == 0
    assert not mark.exists()
    root = made.root / "plugins/acme"
    assert not (root / ".git").exists()
    assert (root / "hooks.py").exists()
    assert (root / "said.txt").read_bytes() == b"$Format:%H$ $Id$\n"
    assert (root / "said.bin").read_text() == "Ã¤\n"  # as it is stored
    assert made.run("demo", "hi").stdout == "two\n"


HOSTILE_LINKS = [
    "/etc/passwd",
    "demo/../../x",
    pytest.param("../../../x", marks=pytest.mark.night),
    pytest.param("..", marks=pytest.mark.night),
]


@pytest.mark.parametrize("target", HOSTILE_LINKS)
def test_links_out_of_the_tree_are_refused(
    install: Install, repository: Repository, target: str
) -> None:
    made = install()
    (repository.path / "evil").symlink_to(target)
    repository.commit({})
    done = plugin(made, "add", repository.url)
    assert (done.status, done.stdout) == (1, "")
    assert f"cli: {repository.url}: member evil " in done.stderr
    assert visible(made) == []
    assert hidden(made) == []


def test_a_link_inside_is_kept(install: Install, repository: Repository) -> None:
    made = install()
    (repository.path / "demo/also").symlink_to("hi")
    repository.commit({})
    assert plugin(made, "add", repository.url).status == 0
    assert made.run("demo", "also").stdout == "hi\n"


def _object(repository: Repository, rows: list[tuple[str, str, str]]) -> str:
    """Make a commit of tree rows that git's own commands would not write."""
    blob = repository.git("hash-object", "-w", "--stdin", stdin=b"x")
    raw = b"".join(
        f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid or blob)
        for mode, name, oid in rows
    )
    tree = repository.git(
        "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw
    )
    commit = repository.git("commit-tree", tree, "-m", "evil")
    repository.git("update-ref", "refs/heads/main", commit)
    return commit


def _with_command(repository: Repository, *rows: tuple[str, str, str]) -> str:
    """Make a commit of these rows beside the first one's command."""
    first = repository.git("rev-list", "--max-parents=0", "main").splitlines()[-1]
    demo = ("40000", "demo", repository.git("rev-parse", f"{first}:demo"))
    return _object(repository, sorted((demo, *rows), key=lambda row: row[1].encode()))


HOSTILE_NAMES = [
    "../evil", ".git", ".GIT", ".Git", ".git ", "git~1", ".gi\u200ct", "/abs", "a\x1b]0;x", "..",
    ".", "", "a\nb", "x" * 256, "a/b",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("../evil", False),
        (".git", True),
        *(
            pytest.param(name, inside, marks=pytest.mark.night)
            for name in HOSTILE_NAMES
            for inside in (False, True)
        ),
    ],
)
def test_names_that_git_would_not_write(
    install: Install, repository: Repository, name: str, inside: bool
) -> None:
    made = install()
    commit = _with_command(repository, ("100644", name, ""))
    if inside:
        tree = repository.git("rev-parse", f"{commit}^{{tree}}")
        _object(repository, [("40000", "demo", tree)])
    done = plugin(made, "add", repository.url)
    assert done.status == 1
    assert done.stderr.startswith(f"cli: {repository.url}: ")
    assert "\x1b" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert hidden(made) == visible(made) == []


@pytest.mark.parametrize(
    "name", ["../e", ".git", ".GIT", "/abs", "a\tb", "..", ".", "x" * 256]
)
def test_names_that_no_file_can_have_are_refused(
    repository: Repository, tmp_path: Path, name: str
) -> None:
    """git refuses most of them as it packs, the validator the others."""
    commit = _with_command(repository, ("100644", name, ""))
    git = Git(str(repository.path / ".git"), os.environ, 60)
    with pytest.raises(
        HostError, match=r"^here: (member|git archive: error: invalid path) "
    ):
        write_commit(git, commit, str(tmp_path / "new"), "here", print)
    assert not (tmp_path / "new").exists()


ODD_NAMES = [
    "back\\slash",
    " blank ",
    "a:b*?",
    "Über",
    "x" * 255,
    "-rf",
    "con",
    "~",
    "$HOME",
    ".x",
]


def test_odd_names_come_as_they_are(install: Install, repository: Repository) -> None:
    made = install()
    names = [*ODD_NAMES, "readme", "Readme"]
    rows = [("100644", name, "") for name in names]
    _with_command(repository, *rows, ("100755", "run", ""), ("100664", "group", ""))
    done = plugin(made, "add", repository.url)
    assert done.status == 0, done.stderr
    root = made.root / "plugins/acme"
    modes = {
        path.name: path.stat().st_mode & 0o777
        for path in root.iterdir()
        if path.is_file()
    }
    assert modes == {**dict.fromkeys([*names, "group"], 0o644), "run": 0o755}
    assert made.run("demo", "hi").stdout == "hi\n"


@pytest.mark.parametrize(
    "mode",
    [
        "10644",
        "140755",
        pytest.param("20666", marks=pytest.mark.night),
        pytest.param("60666", marks=pytest.mark.night),
    ],
)
def test_modes_of_no_file_are_left_out(
    install: Install, repository: Repository, mode: str
) -> None:
    """A pipe, devices and a socket: git lists them like submodules."""
    made = install()
    _with_command(repository, (mode, "odd", ""))
    done = plugin(made, "add", repository.url)
    assert done.status == 0
    assert "odd is a submodule; its content is not fetched" in done.stderr
    assert list((made.root / "plugins/acme/odd").iterdir()) == []


@pytest.mark.night
def test_repositories_without_a_commit(
    install: Install, repository: Repository
) -> None:
    made = install()
    said = f"cli: {repository.url}: has no commits\n"
    repository.git("symbolic-ref", "HEAD", "refs/heads/gone")
    assert plugin(made, "add", repository.url).all == (1, "", said)
    assert plugin(made, "add", repository.url, "--ref", "main").status == 0
    shutil.rmtree(repository.path)
    repository.path.mkdir()
    repository.git("init", "-q")
    assert plugin(made, "add", repository.url, "--name", "other").all == (1, "", said)
    nothing = plugin(made, "add", f"{repository.url}/nothing")
    assert (nothing.status, nothing.stdout, nothing.stderr.count("\n")) == (1, "", 1)
    said = f"cli: {repository.url}/nothing: git ls-remote: fatal: "
    assert nothing.stderr.startswith(said)
    assert "does not appear to be a git repository" in nothing.stderr
    for scheme in ("https", "git"):  # nobody listens there
        away = plugin(made, "add", f"{scheme}://127.0.0.1:9/x.git")
        assert (away.status, away.stdout, away.stderr.count("\n")) == (1, "", 1)
        assert away.stderr.startswith(
            f"cli: {scheme}://127.0.0.1:9/x.git: git ls-remote: "
        )


@pytest.mark.parametrize(
    "options", ["--shared", "--depth=1", "--bare --mirror", "--reference ."]
)
@pytest.mark.night
def test_repositories_that_hold_less_than_they_say(
    install: Install, repository: Repository, tmp_path: Path, options: str
) -> None:
    made = install()
    repository.commit(plugin_files("demo/hi", "two"))
    repository.git("repack", "-adq")
    repository.git(
        "clone", "-q", *options.split(), repository.url, str(tmp_path / "copy")
    )
    done = plugin(made, "add", f"file://{tmp_path}/copy", "--name", "copy")
    assert done.status == 0, done.stderr
    assert made.run("demo", "hi").stdout == "two\n"


def test_damaged_objects_are_refused(install: Install, repository: Repository) -> None:
    made = install()
    oid = repository.git("rev-parse", "HEAD:demo/hi/main.sh")
    blob = repository.path / ".git/objects" / oid[:2] / oid[2:]
    blob.unlink()
    done = plugin(made, "add", repository.url)
    assert (done.status, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert hidden(made) == visible(made) == []


def test_a_branch_comes_before_a_tag_of_its_name(
    install: Install, repository: Repository
) -> None:
    made = install()
    repository.git("tag", "v1")
    second = repository.commit(plugin_files("demo/hi", "two"))
    repository.git("branch", "v1")
    assert plugin(made, "add", repository.url, "--ref", "v1").status == 0
    assert registry(made)["acme"]["commit"] == second
    assert not registry(made)["acme"].get("pinned")


def test_the_user_s_own_configuration_of_git(
    install: Install, repository: Repository, tmp_path: Path
) -> None:
    """Where it says how to connect it counts; where it would run something else it does not."""
    made = install()
    mark, ssh, config = tmp_path / "mark", tmp_path / "ssh", tmp_path / "config"
    ssh.write_text(f'#!/bin/sh\nshift "$(($# - 1))"\ncd {tmp_path} && eval "$1"\n')
    ssh.chmod(0o755)
    config.write_text(
        f"[core]\n\tsshCommand = {ssh}\n\tfsmonitor = touch {mark}\n"
        f'[protocol]\n\tallow = always\n[url "ext::touch {mark} "]\n\tinsteadOf = git://evil/\n'
        f'[url "{repository.url}"]\n\tinsteadOf = https://h.test/acme\n'
        f"[fetch]\n\trecurseSubmodules = true\n\tfsckObjects = false\n[gc]\n\tauto = 1\n"
    )
    env = {"GIT_CONFIG_GLOBAL": str(config)}
    _with_command(repository, ("100644", "git~1", ""))
    unsound = plugin(made, "add", repository.url, env=env)
    assert "hasDotgit" in unsound.stderr
    _with_command(repository)
    for index, address in enumerate(
        (f"ssh://h.test{repository.path}", "https://h.test/acme")
    ):
        done = plugin(made, "add", address, "--name", f"p{index}", "--force", env=env)
        assert done.status == 0, done.stderr
    refused = plugin(made, "add", "git://evil/x", env=env)
    assert refused.status == 1
    assert "not allowed" in refused.stderr
    assert not mark.exists()


def test_thousands_of_files_are_bounded(
    install: Install, repository: Repository
) -> None:
    made = install()
    inner = [("100644", f"f{index:05}", "") for index in range(20_001)]
    _object(repository, inner)
    done = plugin(made, "add", repository.url)
    assert done.status == 1
    assert "more than 20000 files" in done.stderr
    assert hidden(made) == visible(made) == []


def _little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (192 << 20, 192 << 20))


@pytest.mark.night
def test_a_tree_that_holds_itself_ten_times_over(
    install: Install, repository: Repository
) -> None:
    made = install()
    rows = [("100644", str(index), "") for index in range(10)]
    for _ in range(10):
        commit = _object(repository, rows)
        tree = repository.git("rev-parse", f"{commit}^{{tree}}")
        rows = [("40000", str(index), tree) for index in range(10)]
    done = plugin(made, "add", repository.url, preexec_fn=_little_memory)
    assert (done.status, done.stdout) == (1, "")
    assert "git ls-tree: printed more than 67108864 bytes" in done.stderr
    assert hidden(made) == visible(made) == []


@pytest.mark.night
def test_a_large_file_is_written_in_pieces(
    install: Install, repository: Repository
) -> None:
    made = install()
    repository.git("config", "core.bigFileThreshold", "1m")
    with (repository.path / "large").open("wb") as large:
        large.truncate(250 << 20)
    repository.git("config", "core.compression", "1")
    repository.commit({})
    done = plugin(made, "add", repository.url, preexec_fn=_little_memory)
    assert done.status == 0, done.stderr
    assert (made.root / "plugins/acme/large").stat().st_size == 250 << 20


def test_a_name_without_end(install: Install, repository: Repository) -> None:
    made = install()
    _object(repository, [("100644", "x" * 1_000_000, "")])
    done = plugin(made, "add", repository.url)
    assert (done.status, len(done.stderr) < 400) == (1, True)
    assert "too long" in done.stderr


def test_an_answer_of_git_is_bounded(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = Git(str(repository.path), os.environ, 60)
    monkeypatch.setattr(git_calls, "_ANSWER_LIMIT", 10)
    with pytest.raises(HostError, match="git log: printed more than 10 bytes"):
        git("log")


def test_a_server_that_stalls(install: Install) -> None:
    made = install()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"git://127.0.0.1:{silent.getsockname()[1]}/x"
        done = plugin(made, "add", address, "--timeout", "1.5")
    assert (
        done.stderr
        == f"cli: {address}: git ls-remote: not finished within 1.5 seconds\n"
    )
    assert hidden(made) == visible(made) == []


def test_a_connection_that_ssh_keeps_for_later_holds_nobody_up(
    install: Install, repository: Repository, tmp_path: Path
) -> None:
    """As ControlPersist does: a process of its own stays, with ssh's stderr open."""
    ssh, kept = tmp_path / "ssh", tmp_path / "kept"
    ssh.write_text(
        f"#!/bin/sh\nsetsid sleep 50 < /dev/null > /dev/null & echo $! >> {kept}\n"
        f'shift "$(($# - 1))"\neval "$1"\n'
    )
    ssh.chmod(0o755)
    address = f"ssh://h.test{repository.path}"
    try:
        done = plugin(install(), "add", address, env={"GIT_SSH_COMMAND": str(ssh)})
        assert done.status == 0, done.stderr
        for pid in kept.read_text().split():
            os.kill(int(pid), 0)  # it is still there
    finally:
        for pid in kept.read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def test_credentials_are_neither_shown_nor_stored(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    secret = "s3cr3t"
    env = {"DEBUG": "1"}
    for address in (
        f"https://user:{secret}@127.0.0.1:1/acme.git",
        f"https://{secret}@127.0.0.1:1/acme",
        f"https://u:{secret}@127.0.0.1:1/acme.tar.gz?token={secret}",
    ):
        done = plugin(made, "add", address, "--timeout", "2", env=env)
        assert done.status == 1
        assert secret not in done.stdout + done.stderr, address
    for path in (made.root / "plugins").rglob("*"):
        assert not path.is_file() or secret not in path.read_text()


class _Guarded(SimpleHTTPRequestHandler):
    """Serves files to who has the password, and notes the arguments of all processes then."""

    asked: list[str]
    seen: list[str]

    def do_GET(self) -> None:
        given = self.headers.get("Authorization", "")
        self.asked.append(b64decode(given.removeprefix("Basic ")).decode())
        for arguments in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                self.seen.append(os.fsdecode(arguments.read_bytes()).replace("\0", " "))
        if self.asked[-1] != "bob:S3/CRET":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="here"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        super().do_GET()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[str, type[_Guarded]]]:
    """An https server of what is in `tmp_path`, with a password: its host, its handler."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    certificate = tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certificate,
         "-out", f"{certificate}.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{certificate}.crt", certificate)
    handler = type("Handler", (_Guarded,), {"asked": [], "seen": []})
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(handler, directory=str(tmp_path))
    )
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}", handler
    server.shutdown()
    server.server_close()


def test_a_password_reaches_the_server_and_nobody_else(
    install: Install,
    repository: Repository,
    guarded: tuple[str, type[_Guarded]],
    tmp_path: Path,
) -> None:
    made = install()
    host, handler = guarded
    (made.home / ".gitconfig").write_text("[credential]\n\thelper = store\n")
    repository.git("update-server-info")
    env = {"GIT_SSL_CAINFO": f"{tmp_path}/certificate.pem.crt", "DEBUG": "1"}
    address = f"https://{{}}{host}/acme/.git"
    done = plugin(
        made, "add", address.format("bob:S3%2FCRET@"), "--name", "acme", env=env
    )
    assert done.status == 0, done.stderr
    assert "bob:S3/CRET" in handler.asked
    assert any("remote-https" in arguments for arguments in handler.seen)
    assert not [
        one for one in handler.seen if "CRET" in one and "self plugin" not in one
    ]
    assert "CRET" not in done.stdout + done.stderr
    assert registry(made)["acme"]["source"] == address.format("")
    assert not (made.home / ".git-credentials").exists()
    refused = plugin(
        made, "add", address.format("bob:wrong@"), "--name", "other", env=env
    )
    assert refused.status == 1
    assert "wrong" not in refused.stderr


SECRETIVE = [
    "https://bob:S3CRET@[::1/x.git", "pip:https://bob:S3CRET@x/y", "pip:foo@https://bob:S3CRET@x/y",
    "https:/bob:S3CRET@localhost/x.git", "https://bob:S3CRET@h/nope::x", "bob:S3CRET@h/x.git",
    "https://h/x.git?private_token=S3CRET", "https://h/x.git?a=b&Access_Token=S3CRET#c",
    "https://bob:S3/CRET@h/x.git", "https://bob:S3?CRET@h/x.git", "https://bob:S3@CRET@h:y/x.git",
    "ftp://bob:S3CRET@h/x", "-https://bob:S3CRET@h/x", "./https://bob:S3CRET@h/x",
    "https://bob:S3CRET@h/x%", "https://bob:S3CRET%0aCRET@h/x", "git+https:bob:S3CRET@h/x",
    "https://bob:1S3/CRET@h/x.tar.gz", "git@bob:S3CRET@h/x", "//bob:S3CRET@h/x",
    "pip:acme?token=S3CRET", "https://S3CRET@[h/x", "https:\\\\bob:S3CRET@h/x",
]  # fmt: skip


@pytest.mark.parametrize("text", SECRETIVE)
@pytest.mark.sampled
def test_no_refusal_repeats_a_secret(install: Install, text: str) -> None:
    done = plugin(install(), "add", text, "--timeout", "5", env={"DEBUG": "1"})
    assert done.status in (1, 2)
    assert "CRET" not in done.stdout + done.stderr


def test_logins() -> None:
    for address, site, login in (
        ("https://bob:a%40b@h.test:8/x", "https://h.test:8", b"bob:a@b"),
        ("HTTPS://token@h.test/x", "https://h.test", b"token:"),
    ):
        assert login_of(address) == {
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": f"http.{site}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {b64encode(login).decode()}",
            "GIT_CONFIG_KEY_1": "http.followRedirects",
            "GIT_CONFIG_VALUE_1": "false",
        }
    for address in (
        "https://h.test/x",
        "https://@h.test/x",
        "ssh://git:pw@h.test/x",
        "git@h:x",
    ):
        assert login_of(address) == {}, address


def test_an_error_shows_no_login_of_a_remote(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "team", plugin_files())
    repository.git("remote", "add", "origin", "https://bob:S3CRET@127.0.0.1:1/x.git")
    git = Git(str(repository.path), os.environ, 10)
    with pytest.raises(HostError, match=r"^https://…@127.0.0.1:1/x.git: git fetch"):
        fetch_newest(git)


MASKED = {
    "no address: a@b.test": "no address: a@b.test",
    "no password: podman:@all": "no password: podman:@all",
    "https://h.test/a@b": "https://h.test/a@b",
    "https://[::1]:8/a@b": "https://[::1]:8/a@b",
    "https://h.test:80/a@b?x=1": "https://h.test:80/a@b?x=1",
    "from https://u:p@h.test/x, u2:p2@h.test": "from https://…@h.test/x, …@h.test",
    "'https://token@h.test/?key=k&b=c'": "'https://…@h.test/?key=…&b=c'",
    "ssh://git:pw@h.test/a": "ssh://git@h.test/a",
    "git@h.test:a/b.git": "git@h.test:a/b.git",
    "x://u:p@h.test" * 2: "x://…@h.test" * 2,
    "https://u:hunter 19@h/": "https://…@h/",
    "to https://u:19 hunter@h/ and": "to https://…@h/ and",
    "https://u:a b/c@h/ https://v:d e@h/": "https://…@h/ https://…@h/",
    "https://u:a\nb@h.test": "https://u:a\nb@h.test",
    "https://h.test:80/x by a@b.test": "https://h.test:80/x by a@b.test",
    "https://[::1]:80 by a@b.test": "https://[::1]:80 by a@b.test",
}


@pytest.mark.parametrize(("text", "expected"), MASKED.items())
def test_masked_addresses(text: str, expected: str) -> None:
    assert masked_text(text) == expected


@pytest.mark.parametrize("words", ["plugin add x", "plugin update", "plugin sync"])
@pytest.mark.night
def test_seconds_that_nobody_can_wait(install: Install, words: str) -> None:
    made = install()
    for seconds in ("nan", "inf", "-inf", "x", "-1", "1e300", "1000000"):
        done = made.run("self", *words.split(), f"--timeout={seconds}")
        assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1), (
            seconds
        )
        assert (
            "--timeout: expected a number that matches [0-9.]{1,6}; found "
            in done.stderr
        )


def test_a_failed_update_leaves_the_old_version(
    install: Install, repository: Repository
) -> None:
    made = install()
    assert plugin(made, "add", repository.url).status == 0
    before = registry(made)
    repository.commit({"plugin.json": "{"})
    done = plugin(made, "update")
    assert done.status == 1
    assert f"cli: {repository.url}: plugin.json:1:2: " in done.stderr
    assert registry(made) == before
    assert made.run("demo", "hi").stdout == "hi\n"
    repository.git("update-ref", "-d", "refs/heads/main")
    assert plugin(made, "update").status == 1
    assert listed(made)["acme"]["state"] == "enabled"


def test_credentials_that_somebody_wrote_into_the_registry_are_not_shown(
    install: Install,
) -> None:
    made = install()
    entry = {"name": "a", "kind": "git", "source": "https://bob:S3CRET@localhost/x.git"}
    entry["packages"] = [
        {"name": "a", "version": "1", "sha256": [], "url": entry["source"]}
    ]
    bad = {"name": "b", "kind": "archive", "source": "ftp://bob:S3CRET@localhost/x.zip"}
    made.write({"plugins/registry.json": {"version": "1.0.0", "plugins": [entry, bad]}})
    for words in (
        ["list", "--format", "json"],
        ["show", "a"],
        ["show", "a", "--format", "json"],
    ):
        done = plugin(made, *words)
        assert (done.status, "S3CRET" in done.stdout + done.stderr) == (0, False), words
        assert "localhost/x.git" in done.stdout


def test_git_may_be_set_to_explicit_bare_repositories(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    settings = tmp_path / "gitconfig"
    settings.write_text("[safe]\n\tbareRepository = explicit\n")
    added = plugin(
        made, "add", repository.url, env={"GIT_CONFIG_GLOBAL": str(settings)}
    )
    assert (added.status, added.stderr) == (0, "")
    assert made.run("demo", "hi").stdout == "hi\n"


@pytest.mark.night
def test_a_repository_with_sha256(install: Install, tmp_path: Path) -> None:
    made = install()
    repository = Repository.__new__(Repository)
    repository.path, repository.url = tmp_path / "acme", f"file://{tmp_path}/acme"
    repository.path.mkdir()
    repository.git("init", "-q", "-b", "main", "--object-format=sha256")
    first = repository.commit(plugin_files("demo/hi", "one"))
    assert len(first) == 64
    assert plugin(made, "add", repository.url).status == 0
    repository.commit(plugin_files("demo/hi", "two"))
    assert plugin(made, "update", "acme").status == 0
    assert made.run("demo", "hi").stdout == "two\n"
    assert plugin(made, "add", repository.url, "--ref", first).status == 0
    assert made.run("demo", "hi").stdout == "one\n"


@pytest.mark.parametrize(
    ("ref", "is_pinned"), [("refs/heads/main", False), ("refs/tags/v1", True)]
)
def test_a_full_ref(
    install: Install, tmp_path: Path, ref: str, is_pinned: bool
) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    repository.git("tag", "v1")
    assert plugin(made, "add", repository.url, "--ref", ref).status == 0
    entry = registry(made)["acme"]
    assert (entry["ref"], entry["pinned"]) == (ref, is_pinned)


def test_gits_own_remedy_for_another_owner_is_shown(
    install: Install, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to give the repository to another user")
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files("demo/hi", "hi"))
    shutil.chown(repository.path / ".git", user=65534)
    refused = plugin(made, "add", repository.url)
    remedy = f"git config --global --add safe.directory {repository.path}/.git"
    assert (refused.status, refused.stderr.endswith(f"{remedy}\n")) == (1, True)
