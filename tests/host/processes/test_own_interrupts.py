"""Ctrl-C ends the program as it ends any other, and what has to tidy up still does."""

import os
import re
import signal
import subprocess
import time

import pytest

from testing import httpserver
from testing.installation import command
from testing.plugin_sources import hidden, plugin_files, tar_of, visible
from testing.processes import processes_left_with
from testing.rows import night_but
from testing.waiting import wait_until

HOOKS = """
import os, time
from host import hookimpl

@hookimpl
def discover_commands(installation):
    if "HANG" in os.environ:
        open(os.environ["HANG"], "w").close()
    while "HANG" in os.environ:
        time.sleep(0.01)
    return []
"""
FILES = {
    "commands/a/b/command.json": command(),
    "commands/a/b/main.sh": "#!/bin/sh\nexec sleep 99\n",
    "commands/a/py/command.json": command(entrypoint="subprocess:call"),
    "config/settings.conf": "S=1\n",
    "plugins/p/plugin.json": {"name": "p", "hooks": "hooks.py"},
    "plugins/p/hooks.py": HOOKS,
}
MOMENTS = range(400 if os.environ.get("FULL_SWEEP") else 8)


@pytest.fixture(scope="module")
def made(shared_install):
    """An installation whose launcher says so on stderr when its first line is behind it."""
    made = shared_install(FILES)
    text = made.launcher.read_text()
    says = "__import__('posix').write(2, b'.')"
    made.launcher.write_text(re.sub(r"\nsys\.path", rf"\n{says}\nsys.path", text))
    return made


def start(made, *words, **env):
    process = subprocess.Popen(
        [made.launcher, *words],
        env={"PATH": os.environ["PATH"], "HOME": str(made.home), **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert os.read(process.stderr.fileno(), 1) == b"."
    return process


INVOCATIONS = {  # words, and how many seconds they take about
    "run": (["a", "b"], 0.03),
    "Python command": (["a", "py", "sleep", "99"], 0.12),
    "listing": (["a"], 0.05),
    "help": (["--help"], 0.04),
    "version": (["--version"], 0.02),
    "without a lock": (["--safe", "a"], 0.2),
    "self": (["self", "plugin", "list"], 0.2),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "seconds"), night_but(["run", "without a lock"], INVOCATIONS)
)
def test_an_interrupt_at_any_moment_ends_it_without_a_word(made, words, seconds):
    """FULL_SWEEP=1 tries 400 moments."""
    for moment in MOMENTS:
        process = start(made, *words)
        time.sleep(seconds * moment / len(MOMENTS))
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert (process.returncode in (-signal.SIGINT, 0), said) == (True, b""), moment


def test_one_that_is_ignored_stays_so(made):
    line = f"trap '' INT; exec {made.launcher} a b"
    process = subprocess.Popen(["/bin/sh", "-c", line], stderr=subprocess.PIPE)
    assert process.stderr.read(1) == b"."
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    assert process.poll() is None
    process.kill()


@pytest.mark.parametrize("words", [["a", "b"], ["self", "lock"]], ids=" ".join)
def test_a_plugin_that_is_being_asked_ends_with_it(made, tmp_path, words):
    (made.root / "cli.lock").unlink(missing_ok=True)
    asked = tmp_path / "asked"
    process = start(made, *words, HANG=str(asked), MARK=f"ends {asked}")
    wait_until(asked.exists)
    process.send_signal(signal.SIGINT)  # to it alone, as no terminal would
    said = b"".join(
        process.communicate(timeout=60)
    ).strip()  # click ends the line of a ^C
    assert (said, process.returncode) == (b"", -signal.SIGINT)
    assert processes_left_with(f"ends {asked}") == []


def test_an_interrupted_download_leaves_nothing(made, site):
    address = site.add("/acme.tar.gz", httpserver.stall(tar_of(plugin_files()), 10))
    process = start(made, "self", "plugin", "add", "--yes", address)
    wait_until(lambda: site.asked("/acme.tar.gz"))
    left = [name for name in os.listdir(made.root / "plugins") if name.startswith(".")]
    assert left, "nothing to tidy up yet"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1].strip() == b""
    assert process.returncode == -signal.SIGINT
    assert hidden(made) == []


def test_an_interrupt_at_a_question_says_no(made, tmp_path):
    primary, secondary = os.openpty()
    (tmp_path / "acme.tar.gz").write_bytes(tar_of(plugin_files()))
    process = subprocess.Popen(
        [made.launcher, "self", "plugin", "add", tmp_path / "acme.tar.gz"],
        stdin=secondary, stdout=secondary, stderr=secondary, start_new_session=True,
    )  # fmt: skip
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(primary, 4096)
    time.sleep(0.2)  # until it waits for the answer
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT
    assert visible(made) == ["p"]
    assert hidden(made) == []
