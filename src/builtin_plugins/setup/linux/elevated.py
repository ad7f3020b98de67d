"""The one step of setup that may need root: put a prepared application in place, or remove it.

Started as `sudo PYTHON -I -m builtin_plugins.setup.linux.elevated ACTION …` with every path
as an argument, because sudo drops the environment that said them.
"""

import argparse
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from builtin_plugins.io.archive import Rules, extract
from builtin_plugins.io.files.undo import cleanup_on_signal, os_errors_explained
from builtin_plugins.setup.linux.stage import NEW
from builtin_plugins.setup.linux.swap import remove_all, swap_in
from builtin_plugins.setup.tool_settings import Places
from host import HostError, Messages, OperationError


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; print one line and return 1 when it cannot be done."""
    parser = argparse.ArgumentParser(prog="setup_elevated", allow_abbrev=False)
    parser.add_argument("action", choices=("put", "remove"))
    for name in ("--tool", "--install-dir", "--bin-dir", "--desktop-file"):
        parser.add_argument(name, required=True)
    parser.add_argument("--archive", default="")
    return cleanup_on_signal(lambda: _do(parser.parse_args(arguments)))


def _do(given: argparse.Namespace) -> int:
    places = Places(given.tool, given.install_dir, given.bin_dir, given.desktop_file)
    try:
        with os_errors_explained():
            if given.action == "put":
                swap_in(places, lambda stage: _unpack(given.archive, Path(stage, NEW)))
            else:
                remove_all(places)
    except HostError as failure:
        Messages("setup", {}).line(str(failure))
        return 1
    return 0


def _unpack(archive: str, target: Path) -> None:
    """Unpack what the caller of sudo has prepared, as strictly as any archive.

    It has to be a file of theirs: another's is not given away.
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
