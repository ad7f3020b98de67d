"""The file out of which a run makes its modules: their code, as Python keeps it in many."""

from __future__ import annotations

import _imp
import marshal
import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER

from host.planning.cache_files import replace

RUN = (
    *("host.errors", "host.run", "host.run.paths", "host.run.expand", "host.run.json_files"),
    *("host.run.definition", "host.run.installation", "host.run.text", "host.run.process"),
    *("builtin_plugins", "builtin_plugins.directories", "builtin_plugins.directories.finder"),
    *("host.run.lock", "host.run.locate", "host.run.layers", "host.run.plan"),
)
"""The modules that every run loads, each after those that it imports."""


def write_run_code() -> None:
    """Write the code of the modules of a run for `load_run` in `host.__main__`.

    Nothing is written when they came out of it, nor where Python writes no code either: by its
    flag, for want of the right, or out of an archive.
    """
    packages = __file__.removesuffix("host/planning/run_code.py")
    place = f"{packages}host/__pycache__/run.{sys.implementation.cache_tag}.pyc"
    spec = sys.modules[RUN[0]].__spec__
    if spec is not None and spec.cached == place:
        return
    if sys.dont_write_bytecode or not os.access(os.path.dirname(place), os.W_OK):
        return
    modules = []
    for name in RUN:
        path = packages + name.replace(".", "/")
        path += "/__init__.py" if os.path.isdir(path) else ".py"
        source = os.stat(path)  # before it is read: who changes it meanwhile makes this stale
        code = SourceFileLoader(name, path).get_code(name)
        modules.append((name, path, source.st_mtime_ns, source.st_size, code))
    content = marshal.dumps((packages, modules))
    replace(place, MAGIC_NUMBER + _imp.source_hash(1, content) + content)
