"""The names of the files that the program keeps for itself."""

from __future__ import annotations

import pytest

from host.launch.state_files import installation_name


@pytest.mark.parametrize("letter", ["a", "é", "会"])
def test_a_long_name_of_an_installation_leaves_room_for_suffixes(letter: str) -> None:
    folder = letter * (255 // len(letter.encode()))
    name = installation_name(f"/srv/{folder}")
    assert len(f"{name}.sqlite3-journal".encode()) <= 255
    assert name.startswith(letter * 60)
    assert name != installation_name(f"/opt/{folder}")
