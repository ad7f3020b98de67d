"""config.sh: fields of JSON files without jq."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.shells import shell_path

LOAD = 'set -eu\n. "$LIB_DIR/config.sh"\n'

FIELDS = [
    ('{"name":"x"}', "x"),
    ('\n{ "name" :\r\n\t"x" }\n', "x"),
    (
        '{"name":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00"}',
        '"\\/\b\f\n\r\tAé€😀',
    ),
    ('{"name":"\\\\n\\\\u0041"}', "\\n\\u0041"),
    ('{"name":"\\ud83d x\\ude00\\u0000"}', "\ufffd x\ufffd\ufffd"),
    ('\ufeff{"name":"é€😀"}', "é€😀"),
    ('{"a":{"name":"no","b":[{"name":"no"}]},"name":"yes","c":{"name":"no"}}', "yes"),
    ('{"a":"name","name":"x"}', "x"),
    ('{"a":"\\"name\\":\\"no\\"","name":"x"}', "x"),
    ('{"na\\u006de":"x"}', "x"),
    ('{"name":"a","name":"b"}', "b"),
    ('{"name":""}', ""),
    ('{"name":"[1,2}"}', "[1,2}"),
    ('{"a":[],"b":{},"name":true}', "true"),
    ('{"name":-1.5e+3}', "-1.5e+3"),
]
MISSING = [
    "{}",
    '{"a":"name"}',
    '{"a":{"name":"x"}}',
    '{"name":null}',
    '{"name":["x"]}',
    '{"name":{"name":"x"}}',
]
MALFORMED = [
    "",
    "[]",
    '"x"',
    "x",
    '{"name":"x"',
    '{"name":"x',
    '{"name":x}',
    '{"name":"\\q"}',
    '{"name":"\\u12"}',
    "{} {}",
    "{}}",
]


EACH = (
    f'{LOAD}set +e\nfor file; do get_config_field "$file" name; echo "status $?"; done'
)


def files(directory, texts):
    """Write each text into a file of its own; return the paths."""
    paths = [directory / f"{number}.json" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_a_field(run, shell, tmp_path):
    texts, values = zip(*FIELDS, strict=True)
    expected = "".join(f"{value}\nstatus 0\n" for value in values)
    assert run(shell, EACH, *files(tmp_path, texts)) == (0, expected, "")


def test_no_such_field(run, shell, tmp_path):
    expected = "status 1\n" * len(MISSING)
    assert run(shell, EACH, *files(tmp_path, MISSING)) == (0, expected, "")


def test_no_json_object(run, tmp_path):
    paths = files(tmp_path, MALFORMED)
    _, out, err = run(shell_path("dash"), EACH, *paths)
    assert out == "status 2\n" * len(MALFORMED)
    lines = zip(err.splitlines(), paths, strict=True)
    assert [
        line
        for line, path in lines
        if not line.endswith(f" - {path}: not a JSON object")
    ] == []


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(
            st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"),
            max_size=5,
        ),
        st.recursive(
            st.text(
                st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")
            )
            | st.none(),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            ),
            max_leaves=6,
        ),
        min_size=1,
    ),
    st.booleans(),
)
def test_whatever_json_writes_comes_back(run, tmp_path, document, pretty):
    (tmp_path / "a.json").write_text(
        json.dumps(document, indent=2 if pretty else None, ensure_ascii=pretty)
    )
    field, value = next(iter(document.items()))
    script = '. "$LIB_DIR/config.sh"\nget_config_field "$1" "$2"'
    status, out, _ = run(shell_path("dash"), script, str(tmp_path / "a.json"), field)
    assert (status, out) == ((0, value + "\n") if isinstance(value, str) else (1, ""))


def test_odd_field_names(run, shell, tmp_path):
    fields = ["a b", "a\\nb", "a=b", "$x", "é", "-v"]
    (tmp_path / "x=y.json").write_text(
        json.dumps({"z": "no", **{name: name for name in fields}})
    )
    script = (
        f'{LOAD}cd "$1"; shift; for field; do get_config_field x=y.json "$field"; done'
    )
    assert run(shell, script, str(tmp_path), *fields).out == "".join(
        f"{x}\n" for x in fields
    )


def test_version(run, shell, tmp_path):
    (tmp_path / "cli.json").write_text('{"name": "My CLI", "version": "1.2.3"}')
    env = {"GLOBAL_CONFIG_FILE": str(tmp_path / "cli.json")}
    assert run(shell, f"{LOAD}show_version; show_number_version", env=env) == (
        0,
        "My CLI 1.2.3\n1.2.3\n",
        "",
    )


@pytest.mark.parametrize("function", ["show_version", "show_number_version"])
def test_a_missing_file_is_named(run, shell, function):
    status, out, err = run(
        shell, LOAD + function, env={"GLOBAL_CONFIG_FILE": "/no/cli.json"}
    )
    assert (status, out) == (2, "")
    assert err.endswith(" - configuration file not found: /no/cli.json\n")
    assert run(shell, LOAD + function).status == 2
