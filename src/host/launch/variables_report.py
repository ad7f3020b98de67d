"""Report the variables of a run to its caller, which masks them in the command's output.

A run loads this module only if the caller sets CLI_REPORT_FD. No other process can tell the values
that the run really gets: a provider may return another secret at each call.
"""

from host.caller import REPORT
from host.errors import OperationError
from host.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.variables.layers import Layers


def report_variables(layers: "Layers", descriptor: str) -> None:
    """Write the run's environment and all overridden values to the file `descriptor`.

    Each variable is written as NAME=value and a NUL. `=value` without a name is a value that came
    from a reference to a secret. One more NUL ends the report. Raises OperationError if
    `descriptor` is not open.
    """
    variables = list(layers.environment().items())
    for assignments in layers.offered.values():
        for assignment in assignments:
            value = assignment.value
            variables.append((assignment.name, value))
            if assignment.secret and value:
                variables.append(("", value))

    lines = [f"{name}={value}\0" for name, value in variables]
    text = "".join([*lines, "\0"])
    try:
        with open(int(descriptor), "wb") as pipe:
            pipe.write(encode(text))
    except (OSError, ValueError):
        what = f"{REPORT}={descriptor} is not an open file descriptor"
        raise OperationError(what, f"run: unset {REPORT}") from None
