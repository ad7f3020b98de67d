"""Python object references, `package.module:attr` → the object."""

from host.errors import PluginError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_reference(reference: str) -> "Any":
    """Return the object that `reference` names; raises PluginError when it cannot be imported."""
    import importlib

    complete_import_path()

    module, _, attribute = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
    except (Exception, SystemExit) as failure:
        raise PluginError(
            f"{reference}: cannot be loaded: {type(failure).__name__}: {failure}"
        ) from failure
    return found


def complete_import_path() -> None:
    """Make everything that is installed importable, where the launcher skipped `site` (-S)."""
    import sys

    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()
