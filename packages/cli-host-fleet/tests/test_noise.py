"""The line of ssh's or sudo's noise that is shown."""

from __future__ import annotations

import pytest

from cli_host_fleet.noise import sudo_line, useful_line

_REFUSED = "ssh: connect to host gate port 22: Connection refused"
_KEX = "kex_exchange_identification: Connection closed by remote host"
_DENIED = "root@web01: Permission denied (publickey)."


@pytest.mark.parametrize(
    ("noise", "line"),
    [
        ("", ""),
        ("a\r\n\n b \n\n", "b"),
        ("\udcff\n", "\ufffd"),
        (f"{_REFUSED}\n{_KEX}\n", _REFUSED),
        (f"{_REFUSED}\nConnection closed by UNKNOWN port 65535\n", _REFUSED),
        (f"{_KEX}\n", _KEX),
        (f"Host key verification failed.\n{_KEX}\n", "Host key verification failed."),
        (
            f"bash: no-such-program: not found\n{_KEX}",
            "bash: no-such-program: not found",
        ),
        (f'Load key "k": bad permissions\n{_DENIED}', 'Load key "k": bad permissions'),
        (f"connecting …\n{_DENIED}", _DENIED),
        (
            "c: line 3: Bad configuration option: foo\nc: terminating, 1 bad configuration options",
            "c: line 3: Bad configuration option: foo",
        ),
        (
            "me is not in the sudoers file.\nThis incident has been reported to the administrator.",
            "me is not in the sudoers file.",
        ),
    ],
)
def test_the_most_useful_line(noise: str, line: str) -> None:
    assert useful_line(noise.encode(errors="surrogateescape")) == line


_NOT_ALLOWED = (
    "Sorry, user deploy is not allowed to execute '/bin/sh -c exec bash --norc -c \\'x\\'' as root "
    "on web01."
)


@pytest.mark.parametrize(
    ("noise", "line"),
    [
        ("", ""),
        ("sudo: a password is required\n", "sudo: a password is required"),
        (
            "sudo: unknown user nosuch\nsudo: error initializing audit plugin sudoers_audit\n",
            "sudo: unknown user nosuch",
        ),
        (
            "/etc/sudoers:3:15: syntax error\ndeploy ALL=(ALL NOPASSWD: ALL\n       ^\n"
            "sudo: error initializing audit plugin sudoers_audit\n",
            "/etc/sudoers:3:15: syntax error",
        ),
        (
            "sudo: unable to resolve host web01: Name or service not known\n"
            "sudo: a password is required\n",
            "sudo: a password is required",
        ),
        (
            "\nWe trust you have received the usual lecture from the local System\n"
            "Administrator. It usually boils down to these three things:\n\n"
            "    #1) Respect the privacy of others.\n    #2) Think before you type.\n\n"
            "deploy is not in the sudoers file.\nThis incident has been reported.\n",
            "deploy is not in the sudoers file.",
        ),
        (
            f"{_NOT_ALLOWED}\n",
            "Sorry, user deploy is not allowed to run /bin/sh as root on web01.",
        ),
    ],
)
def test_the_first_useful_line_of_sudo(noise: str, line: str) -> None:
    assert sudo_line(noise.encode()) == line
