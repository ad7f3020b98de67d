"""Warn about a command that is deprecated, or that runs in place of another one."""

from host.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from host.catalog.catalog import Match


def report_deprecation(match: "Match", report: "Callable[[Problem], None]") -> None:
    """Call `report` with a warning if the command is deprecated or runs in place of another one."""
    command = " ".join(match.words)

    moved = match.moved_from
    if moved is not None and moved.definition is not None:
        former = " ".join(moved.words)
        what = f"this command is now: {command}"
        report(Problem(former, what, moved.definition.deprecated))

    definition = match.definition
    if definition is not None and definition.deprecated:
        report(Problem(command, "deprecated", definition.deprecated))
