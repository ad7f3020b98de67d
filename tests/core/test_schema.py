"""The JSON Schemas: as strict as the readers, kept beside them, true for all that ships."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from builtin_plugins.administration.plugins.team_catalogue import parse_catalogue
from builtin_plugins.plugins_folder.directory import read_plugin
from builtin_plugins.plugins_folder.registry import KINDS, Entry, read_registry
from host.errors import HostError, PluginError
from host.run.definition import read_definition
from host.run.installation import read_config
from host.run.projects import Project
from testing.installation import PROJECT, Made

SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text())
    for path in sorted((PROJECT / "core/schema").glob("*.schema.json"))
}
_STORE: Registry[Any] = Registry().with_resources(
    [(one["$id"], Resource.from_contents(one)) for one in SCHEMAS.values()]
)
VALIDATORS = {name: Draft202012Validator(one, registry=_STORE) for name, one in SCHEMAS.items()}

# What relates values to one another, which a schema cannot say: the readers alone refuse it.
_READER_ALONE = (
    " both have ",
    "repeats, so no positional argument may follow",
    "comes before this required argument",
    "expected one of ",  # a default that is none of the choices
    "is not the name of another argument",
    "invalid regular expression",
    "does not match the type or pattern",
    " that matches ",
    "occurs twice; the first entry counts",
    "or newer; this is",  # which the program's own version decides
    "is outside the plugin",  # which links decide, too
)


def catalogue_at(path: str) -> None:
    _, problems = parse_catalogue(path, Path(path).read_bytes())
    if problems:
        raise PluginError("; ".join(map(str, problems)))


def manifest_at(path: str) -> None:
    read_plugin(str(Path(path).parent), Entry("", "local"))


def registry_at(path: str) -> None:
    problems = read_registry("", path).problems
    if problems:
        raise PluginError("; ".join(map(str, problems)))


def project_at(path: str) -> None:
    project = Project("", "cli", {})
    project.file = path
    assert project.definition.file == path


READERS: dict[str, Callable[[str], object]] = {
    "catalogue": catalogue_at,
    "category": read_definition,
    "cli": read_config,
    "command": read_definition,
    "plugin": manifest_at,
    "project": project_at,
    "registry": registry_at,
}

TEXT = st.sampled_from(["", "a", "a b", "main.sh", "pkg.mod:attr", "mod:", "/x", "a\n", "\0", "é"])
ODD = st.sampled_from([None, True, False, 0, 1.5, [], {}, "", [1], ["a"], {"a": 1}])
LETTERS = st.sampled_from(["-f", "-h", "f", "--f", "-", "-é", "-f\n", ""])
NAMES = st.sampled_from(
    [
        "env",
        "--force",
        "files...",
        "--help",
        "--a-b",
        "a_b",
        "-x",
        "--",
        "---x",
        "a/b",
        "--x...",
        "é",
    ]
)
NUMBERS = st.sampled_from(["1", "-1", "1.5", ".5", "1.", "1e3", "1e", "", ".", "x", "1\n"])
PROGRAMS = st.sampled_from(
    ["jq", "jq>=1.6", " g++ > 1 , <= 2.0 ", "a b", "/bin/sh", "-x", "jq=1", "jq>=", "jq>=1,", "é"]
)
VERSIONS = st.sampled_from([">=1.6", " == 1, < 2", "1.6", "", " ", ">=1.", ">=" + "1" * 99, ">1\n"])
VARIABLES = st.sampled_from(["A", "_b", "A1", "1A", "A-B", "", "A\n", "é"])


def mostly(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Give `usual` values, now and then an odd one."""
    return st.integers(0, 9).flatmap(lambda roll: ODD if roll == 0 else usual)


def objects(keys: dict[str, st.SearchStrategy[Any]], *required: str) -> st.SearchStrategy[Any]:
    """Give objects with some of the keys, and most of the time those that are required."""
    always = {key: mostly(keys[key]) for key in required}
    rest = {key: mostly(one) for key, one in keys.items() if key not in required}
    whole = st.fixed_dictionaries(always, optional=rest)
    partial = st.fixed_dictionaries({}, optional={**always, **rest})
    return st.integers(0, 9).flatmap(lambda roll: partial if roll == 0 else whole)


