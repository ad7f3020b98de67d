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


@pytest.mark.parametrize(("text", "value"), FIELDS)
def test_a_field(run, shell, tmp_path, text, value):
    (tmp_path / "a.json").write_text(text)
    out = run(shell, f'{LOAD}get_config_field "$1" name', str(tmp_path / "a.json"))
    assert out == (0, value + "\n", "")


@pytest.mark.parametrize("text", MISSING)
def test_no_such_field(run, shell, tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    assert run(shell, f'{LOAD}get_config_field "$1" name', str(tmp_path / "a.json")) == (1, "", "")


@pytest.mark.parametrize("text", MALFORMED)
def test_no_json_object(run, tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    script = f'{LOAD}get_config_field "$1" name'
    status, out, err = run(shell_path("dash"), script, str(tmp_path / "a.json"))
    assert (status, out) == (2, "")
    assert err.endswith(f" - {tmp_path}/a.json: not a JSON object\n")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=5),
        st.recursive(
            st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
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


@pytest.mark.parametrize("field", ["a b", "a\\nb", "a=b", "$x", "é", "-v"])
def test_odd_field_names(run, shell, tmp_path, field):
    (tmp_path / "x=y.json").write_text(json.dumps({"z": "no", field: "yes"}))
    script = f'{LOAD}cd "$1"; get_config_field x=y.json "$2"'
    assert run(shell, script, str(tmp_path), field).out == "yes\n"


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
    status, out, err = run(shell, LOAD + function, env={"GLOBAL_CONFIG_FILE": "/no/cli.json"})
    assert (status, out) == (2, "")
    assert err.endswith(" - configuration file not found: /no/cli.json\n")
    assert run(shell, LOAD + function).status == 2
