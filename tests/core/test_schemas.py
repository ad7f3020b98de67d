"""The JSON Schemas in core/schema: the readers accept the same values and know the same keys."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from builtin_plugins.plugins.team_catalogue import parse_catalogue
from builtin_plugins.registry.directory import read_plugin
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import read_registry
from host import HostError, PluginError
from host.catalog.definition import read_definition
from host.catalog.usable_projects import project_definition
from host.files.json_file import Fields
from host.installation import read_config
from host.projects.projects import Project
from testing.installation import PROJECT, Made

SCHEMAS: dict[str, dict[str, Any]] = {
    path.name: json.loads(path.read_text())
    for path in sorted((PROJECT / "core/schema").iterdir())
}
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)


def file_of(schema: dict[str, Any]) -> str:
    """Return the name of the file that a schema describes, such as "command.json"."""
    title: str = schema["title"]
    return title.rpartition("/")[2]


VALIDATORS = {
    file_of(schema): Draft202012Validator(schema, registry=REGISTRY)
    for schema in SCHEMAS.values()
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
    "catalogue.json": read_catalogue,
    "category.json": read_definition,
    "cli.json": read_config,
    "command.json": read_definition,
    "plugin.json": read_manifest,
    "project.json": read_project,
    "registry.json": read_whole_registry,
}


class Case(NamedTuple):
    """A key of a file, or of an object in it; `content` returns a file with that object."""

    file: str
    path: str
    described: dict[str, Any]
    schema: str
    required: tuple[str, ...]
    content: Callable[[dict[str, Any]], dict[str, Any]]


def resolved(described: dict[str, Any], schema: str) -> tuple[dict[str, Any], str]:
    """Return what a schema refers to, and the schema file that has it."""
    while "$ref" in described:
        file, _, path = described["$ref"].partition("#")
        schema = file or schema
        described = SCHEMAS[schema]
        for name in path.split("/")[1:]:
            described = described[name]
    return described, schema


def valid(described: dict[str, Any], schema: str) -> Any:
    """Return a value that a schema accepts: its first example, choice or alternative."""
    described, schema = resolved(described, schema)
    for key in ("examples", "enum"):
        if key in described:
            return described[key][0]
    if "anyOf" in described:
        return valid(described["anyOf"][0], schema)

    kind = kinds_of(described)[0]
    if kind == "array":
        return [valid(described["items"], schema)]
    if kind != "object":
        return {"string": "a", "boolean": True, "integer": 1}[kind]
    properties = described.get("properties")
    if properties is None:
        return {"NAME": valid(described["additionalProperties"], schema)}
    needed = described.get("required", ())
    return {name: valid(properties[name], schema) for name in needed}


def kinds_of(described: dict[str, Any]) -> list[str]:
    kinds = described.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def cases(
    file: str,
    place: str,
    described: dict[str, Any],
    schema: str,
    content: Callable[[dict[str, Any]], dict[str, Any]],
) -> Iterator[Case]:
    """Yield the keys of a value and of the objects in it; `content` is a file with such a value."""
    described, schema = resolved(described, schema)
    for kind in described.get("anyOf", ()):
        yield from cases(file, place, kind, schema, content)
    if "items" in described:
        yield from cases(file, place, described["items"], schema, listed(content))
    if isinstance(described.get("additionalProperties"), dict):
        values = described["additionalProperties"]
        yield from cases(file, place, values, schema, under("NAME", content))

    properties = described.get("properties", {})
    needed = {
        name: valid(properties[name], schema) for name in described.get("required", ())
    }
    for name, value in properties.items():
        if schema != "command.schema.json" and "command" in value.get("$ref", ""):
            continue  # the key is tested in command.json
        path = f"{place}{name}"
        whole = beside(needed, EXTRA.get(path, {}), content)
        yield Case(file, path, value, schema, tuple(needed), whole)
        yield from cases(file, f"{path}.", value, schema, under(name, whole))


def under(name: str, content: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: content({name: value})


def listed(content: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: content([value])


def beside(
    needed: dict[str, Any], extra: dict[str, Any], content: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    return lambda value: content({**needed, **extra, **value})


# What an object needs beside a key.
OPTION = {"name": "--force"}
EXTRA: dict[str, dict[str, Any]] = {
    "schema": {"output": "json"},
    **{
        f"args.{name}": OPTION
        for name in ("short", "value", "repeats", "negatable", "effects")
    },
    "args.passthrough": {"name": "files..."},
    "args.conflicts": {"conflicts": []},
}
CASES = [
    case
    for name, schema in SCHEMAS.items()
    for case in cases(file_of(schema), "", schema, name, lambda value: value)
]


def verdicts(file: str, content: dict[str, Any], directory: Path) -> tuple[bool, bool]:
    """Return whether the reader and the schema accept a file."""
    path = directory / file
    path.write_text(json.dumps(content))
    try:
        READERS[file](str(path))
        accepted = True
    except HostError:
        accepted = False
    return accepted, VALIDATORS[file].is_valid(content)


@pytest.mark.slow
def test_reader_and_schema_accept_and_refuse_the_same_values(tmp_path: Path) -> None:
    for case in CASES:
        file, name = case.file, case.path.rpartition(".")[2]
        described, _ = resolved(case.described, case.schema)
        value = valid(case.described, case.schema)
        if case.path == "args.conflicts":
            value = []
        right = case.content({name: value})
        assert verdicts(file, right, tmp_path) == (True, True), (case.path, right)

        refused: list[Any] = [7 if isinstance(value, dict) else {"a": 1}]
        if "enum" in described or "pattern" in described:
            refused.append("\n/ ")
        if "array" in kinds_of(described):
            refused.append([7])
        for wrong in map(case.content, [{name: value} for value in refused]):
            assert verdicts(file, wrong, tmp_path) == (False, False), (case.path, wrong)


def test_each_required_key_is_required_by_reader_and_schema(tmp_path: Path) -> None:
    for case in CASES:
        *_, name = case.path.split(".")
        if name in case.required:
            without = case.content({name: None})
            assert verdicts(case.file, without, tmp_path) == (False, False), case.path


def test_each_key_that_a_reader_looks_up_is_in_a_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: set[str] = set()
    value_of = Fields.value

    def value(fields: Fields, key: str) -> Any:
        looked_up.add(re.sub(r"\[\d+\]|NAME\.", "", f"{fields._inside}{key}"))  # noqa: SLF001
        return value_of(fields, key)

    monkeypatch.setattr(Fields, "value", value)
    for file in READERS:
        known = {case.path for case in CASES if case.file in (file, "command.json")}
        looked_up.clear()
        for case in CASES:
            if case.file == file:
                content = case.content({})
                verdicts(file, content, tmp_path)
        assert looked_up <= known, file
    registered = {case.path for case in CASES if case.file == "registry.json"}
    assert {f"plugins.{name}" for name in Entry("", "").values()} <= registered


def test_the_tables_in_the_pages_are_those_of_the_schemas() -> None:
    pages: dict[Path, str] = runpy.run_path(str(PROJECT / "docs/site/keys.py"))[
        "pages"
    ]()
    for path, text in pages.items():
        assert "<!-- keys: " in text
        assert path.read_text() == text, f"run docs/site/keys.py: {path}"


def test_the_schemas_work_in_editors_too() -> None:
    """JavaScript has no `\\Z`, named groups as in Python or flags inside a pattern."""
    for name, schema in SCHEMAS.items():
        Draft202012Validator.check_schema(schema)
        assert schema["$id"].endswith(f"/core/schema/{name}")
    for case in CASES:
        described, _ = resolved(case.described, case.schema)
        assert not re.search(r"\\[AZz]|\(\?[P<i]", described.get("pattern", ""))


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
        assert values.get("$schema") == SCHEMAS[f"{path.stem}.schema.json"]["$id"], path
        assert [*VALIDATORS[path.name].iter_errors(values)] == []


def test_what_ships_is_valid() -> None:
    files = [PROJECT / "core/cli.json"]
    for folder in ("commands", "examples"):
        files += (PROJECT / folder).rglob("*.json")
    known = [path for path in files if path.name in VALIDATORS]
    assert len(known) > 10
    for path in known:
        errors = VALIDATORS[path.name].iter_errors(json.loads(path.read_text()))
        assert [*errors] == [], path
