"""Which command has an alias: found however it is written, and hardly anything is parsed."""

import json
import os

import pytest

from builtin_plugins.directories import aliases
from builtin_plugins.directories.finder import Directories
from host.run.definition import read_definition
from testing.installation import command

HEAD = '{"name": "N", "description": "D", "entrypoint": "main.sh", '

# The text of a command.json; the alias that is asked for; has it; is parsed.
TEXTS = {
    "has it": (json.dumps(command(aliases=["short"])), "short", True, True),
    "begins so": (json.dumps(command(aliases=["shorter"])), "short", False, False),
    "no aliases": (json.dumps(command(description="short")), "short", False, False),
    "another key before": (json.dumps(command(aliases=["a"])), "main.sh", False, False),
    "another key behind": (HEAD + '"aliases": ["a"], "group": "short"}', "short", False, False),
    "name of a key": (HEAD + '"aliases": ["a"], "group": "G"}', "group", False, False),
    "the key itself": (json.dumps(command(aliases=["a"])), "aliases", False, False),
    "on lines of their own": (json.dumps(command(aliases=["a", "b"]), indent=2), "b", True, True),
    "beside what is no word": (json.dumps(command(aliases=["a]", "short"])), "short", False, True),
    "as an escape": (HEAD + r'"aliases": ["\u0073hort"]}', "short", True, True),
    "key as an escape": (HEAD + r'"\u0061liases": ["short"]}', "short", True, True),
    "escape in capitals": (HEAD + r'"aliases": ["\u004Aoe"]}', "Joe", True, True),
    "other escapes": (
        HEAD + r'"aliases": ["a"], "group": "\u00e9\n\"short\""}', "short", False, False,
    ),
    "two such keys": (
        HEAD + '"x-a": {"aliases": []}, "aliases": ["short"]}', "short", True, True,
    ),
    "in a text": (
        HEAD + r'"group": "the \"aliases\": [\"short\"]", "aliases": []}', "short", False, False,
    ),
    "of a category": (
        '{"name": "N", "description": "D", "aliases": ["short"]}', "short", False, True,
    ),
    "broken": ('{"aliases": ["short"', "short", False, True),
    "quotes that do not pair": ('{"aliases": "a"short"b', "short", False, False),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_an_alias_is_found_however_it_is_written(tmp_path, monkeypatch, name):
    text, alias, has_it, is_parsed = TEXTS[name]
    parsed = []

    def read(path):
        parsed.append(os.path.relpath(path, tmp_path))
        return read_definition(path)

    monkeypatch.setattr(aliases, "read_definition", read)
    (tmp_path / "fifo").mkdir()
    os.mkfifo(tmp_path / "fifo/command.json")
    (tmp_path / "folder/command.json").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "it").mkdir()
    (tmp_path / "it/command.json").write_text(text)
    found = Directories(str(tmp_path)).aliased(str(tmp_path), alias)
    assert (found, parsed) == ("it" if has_it else "", ["it/command.json"] if is_parsed else [])


def test_the_first_that_has_it_counts(tmp_path):
    for word in ("b", "a", "c"):
        (tmp_path / word).mkdir()
        (tmp_path / word / "command.json").write_text(json.dumps(command(aliases=["short"])))
    (tmp_path / "a/command.json").write_text('{"aliases": ["short"')
    assert Directories(str(tmp_path)).aliased(str(tmp_path), "short") == "b"


def test_a_folder_that_is_gone_has_none(tmp_path):
    assert aliases.aliased(str(tmp_path / "gone"), ["it"], "short") == ""


def test_a_long_definition_is_searched_to_its_end(tmp_path):
    (tmp_path / "it").mkdir()
    (tmp_path / "it/command.json").write_text(
        json.dumps({**command(description="x" * 10_000), "aliases": ["short"]})
    )
    assert Directories(str(tmp_path)).aliased(str(tmp_path), "short") == "it"
