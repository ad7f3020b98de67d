"""cli.json, category.json and command.json: what is accepted, and how the rest is told."""

import contextlib
import json
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.catalog.declared_commands import parse_declared
from host.catalog.definition import (
    SYSTEM_OS,
    SYSTEMS,
    is_reference,
    is_word,
    read_definition,
)
from host.errors import DefinitionError, InstallationError, Problem
from host.files.json_file import parse_json, read_json
from host.files.paths import read_regular
from host.installation import read_config
from host.suggestions import unknown_names
from testing.growth import grows_in_proportion
from testing.installation import command

BASE = '"name": "N", "description": "D", "entrypoint": "main.sh"'
OTHER_OS = "mac" if SYSTEM_OS == "linux" else "linux"


def read(tmp_path, text):
    path = tmp_path / "command.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_definition(str(path))


def refused(tmp_path, text) -> str:
    """Return the message for a definition, without the path it starts with."""
    with pytest.raises(DefinitionError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/command.json:")
    assert "\n" not in message
    return message.removeprefix(f"{tmp_path}/command.json:")


# What is no strict JSON, and where: line:column, or the key.
SYNTAX = {
    "empty": ("", "1:1: expecting value"),
    "blank": (" \n ", "2:2: expecting value"),
    "open object": ('{"name": "N"', "1:13: "),
    "no comma": ('{\n  "name": "N"\n  "os": []\n}', "3:3: expecting ',' delimiter"),
    "no end": ('{\n  "name": "N"\n', "3:1: expecting ',' delimiter"),
    "trailing comma": ('{\n  "name": "N",\n}', "2:14: trailing comma"),
    "trailing comma in array": ('{"os": [\n"linux",]}', "2:8: trailing comma"),
    "trailing comma inside": ('{"a": [{"b": 1 , \n\t}]}', "1:16: trailing comma"),
    "comment": ('{ // c\n"name": "N"}', "1:3: comments are not allowed"),
    "comment on a line": ('{\n  "a": 1,\n  // c\n  "b": 2}', "3:3: comments are not allowed"),
    "comment behind a value": ('{"a": 1 /* c */}', "1:9: comments are not allowed"),
    "comment behind a comma": ('{"a": 1, # c\n"b": 1}', "1:10: comments are not allowed"),
    "comment at the start": ("# c\n{}", "1:1: comments are not allowed"),
    "comment at the end": ("{}\n// c", "2:1: comments are not allowed"),
    "only a comma": ("[,]", "1:2: "),
    "comma after a brace": ("{,}", "1:2: trailing comma"),
    "no quotes": ("{a: 1}", "1:2: expecting property name enclosed in double quotes"),
    "two commas": ('{"a": 1,,"b": 2}', "1:9: "),
    "single quotes": ("{'name': 'N'}", "1:2: expecting property name enclosed in double quotes"),
    "a value in single quotes": ("{\"name\": 'N'}", "1:10: expecting value"),
    "two values": ("{} {}", "1:4: extra data"),
    "text after": ('{"name": "N"}\nx', "2:1: extra data"),
    "no colon": ('{"name" "N"}', "1:9: expecting ':' delimiter"),
    "newline in a string": ('{"name": "a\nb"}', "1:12: invalid control character"),
    "tab in a string": ('{"name": "a\tb"}', "1:12: invalid control character"),
    "another control character": ('{"name": "a\x01b"}', "1:12: invalid control character"),
    "bad escape": ('{"name": "\\q"}', "1:11: invalid \\escape"),
    "open string": ('{"name": "N', "1:10: unterminated string"),
    "NaN": ('{"name": "NaN",\n "x": NaN}', "2:7: NaN "),
    "Infinity": ('{"x": [Infinity]}', "1:8: Infinity "),
    "-Infinity": ('{"a\\"NaN": "\\\\", "x": -Infinity}', "1:23: -Infinity "),
    "key twice": ('{"name": "N", "name": "M"}', '1:15: the key "name" occurs twice'),
    "key twice, and elsewhere": (
        '{"name": "N", "name": "M", "args": [{"name": "name"}]}', '1:15: the key "name" '
    ),
    "key twice in the second object": (
        '[{"a": 1}, {"a": 1,\n"a": 1}, {"a": "a"}]', '2:1: the key "a" '
    ),
    "keys twice in two objects": (
        '{"ba": 1, "ba": 2, "x": {"a": 1,\n "a": 2}}', '2:2: the key "a" '
    ),
    "NaN before a text": ('{"x": NaN,\n "y": "NaN"}', "1:7: NaN "),
    "key twice inside": (f'{{{BASE}, "envs": {{"A": 1, "A": 1}}}}', '1:77: the key "A" '),
    "octal": ('{"x": 012}', "1:8: expecting ',' delimiter"),
    "plus": ('{"x": +1}', "1:7: expecting value"),
    "hex": ('{"x": 0x1}', "1:8: "),
    "python": ('{"x": None}', "1:7: "),
    "two BOMs": (b"\xef\xbb\xbf\xef\xbb\xbf{}", "1:1: "),
    "not UTF-8": (b'{"name":\n"\xff"}', "2: not UTF-8"),
    "UTF-16": ('{"name": "N"}'.encode("utf-16"), " is UTF-16; save it as UTF-8"),
    "UTF-16 without BOM": ('{"name": "N"}'.encode("utf-16-le"), " is UTF-16; save it as UTF-8"),
    "big-endian": ('{"name": "N"}'.encode("utf-16-be"), " is UTF-16; save it as UTF-8"),
    "a long number": ('{"x": ' + "9" * 5000 + "}", "1:1: it is nested too deeply, or a number "),
    "NUL": ("12\0", "1:3: "),
    "too deep": ("[" * 100_000, "1:1: it is nested too deeply"),
    "too deep objects": ('{"a":' * 100_000, "1:1: it is nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), SYNTAX.values(), ids=SYNTAX.keys())
def test_what_is_no_json(tmp_path, text, message):
    assert refused(tmp_path, text).startswith(message)


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["", "x", "]" * 2000, ",]"])
def test_no_depth_is_an_internal_error(tmp_path, tail):
    """Whatever the interpreter's own limit is, and however much of it a caller has used."""
    for depth in [*range(90, 110), *range(150, 1100, 23)]:
        for opening in ("[", '{"a":'):
            refused(tmp_path, opening * depth + tail)


def test_the_deepest_that_is_read(tmp_path):
    path = tmp_path / "x.json"
    for depth in (1, 99, 100):
        path.write_text("[" * depth + "]" * depth + "\n")
        value = read_json(str(path))
        for _ in range(depth):
            assert isinstance(value, list)
            value = value[0] if value else None
        assert value is None
    path.write_text(
        '{"a": ' + "[" * 99 + "1" + "]" * 99 + ', "b": [' + "[], " * 500 + "[]]}"
    )
    assert len(read_json(str(path))["b"]) == 501


GROWING = {
    "keys that stand twice": lambda n: ", ".join(
        f'"{i}": 1' for i in [*range(n), n - 1]
    ),
    "unknown keys": lambda n: ", ".join(
        f'"entrypoi{i % 9}{i}": 1' for i in range(n // 3)
    ),
    "a long text": lambda n: f'"x": "{"é" * 8 * n}"',
    "a comma at the end": lambda n: '"x": [' + "1, " * n + "]",
    "blanks": lambda n: " " * 8 * n + "x",
    "brackets": lambda n: '"x": [' + "[[]], " * n + "[]]",
    "open quotes": lambda n: '"' * n,
    "NaN behind many texts": lambda n: '"x": [' + '"a", ' * n + "NaN]",
}


@pytest.mark.night
@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING)
def test_reading_takes_time_in_proportion_to_what_is_read(tmp_path, make):
    path = tmp_path / "command.json"

    def write(count):
        path.write_text(f'{{"name": "N", "description": "D", {make(count)}}}')
        return str(path)

    def read_whatever(file):
        with contextlib.suppress(DefinitionError):
            read_definition(file)

    assert grows_in_proportion(write, read_whatever, 10_000)


# What has the wrong type: what is changed, the key that is named, what was expected.
TYPES = {
    "no name": ({"name": ...}, "name", "a string"),
    "no description": ({"description": ...}, "description", "a string"),
    "name is null": ({"name": None}, "name", "missing; expected a string"),
    "name is a number": ({"name": 1}, "name", "a string, found a number"),
    "name is a boolean": ({"name": True}, "name", "a string, found true"),
    "name is an array": ({"name": []}, "name", "a string, found an array"),
    "name is an object": ({"name": {}}, "name", "a string, found an object"),
    "script is a number": ({"entrypoint": ..., "script": 1}, "script", "a string"),
    "os is a string": ({"os": "linux"}, "os", "an array of strings, found a string"),
    "os holds a number": ({"os": [1]}, "os", "an array of strings"),
    "sudo is a string": ({"sudo": "true"}, "sudo", "true, false or an array"),
    "sudo is a number": ({"sudo": 1}, "sudo", "true, false or an array"),
    "sudo holds a boolean": ({"sudo": [True]}, "sudo", "an array of strings"),
    "hidden is a string": ({"hidden": "no"}, "hidden", "true or false, found a string"),
    "group is an array": ({"group": []}, "group", "a string"),
    "envs is an array": ({"envs": []}, "envs", "an object of strings, found an array"),
    "envs holds an array": ({"envs": {"A": []}}, "envs.A", "a string, number or boolean"),
    "envs holds an object": ({"envs": {"A": {}}}, "envs.A", "a string, number or boolean"),
    "env_files is a string": ({"env_files": ".env"}, "env_files", "an array of strings"),
    "env_files holds null": ({"env_files": [None]}, "env_files", "an array of strings"),
    "aliases is a string": ({"aliases": "a"}, "aliases", "an array of strings"),
    "an alias of two words": ({"aliases": ["a", "b c"]}, "aliases", 'invalid word "b c"'),
    "an empty alias": ({"aliases": [""]}, "aliases", 'invalid word ""'),
    "an alias like an option": ({"aliases": ["-x"]}, "aliases", 'invalid word "-x"'),
    "a path as alias": ({"aliases": ["a/b"]}, "aliases", 'invalid word "a/b"'),
    "an alias with an accent": ({"aliases": ["\xe9t\xe9"]}, "aliases", "invalid word "),
    "a long alias": ({"aliases": ["a" * 65]}, "aliases", f'invalid word "{"a" * 65}"'),
    "required_envs with a space": (
        {"required_envs": ["A", "A B"]}, "required_envs[1]", '"A B" cannot name a variable'
    ),
    "required_envs with a dollar": (
        {"required_envs": ["$A"]}, "required_envs[0]", '"$A" cannot name a variable'
    ),
    "required_envs with a value": (
        {"required_envs": ["A=1"]}, "required_envs[0]", '"A=1" cannot name a variable'
    ),
    "an empty name in required_envs": ({"required_envs": [""]}, "required_envs[0]", "cannot name"),
    "required_envs holds 1": ({"required_envs": [1]}, "required_envs[0]", "found a number"),
    "required_envs without a name": ({"required_envs": [{}]}, "required_envs[0].name", "missing"),
    "required_envs of an unknown type": (
        {"required_envs": [{"name": "A", "type": "date"}]}, "required_envs[0].type", "found date"
    ),
    "examples holds a string": ({"examples": ["x"]}, "examples[0]", "an object, found a string"),
    "examples without command": ({"examples": [{}]}, "examples[0].command", "missing"),
    "examples is an object": ({"examples": {}}, "examples", "an array of objects"),
    "args without name": ({"args": [{"name": "x"}, {}]}, "args[1].name", "missing"),
    "args is an object": ({"args": {}}, "args", "an array of objects, found an object"),
    "confirm is a boolean": ({"confirm": True}, "confirm", "a string, found true"),
    "confirm is empty": ({"confirm": ""}, "confirm", "must not be empty"),
    "starts_commands": ({"starts_commands": "yes"}, "starts_commands", "true or false"),
    "output": ({"output": "yaml"}, "output", "one of json; found yaml"),
    "a schema without output": ({"schema": "s.json"}, "schema", 'needs "output": "json"'),
    "effects is no word of ours": (
        {"effects": "delete"}, "effects", "one of read, change, destroy; found delete"
    ),
    "installed_when": ({"installed_when": "x"}, "installed_when", "an object"),
    "installed_when both": (
        {"installed_when": {"command": "a", "path": "b"}},
        *("installed_when", '{"command": NAME} or {"path": PATH}'),
    ),
    "installed_when a number": ({"installed_when": {"path": 1}}, "installed_when.path", "a string"),
    "NUL in a path": ({"env_files": ["a\0b"]}, "env_files", "not allowed"),
    "NUL in a value": ({"envs": {"A": "\0"}}, "envs.A", "not allowed"),
    "half a character": ({"envs": {"A": "\ud83d"}}, "envs.A", "not allowed"),
    "NUL in the entrypoint": ({"entrypoint": "a\0"}, "entrypoint", "not allowed"),
    "name with a space in envs": ({"envs": {"A B": "1"}}, "envs", '"A B" cannot name a variable'),
    "empty name in envs": ({"envs": {"": "1"}}, "envs", '"" cannot name a variable'),
    "dot in envs": ({"envs": {"A.B": "1"}}, "envs", '"A.B" cannot name a variable'),
    "digit in envs": ({"envs": {"1A": "1"}}, "envs", '"1A" cannot name a variable'),
    "equals in envs": ({"envs": {"A=B": "1"}}, "envs", '"A=B" cannot name a variable'),
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "key", "expected"), TYPES.values(), ids=TYPES.keys()
)
def test_what_has_the_wrong_type(tmp_path, changes, key, expected):
    fields = {
        name: value for name, value in command(**changes).items() if value is not ...
    }
    message = refused(tmp_path, json.dumps(fields))
    assert f'"{key}"' in message
    assert expected in message


@pytest.mark.parametrize("text", ["[]", '"x"', "1", "null", "true"])
def test_what_is_no_object(tmp_path, text):
    assert " expected an object, found " in refused(tmp_path, text)


def test_everything_that_is_accepted(tmp_path):
    fields = command(
        group="G",
        sudo=[SYSTEM_OS],
        os=["linux", "mac"],
        aliases=["a"],
        hidden=True,
        envs={"S": "s", "N": 42, "T": True, "F": False, "E": ""},
        env_files=[".env"],
        required_envs=["S"],
        examples=[{"command": "x", "description": "y", "more": 1}, {"command": "z"}],
        args=[{"name": "x", "required": True}],
        installed_when={"path": "/x"},
        confirm="Sure?",
        effects="read",
        starts_commands=True,
        unknown={"anything": [None, 1.5, -2]},
    )
    found = read(tmp_path, b"\xef\xbb\xbf" + json.dumps(fields, indent=2).encode())
    assert (found.name, found.description, found.entrypoint) == (
        "Name",
        "Description",
        "main.sh",
    )
    assert (found.group, found.sudo, found.hidden) == ("G", True, True)
    assert found.envs == {"S": "s", "N": "42", "T": "true", "F": "false", "E": ""}
    assert (found.os, found.env_files) == (("linux", "mac"), (".env",))
    assert (found.aliases, found.required_envs) == (("a",), ("S",))
    assert [one["command"] for one in found.examples] == ["x", "z"]
    assert [(one.name, one.required) for one in found.args] == [("x", True)]
    assert (found.confirm, found.effects, found.own_effects) == (
        "Sure?",
        "read",
        "read",
    )
    assert found.extra == {"unknown": {"anything": [None, 1.5, -2]}}
    assert found.reads_sources
    assert found.starts_commands
    assert found.installed_when == {"path": "/x"}
    assert found.directory == str(tmp_path)
    assert found.compatible


def test_what_is_absent_has_a_default(tmp_path):
    found = read(tmp_path, f"{{{BASE}}}")
    assert (found.sudo, found.hidden, found.group, found.os) == (False, False, "", ())
    assert (found.envs, found.env_files, found.aliases) == ({}, (), ())
    assert (found.examples, found.args, found.installed_when) == ((), (), {})
    assert (found.confirm, found.effects, found.own_effects) == ("", "change", "")
    assert (found.reads_sources, found.starts_commands, found.extra) == (
        True,
        False,
        {},
    )
    assert found.compatible


@pytest.mark.parametrize(
    ("fields", "effects", "own"),
    [({}, "change", ""), ({"sudo": True}, "destroy", ""),
     ({"sudo": [OTHER_OS]}, "change", ""), ({"sudo": True, "effects": "read"}, "read", "read"),
     ({"effects": "destroy"}, "destroy", "destroy"), ({"effects": None}, "change", "")],
)  # fmt: skip
def test_effects(tmp_path, fields, effects, own):
    found = read(tmp_path, json.dumps(command(**fields)))
    assert (found.effects, found.own_effects) == (effects, own)


def test_sources_is_a_key_of_python_commands():
    python = command(entrypoint="a:b")
    assert parse_declared("p", python).reads_sources
    assert parse_declared("p", {**python, "sources": None}).reads_sources
    assert parse_declared("p", {**python, "sources": True}).reads_sources
    found = parse_declared("p", {**python, "sources": False})
    assert (found.reads_sources, found.extra) == (False, {})
    with pytest.raises(DefinitionError, match='p: "sources": expected true or false'):
        parse_declared("p", {**python, "sources": "no"})


def test_commands_declared_in_python_start_commands_too():
    assert parse_declared(
        "p", command(entrypoint="a:b", starts_commands=True)
    ).starts_commands
    assert not parse_declared("p", command(entrypoint="a:b")).starts_commands


def test_sources_of_a_script_has_no_effect(tmp_path):
    assert read(tmp_path, json.dumps(command(sources=False))).reads_sources


def test_numbers_of_unknown_keys_are_numbers(tmp_path):
    found = read(
        tmp_path, f'{{{BASE}, "x-a": 1, "_b": [1.50, 1e3], "$c": {{"d": -0}}}}'
    )
    assert found.extra == {"x-a": 1, "_b": [1.5, 1000.0], "$c": {"d": 0}}
    assert json.dumps(found.extra["_b"]) == "[1.5, 1000.0]"


def test_a_misspelt_key_of_an_argument_is_told(tmp_path):
    found = read(tmp_path, json.dumps(command(args=[{"name": "a", "chioces": ["x"]}])))
    [warning] = found.warnings
    assert str(warning).endswith(
        '"args[0].chioces": unknown key; did you mean "choices"?'
    )


OPTIONAL = [
    *(
        "entrypoint",
        "script",
        "os",
        "sudo",
        "group",
        "envs",
        "env_files",
        "aliases",
        "hidden",
    ),
    *(
        "required_envs",
        "examples",
        "args",
        "installed_when",
        "confirm",
        "effects",
        "starts_commands",
        "output",
        "schema",
    ),
]


@pytest.mark.parametrize("key", OPTIONAL)
def test_an_optional_key_that_is_null_counts_as_absent(tmp_path, key):
    fields = {"name": "N", "description": "D", "entrypoint": "main.sh"}
    absent = read(
        tmp_path, json.dumps({one: fields[one] for one in fields if one != key})
    )
    found = read(tmp_path, json.dumps({**fields, key: None}))
    assert getattr(found, key, None) == getattr(absent, key, None)
    assert found.entrypoint == absent.entrypoint
    assert (found.extra, found.warnings) == ({}, ())


def test_null_inside_counts_as_absent_too(tmp_path):
    found = read(tmp_path, json.dumps(command(envs={"A": None, "B": "b"})))
    assert found.envs == {"B": "b"}
    found = read(
        tmp_path, json.dumps(command(installed_when={"command": "a", "path": None}))
    )
    assert found.installed_when == {"command": "a"}
    found = read(
        tmp_path, json.dumps(command(examples=[{"command": "a", "description": None}]))
    )
    assert found.examples[0]["command"] == "a"
    found = read(tmp_path, json.dumps(command(entrypoint=None, script="s.sh")))
    assert found.entrypoint == "s.sh"
    path = tmp_path / "cli.json"
    path.write_text(
        '{"name": "N", "version": "1.0.0", "commands_dir": null, "description": null}'
    )
    config = read_config(str(path))
    assert (config.commands_dir, config.description, config.warnings) == (
        "commands",
        "",
        (),
    )


# A key that is none of ours, and the one that is meant; "" where nothing is said.
KEYS = {
    "entrypiont": "entrypoint", "entry_point": "entrypoint", "entryPoint": "entrypoint",
    "Entrypoint": "entrypoint", "entripoint": "entrypoint", "scripts": "script", "OS": "os",
    "Sudo": "sudo", "env": "envs", "env-files": "env_files", "envFiles": "env_files",
    "env_file": "env_files", "alias": "aliases", "grupo": "group", "gruop": "group",
    "requiredEnvs": "required_envs", "instaled_when": "installed_when", "hiden": "hidden",
    "x-entrypiont": "", "_entrypiont": "", "$entrypoin": "", "version": "", "author": "",
    "tags": "", "config": "", "id": "", "": "", "samples_of_use": "",
    "e" * 100_000: "",
}  # fmt: skip


@pytest.mark.parametrize(("key", "ours"), KEYS.items(), ids=[key[:20] for key in KEYS])
def test_a_key_that_looks_misspelt_is_told_with_the_one_that_is_meant(
    tmp_path, key, ours
):
    found = read(tmp_path, f'{{{BASE}, {json.dumps(key)}: "x"}}')
    assert found.extra == {key: "x"}
    hint = f'{tmp_path}/command.json: "{key}": unknown key; did you mean "{ours}"?'
    assert [*map(str, found.warnings)] == ([hint] if ours else [])


def test_a_command_whose_entrypoint_is_misspelt_is_invalid(tmp_path):
    with pytest.raises(DefinitionError) as raised:
        read(tmp_path, '{"name": "N", "description": "D", "entrypiont": "x.sh"}')
    message = f'{tmp_path}/command.json: "entrypiont": unknown key; did you mean "entrypoint"?'
    assert str(raised.value) == message


def test_a_misspelt_key_beside_the_right_one_causes_a_warning(tmp_path):
    found = read(tmp_path, f'{{{BASE}, "script": "s.sh", "Name": "x", "names": []}}')
    assert list(found.extra) == ["Name", "names"]
    assert [one.remedy for one in found.warnings] == 2 * ['did you mean "name"?']


def test_a_misspelt_key_of_cli_json(tmp_path):
    path = tmp_path / "cli.json"
    path.write_text('{"name": "N", "version": "1.0.0", "command_dir": "c"}')
    hint = Problem(
        str(path), "unknown key", 'did you mean "commands_dir"?', "command_dir"
    )
    assert read_config(str(path)).warnings == (hint,)


SYSTEM_NAMES = {
    "macos": "did you mean mac?", "macOS": "did you mean mac?",
    "Mac OS X": "did you mean mac?", "Linux ": "did you mean linux?",
    "linus": "did you mean linux?", "windows": "",
}  # fmt: skip


@pytest.mark.parametrize(("name", "hint"), SYSTEM_NAMES.items(), ids=SYSTEM_NAMES)
def test_names_of_systems_that_do_not_count(tmp_path, name, hint):
    found = read(tmp_path, json.dumps(command(os=[name])))
    assert not found.compatible
    problem = Problem("file", f"{name} is not one of linux, mac", hint, "os")
    assert unknown_names("file", "os", [name, "mac", "linux"], SYSTEMS) == [problem]


def test_script_stands_for_an_absent_entrypoint(tmp_path):
    assert (
        read(tmp_path, '{"name":"N","description":"D","script":"s.sh"}').entrypoint
        == "s.sh"
    )
    assert read(tmp_path, f'{{{BASE}, "script": "s.sh"}}').entrypoint == "main.sh"


@pytest.mark.parametrize(
    "number", ["0", "-1", "1.50", "1e3", "-0.0", "9" * 4000, "1E+2"]
)
def test_numbers_in_envs_come_as_written(tmp_path, number):
    assert read(tmp_path, f'{{{BASE}, "envs": {{"A": {number}}}}}').envs == {
        "A": number
    }


@pytest.mark.parametrize(
    ("systems", "compatible"),
    [([], True), ([SYSTEM_OS], True), ([OTHER_OS], False), (["windows"], False),
     ([OTHER_OS, SYSTEM_OS], True), (["Linux"], False)],
)  # fmt: skip
def test_systems(tmp_path, systems, compatible):
    found = read(tmp_path, json.dumps(command(os=systems, sudo=systems)))
    assert found.compatible is compatible
    assert found.sudo is (SYSTEM_OS in systems)
    assert found.sudo_systems == tuple(systems)


@pytest.mark.parametrize(
    ("sudo", "systems"), [(True, ("linux", "mac")), (False, ()), (None, ())]
)
def test_systems_with_sudo(tmp_path, sudo, systems):
    assert read(tmp_path, json.dumps(command(sudo=sudo))).sudo_systems == systems


WORDS = ["a", "A9", "9", "a.b-c_d", "x" * 64, "a-", "a."]
NO_WORDS = [
    "",
    ".",
    "..",
    ".a",
    "-a",
    "_a",
    "a b",
    "a/b",
    "é",
    "aé",
    "x" * 65,
    "a\n",
    "a\0",
    "²",
]


def test_words():
    assert [word for word in [*WORDS, *NO_WORDS] if is_word(word)] == WORDS


def test_references():
    good = ["a:b", "a.b.c:d.e", "_a:_b"]
    bad = [
        "a",
        "a:",
        ":b",
        "a:b:c",
        "a b:c",
        "a-b:c",
        "a/b:c",
        "a..b:c",
        "a.:b",
        "1a:b",
        "main.sh",
    ]
    assert [one for one in [*good, *bad] if is_reference(one)] == good


def test_config(tmp_path):
    path = tmp_path / "cli.json"
    path.write_text('{"name": "N", "version": "1.0.0", "more": 1}')
    found = read_config(str(path))
    assert (found.name, found.version, found.description) == ("N", "1.0.0", "")
    assert (found.commands_dir, found.plugins_dir) == ("commands", "plugins")
    for text, words in (
        ('{"version": "1.0.0"}', '"name": missing'),
        ('{"name": "N"}', '"version": missing'),
        ('{"name": "", "version": "1.0.0"}', '"name": must not be empty'),
        ('{"name": "N", "version": ""}', '"version": must not be empty'),
        ('{"name": "N", "version": 1}', '"version": expected a string, found a number'),
        ('{"name": "N", "version": "1.0.0", "commands_dir": 1}', '"commands_dir"'),
        ("[", ":1:2: "),
    ):
        path.write_text(text)
        with pytest.raises(InstallationError, match=words.replace("[", "\\[")):
            read_config(str(path))
    path.unlink()
    with pytest.raises(
        InstallationError, match=f"configuration file not found: {path}"
    ):
        read_config(str(path))


def test_category_needs_nothing(tmp_path):
    path = tmp_path / "category.json"
    path.write_text("{}")
    found = read_definition(str(path))
    assert (found.name, found.description, found.entrypoint) == ("", "", "")
    path.write_text('{"name": 1}')
    with pytest.raises(DefinitionError):
        read_definition(str(path))
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read_definition(str(path))


def test_declared_in_code():
    assert parse_declared("plugin x", command(entrypoint="a:b")).entrypoint == "a:b"
    for entrypoint in ("main.sh", "", "a:"):
        with pytest.raises(DefinitionError, match="plugin x"):
            parse_declared("plugin x", command(entrypoint=entrypoint))


def test_regular_files_only(tmp_path):
    path = tmp_path / "x"
    for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
        make(path)
        with pytest.raises(DefinitionError, match="not a regular file"):
            read_json(str(path))
        os.rmdir(path) if path.is_dir() else os.unlink(path)
    path.symlink_to(path)
    with pytest.raises(DefinitionError):
        read_json(str(path))
    with pytest.raises(FileNotFoundError):
        read_json("/dev/null/x")
    path.unlink()
    path.write_bytes(b"x" * 11)
    assert read_regular(str(path), DefinitionError, 11) == b"x" * 11
    with pytest.raises(DefinitionError, match="larger than 10 bytes"):
        read_regular(str(path), DefinitionError, 10)


def test_a_file_that_grows_while_it_is_read(tmp_path):
    """/proc files say that they are empty and are not."""
    if not os.path.exists("/proc/self/environ"):
        pytest.skip("needs /proc")
    assert read_regular("/proc/self/status", DefinitionError).startswith(b"Name:")
    with pytest.raises(DefinitionError, match="larger than 5 bytes"):
        read_regular("/proc/self/status", DefinitionError, 5)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
    ),
    max_leaves=10,
)


