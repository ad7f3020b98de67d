"""The one step of setup that may need root: swap a prepared version in, or remove everything.

Started as `sudo PYTHON -I -m builtin_plugins.setup.linux.elevated ACTION …` with every path as an
argument, because sudo drops the environment.
"""

import argparse
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from builtin_plugins.io.archive import Rules, extract
from builtin_plugins.io.files.undo import cleanup_on_signal, os_errors_explained
from builtin_plugins.setup.linux import state
from builtin_plugins.setup.linux.install import BUSY
from builtin_plugins.setup.linux.prepare import NEW, Application
from builtin_plugins.setup.linux.swap import clear, remove_all, swap_in
from builtin_plugins.setup.tool_settings import Places
from builtin_plugins.store import staging
from host import HostError, Messages, OperationError


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the action; print one line and return 1 if it fails."""
    parser = argparse.ArgumentParser(prog="setup_elevated", allow_abbrev=False)
    parser.add_argument("action", choices=("put", "remove"))
    for name in ("--tool", "--install-dir", "--bin-dir", "--desktop-file"):
        parser.add_argument(name, required=True)
    for name in ("--version", "--launcher", "--menu", "--archive"):
        parser.add_argument(name, default="")
    return cleanup_on_signal(lambda: _run(parser.parse_args(arguments)))


def _run(given: argparse.Namespace) -> int:
    places = Places(given.tool, given.install_dir, given.bin_dir, given.desktop_file)
    messages = Messages("setup", {})
    try:
        with os_errors_explained(), state.store_of(places).locked(BUSY, mode=0o755):
            problems = _put(places, given) if given.action == "put" else remove_all(places)
        if given.action == "remove" and problems:
            raise problems[0]
    except HostError as failure:
        messages.line(str(failure))
        return 1
    for problem in problems:
        messages.line(str(problem))
    return 0


def _put(places: Places, given: argparse.Namespace) -> list[OperationError]:
    clear(places)
    application = Application(given.version, given.launcher, given.menu)
    with staging(places.install_dir) as (stage, _):
        staged = os.path.join(stage, NEW) if given.archive else ""
        if staged:
            _unpack(given.archive, Path(staged))
        return swap_in(places, application, staged)


def _unpack(archive: str, target: Path) -> None:
    """Unpack what the caller of sudo prepared, as strictly as any archive.

    It must be a regular file of theirs: root must not hand out another user's.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(archive, flags), "rb") as file:
        status = os.fstat(file.fileno())
        caller = int(os.environ.get("SUDO_UID", os.geteuid()))
        if not stat.S_ISREG(status.st_mode) or status.st_uid != caller:
            raise OperationError(f"{archive} is no file of the user {caller}")
        same = Path(f"/dev/fd/{file.fileno()}")  # whatever is at its path by now
        extract(same, target, Rules(strip=False), called=archive)


if __name__ == "__main__":
    sys.exit(main())
