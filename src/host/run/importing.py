"""Python object references, `package.module:attr` → the object; where they are looked for."""

import sys

from host.errors import PluginError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_reference(reference: str) -> "Any":
    """Return the object that `reference` names; raises PluginError if it cannot be imported."""
    module, _, attribute = reference.partition(":")
    try:
        __import__(module)  # importlib would be one module more to import
        found: Any = sys.modules[module]
        for name in attribute.split("."):
            found = getattr(found, name)
    except (Exception, SystemExit) as failure:
        what = f"cannot be loaded: {type(failure).__name__}: {failure}"
        raise PluginError(Problem(reference, what)) from failure
    return found


def complete_import_path(needed: str = "") -> None:
    """Make everything that is installed importable, where the launcher skipped `site` (-S).

    `site` takes its time and runs what `.pth` files of packages say, so who needs one
    package of this program's own names it: it is left alone where that is found without.
    """
    if not sys.flags.no_site or "site" in sys.modules or (needed and _finds(needed)):
        return
    import site

    stdout, sys.stdout = sys.stdout, sys.stderr  # a `.pth` file may print
    try:
        site.main()
    finally:
        sys.stdout = stdout


def _finds(package: str) -> bool:
    from _frozen_importlib_external import PathFinder

    return PathFinder.find_spec(package) is not None
