"""`min_version` of cli.json and plugin.json: the oldest program version that can use the file."""

import sys

from host.errors import Problem
from host.hook_marker import OWN_DISTRIBUTION
from host.installation import program_name
from host.processes.required_programs import is_version, satisfies


def version_problem(path: str, wanted: str) -> Problem | None:
    """Return why this program cannot use a file with this `min_version`, or None if it can.

    The problem's remedy is the command that updates this program::

        problem = version_problem("plugin.json", "1.2")
        if problem is not None:
            raise PluginError(problem)
    """
    import re

    import importlib_metadata

    if not is_version(wanted):
        return Problem(path, "expected a version such as 1.2", key="min_version")

    # A version such as 1.2.dev3 counts as 1.2.
    version: str = importlib_metadata.version(OWN_DISTRIBUTION)
    numbers = re.match(r"[0-9]+(\.[0-9]+)*", version)
    if numbers and satisfies(numbers[0], f">={wanted}"):
        return None

    text = f"needs {OWN_DISTRIBUTION} {wanted} or newer; this is {version}"
    remedy = f"{program_name(sys.argv[0])} self update"
    return Problem(path, text, remedy, key="min_version")
