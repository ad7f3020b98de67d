"""How a host starts an entrypoint: as a local run does."""

from __future__ import annotations

import pytest

from cli_host_fleet.entrypoint import start_of


@pytest.mark.parametrize(
    ("head", "executable", "words", "loads_library"),
    [
        (b"echo hello\n", True, ["bash"], True),
        (b"", False, ["bash"], True),
        (b"\x7fELF\x02\x00", True, [], False),
        (b"#!/bin/sh\n", True, [], False),
        (b"#!/bin/sh\n", False, ["/bin/sh"], False),
        (b"#!/usr/bin/env bash\n", True, [], True),
        (b"#! /bin/bash -e \necho", False, ["/bin/bash", "-e"], True),
        (
            b"#!/usr/bin/env -S python3 -u\n",
            False,
            ["/usr/bin/env", "-S python3 -u"],
            False,
        ),
        (b"#!\n", False, [], False),
    ],
)
def test_start_of(
    head: bytes, executable: bool, words: list[str], loads_library: bool
) -> None:
    assert start_of(head, executable) == (words, loads_library)


def test_a_script_with_requirements_is_started_with_uv() -> None:
    head = b"# /// script\n# dependencies = []\n# ///\n"
    assert start_of(head, executable=True, name="x.py")[0] == ["uv", "run", "--script"]
    assert start_of(head, executable=True, name="x.sh")[0] == ["bash"]
