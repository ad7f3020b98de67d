"""A process that has imported this program, and forks for each run of a launcher.

Started by `testing.forked` as a launcher starts its interpreter: `site` is left to the run. It
gets the directory of this program's packages, that of what they need, and a socket's descriptor.
"""

import ast
import atexit
import gc
import importlib
import json
import os
import socket
import sys
import weakref
from contextlib import suppress
from glob import glob
from typing import Any

_LARGEST = 1 << 20  # bytes of a request


def import_ahead(packages: str, needed: str) -> None:
    """Import all that is imported anywhere in this program; the import path stays as it is."""
    before = sys.path[:]
    sys.path += [packages, needed]
    importlib.import_module("host.__main__")  # first: it loads the rest in a way of its own
    names = set()
    for path in glob(f"{packages}/**/*.py", recursive=True):
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
    for name in sorted(names - {"site"}):
        with suppress(ImportError):
            importlib.import_module(name)
    sys.path[:] = before
    sys.path_importer_cache.clear()
    # What a run has to do at its end, it tells itself.
    assert not weakref.finalize._registered_with_atexit  # type: ignore[attr-defined] # noqa: SLF001
    atexit._clear()  # noqa: SLF001
    gc.collect()
    gc.freeze()


def serve(control: socket.socket) -> list[str]:
    """Fork for each request; tell its process, then its wait status.

    In a fork this returns the command line that was asked for.
    """
    while True:
        asked, streams, _, _ = socket.recv_fds(control, _LARGEST, 3)
        if not asked:
            sys.exit()
        child = os.fork()
        if not child:
            return become(json.loads(asked), streams)
        for one in streams:
            os.close(one)
        control.send(b"%d" % child)
        _, status = os.waitpid(child, 0)
        control.send(b"%d" % status)


def become(asked: dict[str, Any], streams: list[int]) -> list[str]:
    """Take over streams, directory and environment; return the command line."""
    for number, one in enumerate(streams):
        os.dup2(one, number)
        os.close(one)
    os.chdir(asked["cwd"])
    own = {name: os.environ[name] for name in ("LC_CTYPE",) if name in os.environ}
    os.environ.clear()
    os.environ.update(asked["environ"] | own)  # which Python sets in the C locale
    return list(asked["command"])


def run(launcher: str) -> int:
    """Run a launcher as the interpreter would; return the exit status."""
    try:
        with open(launcher, encoding="utf-8") as file:
            program = compile(file.read(), launcher, "exec")
        exec(program, {"__name__": "__main__"})  # noqa: S102
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def main() -> None:
    packages, needed, number = sys.argv[1:]
    import_ahead(packages, needed)
    with socket.socket(fileno=int(number)) as control:
        sys.argv = serve(control)
    status = run(sys.argv[0])
    atexit._run_exitfuncs()  # noqa: SLF001
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 255)  # to take the interpreter apart is to copy all of its memory


if __name__ == "__main__":
    main()
