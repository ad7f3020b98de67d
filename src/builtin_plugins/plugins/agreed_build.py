"""Build the packages that have no wheel, which runs their code, after the user agrees."""

from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.version import PluginVersion


def ensure_built(
    staged: PluginVersion,
    change: Change,
    *,
    yes: bool,
    otherwise: str = "nothing was changed",
) -> PluginVersion:
    """Return the staged version; build what has no wheel after the user agrees.

    Raises OperationError with the text `otherwise` if the user does not agree, or if nobody can be
    asked.
    """
    session = change.session
    agreed: dict[str, str] = {}
    # A build shows what the package requires, and some of that may have no wheel either.
    while staged.unbuilt:
        session.show_lines(
            f"{unbuilt_text(staged)}: no wheel; building one runs the package's own code, and "
            "the new commands are shown after the build"
        )

        session.ask_to_continue("Build it?", yes, otherwise, required=True)
        agreed.update(staged.unbuilt)
        staged = make_source(staged.entry).build(change, agreed)
    return staged


def unbuilt_text(staged: PluginVersion) -> str:
    """Return the names and versions of the packages that must be built."""
    packages = [f"{name} {version}" for name, version in staged.unbuilt.items()]
    return " and ".join(packages)
