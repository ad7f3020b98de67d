"""The words of a command line and what they give: by table, and as click reads them."""

import os

import click
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from host.arguments import parser as argument_parser
from host.arguments.declarations import read_declarations
from host.errors import UsageError
from host.files.json_file import Fields
from testing.installation import command

FORCE = {"name": "--force", "short": "-f"}
REST = {"name": "rest...", "passthrough": True}
ANY = {"name": "any", "passthrough": True}
COUNT = {
    "name": "--count",
    "short": "-n",
    "value": "N",
    "type": "integer",
    "default": "3",
}
TAG = {"name": "--tag", "short": "-t", "value": "TAG"}
ENV = {"name": "env", "required": True, "choices": ["dev", "prod"]}
NAME = {"name": "name"}
FILES = {"name": "files..."}
HOST = {"name": "--host", "short": "-H", "value": "HOST", "repeats": True}
CACHE = {"name": "--cache", "negatable": True, "default": "true"}
STAGE = {"name": "stage", "required": True, "env": "STAGE", "choices": ["dev", "prod"]}
ALL = {"name": "--all", "conflicts": ["name"]}
VERSION = {"name": "version", "pattern": "[0-9]+\\.[0-9]+"}
PIN = {"name": "pin", "type": "integer", "secret": True, "env": "PIN"}
ENVIRON = {
    "STAGE": "dev",
    "EMPTY": "",
    "BLANKS": "a b",
    "ON": "On",
    "ZERO": "0",
    "ODD": "maybe",
    "ODD_TOKEN": "maybe",
}


def read(entries):
    return read_declarations(
        Fields("F", {"args": list(entries)}).objects("args"), "/folder"
    )


def variables(entries, *words):
    found = argument_parser.parse(
        read(entries), words, "cli", ["a", "b"], ENVIRON
    ).variables()
    return {name.removeprefix("ARG_"): value for name, value in found.items()}


