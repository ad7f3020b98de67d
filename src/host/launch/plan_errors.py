"""Take all steps of a plan to learn what prevents the run, as `--explain` and `Program.plan` do."""

from host.errors import HostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.launch.plan import Run


def errors_of(run: "Run") -> list[HostError]:
    """Take the steps of a run, and return the errors that prevent it, the first one first.

    Without `resolves` and `starts_programs`, the steps have no side effects. After an error in a
    step that others need, the steps behind it are not taken.
    """
    # No other step needs what these steps find out. The trust is not among them, because nothing
    # of an untrusted project is read.
    checks = (
        run.check_shell,
        run.check_variables,
        run.check_policies,
        run.check_programs,
    )
    errors: list[HostError] = []
    messages: set[str] = set()
    for step in run.steps:
        try:
            step()
        except HostError as error:
            # The variables are checked twice, so the same one may be missing twice.
            if str(error) not in messages:
                messages.add(str(error))
                errors.append(error)
            if step not in checks:
                break
    return errors
