"""The single file, the Debian package and the image, each in a Debian with nothing else of ours.

These tests fetch Debian's packages, which takes minutes: they need FULL_SWEEP=1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from testing.installation import PROJECT
from testing.machine import needs, needs_mounts

pytestmark = pytest.mark.night

DISK = "/var/tmp"
RELEASE = "bookworm"
IMAGE = f"docker.io/library/debian:{RELEASE}-slim"

# A user without rights makes an installation, and adds scripts; `$program` is what is tested.
STEPS = """
cd
mkdir scripts
printf '#!/bin/sh\\n# Greet somebody.\\necho hi $1\\n' >scripts/greet
chmod 755 scripts/greet
$program self init --name acme >made
acme=$HOME/.local/bin/acme
$acme demo hello Ada
$acme --yes self plugin add ./scripts >added
$acme greet Bo
"""
PRINTED = ["Hello, Ada!", "hi Bo"]


@pytest.fixture(scope="module")
def archive() -> Iterator[Path]:
    """A root of Debian's smallest set of packages, and Python."""
    needs("mmdebstrap")
    needs_mounts()
    with TemporaryDirectory(dir=DISK) as folder:
        archive = Path(folder) / "root.tar"
        variant = ["--variant=minbase", "--include=python3,ca-certificates"]
        subprocess.run(
            ["mmdebstrap", "--quiet", *variant, RELEASE, archive], check=True
        )
        yield archive


@pytest.fixture
def area() -> Iterator[Path]:
    """A folder on a disk: the roots and images are too large for memory."""
    with TemporaryDirectory(dir=DISK) as folder:
        yield Path(folder)


@pytest.fixture
def root(archive: Path, area: Path) -> Path:
    """A fresh copy of that root, with the user `ada`, and this machine's name servers."""
    root = area / "root"
    root.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", root, "--exclude=./dev/*"], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc")
    in_root(root, "useradd --create-home ada")
    return root


def in_root(root: Path, script: str) -> str:
    """Run a script in a root, as a first process with its own mounts; return its output."""
    prepared = f"""
        set -e
        mount -t proc proc /proc
        mount -t tmpfs tmpfs /dev
        mknod -m 666 /dev/null c 1 3
        mknod -m 666 /dev/urandom c 1 9
        export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
        {script}
    """
    done = subprocess.run(
        ["unshare", "-m", "-p", "-f", "chroot", root, "sh", "-c", prepared],
        env={"HOME": "/root", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def as_ada(root: Path, program: str) -> list[str]:
    """Let `ada` do the steps with a program; return the lines that they print."""
    (root / "tmp/steps").write_text(f"program={program}\n{STEPS}")
    return in_root(root, "su - ada -c 'sh -e /tmp/steps'").splitlines()


def released(name: str, target: Path, environment_of_all: Path) -> None:
    """Run release/NAME on the wheel of this program."""
    [wheel] = (environment_of_all / "own").glob("*.whl")
    command = [PROJECT / "release" / name, target, wheel]
    subprocess.run(command, check=True, env={**os.environ, "PYTHON": sys.executable})


def test_the_single_file(root: Path, environment_of_all: Path) -> None:
    released("zipapp", root / "tmp/acme.pyz", environment_of_all)
    assert as_ada(root, "/tmp/acme.pyz") == PRINTED


def test_the_debian_package(root: Path, environment_of_all: Path) -> None:
    needs("dh")
    released("deb", root / "tmp", environment_of_all)
    in_root(
        root, "apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb"
    )
    assert as_ada(root, "cli-host") == PRINTED
    in_root(root, "dpkg -r cli-host")
    assert not (root / "usr/lib/cli-host").exists()
    assert not (root / "usr/bin/cli-host").exists()


@pytest.fixture
def buildah(area: Path, archive: Path) -> Iterator[list[str]]:
    """A buildah whose store has the image that the recipe starts from."""
    needs("buildah")
    buildah = ["buildah", "--root", str(area / "store"), "--runroot", str(area / "run")]
    buildah += ["--storage-driver", "vfs"]

    def call(*words: object) -> str:
        done = subprocess.run(
            [*buildah, *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    base = call("from", "scratch")
    subprocess.run(["tar", "-xf", archive, "-C", call("mount", base)], check=True)
    call("commit", "--rm", base, IMAGE)
    yield buildah
    call("rm", "--all")


def test_the_image(buildah: list[str], tmp_path: Path) -> None:
    """It is built without namespaces, so this runs in a container as well."""
    sources = tmp_path / "sources"
    sources.mkdir()
    tracked = subprocess.run(
        ["git", "-C", PROJECT, "archive", "HEAD"], check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", sources], input=tracked.stdout, check=True)

    recipe = PROJECT / "release/Containerfile"
    build = [
        *buildah,
        "bud",
        "--isolation",
        "chroot",
        "--pull-never",
        *pip_settings(tmp_path),
    ]
    subprocess.run([*build, "--file", recipe, "--tag", "tried", sources], check=True)

    made = subprocess.run(
        [*buildah, "from", "--pull-never", "localhost/tried"],
        check=True,
        capture_output=True,
        text=True,
    )
    run = [
        *buildah,
        "run",
        "--isolation",
        "chroot",
        made.stdout.strip(),
        "--",
        "bash",
        "-es",
    ]
    done = subprocess.run(
        run,
        input=f"program=cli-host\n{STEPS}git --version\nid -u",
        check=True,
        capture_output=True,
        text=True,
    )
    *printed, git, user = done.stdout.splitlines()
    assert (printed, git.split()[:2], user) == (PRINTED, ["git", "version"], "1000")


def pip_settings(folder: Path) -> list[str]:
    """Return options that give the build this machine's certificates, for its pip."""
    certificates = os.environ.get("PIP_CERT")
    if certificates is None:
        return []
    shutil.copy(certificates, folder / "certificates")
    (folder / "pip.conf").write_text("[global]\ncert = /run/certificates\n")
    mounted = {"certificates": "/run/certificates", "pip.conf": "/etc/pip.conf"}
    return [f"--volume={folder / name}:{target}:ro" for name, target in mounted.items()]
