"""The file out of which a run makes its modules: their code, as Python keeps it in many."""

from __future__ import annotations

import _imp
import marshal
import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER

from host.planning.cache_files import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def write_run_code(place: str, packages: str, names: Iterable[str]) -> None:
    """Write the code of modules `names` below `packages` to `place`, for `host.__main__.load_run`.

    Nothing is written where Python writes no code either: by its flag, for want of the right, or
    out of an archive.
    """
    if sys.dont_write_bytecode or not os.access(os.path.dirname(place), os.W_OK):
        return
    modules = []
    for name in names:
        path = packages + name.replace(".", "/")
        path += "/__init__.py" if os.path.isdir(path) else ".py"
        source = os.stat(path)  # before it is read: who changes it meanwhile makes this stale
        code = SourceFileLoader(name, path).get_code(name)
        modules.append((name, path, source.st_mtime_ns, source.st_size, code))
    content = marshal.dumps((packages, modules))
    replace(place, MAGIC_NUMBER + _imp.source_hash(1, content) + content)
