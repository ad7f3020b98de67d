"""The hosts that failed in the last run, for `--on @failed`."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence

from cli_host_fleet.problem import FleetError

FAILED = "failed"  # the name of the group
# variables that say where the containers of a place are
DAEMONS = {
    "DOCKER_HOST": "docker:",
    "DOCKER_CONTEXT": "docker:",
    "CONTAINER_HOST": "podman:",
    "CONTAINER_CONNECTION": "podman:",
    "KUBECONFIG": "kube:",
}
_IN_A_SET = re.compile(r"@failed(?![\w.:%=+-])")  # but not `@failed_disks`


def is_in(selection: str) -> bool:
    """Return whether a set of hosts contains `@failed`."""
    return _IN_A_SET.search(selection) is not None


def place(environ: Mapping[str, str], root: str) -> str:
    """Return the file that records the last run of the installation at `root`."""
    # A relative path would be below the current directory, so it counts as unset.
    state = environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        home = environ.get("HOME", "")
        if not home.startswith("/"):
            home = pwd.getpwuid(os.getuid()).pw_dir
        state = f"{home}/.local/state"
    return f"{state}/cli-host-fleet{root}/failed.json"


def remember(file: str, names: Sequence[str], origin: Mapping[str, str]) -> None:
    """Write the names of the failed hosts atomically; raises OSError.

    `origin` has the options and variables that decide what a name means, with their values.
    """
    directory = os.path.dirname(file)
    os.makedirs(directory, mode=0o700, exist_ok=True)

    # Beside the file, because a file moves atomically only within a file system.
    with tempfile.NamedTemporaryFile(
        "w", dir=directory, prefix=".failed-", delete=False
    ) as written:
        json.dump({"hosts": names, "origin": {**origin}}, written)
    os.replace(written.name, file)


def forget(file: str) -> None:
    """Forget the hosts of an earlier run, which a killed run must not leave to `@failed`."""
    with contextlib.suppress(OSError):
        os.unlink(file)


def recall(file: str, origin: Mapping[str, str]) -> list[str]:
    """Return the failed hosts; raises FleetError if no run is recorded or no host failed.

    `origin` is that of this run. If the last run had another, a name could mean another machine,
    which is an error, too.
    """
    try:
        with open(file) as opened:
            last = json.load(opened)
        names: list[str] = last["hosts"]
        former: dict[str, str] = last["origin"]
    except FileNotFoundError:
        raise FleetError("@failed: there is no last run, or it has not ended") from None
    except OSError as failure:
        raise FleetError(f"{file}: {failure.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise FleetError(
            f"{file}: damaged; @failed does not know the last run"
        ) from None

    if not names:
        raise FleetError("@failed: no host failed in the last run")
    for name, given in origin.items():
        value = former.get(name, "")
        decides = names[0].startswith(DAEMONS.get(name, ""))
        if value == given or not decides:
            continue
        what = f"@failed: the last run had another {name.strip('-')}"
        give, leave_out = f"give {name} ", f"leave out {name}"
        if name in DAEMONS:
            give, leave_out = f"export {name}=", f"unset {name}"
        remedy = give + shlex.quote(value) if value else leave_out
        raise FleetError(f"{what}; {remedy}")
    return names