# What is declared, the words, and the variables without their ARG_.
GIVEN = {
    "all words passed on": ([FORCE, REST], ["--force", "--x", "--", "-f"],
                            {"FORCE": "false", "REST_COUNT": "4", "REST_1": "--force",
                             "REST_2": "--x", "REST_3": "--", "REST_4": "-f"}),
    "words passed on behind another": ([FORCE, NAME, REST], ["-f", "a", "-f", "--x=1"],
                                       {"FORCE": "true", "NAME": "a", "REST_COUNT": "2",
                                        "REST_1": "-f", "REST_2": "--x=1"}),
    "words passed on behind --": ([NAME, REST], ["--", "-a", "-b"],
                                  {"NAME": "-a", "REST_COUNT": "1", "REST_1": "-b"}),
    "any form": ([ANY, NAME, FORCE], ["--x", "a", "-f"],
                 {"ANY": "--x", "NAME": "a", "FORCE": "true"}),
    "any form behind another": ([FORCE, NAME, ANY], ["-f", "a", "--"],
                                {"FORCE": "true", "NAME": "a", "ANY": "--"}),
    "any form before words passed on": ([ANY, REST], ["-f", "--", "-f"],
                                        {"ANY": "-f", "REST_COUNT": "2", "REST_1": "--",
                                         "REST_2": "-f"}),
    "nothing to pass on": ([NAME, REST], [], {"REST_COUNT": "0"}),
    "nothing": ([FORCE, COUNT, TAG, NAME, FILES], [],
                {"FORCE": "false", "COUNT": "3", "FILES_COUNT": "0"}),
    "a flag": ([FORCE], ["--force"], {"FORCE": "true"}),
    "a short flag": ([FORCE], ["-f"], {"FORCE": "true"}),
    "a flag twice": ([FORCE], ["-f", "--force"], {"FORCE": "true"}),
    "a value": ([COUNT], ["--count", "7"], {"COUNT": "7"}),
    "a value with =": ([COUNT], ["--count=7"], {"COUNT": "7"}),
    "a short value": ([COUNT], ["-n", "7"], {"COUNT": "7"}),
    "a short value, joined": ([COUNT], ["-n7"], {"COUNT": "7"}),
    "joined with a flag": ([FORCE, COUNT], ["-fn", "7"], {"FORCE": "true", "COUNT": "7"}),
    "all joined": ([FORCE, COUNT], ["-fn7"], {"FORCE": "true", "COUNT": "7"}),
    "the last counts": ([COUNT], ["-n1", "--count=2"], {"COUNT": "2"}),
    "as written": ([COUNT], ["-n", "+007"], {"COUNT": "+007"}),
    "a negative value": ([COUNT], ["-n", "-7"], {"COUNT": "-7"}),
    "a negative value, joined": ([COUNT], ["-n-7"], {"COUNT": "-7"}),
    "a short value with =": ([TAG], ["-t=x"], {"TAG": "x"}),
    "a short value with = twice": ([TAG], ["-t==x"], {"TAG": "=x"}),
    "an empty short value": ([TAG], ["-t="], {"TAG": ""}),
    "joined with a flag and =": ([FORCE, COUNT], ["-fn=7"], {"FORCE": "true", "COUNT": "7"}),
    "= within": ([TAG], ["--tag=a=b"], {"TAG": "a=b"}),
    "an empty value": ([TAG], ["--tag="], {"TAG": ""}),
    "an empty value apart": ([TAG], ["--tag", ""], {"TAG": ""}),
    "an option as value": ([TAG, FORCE], ["--tag=--force"],
                           {"TAG": "--force", "FORCE": "false"}),
    "-- as value": ([TAG], ["--tag=--"], {"TAG": "--"}),
    "a dash as value": ([TAG], ["-t", "-"], {"TAG": "-"}),
    "no declared option": ([TAG, FORCE], ["-t", "-x"], {"TAG": "-x", "FORCE": "false"}),
    "given twice": ([HOST], ["--host", "a", "-H=b"],
                    {"HOST_COUNT": "2", "HOST_1": "a", "HOST_2": "b"}),
    "given never": ([HOST], [], {"HOST_COUNT": "0"}),
    "a flag three times": ([{"name": "--v", "short": "-v", "repeats": True}], ["-vv", "--v"],
                           {"V_COUNT": "3", "V_1": "true", "V_2": "true", "V_3": "true"}),
    "negated": ([CACHE], ["--no-cache"], {"CACHE": "false"}),
    "the last of a flag counts": ([CACHE], ["--no-cache", "--cache"], {"CACHE": "true"}),
    "default of a flag": ([CACHE], [], {"CACHE": "true"}),
    "negatable without default": ([{"name": "--x", "negatable": True}], [], {"X": "false"}),
    "from the environment": ([STAGE], [], {"STAGE": "dev"}),
    "not from the environment": ([STAGE], ["prod"], {"STAGE": "prod"}),
    "empty in the environment": ([{"name": "a", "env": "EMPTY", "default": "x"}], [], {"A": ""}),
    "not in the environment": ([{"name": "a", "env": "NONE", "default": "x"}], [], {"A": "x"}),
    "repeated in the environment": ([{**HOST, "env": "BLANKS"}], [],
                                    {"HOST_COUNT": "1", "HOST_1": "a b"}),
    "a flag in the environment": ([{"name": "--a", "env": "ON"}], [], {"A": "true"}),
    "a false flag there": ([{**CACHE, "env": "ZERO"}], [], {"CACHE": "false"}),
    "one of a conflict": ([ALL, NAME], ["x"], {"ALL": "false", "NAME": "x"}),
    "a false flag conflicts with nothing": (
        [{**CACHE, "conflicts": ["name"]}, NAME], ["--no-cache", "x"],
        {"CACHE": "false", "NAME": "x"}),
    "a pattern": ([VERSION], ["1.20"], {"VERSION": "1.20"}),
    "choices of a program": ([{"name": "a", "choices": {"program": "p"}}], ["x"], {"A": "x"}),
    "a word": ([ENV], ["dev"], {"ENV": "dev"}),
    "options anywhere": ([FORCE, COUNT, NAME, FILES], ["a", "-f", "b", "-n", "7", "c"],
        {"FORCE": "true", "COUNT": "7", "NAME": "a", "FILES_COUNT": "2",
         "FILES_1": "b", "FILES_2": "c"}),
    "an empty word": ([NAME], [""], {"NAME": ""}),
    "empty words": ([FILES], ["", ""], {"FILES_COUNT": "2", "FILES_1": "", "FILES_2": ""}),
    "a dash": ([NAME], ["-"], {"NAME": "-"}),
    "--": ([NAME, FORCE], ["--", "--force"], {"NAME": "--force", "FORCE": "false"}),
    "-- twice": ([FILES], ["--", "--"], {"FILES_COUNT": "1", "FILES_1": "--"}),
    "-- alone": ([NAME], ["--"], {}),
    "a negative word": ([NAME], ["-5"], {"NAME": "-5"}),
    "a negative fraction": ([NAME], ["-.5e3"], {"NAME": "-.5e3"}),
    "a digit as option": ([{"name": "--five", "short": "-5"}], ["-5"], {"FIVE": "true"}),
    "default of a word": ([{"name": "a", "default": ""}], [], {"A": ""}),
    "default of repeated": ([{"name": "a...", "default": "x"}], [],
                            {"A_COUNT": "1", "A_1": "x"}),
    "a dash in a name": ([{"name": "--dry-run"}], ["--dry-run"], {"DRY_RUN": "true"}),
    "-h declared": ([{"name": "--host", "short": "-h", "value": "HOST"}, NAME], ["-h", "db", "x"],
                    {"HOST": "db", "NAME": "x"}),
    "--help behind --": ([FILES], ["--", "--help"], {"FILES_COUNT": "1", "FILES_1": "--help"}),
    "any bytes": ([NAME], ["\udcff\n"], {"NAME": "\udcff\n"}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "words", "expected"), GIVEN.values(), ids=GIVEN.keys()
)
def test_what_words_give(entries, words, expected):
    assert variables(entries, *words) == expected


