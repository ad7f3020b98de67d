"""The `args` of a definition: what is accepted, and how the rest is told."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.arguments.declarations import read_declarations
from host.arguments.pattern import matches
from host.arguments.spec import is_digits, is_integer, is_number, usage_of
from host.errors import DefinitionError
from host.files.json_file import Fields

TWICE = {"name": "a"}, {"name": "a"}

# Entries, the place and key that are named, what is said.
REFUSED = {
    "no object": (["x"], "args[0]", "expected an object, found a string"),
    "no name": ([{}], "args[0].name", "missing"),
    "empty name": ([{"name": ""}], "args[0].name", "must not be empty"),
    "name is a number": ([{"name": 1}], "args[0].name", "expected a string"),
    "space in a name": ([{"name": "a b"}], "args[0].name", "found a b"),
    "dot in a name": ([{"name": "a.b"}], "args[0].name", "found a.b"),
    "brackets": ([{"name": "[a]"}], "args[0].name", "found [a]"),
    "foreign letter": ([{"name": "é"}], "args[0].name", "found é"),
    "only dots": ([{"name": "..."}], "args[0].name", "found ..."),
    "ellipsis": ([{"name": "a…"}], "args[0].name", "found a…"),
    "short as name": ([{"name": "-f"}], "args[0].name", "after -- for an option"),
    "three dashes": ([{"name": "---f"}], "args[0].name", "found ---f"),
    "only dashes": ([{"name": "--"}], "args[0].name", "found --"),
    "underscore first": ([{"name": "_a"}], "args[0].name", "found _a"),
    "option repeats": ([{"name": "--a...", "value": "A"}], "args[0].name", "found --a..."),
    "twice": (TWICE, "args[1].name", "a and a both have ARG_A"),
    "same variable": (
        [{"name": "dry-run"}, {"name": "--dry_run"}],
        *("args[1].name", "--dry_run and dry-run both have ARG_DRY_RUN"),
    ),
    "letter case": ([{"name": "a"}, {"name": "A"}], "args[1].name", " both have ARG_A"),
    "short twice": (
        [{"name": "--a", "short": "-x"}, {"name": "--b", "short": "-x"}],
        *("args[1].short", "--b and --a both have -x"),
    ),
    "long short": ([{"name": "--a", "short": "-ab"}], "args[0].short", "found -ab"),
    "bare short": ([{"name": "--a", "short": "a"}], "args[0].short", "found a"),
    "two dashes as short": ([{"name": "--a", "short": "--"}], "args[0].short", "found --"),
    "short of a word": ([{"name": "a", "short": "-a"}], "args[0].short", "a positional"),
    "help": ([{"name": "--help"}], "args[0].name", "--help cannot be declared"),
    "value of a word": ([{"name": "a", "value": "N"}], "args[0].value", "a positional"),
    "empty value": ([{"name": "--a", "value": ""}], "args[0].value", "must not be empty"),
    "unknown type": (
        [{"name": "a", "type": "colour"}], "args[0].type",
        "one of string, integer, number, path, file, directory; found colour",
    ),
    "type is a list": ([{"name": "a", "type": []}], "args[0].type", "found an array"),
    "type of a flag": ([{"name": "--a", "type": "integer"}], "args[0].type", "a flag (an "),
    "choices of a flag": ([{"name": "--a", "choices": ["x"]}], "args[0].choices", "a flag"),
    "default of a flag": ([{"name": "--a", "default": "true"}], "args[0].default", "a flag"),
    "empty default of a flag": ([{"name": "--a", "default": ""}], "args[0].default", "a flag"),
    "required flag": ([{"name": "--a", "required": True}], "args[0].required", "a flag"),
    "complete of a flag": ([{"name": "--a", "complete": "file"}], "args[0].complete", "a flag"),
    "choices are text": ([{"name": "a", "choices": "x"}], "args[0].choices", "an array"),
    "an option that passes on": (
        [{"name": "--a", "value": "A", "repeats": True, "passthrough": True}],
        "args[0].passthrough", "only a positional argument can have this key"),
    "checked and passed on": (
        [{"name": "a...", "choices": ["x"], "passthrough": True}], "args[0].choices",
        "an argument that passes words on cannot have this key"),
    "no choices": ([{"name": "a", "choices": []}], "args[0].choices", "must not be empty"),
    "choice is no number": (
        [{"name": "a", "type": "integer", "choices": ["1", "x"]}],
        *("args[0].choices", '"x" does not match the type'),
    ),
    "default is a number": ([{"name": "a", "default": 3}], "args[0].default", "a string"),
    "default of a required": (
        [{"name": "a", "required": True, "default": "x"}], "args[0].default", "a required or "
    ),
    "default is no choice": (
        [{"name": "a", "choices": ["x", "y"], "default": "z"}],
        *("args[0].default", 'expected one of x, y, found "z"'),
    ),
    "default is no number": (
        [{"name": "a", "type": "number", "default": ""}],
        *("args[0].default", 'expected a number, found ""'),
    ),
    "required is text": ([{"name": "a", "required": "yes"}], "args[0].required", "true or f"),
    "required after optional": (
        [{"name": "a"}, {"name": "--b"}, {"name": "c", "required": True}],
        *("args[2].required", "the optional a comes before"),
    ),
    "not last": ([{"name": "a..."}, {"name": "b"}], "args[1].name", "a... repeats, so no"),
    "two that repeat": ([{"name": "a..."}, {"name": "b..."}], "args[1].name", "a... repeats"),
    "path as complete": ([{"name": "a", "complete": "bin/x"}], "args[0].complete", "is not the"),
    "folder above": ([{"name": "a", "complete": ".."}], "args[0].complete", "is not the"),
    "option as complete": ([{"name": "a", "complete": "-x"}], "args[0].complete", "is not the"),
    "empty complete": ([{"name": "a", "complete": ""}], "args[0].complete", "must not be"),
    "choices without a program": (
        [{"name": "a", "choices": {}}], "args[0].choices.program", "missing"),
    "choices of a path": (
        [{"name": "a", "choices": {"program": "./x"}}], "args[0].choices", "is not the name"),
    "name of no variable": ([{"name": "a", "env": "A-B"}], "args[0].env", "cannot name a"),
    "negatable word": ([{"name": "a", "negatable": True}], "args[0].negatable", "a positional"),
    "negatable with a value": (
        [{"name": "--a", "value": "N", "negatable": True}], "args[0].negatable", "an option with"),
    "default of a negatable flag": (
        [{"name": "--a", "negatable": True, "default": "maybe"}],
        *("args[0].default", 'expected true or false, found "maybe"'),
    ),
    "negation is there": (
        [{"name": "--no-a"}, {"name": "--a", "negatable": True}],
        *("args[1].name", "--a and --no-a both have --no-a"),
    ),
    "negation comes later": (
        [{"name": "--a", "negatable": True}, {"name": "--no-a"}],
        *("args[1].name", "--no-a and --a both have --no-a"),
    ),
    "repeats of a word": ([{"name": "a", "repeats": True}], "args[0].repeats", "a positional"),
    "effects of a word": ([{"name": "a", "effects": "read"}], "args[0].effects", "a positional"),
    "unknown effects": ([{"name": "--a", "effects": "x"}], "args[0].effects", "read, change, des"),
    "conflict with nobody": (
        [{"name": "--a", "conflicts": ["--b"]}], "args[0].conflicts", '"--b" is not the name'),
    "conflict with itself": (
        [{"name": "--a", "conflicts": ["--a"]}], "args[0].conflicts", '"--a" is not the name'),
    "no pattern": ([{"name": "a", "pattern": "("}], "args[0].pattern", "invalid regular"),
    "pattern of a flag": ([{"name": "--a", "pattern": "x"}], "args[0].pattern", "a flag (an "),
    "secret flag": ([{"name": "--a", "secret": True}], "args[0].secret", "a flag (an "),
    "secret with a default": (
        [{"name": "a", "secret": True, "default": "x"}], "args[0].default", "a required or secret"),
    "description is a list": ([{"name": "a", "description": []}], "args[0].description", "a st"),
    "half a character": ([{"name": "a", "choices": ["\ud800"]}], "args[0].choices", "not all"),
    "NUL": ([{"name": "a", "default": "\0"}], "args[0].default", "not allowed"),
}  # fmt: skip


def read(entries, folder="/folder"):
    return read_declarations(
        Fields("F", {"args": list(entries)}).objects("args"), folder
    )


@pytest.mark.parametrize(
    ("entries", "key", "said"), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_is_refused(entries, key, said):
    with pytest.raises(DefinitionError) as caught:
        read(entries)
    message = str(caught.value)
    assert message.startswith(f'F: "{key}')
    assert said in message
    assert "\n" not in message


def test_a_program_completes_only_where_there_is_a_folder():
    assert read([{"name": "a", "complete": "hosts.sh"}])[0].complete == "hosts.sh"
    with pytest.raises(DefinitionError, match=r'complete": "hosts\.sh" is not'):
        read([{"name": "a", "complete": "hosts.sh"}], folder="")
    assert read([{"name": "a", "complete": "none"}], folder="")[0].complete == "none"


def test_everything_that_is_accepted():
    found = read(
        [
            {
                "name": "env",
                "required": True,
                "choices": ["dev", "prod"],
                "description": "D",
            },
            {"name": "--force", "short": "-f"},
            {
                "name": "--count",
                "short": "-n",
                "value": "N",
                "type": "integer",
                "default": "+3",
            },
            {"name": "--out", "value": "DIR", "type": "directory", "required": True},
            {"name": "--host", "short": "-h", "value": "HOST"},
            {"name": "files...", "type": "file", "complete": "file", "unknown": 1},
            {
                "name": "--after-it",
                "short": None,
                "type": None,
                "default": None,
                "choices": None,
            },
        ]
    )
    env, force, count, out, _, files, after = found
    assert (env.option, env.flag, env.repeats, env.type) == (
        False,
        False,
        False,
        "string",
    )
    assert (env.choices, env.required, env.description) == (("dev", "prod"), True, "D")
    assert (force.option, force.flag, force.type, force.default) == (
        True,
        True,
        "",
        None,
    )
    assert (count.flag, count.short, count.value, count.default) == (
        False,
        "-n",
        "N",
        "+3",
    )
    assert (out.type, out.required) == ("directory", True)
    assert (files.name, files.bare_name, files.repeats) == ("files...", "files", True)
    assert (after.variable, after.choices, after.default) == ("ARG_AFTER_IT", (), None)
    assert usage_of(found) == (
        "<env> [--force] [--count N] --out DIR [--host HOST] [files...] [--after-it]"
    )


def test_a_name_and_a_description_are_enough():
    [only] = read([{"name": "count", "description": "how many"}])
    assert (only.variable, only.type, only.required) == ("ARG_COUNT", "string", False)


def test_which_variables_an_argument_has():
    plain, repeated = read([{"name": "a"}, {"name": "b..."}])
    names = [
        "ARG_A",
        "ARG_A_1",
        "ARG_B",
        "ARG_B_COUNT",
        "ARG_B_1",
        "ARG_B_",
        "ARG_B_²",
        "ARG_B_X",
    ]
    assert [name for name in names if plain.owns(name)] == ["ARG_A"]
    owned = ["ARG_B", "ARG_B_COUNT", "ARG_B_1"]
    assert [name for name in names if repeated.owns(name)] == owned


KEYS = [
    *(
        "name",
        "short",
        "value",
        "type",
        "choices",
        "default",
        "required",
        "complete",
        "more",
    ),
    *("repeats", "env", "negatable", "conflicts", "pattern", "secret", "effects"),
]
VALUES = st.one_of(
    st.sampled_from(
        ["a", "b...", "--a", "--b", "-a", "-h", "N", "integer", "file", "none", "", "3"]
    ),
    st.sampled_from([None, True, False, 3, {}, [], ["x"], ["3"], ["x", "y"], [None]]),
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4), max_size=3))
def test_any_entries_are_read_or_refused_in_one_line(entries):
    entries = [{"name": "a", **one} for one in entries]
    message, found = "", ()
    try:
        found = read(entries)
    except DefinitionError as error:
        message = str(error)
    assert len(found) == len(entries) or message.startswith('F: "args[')
    assert "\n" not in message
    assert len({one.variable for one in found}) == len(found)
    for one in found:
        assert one.default is None or not (one.required or not one.accepts(one.default))


NUMBERS = [
    "0",
    "-1",
    "+5",
    "007",
    "1.5",
    ".5",
    "5.",
    "-1e5",
    "1E+5",
    "1.5e-3",
    "9" * 400,
]
NO_NUMBERS = ["", "-", "+", ".", "e5", "1e", "1e5e5", "1E5e5", "1.2.3", "0x1", "1_0", " 1", "1 ",
              "nan", "inf", "٣", "²", "--1", "+-1", "1e1.5", "1,5"]  # fmt: skip


def test_numbers():
    assert [one for one in [*NUMBERS, *NO_NUMBERS] if is_number(one)] == NUMBERS
    whole = ["0", "-1", "+5", "007", "9" * 400]
    assert [one for one in [*NUMBERS, *NO_NUMBERS] if is_integer(one)] == whole
    assert not is_digits("")


@pytest.mark.slow
@given(st.text(alphabet="0123456789+-.eE", max_size=8))
def test_numbers_are_those_of_python(text):
    def takes(kind):
        try:
            kind(text)
        except ValueError:
            return False
        return True

    assert is_integer(text) == takes(int)
    assert is_number(text) == takes(float)


@pytest.mark.night
def test_arguments_and_choices_of_any_number_take_linear_time():
    many = range(20_000)  # minutes, were each compared with all before
    entries = [{"name": f"--a{n}"} for n in many] + [
        {"name": f"p{n}", "required": True} for n in many
    ]
    assert len(read(entries)) == 40_000
    # Nothing is matched against the pattern here: that would start 20,000 processes.
    choices = [f"c{n}" for n in many]
    (level,) = read([{"name": "level", "pattern": "c.*", "choices": choices}])
    assert len(level.choices) == 20_000


def test_a_pattern_that_takes_exponential_time_is_given_up() -> None:
    assert matches("(a+)+", "a" * 28)
    assert not matches("(a+)+", "b")
    before = time.process_time()
    assert not matches("(a+)+", "a" * 40 + "!")
    assert time.process_time() - before < 1  # of this process
