"""Python object references, `package.module:attr` → the object; where they are looked for."""

import os
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

    with StdoutOnStderr():
        site.main()


def _finds(package: str) -> bool:
    from _frozen_importlib_external import PathFinder

    return PathFinder.find_spec(package) is not None


class StdoutOnStderr:
    """Sends what is printed meanwhile to stderr, also by code below Python."""

    def __init__(self) -> None:
        self._saved = -1
        self._inheritable = True

    def __enter__(self) -> None:
        try:
            sys.stdout.flush()
            self._inheritable = os.get_inheritable(1)
            self._saved = os.dup(1)
            os.dup2(2, 1)
        except (OSError, AttributeError):
            pass  # there is no stdout, or no stderr

    def __exit__(self, *_: object) -> None:
        if self._saved < 0:
            return
        try:
            sys.stdout.flush()
        except (OSError, ValueError, AttributeError):
            pass  # it was closed meanwhile
        finally:
            os.dup2(self._saved, 1, self._inheritable)
            os.close(self._saved)
