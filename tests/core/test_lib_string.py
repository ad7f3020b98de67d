"""string.sh."""

import pytest

from testing.shells import shell_path

LOAD = 'set -eu\n. "$LIB_DIR/string.sh"\n'
SPACES = " \t\n\v\f\r"


def test_letter_case(run, shell):
    texts = ["", "aBc d", "-n", "-e \\n", "a  b"]
    script = (
        f'{LOAD}for text; do string_to_upper "$text"; string_to_lower "$text"; done'
    )
    out = run(shell, script, *texts, env={"LC_ALL": "C"}).out
    assert out == "".join(f"{text.upper()}\n{text.lower()}\n" for text in texts)


def test_letter_case_beyond_ascii_where_the_shell_knows_it(run, array_shell):
    assert run(array_shell, f"{LOAD}string_to_upper é").out == "É\n"


def test_letter_case_in_an_old_bash(run):
    """local -u fails before bash 4."""
    script = (
        f'local() {{ case $1 in -*) return 2;; esac; }}\n{LOAD}string_to_upper "aBc"'
    )
    assert run(shell_path("bash"), script).out == "ABC\n"


def test_trim(run, shell):
    texts = ["", SPACES, f"{SPACES}a b{SPACES}", "*", "\\ x", " -n "]
    out = run(shell, f'{LOAD}for text; do string_trim "$text"; done', *texts).out
    assert out == "".join(f"{text.strip(SPACES)}\n" for text in texts)


def test_parts_are_literal(statuses, shell):
    parts = {"b": 0, "": 0, "*": 0, "?": 1, "[b]": 1, "\\": 0}
    call = 'string_contains "ab*\\c" "$value"'
    assert statuses(shell, LOAD, call, [*parts]) == [*parts.values()]
    parts = {"--a": 0, "": 0, "a": 1, "?": 1, "--": 0}
    call = 'string_starts_with "--ab" "$value"'
    assert statuses(shell, LOAD, call, [*parts]) == [*parts.values()]


def test_booleans(statuses, shell):
    true = ["1", "true", "TRUE", "yes", "Y", "on", "t"]
    false = ["0", "false", "no", "off", "", "2", "truee", "*"]
    found = statuses(shell, LOAD, 'strtobool "$value"', [*true, *false])
    assert found == [0] * len(true) + [1] * len(false)


def test_names(statuses, shell):
    valid = ["a", "A-b_c.9", "9x", "x" * 64]
    invalid = ["", "-a", ".a", "_a", "a b", "a/b", "é", "aé", "a\n", "x" * 65]
    found = statuses(shell, LOAD, 'validate_name "$value"', [*valid, *invalid])
    assert found == [0] * len(valid) + [1] * len(invalid)


def test_sanitized_names(run, statuses, shell):
    names = {
        "Hello World": "hello-world",
        "  ../a b//c! ": "a-b-c",
        "Grün": "gr-n",
        "a\nb": "a-b",
        "x" * 63 + " yz": "x" * 63,
        "-n": "n",
    }
    call = 'name=$(sanitize_name "$text"); validate_name "$name"; echo "$name"'
    script = f"{LOAD}for text; do {call}; done"
    assert run(shell, script, *names) == (
        0,
        "".join(f"{name}\n" for name in names.values()),
        "",
    )
    assert (
        statuses(shell, LOAD, 'sanitize_name "$value"', ["", "///", "é", "-"])
        == [1] * 4
    )


@pytest.mark.parametrize(
    ("elements", "parsed"),
    [
        ([], []),
        (["a"], ["a"]),
        (["a,b,c", "d"], ["a", "b", "c", "d"]),
        (["a b,*", "", "c,,d", "e,"], ["a b", "*", "", "c", "", "d", "e"]),
        (["$(id),`id`", '";id;"'], ["$(id)", "`id`", '";id;"']),
    ],
)
@pytest.mark.parametrize("ifs", [" ", ","])
def test_commas_in_arrays(run, array_shell, elements, parsed, ifs):
    script = (
        f"{LOAD}IFS='{ifs}'\n"
        'list=("$@")\nparse_comma_separated list\n'
        'printf \'<%s>\' "${#list[@]}" ${list[@]+"${list[@]}"}\n'
        'join_to_comma_separated list\nprintf \'|%s|%s\' "${#list[@]}" "${list[@]}"'
    )
    shown = "".join(f"<{item}>" for item in [str(len(parsed)), *parsed])
    assert run(array_shell, script, *elements).out == f"{shown}|1|{','.join(parsed)}"


@pytest.mark.parametrize(
    "function", ["parse_comma_separated", "join_to_comma_separated"]
)
def test_a_bad_array_name_is_refused(statuses, array_shell, function):
    names = ["", "1a", "a[0]", "x;id", "x=(1)", "$(id)"]
    assert statuses(array_shell, LOAD, f'{function} "$value"', names) == [2] * len(
        names
    )
