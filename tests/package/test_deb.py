"""The Debian package of release/deb: Debian's own check, and the program over a /usr with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from testing.installation import PROJECT
from testing.machine import NOBODY, in_mounts, needs

pytestmark = [
    pytest.mark.night,
    pytest.mark.skipif(shutil.which("dh") is None, reason="needs debhelper"),
]


@pytest.fixture(scope="module")
def package(environment_of_all: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    [wheel] = (environment_of_all / "own").glob("*.whl")
    folder = tmp_path_factory.mktemp("deb")
    command = [PROJECT / "release/deb", folder, wheel]
    subprocess.run(command, check=True, env={**os.environ, "PYTHON": sys.executable})
    [package] = folder.glob("cli-host_*_all.deb")
    return package


@pytest.mark.skipif(shutil.which("lintian") is None, reason="needs lintian")
def test_lintian_has_nothing_to_say(package: Path) -> None:
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


# The steps of a user without rights, with an empty home.
STEPS = """
mkdir scripts
printf '#!/bin/sh\\n# Greet somebody.\\necho hi $1\\n' >scripts/greet
chmod 755 scripts/greet
cli-host --version
cli-host self init --name acme >made
acme=$HOME/.local/bin/acme
$acme demo hello Ada
$acme self plugin add ./scripts --yes >added
$acme greet Bo
$acme self update || echo $?
"""


@pytest.mark.skipif(
    not os.path.exists("/usr/bin/python3"), reason="needs Debian's Python"
)
def test_a_user_without_rights_makes_an_installation(
    package: Path, tmp_path: Path
) -> None:
    needs("setpriv")
    root, steps = tmp_path / "root", tmp_path / "steps"
    subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    steps.write_text(STEPS)
    user = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
    done = in_mounts(
        f"""
        mount -t overlay overlay -o lowerdir={root}/usr:/usr /usr
        mount -t tmpfs -o mode=1777 tmpfs /mnt
        cd /mnt
        {user} env -i HOME=/mnt PATH=/usr/bin:/bin CI=1 sh -es <{steps}
        """
    )
    assert done.returncode == 0, done.stderr
    version, *outputs = done.stdout.splitlines()
    assert version.startswith("cli-host ")
    assert outputs == ["Hello, Ada!", "hi Bo", "1"]
