"""The one step of setup that may need root: swap a prepared version in, or remove everything.

It runs as `sudo PYTHON -I -m builtin_plugins.setup.linux.elevated …` with every path as an
argument, because sudo drops the environment. This module contains caller and callee.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial

from builtin_plugins.io.files.atomic import copy_tree
from builtin_plugins.io.files.undo import cleanup_on_signal, os_errors_explained
from builtin_plugins.io.progress import Reporter
from builtin_plugins.setup.linux import swap
from builtin_plugins.setup.tool_settings import PATHS, Places, Settings, variable
from host import HostError, Messages, OperationError, find_program


def find_sudo(places: Places) -> str | None:
    """Return the path of sudo if a change needs it, None if the caller has the rights.

    Raises OperationError naming the directories if sudo is needed but missing.
    """
    changed = (places.install_dir, places.bin_dir, os.path.dirname(places.desktop_file))
    missing = list(dict.fromkeys(filter(None, map(_closed_directory, changed))))
    sudo = find_program("sudo", {})  # the system's sudo: settings may have changed PATH
    if missing and sudo is None:
        one, two, three = (variable(places.tool, suffix) for suffix in PATHS)
        raise OperationError(
            f"no right to write to {', '.join(missing)}, and there is no sudo",
            f"run it as root, or set {one}, {two} and {three} to places of your own",
        )
    return sudo if missing else None


def _closed_directory(path: str) -> str:
    """Return `path`, or the nearest existing one above, if the caller may not write to it; else "".

    Another run may remove it meanwhile, so its rights are checked through a descriptor.
    """
    try:
        directory = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # missing or inaccessible
        return _closed_directory(os.path.dirname(path))
    try:
        is_open = os.access(".", os.W_OK | os.X_OK, dir_fd=directory)
    finally:
        os.close(directory)
    return "" if is_open else path


def run(
    sudo: str, settings: Settings, reporter: Reporter, application: swap.Application | None = None
) -> None:
    """Run the elevated step with sudo: install the application, or uninstall if it is None.

    Raises OperationError with everything that sudo printed.
    """
    places = settings.places
    changed = f"{places.install_dir}, {places.link} and {places.desktop_file}"
    reporter.info(f"sudo will be asked to change {changed}")
    # -I: ignore PYTHON* variables and the current directory
    command = [sudo, sys.executable, "-I", "-m", "builtin_plugins.setup.linux.elevated"]
    command += [*places, *(application or ())]
    # Ctrl-C also reaches sudo, and the elevated step undoes its work.
    with subprocess.Popen(command, env=dict(settings.environ), stderr=subprocess.PIPE) as process:
        _, printed = process.communicate()
    lines = [line for line in printed.decode("utf-8", "replace").splitlines() if line.strip()]
    if process.returncode:
        raise OperationError(f"with sudo: {'; '.join(lines) or 'failed without a message'}")
    for line in lines:
        reporter.warn(line)


def main(arguments: Sequence[str]) -> int:
    """Install a version, or uninstall; print one line and return 1 if that fails.

    The arguments are the fields of `Places`, followed by those of `Application` to install.
    """
    count = len(Places._fields)
    return cleanup_on_signal(lambda: _change(Places(*arguments[:count]), arguments[count:]))


def _change(places: Places, application: Sequence[str]) -> int:
    messages = Messages("setup", {})
    try:
        with os_errors_explained():
            if not application:
                swap.uninstall(places)
                return 0
            prepare = partial(_copy, swap.Application(*application))
            for problem in swap.install(places, prepare):
                messages.line(str(problem))
    except HostError as failure:
        messages.line(str(failure))
        return 1
    return 0


def _copy(application: swap.Application, stage: str) -> swap.Application:
    """Copy the files that the caller of sudo prepared, so that root owns them."""
    if not application.source:
        return application
    tree = os.path.join(stage, "new")
    copy_tree(application.source, tree)
    return application._replace(source=tree)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
