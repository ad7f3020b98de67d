"""The process of `fork_server`: it imports the program, and forks for each run.

It has the launcher's interpreter and options. Its arguments are the descriptor of a listening
socket, where the program's packages and other packages are, the modules to import, and behind `--`
those of commands in Python, which forks become then. Whoever wants a run connects and sends four
descriptors, a file with the request and the standard streams, and gets the exit status. A worker
of the tests connects without descriptors: the server ends with the last worker.
"""

import atexit
import gc
import json
import os
import posix
import selectors
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import ModuleType
from typing import NoReturn

_DESCRIPTORS = 4
_MOST_DESCRIPTORS = 64
_ENTRYPOINT = "host.launch.python_entrypoint"
_COMMAND = f"import sys; from {_ENTRYPOINT} import main; "


def serve(listener: socket.socket) -> list[int]:
    """Fork for each run; return its descriptors in the fork. Ends with the tests' last worker."""
    runs: dict[int, socket.socket] = {}
    workers = set()
    woken, wake = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)

    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is woken:
                    woken.recv(4096)
                    _reap(runs, selector)
                elif key.fileobj is listener:
                    client, _ = listener.accept()
                    _, descriptors, *_ = socket.recv_fds(client, 16, _DESCRIPTORS)
                    if not descriptors:
                        workers.add(client)
                        selector.register(client, selectors.EVENT_READ)
                        continue
                    pid = os.fork()
                    if pid == 0:
                        return descriptors
                    for descriptor in descriptors:
                        os.close(descriptor)
                    runs[pid] = client
                    selector.register(client, selectors.EVENT_READ, pid)
                elif key.fileobj in workers:
                    selector.unregister(key.fileobj)
                    workers.remove(key.fileobj)
                    if not workers:
                        sys.exit()
                elif number := key.fileobj.recv(16):
                    os.kill(key.data, int(number))
                else:
                    selector.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)  # nobody waits any longer


def _reap(runs: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    while runs:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        answer = runs.pop(pid)
        if answer in selector.get_map():
            selector.unregister(answer)
            answer.send(str(os.waitstatus_to_exitcode(status)).encode())
        answer.close()


def become_run(request: int, streams: Sequence[int]) -> bool:
    """Give this fork what a process that is started gets from its caller.

    Returns whether it may become a command in Python.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    with open(request, "rb") as file:
        file.seek(0)
        wanted = json.load(file)
    os.closerange(3, _MOST_DESCRIPTORS)

    if wanted["session"]:
        os.setsid()
    os.chdir(wanted["directory"])
    os.umask(wanted["umask"])
    sys.argv = wanted["argv"]
    _set_environment(
        {
            os.fsencode(name): os.fsencode(value)
            for name, value in wanted["environ"].items()
        }
    )
    # Most runs import nothing that has work to do at the end.
    atexit._clear()  # noqa: SLF001
    return bool(wanted.get("becomes_command"))


def _set_environment(environ: Mapping[bytes, bytes]) -> None:
    os.environ.clear()
    os.environb.update(environ)
    posix.environ.clear()
    posix.environ.update(environ)


def execve(
    path: bytes, argv: Sequence[bytes], environ: Mapping[bytes, bytes]
) -> NoReturn:
    """Replace this process as the system does, or become a command in Python without a start."""
    words = [os.fsdecode(word) for word in argv]
    if os.fsdecode(path) != sys.executable or _COMMAND not in " ".join(words):
        os.execve(path, argv, environ)
    _close_as_exec_does()
    _set_signals_as_python_does()
    _set_environment(environ)
    place = words.index("-c")
    for option in words[:place]:
        if option.startswith("-X"):
            name, _, value = option.removeprefix("-X").partition("=")
            sys._xoptions[name] = value or True  # noqa: SLF001
    sys.argv = ["-c", *words[place + 2 :]]
    sys.modules["__main__"] = ModuleType("__main__")
    sys.modules.pop(_ENTRYPOINT, None)  # it reads the signals when it is imported
    complete_import_path()

    status = 1
    try:
        exec(words[place + 1], vars(sys.modules["__main__"]))  # noqa: S102
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())
    with suppress(OSError, ValueError, AttributeError):
        end_early(status)
    os._exit(status & 0xFF)


def end_early(status: int) -> NoReturn:
    """End as the interpreter does, but destroy nothing: a fork would copy all it destroys.

    Raises what a flush of the standard streams raises.
    """
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status & 0xFF)


def _close_as_exec_does() -> None:
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if not os.get_inheritable(int(name)):
                os.close(int(name))


def _set_signals_as_python_does() -> None:
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    _, number, own, others, *modules = sys.argv
    sys.path[:1] = []  # the folder of this file
    sys.path += [own, others]
    end = modules.index("--")
    for module in modules[:end] + modules[end + 1 :]:
        with suppress(ImportError):
            __import__(module)
    sys.path.remove(others)
    sys.modules.pop("site", None)  # a run takes it for the completed import path
    gc.freeze()  # a collection in a fork would copy all pages

    request, *streams = serve(socket.socket(fileno=int(number)))
    becomes_command = become_run(request, streams)
    from host.__main__ import main
    from host.processes.importing import complete_import_path

    if becomes_command or modules[-1] != "--":
        posix.execve = execve
    status = main()
    with suppress(OSError, ValueError, AttributeError):
        end_early(status)
    sys.exit(status)
