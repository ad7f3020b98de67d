"""string.sh."""

import pytest

from testing.shells import shell_path

LOAD = 'set -eu\n. "$LIB_DIR/string.sh"\n'
SPACES = " \t\n\v\f\r"


@pytest.mark.parametrize("text", ["", "aBc dé", "-n", "-e \\n", "a  b"])
def test_letter_case(run, shell, text):
    script = f'{LOAD}string_to_upper "$1"; string_to_lower "$1"'
    ascii_only = {"LC_ALL": "C"}
    out = run(shell, script, text.replace("é", ""), env=ascii_only).out
    plain = text.replace("é", "")
    assert out == f"{plain.upper()}\n{plain.lower()}\n"


def test_letter_case_beyond_ascii_where_the_shell_knows_it(run, array_shell):
    assert run(array_shell, f"{LOAD}string_to_upper é").out == "É\n"


def test_letter_case_in_an_old_bash(run):
    """local -u fails before bash 4."""
    script = f'local() {{ case $1 in -*) return 2;; esac; }}\n{LOAD}string_to_upper "aBc"'
    assert run(shell_path("bash"), script).out == "ABC\n"


@pytest.mark.parametrize("text", ["", SPACES, f"{SPACES}a b{SPACES}", "*", "\\ x", " -n "])
def test_trim(run, shell, text):
    assert run(shell, f'{LOAD}string_trim "$1"', text).out == text.strip(SPACES) + "\n"


@pytest.mark.parametrize(
    ("function", "text", "part", "status"),
    [
        ("string_contains", "abc", "b", 0),
        ("string_contains", "abc", "", 0),
        ("string_contains", "a*c", "*", 0),
        ("string_contains", "abc", "*", 1),
        ("string_contains", "abc", "[b]", 1),
        ("string_contains", "a\\b", "\\", 0),
        ("string_starts_with", "abc", "ab", 0),
        ("string_starts_with", "abc", "b", 1),
        ("string_starts_with", "abc", "?", 1),
        ("string_starts_with", "--x", "--", 0),
    ],
)
def test_parts_are_literal(run, shell, function, text, part, status):
    assert run(shell, f'{LOAD}{function} "$1" "$2"', text, part) == (status, "", "")


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "yes", "Y", "on", "t"])
def test_true(run, shell, value):
    assert run(shell, f'{LOAD}strtobool "$1"', value).status == 0


@pytest.mark.parametrize("value", ["0", "false", "no", "off", "", "2", "truee", "*"])
def test_false(run, shell, value):
    assert run(shell, f'{LOAD}strtobool "$1"', value).status == 1


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "9x", "x" * 64])
def test_valid_names(run, shell, name):
    assert run(shell, f'{LOAD}validate_name "$1"', name).status == 0


@pytest.mark.parametrize("name", ["", "-a", ".a", "_a", "a b", "a/b", "é", "aé", "a\n", "x" * 65])
def test_invalid_names(run, shell, name):
    assert run(shell, f'{LOAD}validate_name "$1"', name).status == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hello World", "hello-world"),
        ("  ../a b//c! ", "a-b-c"),
        ("Grün", "gr-n"),
        ("a\nb", "a-b"),
        ("x" * 63 + " yz", "x" * 63),
        ("-n", "n"),
    ],
)
def test_sanitized_names(run, shell, text, name):
    script = f'{LOAD}name=$(sanitize_name "$1"); validate_name "$name"; printf "%s" "$name"'
    assert run(shell, script, text) == (0, name, "")


@pytest.mark.parametrize("text", ["", "///", "é", "-"])
def test_nothing_left_of_a_name(run, shell, text):
    assert run(shell, f'{LOAD}sanitize_name "$1"', text) == (1, "", "")


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
@pytest.mark.parametrize("ifs", [" ", ",", "ab"])
def test_commas_in_arrays(run, array_shell, elements, parsed, ifs):
    script = (
        f"{LOAD}IFS='{ifs}'\n"
        'list=("$@")\nparse_comma_separated list\n'
        'printf \'<%s>\' "${#list[@]}" ${list[@]+"${list[@]}"}\n'
        'join_to_comma_separated list\nprintf \'|%s|%s\' "${#list[@]}" "${list[@]}"'
    )
    shown = "".join(f"<{item}>" for item in [str(len(parsed)), *parsed])
    assert run(array_shell, script, *elements).out == f"{shown}|1|{','.join(parsed)}"


@pytest.mark.parametrize("name", ["", "1a", "a[0]", "x;id", "x=(1)", "$(id)"])
def test_a_bad_array_name_is_refused(run, array_shell, name):
    assert run(array_shell, f'{LOAD}parse_comma_separated "$1"', name) == (2, "", "")
    assert run(array_shell, f'{LOAD}join_to_comma_separated "$1"', name) == (2, "", "")
