"""What tests see instead of the user's own files and variables.

bats itself gets a HOME, a PATH and a copy of the installation in a temporary directory; the shell
library gives each test further copies of these.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from cli_host_test.installation_copy import copy_installation
from host import Program, UsageError, printable

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(_PACKAGE, "lib", "test.sh")

# Variables that do not change what a script does, or that it cannot do without.
_PASSED = ("LANG", "LANGUAGE", "LOGNAME", "TERM", "TZ", "USER")
_PASSED_PREFIXES = ("LC_", "BATS_")
_SYSTEM_FOLDERS = (
    "/opt/homebrew/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
)


def make_surroundings(
    program: Program, directory: str, caller: Mapping[str, str], passed: Collection[str]
) -> dict[str, str]:
    """Make the files of the tests in `directory` and return the environment of bats."""
    home = os.path.join(directory, "home")
    scratch = os.path.join(directory, "tmp")
    programs = os.path.join(directory, "bin")
    for folder in (home, scratch, programs):
        os.mkdir(folder)

    # The copy has the name of the original, which some messages show.
    above = os.path.join(directory, "copy")
    os.mkdir(above)
    template = os.path.join(above, os.path.basename(program.root))
    copy_installation(program, template)
    launcher = os.path.basename(program.executable)
    copied_launcher = os.path.join(template, "core", launcher)
    link = os.path.join(programs, program.name)
    os.symlink(copied_launcher, link)

    system = os.pathsep.join(filter(os.path.isdir, _SYSTEM_FOLDERS))
    return {
        **_callers_variables(caller, passed),
        "HOME": home,
        "TMPDIR": scratch,
        # A file that forgets to load the library also runs the copy, not the user's installation.
        "PATH": os.pathsep.join([programs, system]),
        "CLI_TEST_LIB": LIBRARY,
        "CLI_TEST_LAUNCHER": launcher,
        "CLI_TEST_PATH": system,
        "CLI_TEST_PROGRAM": program.name,
        "CLI_TEST_TEMPLATE": template,
    }


def _callers_variables(
    caller: Mapping[str, str], passed: Collection[str]
) -> dict[str, str]:
    """Return the variables that tests inherit. Others would change what the tests find."""
    for name in passed:
        if not name.isidentifier():
            raise UsageError(f"--env: {printable(name)} is not the name of a variable")

    names = {*_PASSED, *passed}
    for name in caller:
        if name.startswith(_PASSED_PREFIXES):
            names.add(name)
    return {name: value for name, value in caller.items() if name in names}