ARGUMENT = objects(
    {
        "name": NAMES,
        "short": LETTERS,
        "value": TEXT,
        "type": st.sampled_from(["string", "integer", "number", "path", "file", "directory", "x"]),
        "choices": st.one_of(
            st.lists(NUMBERS, max_size=3),
            st.fixed_dictionaries({"program": st.sampled_from(["p", "./p", "a/b", "-p", ""])}),
        ),
        "repeats": st.booleans(),
        "env": VARIABLES,
        "negatable": st.booleans(),
        "conflicts": st.lists(NAMES, max_size=1),
        "pattern": st.sampled_from(["[0-9]+", "(", ".*", ""]),
        "secret": st.booleans(),
        "effects": st.sampled_from(["read", "change", "destroy", "x"]),
        "default": st.one_of(NUMBERS, st.sampled_from(["true", "FALSE", "on", "On\n"])),
        "required": st.booleans(),
        "description": TEXT,
        "complete": st.sampled_from(["file", "none", "words", "./x", "a/b", "-x", ""]),
        "owner": ODD,
    },
    "name",
)
DEFINITION = {
    "name": TEXT,
    "description": TEXT,
    "entrypoint": TEXT,
    "script": TEXT,
    "os": st.lists(TEXT, max_size=2),
    "sudo": st.one_of(st.booleans(), st.lists(TEXT, max_size=2)),
    "group": TEXT,
    "envs": st.dictionaries(VARIABLES, mostly(TEXT), max_size=2),
    "env_files": st.lists(TEXT, max_size=2),
    "aliases": st.lists(st.one_of(TEXT, NAMES), max_size=2),
    "hidden": st.booleans(),
    "required_envs": st.lists(
        st.one_of(
            VARIABLES,
            objects(
                {
                    "name": VARIABLES,
                    "hint": TEXT,
                    "type": st.sampled_from(["url", "port", "integer", "path", "email", "x"]),
                    "secret": st.booleans(),
                },
                "name",
            ),
        ),
        max_size=2,
    ),
    "requires": st.lists(
        st.one_of(
            PROGRAMS, objects({"program": PROGRAMS, "version": VERSIONS, "hint": TEXT}, "program")
        ),
        max_size=2,
    ),
    "examples": st.lists(objects({"command": TEXT, "description": TEXT}, "command"), max_size=2),
    "confirm": TEXT,
    "effects": st.sampled_from(["read", "change", "destroy", "x"]),
    "help": st.sampled_from(["script", "page", "x"]),
    "starts_commands": st.booleans(),
    "sources": st.booleans(),
    "installed_when": objects({"command": TEXT, "path": TEXT}),
    "args": st.lists(ARGUMENT, max_size=3),
    "x-own": ODD,
}
LABEL = st.sampled_from(["", "a" * 40, "v1", "-x", "a/b", "a" * 15 + "/", "a" * 16 + "/", "a\n"])
PLUGIN_NAMES = st.sampled_from(["p", "a.b-c", "self", "help", "registry.json", "P", "-p", "p\n"])
LISTED = objects(
    {"name": PLUGIN_NAMES, **dict.fromkeys(("source", "ref", "sha256", "owner"), TEXT)},
    "name",
    "source",
)
ENTRY = objects(
    {
        "name": PLUGIN_NAMES,
        "kind": st.sampled_from([*KINDS, "x"]),
        "source": TEXT,
        "version": st.sampled_from(["", "1.0", "2"]),
        "commit": LABEL,
        "sha256": LABEL,
        "directory": TEXT,
        "enabled": st.booleans(),
        "dev": st.booleans(),
        "pinned": st.booleans(),
        "versions": st.lists(LABEL, max_size=2),
        "own": ODD,
    },
    "name",
    "kind",
)
CASES = {
    "category": objects(DEFINITION),
    "catalogue": objects({"plugins": st.lists(LISTED, max_size=2)}, "plugins"),
    "cli": objects(
        {
            **dict.fromkeys(("name", "version", "description"), TEXT),
            **dict.fromkeys(("commands_dir", "plugins_dir"), TEXT),
            "min_version": TEXT,
            "projects": st.booleans(),
            "team": objects(
                {
                    "follow": st.sampled_from(["notice", "never", "", "x"]),
                    "catalogue": st.lists(TEXT, max_size=2),
                }
            ),
        },
        "name",
        "version",
    ),
    "command": objects(DEFINITION, "name", "description"),
    "plugin": objects(
        dict.fromkeys(("name", "version", "description", "directory", "hooks"), TEXT)
        | {"min_version": st.sampled_from(["0", "0.0.1", "x", "", "1.", "0\n", "999"])}
    ),
    "project": objects({**DEFINITION, "assistants": st.booleans()}),
    "registry": objects(
        {
            "version": st.sampled_from(["1.0.0", "1", "0.9", "2.0", "x", "", "1x"]),
            "plugins": st.lists(ENTRY, max_size=2),
        },
        "version",
        "plugins",
    ),
}


