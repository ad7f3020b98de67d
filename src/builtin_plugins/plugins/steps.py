"""What `add`, `update` and `sync` share: builds that the user agrees to, and several plugins."""

from collections.abc import Callable, Sequence

from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.pip_or_uv import InstallerError
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.version import PluginVersion
from host import HostError
from host.session.session import Session

# Seconds. An installer that contradicting requirements stop ends sooner than one whose index
# does not answer: pip tries that five times again.
_LONG_FAILURE = 5.0


def ensure_built(staged: PluginVersion, change: Change, *, yes: bool) -> PluginVersion:
    """Return the staged version; build what has no wheel after the user agrees.

    Raises OperationError if the user does not agree, or if nobody can be asked.
    """
    session = change.session
    agreed: dict[str, str] = {}
    # A build shows what the package requires, and some of that may have no wheel either.
    while staged.unbuilt:
        session.show_lines(
            f"{unbuilt_text(staged)}: no wheel; building one runs the package's own code, and "
            "the new commands are shown after the build"
        )

        otherwise = "nothing was changed"
        session.ask_to_continue("Build it?", yes, otherwise, required=True)
        agreed.update(staged.unbuilt)
        staged = make_source(staged.entry).build(change, agreed)
    return staged


def unbuilt_text(staged: PluginVersion) -> str:
    """Return the names and versions of the packages that must be built."""
    packages = [f"{name} {version}" for name, version in staged.unbuilt.items()]
    return " and ".join(packages)


def change_each(
    session: Session, plugins: Sequence[Entry], action: Callable[[Entry], object]
) -> list[str]:
    """Call `action` for each plugin; return the names of those for which it failed.

    If one of several plugins fails, its error is printed and the next plugin follows; if there is
    only one plugin, its error is raised. Packages are skipped after an installer took long to
    fail: an index that does not answer makes the user wait once.
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
            if len(plugins) == 1:
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