USAGE = "; usage: cli a b "

# What is declared, the words, and the message behind "a b: ".
REFUSED = {
    "an option before words passed on": ([NAME, REST], ["--x", "a"], "unknown option --x" + USAGE
                                         + "[name] [rest...]"),
    "missing word": ([ENV], [], f"env is missing{USAGE}<env>"),
    "missing of repeated": (
        [{"name": "x...", "required": True}], [], f"x is missing{USAGE}<x...>"
    ),
    "missing option": (
        [{**TAG, "required": True}], [], f"--tag is missing{USAGE}--tag TAG"
    ),
    "superfluous": ([FORCE], ["x"], f"unexpected argument x{USAGE}[--force]"),
    "superfluous, empty": ([NAME], ["x", ""], f'unexpected argument ""{USAGE}[name]'),
    "unknown": ([FORCE], ["--none"], f"unknown option --none{USAGE}[--force]"),
    "misspelt": ([FORCE, COUNT], ["--forse"], "unknown option --forse; did you mean --force?"),
    "begun": ([FORCE, COUNT], ["--for"], "unknown option --for; did you mean --force?"),
    "misspelt with a value": ([COUNT], ["--coutn=7"],
                              "unknown option --coutn; did you mean --count?"),
    "one dash": ([FORCE], ["-force"], "unknown option -o; did you mean --force?"),
    "unknown short": ([FORCE], ["-fx"], f"unknown option -x{USAGE}[--force]"),
    "help later": ([NAME], ["x", "--help"],
                   f"unknown option --help{USAGE}[name]"),
    "help first": ([NAME], ["-h", "x"],
                   f"unknown option -h{USAGE}[name]"),
    "value of a flag": ([FORCE], ["--force=1"], "--force takes no value"),
    "no value": ([COUNT], ["--count"], f"--count needs a value: --count=N{USAGE}[--count N]"),
    "no short value": ([COUNT], ["-n"], f"--count needs a value: --count=N{USAGE}[--count N]"),
    "an option where a value belongs": (
        [COUNT, FORCE], ["-n", "--force"],
        f"--count needs a value: --count=N{USAGE}[--count N] [--force]"),
    "a short one where a value belongs": (
        [TAG, FORCE], ["--tag", "-fn"],
        f"--tag needs a value: --tag=TAG{USAGE}[--tag TAG] [--force]"),
    "-- where a value belongs": (
        [TAG, NAME], ["-t", "--", "x"],
        f"--tag needs a value: --tag=TAG{USAGE}[--tag TAG] [name]"),
    "help where a value belongs": (
        [TAG], ["-t", "--help"],
        f"--tag needs a value: --tag=TAG{USAGE}[--tag TAG]"),
    "value of a negation": ([CACHE], ["--no-cache=x"], "--no-cache takes no value"),
    "value of a short flag": ([FORCE], ["-f=x"], "-f takes no value"),
    "no negation": ([FORCE], ["--no-force"], "unknown option --no-force; did you mean --force?"),
    "several missing": ([ENV, {**TAG, "required": True}], [],
                        f"env, --tag are missing{USAGE}<env> --tag TAG"),
    "missing is last": ([ENV, COUNT], ["-nx"], "--count: expected a whole number; found x"),
    "conflict": ([ALL, NAME], ["x", "--all"], "--all and name cannot be given together"),
    "no pattern": ([VERSION], ["1.2.3"],
                   r"version: expected text that matches [0-9]+\.[0-9]+; found 1.2.3"),
    "the line end counts": ([VERSION], ["1.2\n"],
                            "version: expected text that matches [0-9]+\\.[0-9]+; found 1.2\n"),
    "secret": ([PIN], ["hunter2"], "pin: expected a whole number; found ********"),
    "a secret that looks like an option": ([PIN], ["-----BEGIN KEY"],
                                           f"unknown option ********{USAGE}[pin]"),
    "a secret that looks like short options": ([PIN], ["-hunter2"],
                                               f"unknown option ********{USAGE}[pin]"),
    "a secret without its =": ([{**TAG, "secret": True}], ["--tag4711"],
                               "unknown option ********; did you mean --tag?"),
    "a word beside a secret": ([PIN], ["1", "hunter2"],
                               f"unexpected argument ********{USAGE}[pin]"),
    "secret file": ([{**PIN, "type": "file"}], ["hunter2"],
                    "pin: ********: No such file or directory"),
    "no switch in a secret variable": ([{"name": "--a", "env": "ODD_TOKEN"}], [],
                                       "ODD_TOKEN: expected true or false; found ********"),
    "no choice in a secret variable": ([{**ENV, "env": "ODD_TOKEN"}], [],
                                       "ODD_TOKEN: expected one of dev, prod; found ********"),
    "no file in a secret variable": ([{"name": "f", "type": "file", "env": "ODD_TOKEN"}], [],
                                     "ODD_TOKEN: ********: No such file or directory"),
    "a word, not the secret variable": ([{**ENV, "env": "ODD_TOKEN"}], ["x"],
                                        "env: expected one of dev, prod; found x"),
    "no switch in the environment": ([{"name": "--a", "env": "ODD"}], [],
                                     "ODD: expected true or false; found maybe"),
    "no choice in the environment": ([{**ENV, "env": "ODD"}], [],
                                     "ODD: expected one of dev, prod; found maybe"),
    "no file in the environment": ([{"name": "f", "type": "file", "env": "ODD"}], [],
                                   "ODD: maybe: No such file or directory"),
    "a word, not the environment": ([{**ENV, "env": "ODD"}], ["x"],
                                    "env: expected one of dev, prod; found x"),
    "conflict with the environment": ([{**ALL, "env": "ON"}, NAME], ["x"],
                                      "ON and name cannot be given together"),
    "the second of an option": ([{**HOST, "type": "integer"}], ["-H1", "-Hx"],
                                "--host: expected a whole number; found x"),
    "no whole number": ([COUNT], ["-n", "1.5"], "--count: expected a whole number; found 1.5"),
    "empty number": ([COUNT], ["--count="], '--count: expected a whole number; found ""'),
    "no number": ([{**COUNT, "type": "number"}], ["-nx"], "--count: expected a number; found x"),
    "no choice": ([ENV], ["x"], "env: expected one of dev, prod; found x"),
    "a choice misspelt": ([ENV], ["prdo"],
                          "env: expected one of dev, prod; found prdo; did you mean prod?"),
    "the second of repeated": ([{"name": "n...", "type": "integer"}], ["1", "x"],
                               "n: expected a whole number; found x"),
    "no file": ([{"name": "f", "type": "file"}], ["none"], "f: none: No such file or directory"),
    "empty file": ([{"name": "f", "type": "file"}], [""], 'f: "": No such file or directory'),
    "a directory as file": ([{"name": "f", "type": "file"}], ["."], "f: .: is a directory"),
    "no directory": ([{"name": "f", "type": "directory"}], ["file"], "f: file: not a directory"),
    "below a file": ([{"name": "f", "type": "file"}], ["file/x"],
                     "f: file/x: Not a directory"),
    "default that is not there": ([{"name": "f", "type": "file", "default": "none"}], [],
                                  "f: none: No such file or directory"),
}  # fmt: skip


