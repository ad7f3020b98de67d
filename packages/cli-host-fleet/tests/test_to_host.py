"""The bytes that a host gets: cut at every item, in pieces, and with every byte."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from cli_host_fleet.from_host import MARK
from cli_host_fleet.problem import FleetError
from cli_host_fleet.shipment import Shipment, pattern_of, stem_of_a_run
from cli_host_fleet.to_host import items, opening, order, script, text_for_sh

_NONCE = "0123456789abcdef"


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


_WHOLE = ("${NONE:-../one}", "${NONE-../two}", "${KEY:-x}")


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("near", True),
        ("../../lib/shared", True),
        ("lib/../../../lib/shared", True),
        ("/gone", False),
        ("lib", True),
        ("../../../plugin-two/shared", None),
        ("/etc/passwd", None),
        ("../../config/settings.conf", None),
        ("../../.git/config", None),
        ("../vars[1]", False),
        ("../vars1", True),
        ("../prod/key", False),
        ("../key", True),
        ("../../lib/any.env", False),
        ("../.env", False),
        ("../one", False),
        ("../two", False),
        ("../three", False),
    ],
)
def test_links_that_are_sent(tmp_path: Path, target: str, sent: bool | None) -> None:
    """Those within the folder or the plugin; any other could be a private key of the user."""
    folder = tmp_path / "plugin/commands/do"
    for file in (
        *("plugin/commands/do/near", "plugin/commands/do/lib/x", "plugin/lib/shared"),
        *("plugin/config/settings.conf", "plugin-two/shared", "plugin/.git/config"),
        *("plugin/commands/vars[1]", "plugin/commands/vars1", "plugin/lib/any.env"),
        *("plugin/commands/prod/key", "plugin/commands/key", "plugin/commands/one"),
        *("plugin/commands/two", "plugin/commands/three"),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("x")
    (folder / "link").symlink_to(target)
    (folder.parent / ".env").symlink_to("../lib/shared")
    shipment = Shipment()
    files = ("../vars[1]", "../$STAGE/key", "$HERE/any.env", "$NOT_SET", *_WHOLE)
    stays = [pattern_of(file, str(folder), {"KEY": "../three"}) for file in files]
    if sent is None:
        with pytest.raises(FleetError, match="which stays on this machine"):
            shipment.add_tree(str(folder), "do", [str(tmp_path / "plugin")], stays)
        return
    shipment.add_tree(str(folder), "do", [str(tmp_path / "plugin")], stays)
    shipment.close()
    with tarfile.open(
        fileobj=io.BytesIO(b"".join(shipment.chunks(stem_of_a_run())))
    ) as archive:
        names = [Path(name).name for name in archive.getnames()]
    assert ("link" in names) == sent


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


def test_what_argv_shows_is_constant_and_safe_in_any_shell() -> None:
    greeting = script("greeting.sh")
    assert "\n" not in greeting
    assert "!" not in greeting
    assert "\\\\" not in greeting
    assert len(greeting) < 400
