"""Import objects by reference (`package.module:attr`), and complete the import path."""

import sys

from host.errors import PluginError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_reference(reference: str) -> "Any":
    """Return the object that `reference` names. Raises PluginError if it cannot be imported."""
    module, _, attribute = reference.partition(":")
    try:
        __import__(module)  # saves the import of importlib
        found: Any = sys.modules[module]
        for name in attribute.split("."):
            found = getattr(found, name)
    except (Exception, SystemExit) as failure:
        what = f"cannot be loaded: {type(failure).__name__}: {failure}"
        raise PluginError(Problem(reference, what)) from failure
    return found


def complete_import_path(needed: str = "") -> None:
    """Import `site`, which the launcher skips (-S), to make all installed packages importable.

    `site` is slow and runs code in `.pth` files. If the caller needs only the package `needed`,
    `site` is imported only if that package is not found without it.
    """
    if not sys.flags.no_site or "site" in sys.modules or (needed and _finds(needed)):
        return
    import site

    stdout, sys.stdout = sys.stdout, sys.stderr  # output of a `.pth` file goes to stderr
    try:
        site.main()
    finally:
        sys.stdout = stdout


def _finds(package: str) -> bool:
    from _frozen_importlib_external import PathFinder

    return PathFinder.find_spec(package) is not None
