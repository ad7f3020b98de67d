"""How a command in Python is started, and what the host passes to its process."""

import _signal  # not `signal`, which would import `enum`
import sys

from host.caller import RECORDED
from host.processes.process import Exec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# The switches of `python_exec`.
ASSUME_YES = "assume_yes"  # the user agreed, with --yes or CLI_YES
NO_INPUT = "no_input"  # --no-input or CLI_NO_INPUT forbids questions
INNER_RUN = "inner_run"  # the run is inside another run
_RECORDED = "recorded="  # and the value of CLI_RECORDED, if the caller records the run

# The code that starts a command in Python; -m would import `runpy` first. The plugin's folders take
# the place of the braces.
PYTHON_COMMAND = (
    "import sys; from host.launch.python_entrypoint import main; "
    "sys.exit(main(sys.argv[1:], {}))"
)


def python_exec(
    argv: "Sequence[str]",
    environment: "Mapping[str, str]",
    folders: "Sequence[str]" = (),
    switches: "Sequence[str]" = (),
) -> Exec:
    """Return the process that calls a Python reference; `argv` is for `python_entrypoint.main`.

    `folders` has the packages of the command's plugin: see `importing.enter_plugin`. SIGINT is
    blocked while Python starts, unless the caller has blocked it already. `switches` are facts
    about the run for `Program`. They are options of Python, because the environment of a command is
    its caller's, and its argv is its own.
    """
    blocked_signals = _signal.pthread_sigmask(_signal.SIG_BLOCK, [])
    is_blocked = _signal.SIGINT in blocked_signals

    options = ["-I"]
    if not is_blocked:
        options.append("-Xunblock_interrupt")
    for name in switches:
        options.append(f"-X{name}")

    code = PYTHON_COMMAND.format(list(folders))
    command = [sys.executable, *options, "-c", code, *argv]
    return Exec(sys.executable, command, environment, holds_interrupt=not is_blocked)


def switches_of(
    *, assume_yes: bool, may_ask: bool, is_inner: bool, recorded: str
) -> list[str]:
    """Return what a command in Python learns from `Program` about its run.

    `is_inner` says whether the run is inside another run; `recorded` is CLI_RECORDED, or "".
    """
    switches = []
    if assume_yes:
        switches.append(ASSUME_YES)
    if not may_ask:
        switches.append(NO_INPUT)
    if is_inner:
        switches.append(INNER_RUN)
    if recorded:
        switches.append(f"{_RECORDED}{recorded}")
    return switches


def is_told(switch: str) -> bool:
    """Return whether `python_exec` passed a switch to this process."""
    return switch in sys._xoptions  # noqa: SLF001 - has no public equivalent


def recorded_by_caller() -> dict[str, str]:
    """Return the variable CLI_RECORDED of this process's own run, if its caller records it."""
    value = sys._xoptions.get(_RECORDED.rstrip("="))  # noqa: SLF001 - has no public equivalent
    return {RECORDED: value} if isinstance(value, str) else {}
