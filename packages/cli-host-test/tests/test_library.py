"""The functions of the library, each in passing and in failing tests."""

from __future__ import annotations

import shlex

import pytest

from conftest import Cli

# What a test does after `fake say` and `run say`, and the failure, or "" if the test passes.
_CASES = {
    "success": ("run true; assert_success", ""),
    "success fails": ("run false; assert_success", "status   : 1"),
    "failure": ("run false; assert_failure", ""),
    "failure with a status": ("run exit 3; assert_failure 3", ""),
    "failure with another status": ("run exit 3; assert_failure 4", "actual   : 3"),
    "failure fails": ("run true; assert_failure", "command succeeded"),
    "status": ("run exit 7; assert_status 7", ""),
    "status fails": ("run exit 7; assert_status 0", "expected : 0"),
    "output": ("run printf 'a\\nb'; assert_output $'a\\nb'", ""),
    "output fails": ("run echo a; assert_output b", "output differs"),
    "output of several lines": ("run printf 'a\\nb'; assert_output b", "actual (2 lines):"),
    "output from stdin": ("run echo a; echo a | assert_output -", ""),
    "some output": ("run echo a; assert_output", ""),
    "no output": ("run true; assert_output", "no output"),
    "partial": ("run echo abc; assert_output --partial b", ""),
    "a pattern is text": ("run echo abc; assert_output --partial '*'", "does not contain"),
    "regexp": ("run echo abc; assert_output --regexp '^a.c$'", ""),
    "regexp fails": ("run echo abc; assert_output -e '^b'", "does not match"),
    "wrong regexp": ("run echo abc; assert_output -e '('", "invalid regular expression"),
    "an option as text": ("run echo --partial; assert_output -- --partial", ""),
    "two texts": ("run echo a b; assert_output a b", "usage: assert_output"),
    "refute output": ("run true; refute_output", ""),
    "refute output fails": ("run echo a; refute_output", "none was expected"),
    "refute partial": ("run echo abc; refute_output -p x", ""),
    "refute partial fails": ("run echo abc; refute_output -p b", "unexpected : b"),
    "line": ("run printf 'a\\nb'; assert_line b", ""),
    "line fails": ("run printf 'a\\nb'; assert_line c", "no output line"),
    "line by index": ("run printf 'a\\nb'; assert_line --index 1 b", ""),
    "line by index fails": ("run printf 'a\\nb'; assert_line -n 0 b", "actual   : a"),
    "line after the last": ("run echo a; assert_line -n 5 b", "line 5 differs"),
    "partial line": ("run printf 'abc\\nd'; assert_line --partial b", ""),
    "refute line": ("run echo a; refute_line b", ""),
    "refute line fails": ("run echo a; refute_line a", "line was not expected"),
    "refute line by index": ("run printf 'a\\nb'; refute_line -n 0 b", ""),
    "lines of no output": ("run true; refute_line a", ""),
    "equal": ("assert_equal a a", ""),
    "equal fails": ("assert_equal a b", "expected : b"),
    "assert": ("assert [ 1 = 1 ]", ""),
    "assert fails": ("assert [ 1 = 2 ]", "expression : [ 1 = 2 ]"),
    "refute": ("refute [ 1 = 2 ]", ""),
    "refute fails": ("refute true", "expected to fail"),
    "fail": ("fail 'the reason'", "the reason"),
    "called": ("fake p; p a b; assert_called p a", ""),
    "called with other words": ("fake p; p ab; assert_called p a", "  p ab"),
    "called with fewer words": ("fake p; p a; assert_called p a b", "no such call"),
    "called without words": ("fake p; p; assert_called p; assert_called --exact p", ""),
    "not exactly": ("fake p; p a b; assert_called --exact p a", "exactly these words"),
    "an empty word": ("fake p; p '' x; assert_called p ''", ""),
    "an empty word is missing": ("fake p; p x; assert_called p ''", "no such call"),
    "blanks and lines": ("fake p; p 'a b' $'c\\nd'; assert_called --exact p 'a b' $'c\\nd'", ""),
    "a blank is no end of a word": ("fake p; p 'a b'; assert_called p a", "p a\\ b"),
    "patterns are words": ("fake p; p abc; assert_called p 'a*'", "no such call"),
    "letters": ("fake p; LC_ALL=C p 'Größe $x'; assert_called p 'Größe $x'", ""),
    "options as words": ("fake p; p --exact -x; assert_called p --exact -x", ""),
    "times": ("fake p; p a; p a; p b; assert_called --times 2 p a", ""),
    "times fails": ("fake p; p a; assert_called --times 2 p a", "actual   : 1"),
    "never": ("fake p; assert_called --times 0 p; assert_not_called p", ""),
    "never called": ("fake p; assert_called p", "no fake was called"),
    "not called": ("fake p; p a; assert_not_called p b", ""),
    "not called fails": ("fake p; p a; assert_not_called p", "unexpected : p"),
    "not a fake": ("assert_not_called p", "before the run, write: fake p"),
    "a name with a slash": ("fake /bin/p", "a fake is a program on PATH"),
    "wrong times": ("fake p; assert_called --times x p", "usage: assert_called"),
    "the words of a fake": ("fake p 'echo \"$2\"'; run p a b; assert_output b", ""),
    "the status of a fake": ("fake p 'exit 4'; run p; assert_failure 4", ""),
    "a fake of a system program": ("fake ls 'echo fake'; run ls; assert_output fake", ""),
    "a fake of bash": ("fake bash; fake env; bash x; assert_called bash x", ""),
    "a later fake replaces": ("fake p 'echo 1'; fake p 'echo 2'; run p; assert_output 2", ""),
    "input of a fake": ("fake p 'cat'; run p <<<hello; assert_output hello", ""),
    "calls in order": ("fake p; fake q; q 1; p 2; assert_equal \"$(calls)\" $'q 1\\np 2'", ""),
    "calls of one": ("fake p; fake q; q 1; p 2; assert_equal \"$(calls p)\" 'p 2'", ""),
}  # fmt: skip