def reader_says(kind: str, directory: Path, values: Any) -> str:
    """Return why the reader refuses `values`, "" where it does not."""
    path = directory / f"{kind}.json"
    path.write_text(json.dumps(values))
    try:
        READERS[kind](str(path))
    except HostError as error:
        return str(error)
    return ""


def test_there_is_one_for_each_file() -> None:
    assert sorted(SCHEMAS) == sorted(READERS)
    for one in SCHEMAS.values():
        Draft202012Validator.check_schema(one)


@pytest.mark.parametrize("kind", READERS)
def test_schema_and_reader_give_the_same_verdict(kind: str, tmp_path: Path) -> None:
    seen = {True: 0, False: 0}

    @settings(
        max_examples=200,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(CASES[kind])
    def check(values: Any) -> None:
        valid = VALIDATORS[kind].is_valid(values)
        wrong = reader_says(kind, tmp_path, values)
        if valid and any(one in wrong for one in _READER_ALONE):
            return
        assert valid == (not wrong), wrong or list(VALIDATORS[kind].iter_errors(values))
        seen[valid] += 1

    check()
    assert min(seen.values()) > 10  # both verdicts were given


@pytest.mark.parametrize("values", [None, [], "text", 1])
@pytest.mark.parametrize("kind", READERS)
def test_what_is_no_object(kind: str, values: Any, tmp_path: Path) -> None:
    assert not VALIDATORS[kind].is_valid(values)
    assert reader_says(kind, tmp_path, values)


def test_what_is_made_names_its_schema(install: Callable[..., Made], tmp_path: Path) -> None:
    made = install()
    assert made.run("self", "new", "plugin", "gp", cwd=tmp_path).status == 0
    assert made.run("self", "init", str(tmp_path / "root")).status == 0
    made.write({"plugins/registry.json": {"version": "1.0.0", "plugins": [], "mine": [1]}})
    assert made.run("self", "plugin", "add", str(tmp_path / "gp"), "--yes").status == 0
    assert json.loads((made.root / "plugins/registry.json").read_text())["mine"] == [1]
    new = ("--lang", "sh", "--description", "Greet")
    assert made.run("self", "new", "command", "team", "hi", *new).status == 0
    files = [*(tmp_path / "root").rglob("*.json"), *(tmp_path / "gp").rglob("*.json")]
    files += [*(made.root / "commands").rglob("*.json"), made.root / "plugins/registry.json"]
    files = [path for path in files if path.parent.name != "schema"]
    assert len(files) > 10
    for path in files:
        values = json.loads(path.read_text())
        assert values.get("$schema") == SCHEMAS[path.stem]["$id"], path
        assert [*VALIDATORS[path.stem].iter_errors(values)] == []
    there = sorted(path.name for path in (tmp_path / "root/core/schema").iterdir())
    assert there == [f"{name}.schema.json" for name in sorted(SCHEMAS)]


def test_what_ships_is_valid() -> None:
    found = [PROJECT / "core/cli.json"]
    found += [one for top in ("commands", "examples") for one in (PROJECT / top).rglob("*.json")]
    checked = 0
    for path in found:
        validator = VALIDATORS.get(path.stem)
        if validator is not None:
            assert [*validator.iter_errors(json.loads(path.read_text()))] == [], path
            checked += 1
    assert checked > 10