def test_a_default_is_checked_only_when_it_is_read(monkeypatch):
    arguments = read([{**VERSION, "default": "1.0"}])
    monkeypatch.delattr("posix.fork")  # which a pattern needs
    assert argument_parser.parse(arguments, [], "cli", ["a"], {}).variables() == {
        "ARG_VERSION": "1.0"
    }


@pytest.mark.parametrize(
    ("entries", "words", "message"), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_does_not_fit(entries, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught:
        variables(entries, *words)
    assert str(caught.value) == f"a b: {message}"
    assert caught.value.status == 2


def test_files_are_looked_at_and_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    (tmp_path / "dangling").symlink_to("none")
    one = [{"name": "f", "type": "file"}]
    assert variables(one, "fifo") == {"F": "fifo"}
    assert variables(one, "secret") == {"F": "secret"}
    with pytest.raises(UsageError, match="dangling: No such file"):
        variables(one, "dangling")
    assert variables([{"name": "f", "type": "path"}], "none") == {"F": "none"}


def test_words_of_any_number_take_linear_time():
    words = ["-f", "x"] * 30_000
    assert variables([FORCE, FILES], *words)["FILES_COUNT"] == "30000"


def test_the_variables_of_nobody_stay():
    environ = {
        "ARG_NAME": "1",
        "ARG_FILES": "2",
        "ARG_FILES_7": "3",
        "ARG_X": "4",
        "HOME": "5",
    }
    found = {
        name
        for name in environ
        if not any(one.owns(name) for one in read([NAME, FILES]))
    }
    assert found == {"ARG_X", "HOME"}
    declared = read([ENV, NAME, FORCE, COUNT, FILES])
    absent = argument_parser.parse(declared, ["--help"], "cli", ["a"]).variables()
    assert absent == {"ARG_FORCE": "false", "ARG_COUNT": "3", "ARG_FILES_COUNT": "0"}


class AsWritten(click.ParamType):
    """A type of click that checks a text and leaves it as it is."""

    name = "text"

    def __init__(self, checks):
        self.checks = checks

    def convert(self, value, param, ctx):
        self.checks.convert(value, param, ctx)
        return value


CLICK_TYPES = {
    "string": click.STRING,
    "integer": click.INT,
    "number": click.FLOAT,
    "path": click.Path(),
    "file": click.Path(exists=True, dir_okay=False, readable=False),
    "directory": click.Path(exists=True, file_okay=False, readable=False),
}
TEXTS = {
    "string": ["x", "", "-f", "--", "dev"],
    "integer": ["0", "-7", "+5"],
    "number": ["1.5", "-1e3", "7"],
    "path": ["none", "."],
    "file": ["file", "none"],
    "directory": [".", "none"],
}
LETTERS = "fgnt"


@st.composite
def values(draw, name, **fields):
    """Draw what takes a value: a positional one or an option with a placeholder."""
    kind = draw(st.sampled_from(sorted(TEXTS)))
    entry = {"name": name, "type": kind, **fields}
    if kind == "string" and draw(st.booleans()):
        entry["choices"] = ["dev", "prod", "x"]
    if not fields.get("required") and draw(st.booleans()):
        known = entry.get("choices") or TEXTS[kind]
        entry["default"] = draw(st.sampled_from(known))
    return entry


@st.composite
def declarations(draw):
    """Draw valid `args`: options anywhere among positional ones, required ones first."""
    options = []
    for letter in draw(st.lists(st.sampled_from(LETTERS), unique=True, max_size=4)):
        names = {"name": f"--{letter}{letter}"} | draw(
            st.sampled_from([{}, {"short": f"-{letter}"}])
        )
        if draw(st.booleans()):
            options.append(names)
        else:
            fields = {"required": True} if draw(st.integers(0, 4)) == 0 else {}
            entry = draw(values(names.pop("name"), value="V", **names, **fields))
            options.append(entry)
    required = draw(st.integers(0, 2))
    positional = [
        draw(values(f"p{i}", **({"required": True} if i < required else {})))
        for i in range(draw(st.integers(0, 3)))
    ]
    if draw(st.booleans()):
        all_required = all(one.get("required") for one in positional)
        more = {"required": True} if all_required and draw(st.booleans()) else {}
        positional.append(draw(values("rest...", **more)))
    found = list(positional)
    for option in options:
        found.insert(draw(st.integers(0, len(found))), option)
    return found


WORDS = st.one_of(
    st.sampled_from(
        ["--ff", "--nn", "--gg", "--tt", "-f", "-n", "-fn", "-gt", "-fgnt", "--", "-", "", "dev"]
    ),
    st.sampled_from([text for texts in TEXTS.values() for text in texts]),
    st.sampled_from(["--ff=", "--nn=7", "--tt=x=y", "-n7", "-fn7", "-t=x"]),
    st.text(alphabet="fgnt-=.07ex", max_size=5),
)  # fmt: skip


def by_click(entries, words):
    """Return the variables that click finds, None for words that do not fit."""
    params = []
    for index, entry in enumerate(entries):
        name, kind = entry["name"], CLICK_TYPES.get(entry.get("type"))
        if "choices" in entry:
            kind = click.Choice(entry["choices"])
        names = [f"p{index}"]
        if not name.startswith("-"):
            repeats = name.endswith("...")
            default = entry.get("default")
            fields = {"nargs": -1} if repeats else {}
            if default is not None:
                fields["default"] = [default] if repeats else default
            required = entry.get("required", False)
            params.append(
                click.Argument(names, type=AsWritten(kind), required=required, **fields)
            )
            continue
        names += [one for one in (name, entry.get("short")) if one]
        if "value" not in entry:
            params.append(click.Option(names, is_flag=True))
            continue
        fields = {"default": entry["default"]} if "default" in entry else {}
        required = entry.get("required", False)
        params.append(
            click.Option(names, type=AsWritten(kind), required=required, **fields)
        )
    parser = click.Command("a", params=params, add_help_option=False)
    try:
        parsed = parser.make_context("a", list(words)).params
    except click.NoSuchOption as error:
        assume(not error.option_name[1:2].isdigit() and error.option_name != "-.")
        return None
    except click.UsageError:
        return None
    found = {}
    for index, entry in enumerate(entries):
        name, value = (
            entry["name"].removesuffix("...").lstrip("-").upper(),
            parsed[f"p{index}"],
        )
        if entry["name"].endswith("..."):
            found[f"{name}_COUNT"] = str(len(value))
            found |= {f"{name}_{number}": one for number, one in enumerate(value, 1)}
        elif isinstance(value, bool):
            found[name] = "true" if value else "false"
        elif value is not None:
            found[name] = value
    return found


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory):
    """A current directory with a file, for the types of paths."""
    before = os.getcwd()
    directory = tmp_path_factory.mktemp("here")
    (directory / "file").touch()
    os.chdir(directory)
    yield
    os.chdir(before)


@pytest.mark.slow
@given(declarations(), st.lists(WORDS, max_size=6))
def test_words_are_read_as_click_reads_them(entries, words):
    assume(
        not any(word[:1] == "-" != word[1:2] and "=" in word for word in words)
    )  # -n=3 is 3
    try:
        found = variables(entries, *words)
    except UsageError as error:
        assume("; to give " not in str(error))  # click takes an option as a value
        found = None
    assert found == by_click(entries, words)


SHOWS = r"""#!/bin/bash
env -0 | sort -z | grep -z '^ARG_\|^SEEN=' | tr '\0' '\n'
printf '<%s>' "$@"
"""


@pytest.fixture(scope="module")
def made(shared_install):
    """A command with arguments, and sources that speak of their variables, too."""
    arguments = [ENV, {"name": "--out", "value": "FILE"}, COUNT, FORCE, FILES]
    shown = command(
        args=arguments,
        envs={
            "SEEN": "$ARG_ENV${ARG_OUT-none}",
            "ARG_OUT": "from envs",
            "ARG_COUNT": "too",
        },
    )
    return shared_install(
        {
            "commands/a/b/command.json": shown,
            "commands/a/b/main.sh": SHOWS,
            "commands/a/sh/command.json": {**shown, "aliases": ["dash"]},
            "commands/a/sh/main.sh": "#!/bin/sh\necho $ARG_ENV $ARG_COUNT $ARG_FORCE\n",
            "commands/a/python/command.json": shown,
            "commands/a/python/main.sh": "#!/usr/bin/env -S python3 -I\nimport os\n"
            "print(*(os.environ[f'ARG_{x}'] for x in ('ENV', 'COUNT', 'FORCE')))\n",
            "commands/a/helps/command.json": shown,
            "commands/a/helps/main.sh": "#!/bin/sh\n: --help\necho $@ $ARG_COUNT${ARG_ENV-none}\n",
            "commands/a/missing/command.json": shown,
            "commands/a/other/command.json": {**shown, "os": ["windows"]},
            "commands/a/wrong/command.json": command(
                args=[{"name": "x", "type": "colour"}]
            ),
            "commands/a/wrong/main.sh": SHOWS,
            "commands/c/category.json": {
                "name": "C",
                "description": "D",
                "entrypoint": "main.sh",
                "args": [FORCE, NAME],
            },
            "commands/c/main.sh": SHOWS,
            "config/settings.conf": "echo settings >&2\nARG_FILES_9=s\nARG_FORCE=maybe\n",
        }
    )


def test_a_script_gets_variables_and_its_words_untouched(made):
    found = made.run("a", "b", "dev", "-fn", "7", "", "x y", "--", "-z")
    assert found.all == (
        0,
        "ARG_COUNT=7\nARG_ENV=dev\nARG_FILES_1=\nARG_FILES_2=x y\nARG_FILES_3=-z\n"
        "ARG_FILES_COUNT=3\nARG_FORCE=true\nSEEN=devnone\n<dev><-fn><7><><x y><--><-z>",
        "settings\n",
    )


def test_nobody_else_sets_these_variables(made):
    environ = {
        "ARG_OUT": "o",
        "ARG_FILES_1": "1",
        "ARG_COUNT": "9",
        "ARG_ENV": "e",
        "ARG_X": "x",
    }
    expected = "ARG_COUNT=3\nARG_ENV=prod\nARG_FILES_COUNT=0\nARG_FORCE=false\n"
    assert made.run("a", "b", "prod").stdout == f"{expected}SEEN=prodnone\n<prod>"
    found = made.run("a", "b", "prod", env=environ)
    assert found.stdout == f"{expected}ARG_X=x\nSEEN=prodnone\n<prod>"


def test_scripts_of_any_language(made):
    for name in ("sh", "dash", "python"):
        assert made.run("a", name, "dev", "--force").stdout == "dev 3 true\n", name


def test_words_are_checked_before_anything_is_read_or_run(made):
    for name in ("b", "missing"):
        found = made.run("a", name, "--coutn=1", env={"DEBUG": "1"})
        assert (found.status, found.stdout) == (2, "")
        assert (
            found.stderr
            == f"cli: a {name}: unknown option --coutn; did you mean --count?\n"
        )
    assert made.run("a", "other", "--none").status == 126


def test_values_are_in_no_debug_line(made):
    found = made.run("a", "b", "dev", "hunter2", "--out=hunter2", env={"DEBUG": "1"})
    assert found.status == 0
    assert "[DEBUG]" in found.stderr
    assert "hunter2" not in found.stderr


def test_a_wrong_declaration_is_one_line(made):
    found = made.run("a", "wrong")
    assert (found.status, found.stdout) == (1, "")
    assert found.stderr == (
        f'cli: {made.root}/commands/a/wrong/command.json: "args[0].type": expected one of '
        "string, integer, number, path, file, directory; found colour\n"
    )
    assert "colour" in made.run("a").stderr


def test_help_reaches_a_script_that_answers_it(made):
    assert made.run("a", "helps", "--help").stdout == "--help 3none\n"
    assert made.run("a", "helps", "--help", "x").status == 2
    assert made.run("a", "b", "-h").stdout == made.run("help", "a", "b").stdout


def test_an_argument_is_shown_escaped(made):
    found = made.run("a", "b", "\x1b[31m\n")
    assert found.stderr == (
        "cli: a b: env: expected one of dev, prod; found \\x1b[31m\\n\n"
    )


def test_a_category_with_an_entrypoint(made):
    found = made.run("c", "-f", "x")
    assert found.stdout == "ARG_FILES_9=s\nARG_FORCE=true\nARG_NAME=x\n<-f><x>"
    found = made.run("c", "--froce")
    assert found.all == (
        2,
        "",
        "cli: c: unknown option --froce; did you mean --force?\n",
    )


def test_values_of_any_bytes(made):
    found = made.run("a", "b", "dev", b"\xff\n'$(x)")
    assert "ARG_FILES_1=\udcff\n'$(x)\n" in found.stdout
