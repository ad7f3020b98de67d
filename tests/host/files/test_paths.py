"""Paths without `os`: each answer is the one of `os.path`."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.files import paths

_PATH = st.text("ab./", max_size=9)


@given(_PATH, _PATH)
def test_joined_and_taken_apart(directory, path):
    assert paths.join(directory, path) == os.path.join(directory, path)
    assert paths.dirname(path) == os.path.dirname(path)
    assert paths.basename(path) == os.path.basename(path)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/file").write_text("")
    links = {
        "to_file": "a/file",
        "a/b/up": "..",
        "absolute": str(tmp_path / "a/b"),
        "chain": "absolute/up/../to_file",
        "nowhere": "missing/there",
        "loop": "a/b/loop",
        "a/b/loop": "../../loop",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    monkeypatch.chdir(tmp_path / "a")
    return tmp_path


_IN_TREE = [
    *(
        "",
        "a",
        "a/file",
        "a//./b/",
        "a/b/up",
        "a/b/up/b/../file",
        "to_file",
        "to_file/x",
    ),
    *(
        "absolute/up/file",
        "chain",
        "nowhere",
        "nowhere/../a",
        "missing",
        "missing/../a",
        "loop",
    ),
    "x\0y",
]


@pytest.mark.parametrize("name", _IN_TREE)
def test_what_is_on_the_disk(tree, name):
    for path in (f"{tree}/{name}", f"../{name}"):
        assert paths.is_file(path) == os.path.isfile(path)
        assert paths.is_directory(path) == os.path.isdir(path)
        assert paths.is_link(path) == os.path.islink(path)
        assert paths.is_there(path) == os.path.lexists(path)
        if name not in ("loop", "x\0y"):
            assert paths.realpath(path) == os.path.realpath(path)


def test_ends_of_the_way(tree):
    assert [paths.realpath(path) for path in ("/", "/..", "//")] == ["/"] * 3
    assert paths.realpath(f"{tree}/loop") == f"{tree}/loop"
