"""Change several plugins, as `self plugin update` and `self plugin sync` do."""

from collections.abc import Callable, Sequence

from builtin_plugins.plugins.pip_or_uv import InstallerError
from builtin_plugins.registry.entry import Entry
from host import HostError
from host.session.session import Session

# Seconds. An installer that contradicting requirements stop ends sooner than one whose index
# does not answer: pip tries that five times again.
_LONG_FAILURE = 5.0


def change_each(
    session: Session,
    plugins: Sequence[Entry],
    action: Callable[[Entry], object],
    *,
    raises: bool = True,
) -> list[str]:
    """Call `action` for each plugin; return the names of those for which it failed.

    If one of several plugins fails, its error is printed and the next plugin follows; if there is
    only one plugin, its error is raised, unless `raises` is false. Packages are skipped after an
    installer took long to fail: an index that does not answer makes the user wait once.
    """
    failed = []
    skipped = []
    has_waited = False
    for entry in plugins:
        if has_waited and entry.kind == "pip":
            skipped.append(entry.name)
            continue

        try:
            action(entry)
        except HostError as error:
            if raises and len(plugins) == 1:
                raise
            failed.append(entry.name)
            session.messages.error(f"{entry.name}: {error}", said=error.said)
            if isinstance(error, InstallerError) and error.seconds > _LONG_FAILURE:
                has_waited = True

    if skipped:
        what = (
            f"{', '.join(skipped)}: not tried, because an installer took long to fail"
        )
        session.messages.error(what)
    return [*failed, *skipped]