# Runs each row in a shell of its own, and prints its name, status and output.
_ROWS = """
row() {
  local status=0
  rm -f "$_kit_fakes"/* "$_kit_calls"
  trap - ERR DEBUG EXIT
  set +e
  (set -e; eval "$2") >output 2>&1
  status=$?
  printf '%s\\0' "$1" "$status" "$(<output)" >>"$ROWS"
}
@test "rows" {
"""


def test_every_function(cli: Cli) -> None:
    rows = cli.home / "rows"
    calls = [
        f"row {shlex.quote(name)} {shlex.quote(code)}\n"
        for name, (code, _) in _CASES.items()
    ]
    cli.tests("tests/library.bats", _ROWS + "".join(calls) + "}\n")
    done = cli.run("test", "--env", "ROWS", ROWS=str(rows))
    assert (done.status, done.stderr) == (0, "")
    found = rows.read_text().split("\0")[:-1]
    wrong = []
    for at, (name, (_, message)) in enumerate(_CASES.items()):
        shown, status, output = found[3 * at : 3 * at + 3]
        if (shown, status != "0") != (name, message != "") or message not in output:
            wrong.append((name, status, output))
    assert wrong == []


def test_a_plain_failure_shows_the_calls(cli: Cli) -> None:
    cli.tests(
        "tests/plain.bats", '@test "x" { fake p; p 1; run p 2; [ "$output" = x ]; }\n'
    )
    done = cli.run("test")
    assert done.status == 1
    assert done.stdout.endswith("# calls of fakes, in order:\n#   p 1\n#   p 2\n")


@pytest.mark.parametrize("place", ["setup", "setup_file"])
def test_fakes_for_all_tests_of_a_file(cli: Cli, place: str) -> None:
    cli.write(
        "tests/all.bats",
        f"""
{place}() {{
  load "$CLI_TEST_LIB"
  fake p 'echo faked'
  run p
  assert_output faked
}}
@test "acme runs" {{ run acme --version; [[ $status -eq 0 ]]; }}
""",
    )
    assert cli.outcome() == (0, ["ok acme runs"])
