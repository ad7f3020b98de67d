"""Start a run as a fork of a server: `fork_relay.py ADDRESS LAUNCHER WORDS…`, see `fork_server`."""

import json
import os
import signal
import socket
import sys

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def main(address: str, *argv: str) -> None:
    mask = os.umask(0o077)
    os.umask(mask)
    environ = dict(os.environ)
    environ.pop("LC_CTYPE", None)  # Python itself has set it
    request = {
        "argv": argv,
        "environ": environ,
        "directory": os.getcwd(),
        "umask": mask,
        "session": os.getsid(0) == os.getpid(),
    }
    file = os.memfd_create("request")
    os.write(file, json.dumps(request).encode())
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(f"\0{address}")
    socket.send_fds(server, [b"run"], [file, 0, 1, 2])
    for stream in range(3):
        os.close(stream)  # only the fork has them, so their other ends notice its end
    for number in _PASSED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(
                number, lambda number, _: server.send(str(int(number)).encode())
            )

    status = int(server.recv(16) or -signal.SIGKILL)
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main(*sys.argv[1:])
