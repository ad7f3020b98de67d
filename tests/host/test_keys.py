"""The table of keys: what is made from it is current, and the readers know the same keys."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from builtin_plugins.administration.plugins.team_catalogue import parse_catalogue
from builtin_plugins.plugins_folder.directory import read_plugin
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import read_registry
from host import HostError, PluginError
from host.keys import ALTERNATIVES, FILES, OBJECTS, PATTERNS, keys_of, words_of
from host.run.definition import read_definition
from host.run.installation import read_config
from host.run.json_file import Fields
from host.run.projects import Project
from host.run.usable_projects import project_definition
from testing.installation import PROJECT, Made

SCHEMAS = PROJECT / "core/schema"
VALIDATORS = {
    name: Draft202012Validator(
        json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    )
    for name in FILES
}


def read_catalogue(path: str) -> None:
    _, problems = parse_catalogue(path, Path(path).read_bytes())
    if problems:
        raise PluginError(problems[0])


def read_manifest(path: str) -> None:
    read_plugin(str(Path(path).parent), Entry("", "local"))


def read_whole_registry(path: str) -> None:
    problems = read_registry("", path).problems
    if problems:
        raise PluginError(problems[0])


def read_project(path: str) -> None:
    project = Project("", "cli", {})
    project.file = path
    assert project_definition(project).file == path


READERS: dict[str, Callable[[str], object]] = {
    "catalogue": read_catalogue,
    "category": read_definition,
    "cli": read_config,
    "command": read_definition,
    "plugin": read_manifest,
    "project": read_project,
    "registry": read_whole_registry,
}
# A valid value for each word in types; objects without one have their required keys.
VALID: dict[str, Any] = {
    "string": "a",
    "non-empty string": "a",
    "boolean": True,
    "number": 1,
    "integer": 1,
    "object of values": {"A": "x", "B": 1, "C": True, "D": None},
    "object of secrets": {
        "A": "run:pass show a",
        "B": None,
        "C": {"reference": "run:pass show c", "optional": True},
    },
    "argument name": "files",
    "condition": {"command": "jq"},
    "folder": ".",
    "checksum": "0" * 64,
    "package name": "needed",
    "package version": "1.0",
    "plugin name": "deploy",
    "program": "jq",
    "program in the folder": "list",
    "reference": "run:pass",
    "short option": "-f",
    "variable": "NAME",
    "version": "0.0.1",
    "version label": "1.0",
    "versioned program": "jq >= 1.6, < 2",
    "versions": ">=1.6",
    "word": "other",
    "words of a category": "ops db",
    "words of a command": "app ship",
    "duration": "90s",
    "lock name": "migrations",
    "output": "output",
}
# Valid values of keys with further rules.
SPECIAL = {("registry", "version"): "1.0", ("argument", "conflicts"): []}
CASES = [(kind, name) for kind in (*FILES, *OBJECTS) for name in keys_of(kind)]


def valid_value(kind: str, name: str) -> Any:
    key = keys_of(kind)[name]
    if (kind, name) in SPECIAL:
        return SPECIAL[kind, name]
    if key.choices:
        return key.choices[0]
    alone, items = words_of(key.type)
    word = [*alone, *items][0]
    value = VALID[word] if word in VALID else object_with(word)
    return value if alone else [value]


def object_with(kind: str, /, **values: Any) -> dict[str, Any]:
    """Return an object with its required keys and `values`."""
    described = FILES[kind] if kind in FILES else OBJECTS[kind]
    made = {name: valid_value(kind, name) for name in described.required} | values
    if kind == "argument" and any(
        keys_of(kind)[name].only == "option" for name in values
    ):
        return {**made, "name": "--force"}
    if kind == "argument" and "passthrough" in values:
        return {**made, "name": "files..."}
    if "schema" in values:
        return {**made, "output": "json"}
    return made


def values_of(words: Sequence[str]) -> list[str]:
    """Return the kinds of values in types such as "object of secrets"."""
    names = [word.removeprefix("object of ").removesuffix("s") for word in words]
    return [kind for name in names for kind in ALTERNATIVES.get(name, ())]


def file_with(kind: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a kind of file that can have such an object, and a file's content with it."""
    if kind in FILES:
        return kind, value
    for owner in (*FILES, *OBJECTS):
        for key in keys_of(owner).values():
            alone, items = words_of(key.type)
            if kind in alone:
                return file_with(owner, object_with(owner, **{key.name: value}))
            if kind in items:
                return file_with(owner, object_with(owner, **{key.name: [value]}))
            if kind in values_of(alone):
                return file_with(owner, object_with(owner, **{key.name: {"A": value}}))
    raise AssertionError(kind)


