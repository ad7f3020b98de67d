"""git.sh against real repositories over file://."""

import os
import re
import subprocess

import pytest

from testing.shells import shell_path

LOAD = 'set -eu\n. "$LIB_DIR/git.sh"\n'
CLONE = f'{LOAD}git_clone_safe "$@"'
QUIET = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "HOME": "/nonexistent",
}


@pytest.fixture
def repository(tmp_path):
    """A repository with two commits: its URL."""
    shell_path("git")
    place = tmp_path / "origin"

    def git(*words):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        environment = {**os.environ, **QUIET}
        subprocess.run(
            ["git", *identity, "-C", place, *words],
            check=True,
            env=environment,
            capture_output=True,
        )

    place.mkdir()
    git("init", "-q")
    for text in ["one", "two"]:
        (place / "file").write_text(text)
        git("add", "file")
        git("commit", "-qm", text)
    return f"file://{place}"


def test_the_newest_commit_is_cloned_in_silence(run, shell, tmp_path, repository):
    target = tmp_path / "a b"
    hostile = {
        "GIT_DIR": "/nowhere",
        "GIT_WORK_TREE": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere",
    }
    assert run(shell, CLONE, repository, str(target), env={**QUIET, **hostile}) == (
        0,
        "",
        "",
    )
    assert (target / "file").read_text() == "two"
    log = ["git", "-C", str(target), "log", "--format=%s"]
    assert (
        subprocess.run(log, capture_output=True, text=True, check=True).stdout
        == "two\n"
    )


def test_hooks_of_a_template_do_not_run(run, shell, tmp_path, repository):
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch '{tmp_path}/pwned'\n")
    (hooks / "post-checkout").chmod(0o755)
    env = {**QUIET, "GIT_TEMPLATE_DIR": str(hooks.parent)}
    assert run(shell, CLONE, repository, str(tmp_path / "to"), env=env).status == 0
    assert not (tmp_path / "pwned").exists()
    assert not (tmp_path / "to" / ".git" / "hooks").exists()


REFUSED = [
    "",
    "-u./x",
    "--upload-pack=touch pwned",
    "ext::sh -c touch% pwned",
    "fd::3",
    "http://example.org/x",
    "ftp://example.org/x",
    "/absolute/path",
    "relative",
    "host:path",
    "ssh://-oProxyCommand=x/y",
    "git@-oProxyCommand=x:y",
    "us er@host:x",
    "user@host/x:y",
    "https://example.org/\nx",
    "HTTPS:",
    "https://",
]


def test_other_urls_are_refused(run, shell, tmp_path, stub):
    path = stub("git", f"touch '{tmp_path}/called'")
    script = f'{LOAD}set +e\nfor url; do git_clone_safe "$url" to; echo $?; done'
    _, out, err = run(shell, script, *REFUSED, env={"PATH": f"{path}:/usr/bin:/bin"})
    assert out.split() == ["2"] * len(REFUSED)
    assert re.fullmatch(r"(\[ERROR\] [-0-9: ]{19} - cannot clone [^\n]*\n)+", err)
    assert err.count("\n") == len(REFUSED)
    assert not (tmp_path / "called").exists()


def test_what_git_is_asked(run, shell, tmp_path, stub):
    urls = [
        "https://example.org/a.git",
        "ssh://git@example.org:22/a",
        "git://example.org/a",
        "file:///a/é b",
        "git@example.org:a/b.git",
        "git@work-alias:~x/y",
    ]
    path = stub(
        "git",
        f'printf "%s|" "$@" "$GIT_TERMINAL_PROMPT" "$GIT_ALLOW_PROTOCOL" >>"{tmp_path}/asked"\n'
        f'echo >>"{tmp_path}/asked"',
    )
    script = f'{LOAD}for url; do git_clone_safe "$url" -to; done'
    assert run(shell, script, *urls, env={"PATH": f"{path}:/usr/bin:/bin"}) == (
        0,
        "",
        "",
    )
    calls = [line.split("|") for line in (tmp_path / "asked").read_text().splitlines()]
    for url, asked in zip(urls, calls, strict=True):
        assert asked[-6:] == ["--", url, "-to", "0", "https:ssh:git:file", ""]
        assert {
            "core.hooksPath=/dev/null",
            "protocol.ext.allow=never",
            "--template=",
            "--no-recurse-submodules",
        } <= set(asked)


def test_a_directory_must_be_named(run, shell, repository):
    assert run(shell, CLONE, repository).status == 2


def test_a_failure_is_one_clean_line(run, shell, tmp_path, stub):
    body = "printf 'fatal: https://me:secret@example.org/\\033[31m\\nmore\\r\\n' >&2; exit 128"
    path = stub("git", body)
    url = "https://me:secret@example.org/x"
    result = run(
        shell, CLONE, url, str(tmp_path / "to"), env={"PATH": f"{path}:/usr/bin:/bin"}
    )
    assert result.status == 1
    expected = (
        " - cannot clone https://example.org/x: fatal: https://example.org/[31m more\n"
    )
    assert result.err.endswith(expected)


@pytest.mark.slow
@pytest.mark.skipif(
    not os.path.exists("/usr/bin/timeout"), reason="timeout is not installed"
)
def test_a_server_that_says_nothing(run, tmp_path, stub):
    path = stub("git", "exec sleep 300")
    env = {"PATH": f"{path}:/usr/bin:/bin", "GIT_CLONE_TIMEOUT": "1"}
    result = run(
        shell_path("bash"),
        CLONE,
        "https://example.org/x",
        str(tmp_path / "to"),
        env=env,
    )
    assert result.status == 1


def test_git_is_there(run, shell):
    shell_path("git")
    assert run(shell, f"{LOAD}ensure_git_installed") == (0, "", "")
