"""`.ci/run` up to the tests: what it installs, and what it leaves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.environments import add_build_tools
from testing.machine import in_mounts
from testing.pages import clone

# A /usr/local of the run's own, and no package manager.
PRIVATE = """
unset CLI_DIR COMMAND_CATEGORY COMMAND_NAME
mount -t tmpfs tmpfs /usr/local
mkdir -p /usr/local/bin
if [ -e /usr/bin/apt-get ]; then mount --bind /dev/null /usr/bin/apt-get; fi
"""
LINK = "/usr/local/bin/cli"


@pytest.mark.night
def test_if_the_tests_fail_it_takes_away_what_it_installed_and_ends_after_lint(
    tmp_path: Path, new_venv: Callable[[Path], Path], offline: dict[str, str]
) -> None:
    clone(tmp_path / "clone")
    venv = new_venv(
        tmp_path / "clone/.venv"
    )  # which install.sh takes as it is: it has pip
    offline = offline | add_build_tools(venv, Path(offline["PIP_FIND_LINKS"]))
    suite = tmp_path / "clone/tests/run"
    suite.write_text(
        'link=$(cat .venv/cli-host-bin-dir)/cli; readlink "$link"; "$link" demo hello Ada; exit 7'
    )
    (tmp_path / "clone/.ci/lint").write_text("echo linted")
    (tmp_path / "clone/packages/run-tests").write_text("echo packages; exit 3")
    run = f"{PRIVATE} ln -s /bin/true {LINK}; cd {tmp_path}/clone; bash .ci/run || echo $?;"
    run += "find /usr/local -mindepth 1 ! -type d"
    environ = {
        **offline,
        "HOME": str(tmp_path),
        "PYTHON": sys.executable,
        "PYTHONPATH": "",
    }
    done = in_mounts(run, **environ)
    assert done.returncode == 0, done.stderr
    assert "\nHello, " in done.stdout.partition("== tests")[0]
    end = f"{tmp_path}/clone/core/cli\nHello, Ada!\n"
    assert f"== tests\n{end}Removed " in done.stdout
    assert done.stdout.endswith(f"\nlinted\n== packages\npackages\n1\n{LINK}\n")
    assert done.stderr.endswith(".ci/run: failed: tests/run packages/run-tests\n")
    assert not (tmp_path / "clone/core/cli").exists()