@pytest.mark.slow
@given(JSON, st.sampled_from([None, 1]))
def test_any_json_is_read_as_the_json_module_reads_it(value, indent):
    text = json.dumps(value, indent=indent)
    assert parse_json("F", text.encode()) == value


@given(st.binary(max_size=30) | st.text(alphabet='{}[]",:\\ntrue1.e-+ \n', max_size=30))
def test_any_bytes_give_a_value_or_a_definition_error(raw):
    raw = raw.encode() if isinstance(raw, str) else raw
    message = ""
    try:
        value = parse_json("F", raw)
    except DefinitionError as error:
        message = str(error)
    assert message.startswith("F:") or value == json.loads(raw.decode("utf-8-sig"))


KEYS = st.sampled_from(
    ["name", "description", "entrypoint", "os", "sudo", "envs", "env_files", "aliases", "hidden",
     "required_envs", "examples", "args", "installed_when", "group", "script",
     "confirm", "effects", "sources", "starts_commands"]
)  # fmt: skip


@pytest.mark.slow
@given(st.dictionaries(KEYS, JSON, max_size=4))
def test_any_object_gives_a_definition_or_its_error(fields):
    raw = json.dumps(command(**fields)).encode()
    message, values = "", []
    try:
        found = parse_declared("F", {**parse_json("F", raw), "entrypoint": "a:b"})
        values = list(found.envs.values())
    except DefinitionError as error:
        message = str(error)
    assert message.startswith("F: ") or all(isinstance(value, str) for value in values)


def test_without_the_c_scanner(monkeypatch):
    monkeypatch.setitem(sys.modules, "_json", None)
    assert parse_json("F", b'{"a": [1, 2.50, {}]}') == {"a": [1, 2.5, {}]}
    for raw in (b"", b"{", b'{"a": 1, "a": 2}', b'{"a": NaN}', b"[1,]"):
        with pytest.raises(DefinitionError):
            parse_json("F", raw)
