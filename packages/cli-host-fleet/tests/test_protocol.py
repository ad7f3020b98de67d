"""The bytes of a connection, split at every position."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from cli_host_fleet.protocol import (
    MARK,
    Facts,
    Greeting,
    Reports,
    items,
    opening,
    order,
    script,
    text_for_sh,
    useful_line,
)
from cli_host_fleet.shipment import Shipment, stem_of_a_run

_NONCE = "0123456789abcdef"
_HELLO = b"\x1ecli-fleet\x1eLinux\0web01\0/root\0root\0/root\0/tmp\0/bin/bash\0"
_FACTS = Facts("linux", "web01", "/root", "root", "/root", "/tmp", "/bin/bash")


@pytest.mark.parametrize(
    "noise", [b"", b"hello\n", b"\x1e", b"\x1ecli-fleet\x1d\0", b"\0" * 9]
)
def test_a_greeting_is_found_wherever_it_is_cut(noise: bytes) -> None:
    whole = noise + _HELLO + b"rest"
    for cut in range(len(whole)):
        greeting = Greeting()
        facts, rest = greeting.feed(whole[:cut])
        if facts is None:
            facts, rest = greeting.feed(whole[cut:])
        else:
            rest += whole[cut:]
        assert (facts, rest) == (_FACTS, b"rest")
        assert greeting.noise == noise


@pytest.mark.parametrize(
    ("told", "system"),
    [("Linux", "linux"), ("Darwin", "mac"), ("FreeBSD", "freebsd")],
)
def test_systems_are_named_as_in_definitions(told: str, system: str) -> None:
    facts, _ = Greeting().feed(_HELLO.replace(b"Linux", told.encode()))
    assert facts is not None
    assert facts.system == system


def test_noise_is_not_kept_without_end() -> None:
    greeting = Greeting()
    for _ in range(100):
        assert greeting.feed(b"x" * 10000) == (None, b"")
    assert len(greeting.noise) < 10000
    assert greeting.feed(_HELLO)[0] == _FACTS


_STATUS = b"\x1e0123456789abcdef status 3\n"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b"oh\n", b"oh\n"),
        (b"no end", b"no end"),
        (b"\x1e\x1e0123\n\x1ecli-fleet\x1e", b"\x1e\x1e0123\n\x1ecli-fleet\x1e"),
        (b"\x1efedcba9876543210 status 0\n", b"\x1efedcba9876543210 status 0\n"),
        (b"", b""),
    ],
)
def test_reports_are_found_in_text_wherever_they_are_cut(
    text: bytes, kept: bytes
) -> None:
    whole = b"banner\n" + MARK + text + _STATUS
    for cut in range(len(whole)):
        reports = Reports(_NONCE, 1)
        first, early = reports.feed(whole[:cut])
        second, late = reports.feed(whole[cut:])
        assert (first + second + reports.rest(), early + late) == (kept, ["status 3"])
        assert reports.noise == b"banner\n"


def test_a_flood_of_separators_takes_linear_time() -> None:
    reports = Reports(_NONCE, 1)
    reports.feed(MARK)
    text, found = reports.feed(b"\x1e" * 1_000_000 + b"x")
    assert (len(text), found) == (1_000_001, [])


def test_a_report_is_taken_before_the_greeting_too() -> None:
    assert Reports(_NONCE, 2).feed(b"x" + _STATUS) == (b"", ["status 3"])


def test_a_host_that_is_sent_less_than_all_runs_nothing(tmp_path: Path) -> None:
    """The stream is cut after an item, within an item, or within the archive."""
    shipment, stem = Shipment(), stem_of_a_run()
    shipment.add_text("run.sh", script("run.sh"))
    shipment.close()
    before = opening(_NONCE, shipment.size, f"{tmp_path}/{stem}")
    tar = b"".join(shipment.chunks(stem))
    after = order("", {"A": "x"}, ["touch", f"{tmp_path}/ran"])
    whole = before + tar + after
    start = len(before) + len(tar)
    ends = [
        at
        for at, byte in enumerate(whole)
        if not byte and not len(before) <= at < start
    ]
    for cut in sorted(
        {*ends, *(end + 1 for end in ends[:-1]), len(before) + 700, start - 1}
    ):
        bash = ["bash", "-c", script("greeting.sh")]
        done = subprocess.run(bash, input=whole[:cut], capture_output=True, check=False)
        assert done.stdout.startswith(MARK)
        assert os.listdir(tmp_path) == [], whole[cut - 20 : cut]


@pytest.mark.parametrize("has_fullblock", [True, False])
def test_an_archive_that_arrives_in_pieces(tmp_path: Path, has_fullblock: bool) -> None:
    """A host takes exactly the archive, whatever pieces the connection delivers."""
    dd = tmp_path / "dd"
    dd.write_text(
        '#!/bin/sh\n[ "$1" != iflag=fullblock ] || exit 1\nexec /bin/dd "$@"\n'
    )
    dd.chmod(0o755)
    first = "" if has_fullblock else f"{tmp_path}:"
    shell = subprocess.Popen(
        ["sh", "-c", f"{script('take.sh')}\nfleet_take 10240 | wc -c; cat"],
        env={**os.environ, "PATH": first + os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert shell.stdin is not None
    for size in (1, 511, 513, 700, 10240 - 1725, 0):
        shell.stdin.write(b"\0" * size)
        shell.stdin.flush()
        time.sleep(0.02)  # so that the pieces probably arrive one by one
    printed, _ = shell.communicate(b"rest")
    assert printed.split() == [b"10240", b"rest"]


def test_a_text_for_sh_keeps_bytes() -> None:
    """Also those that have a meaning for printf, quotes, or the inside of dash."""
    text = "printf %s '\x01\x81\udc88\udcff\u00e9\u2713%s\\n\\ \"$x`'\n"
    for shell in ("sh", "bash"):
        done = subprocess.run(
            [shell, "-c", 'read -r line && eval "$(eval "$line")"'],
            input=text_for_sh(text),
            capture_output=True,
            check=False,
        )
        expected = text[len("printf %s '") : -2].encode("utf-8", "surrogateescape")
        assert (done.stdout, done.stderr) == (expected, b""), shell


def test_items_keep_bytes() -> None:
    assert items(["a", "", "\udcff\n"]) == b"a\0\0\xff\n\0"


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


def test_what_argv_shows_is_constant_and_safe_in_any_shell() -> None:
    greeting = script("greeting.sh")
    assert "\n" not in greeting
    assert "!" not in greeting
    assert "\\\\" not in greeting
    assert len(greeting) < 400
