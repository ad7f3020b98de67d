"""The pictures in README and pages show the program of today."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from testing.installation import PROJECT

_PICTURES = PROJECT / "docs" / "pictures"


@pytest.mark.night
@pytest.mark.skipif(
    sys.platform != "linux", reason="paths of other systems break lines elsewhere"
)
def test_they_are_made_from_the_program_of_today(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(_PICTURES)  # make.py imports the modules beside it
    spec = importlib.util.spec_from_file_location("make", _PICTURES / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    pictures = {file.name: file.read_text() for file in _PICTURES.glob("*.svg")}
    assert pictures == make.pictures(), (
        "run docs/pictures/make.py and look at the pictures"
    )
    for text in pictures.values():
        assert "url(" not in text.replace("url(#", "")  # a picture loads nothing
