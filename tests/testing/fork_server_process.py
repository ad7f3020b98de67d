"""The process of `fork_server`: it imports the program, and forks for each run.

It has the launcher's interpreter and options. Its arguments are the descriptor of a socket, where
the program's packages and other packages are, and the modules to import. Each message on the socket
comes with five descriptors: a socket for the exit status, a file with the request, and the standard
streams.
"""

import atexit
import json
import os
import posix
import selectors
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

_DESCRIPTORS = 5
_MOST_DESCRIPTORS = 64


def serve(control: socket.socket) -> list[int]:
    """Fork for each message; return its descriptors in the fork. Ends with the tests' worker."""
    runs: dict[int, socket.socket] = {}
    woken, wake = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)

    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is woken:
                    woken.recv(4096)
                    _reap(runs, selector)
                elif key.fileobj is control:
                    message, descriptors, *_ = socket.recv_fds(
                        control, 16, _DESCRIPTORS
                    )
                    if not message:
                        sys.exit()
                    pid = os.fork()
                    if pid == 0:
                        return descriptors[1:]
                    for descriptor in descriptors[1:]:
                        os.close(descriptor)
                    runs[pid] = socket.socket(fileno=descriptors[0])
                    selector.register(runs[pid], selectors.EVENT_READ, pid)
                else:
                    selector.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)  # the worker waits no longer


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


def become_run(request: int, streams: Sequence[int]) -> None:
    """Give this fork what a process that is started gets from its caller."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    with open(request, "rb") as file:
        file.seek(0)
        wanted = json.load(file)
    os.closerange(3, _MOST_DESCRIPTORS)

    os.chdir(wanted["directory"])
    os.umask(wanted["umask"])
    sys.argv = wanted["argv"]
    os.environ.clear()
    os.environ.update(wanted["environ"])
    posix.environ.clear()
    for name, value in wanted["environ"].items():
        posix.environ[os.fsencode(name)] = os.fsencode(value)
    sys.path_importer_cache.clear()
    # Most runs import nothing that has work to do at the end.
    atexit._clear()  # noqa: SLF001


if __name__ == "__main__":
    _, number, own, others, *modules = sys.argv
    sys.path[:1] = []  # the folder of this file
    sys.path += [own, others]
    for module in modules:
        with suppress(ImportError):
            __import__(module)
    sys.path.remove(others)

    request, *streams = serve(socket.socket(fileno=int(number)))
    become_run(request, streams)
    from host.__main__ import main

    sys.exit(main())