def verdicts(kind: str, value: dict[str, Any], directory: Path) -> tuple[bool, bool]:
    """Return whether the reader and the schema accept a file with this object."""
    file, content = file_with(kind, value)
    path = directory / f"{file}.json"
    path.write_text(json.dumps(content))
    try:
        READERS[file](str(path))
        accepted = True
    except HostError:
        accepted = False
    return accepted, VALIDATORS[file].is_valid(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"), CASES, ids=[": ".join(case) for case in CASES]
)
def test_reader_and_schema_accept_and_refuse_the_same_values(
    kind: str, name: str, tmp_path: Path
) -> None:
    key = keys_of(kind)[name]
    value = valid_value(kind, name)
    assert verdicts(kind, object_with(kind, **{name: value}), tmp_path) == (True, True)
    wrong: list[Any] = [7 if isinstance(value, dict) else {"a": 1}]
    alone, items = words_of(key.type)
    if key.choices or set(alone) & PATTERNS.keys():
        wrong.append("\n/ ")
    if items:
        wrong.append([7])
    for refused in wrong:
        assert verdicts(kind, object_with(kind, **{name: refused}), tmp_path) == (
            False,
            False,
        )


def test_each_required_key_is_required_by_reader_and_schema(tmp_path: Path) -> None:
    for kind, described in {**FILES, **OBJECTS}.items():
        for name in described.required:
            value = object_with(kind)
            del value[name]
            assert verdicts(kind, value, tmp_path) == (False, False), (kind, name)


def test_each_key_that_a_reader_looks_up_is_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: dict[str, set[str]] = {}
    value_of = Fields.value

    def value(fields: Fields, key: str) -> Any:
        place = re.sub(r"\[\d+\]", "", fields._inside)  # noqa: SLF001 - "args.choices."
        looked_up.setdefault(place, set()).add(key)
        return value_of(fields, key)

    monkeypatch.setattr(Fields, "value", value)
    for kind, name in CASES:
        file, content = file_with(
            kind, object_with(kind, **{name: valid_value(kind, name)})
        )
        path = tmp_path / f"{file}.json"
        path.write_text(json.dumps(content))
        looked_up.clear()
        READERS[file](str(path))
        for place, keys in looked_up.items():
            assert keys <= keys_of(kind_at(file, place)).keys(), (file, place)
    assert Entry("", "").values().keys() == keys_of("registered plugin").keys()


def kind_at(kind: str, place: str) -> str:
    """Return the kind of object at a place such as "args.choices."."""
    names = [*filter(None, place.split("."))]
    while names:
        alone, items = words_of(keys_of(kind)[names.pop(0)].type)
        values = values_of(alone)
        if values:
            names.pop(0)  # the name of a variable
        [kind] = [word for word in (*alone, *items, *values) if word in OBJECTS]
    return kind


def test_what_is_made_of_the_table_is_current() -> None:
    made = runpy.run_path(str(PROJECT / "release/keys.py"))
    for path, text in made["files"]().items():
        assert path.read_text() == text, f"run release/keys.py: {path}"
    pages = [path for path in made["files"]() if path.suffix == ".md"]
    for page in pages:
        assert "<!-- keys: " in page.read_text()
    for name, validator in VALIDATORS.items():
        Draft202012Validator.check_schema(validator.schema)
        assert validator.schema == made["schema"](name)
    there = {path.name for path in SCHEMAS.iterdir()}
    assert there == {f"{name}.schema.json" for name in FILES}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_patterns_work_in_editors_too(pattern: str) -> None:
    """JavaScript has no `\\Z`, named groups as in Python or flags inside a pattern."""
    assert not re.search(r"\\[AZz]|\(\?[P<i]", pattern)


@pytest.mark.slow
def test_what_is_made_names_its_schema(
    install: Callable[..., Made], tmp_path: Path
) -> None:
    made = install()
    assert made.run("self", "new", "plugin", "gp", cwd=tmp_path).status == 0
    assert made.run("self", "init", str(tmp_path / "root")).status == 0
    made.write(
        {"plugins/registry.json": {"version": "1.0.0", "plugins": [], "mine": [1]}}
    )
    assert made.run("self", "plugin", "add", str(tmp_path / "gp"), "--yes").status == 0
    assert json.loads((made.root / "plugins/registry.json").read_text())["mine"] == [1]
    new = ("--lang", "sh", "--description", "Greet")
    assert made.run("self", "new", "command", "team", "hi", *new).status == 0
    files = [*(tmp_path / "root").rglob("*.json"), *(tmp_path / "gp").rglob("*.json")]
    files += [
        *(made.root / "commands").rglob("*.json"),
        made.root / "plugins/registry.json",
    ]
    files = [path for path in files if path.parent.name != "schema"]
    assert len(files) > 10
    for path in files:
        values = json.loads(path.read_text())
        assert values.get("$schema") == VALIDATORS[path.stem].schema["$id"], path
        assert [*VALIDATORS[path.stem].iter_errors(values)] == []


def test_what_ships_is_valid() -> None:
    files = [PROJECT / "core/cli.json"]
    for folder in ("commands", "examples"):
        files += (PROJECT / folder).rglob("*.json")
    known = [path for path in files if path.stem in VALIDATORS]
    assert len(known) > 10
    for path in known:
        errors = VALIDATORS[path.stem].iter_errors(json.loads(path.read_text()))
        assert [*errors] == [], path
