"""Which source wins: SPEC 2.6, each row of it, by real files and real runs."""

import itertools

import pytest

from host.pages.variable_table import traced_variables
from host.variables.layers import (
    ENV_FILES,
    ENVS,
    FRAMEWORK,
    SETTINGS,
    SYSTEM,
    Layers,
    Variable,
)
from testing.installation import command

# Prints each variable as NAME=[value], or NAME unset.
SHOW = (
    "#!/bin/sh\n"
    "for name; do\n"
    '  if eval "[ \\"\\${$name+set}\\" ]"; then eval "printf \'%s=[%s]\\n\' $name \\"\\$$name\\""\n'
    '  else printf "%s unset\\n" "$name"; fi\n'
    "done\n"
)
STATES = ("absent", "empty", "set")
RANKS = ("system", "envs", "settings", "env_file")
ROWS = list(itertools.product(STATES, repeat=len(RANKS)))


def name_of(row: tuple[str, ...]) -> str:
    return "V_" + "".join(state[0] for state in row)


def values_of(rank: str) -> dict[str, str]:
    """Return what the source of this rank says for all 81 rows together."""
    index = RANKS.index(rank)
    return {
        name_of(row): rank if row[index] == "set" else ""
        for row in ROWS
        if row[index] != "absent"
    }


def expected(row: tuple[str, ...]) -> str:
    """The table itself: the first rank that is not absent wins, also with an empty value."""
    for rank, state in zip(RANKS, row, strict=True):
        if state != "absent":
            return f"{name_of(row)}=[{rank if state == 'set' else ''}]"
    return f"{name_of(row)} unset"


@pytest.fixture(scope="module")
def shown(shared_install):
    """What a command sees of the 81 variables: one run for all rows."""
    made = shared_install(
        {
            "config/settings.conf": "".join(
                f'{name}="{value}"\n' for name, value in values_of("settings").items()
            ),
            "commands/demo/show/command.json": command(
                envs=values_of("envs"), env_files=[".env"]
            ),
            "commands/demo/show/.env": "".join(
                f"{name}={value}\n" for name, value in values_of("env_file").items()
            ),
            "commands/demo/show/main.sh": SHOW,
        }
    )
    result = made.run("demo", "show", *map(name_of, ROWS), env=values_of("system"))
    assert (result.status, result.stderr) == (0, "")
    return dict(zip(ROWS, result.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("row", ROWS, ids=["-".join(row) for row in ROWS])
def test_rank_table(shown, row):
    assert shown[row] == expected(row)


# Variable, and for each rule of SPEC 2.6 what the run must show. Plugins of the
# installation follow the same rules, so each rule runs for a command of both kinds.
RULES = {
    "rule 1: system beats envs": ("BOTH", {"BOTH": "system"}, "BOTH=[system]"),
    "rule 1: also when empty": ("BOTH", {"BOTH": ""}, "BOTH=[]"),
    "rule 2: envs beats .env": ("ENVS_AND_FILE", {}, "ENVS_AND_FILE=[envs]"),
    "rule 3: only in .env": ("FILE_ONLY", {}, "FILE_ONLY=[file]"),
    "rule 4: system is not overwritten": (
        "FILE_ONLY",
        {"FILE_ONLY": "sys"},
        "FILE_ONLY=[sys]",
    ),
    "rule 4: nor by settings": ("SETTINGS", {"SETTINGS": "sys"}, "SETTINGS=[sys]"),
    "rule 4: nor unset by settings": (
        "UNSET_THERE",
        {"UNSET_THERE": "s"},
        "UNSET_THERE=[s]",
    ),
    "rule 5: worked case": ("TIMEOUT", {}, "TIMEOUT=[60]"),
    "rule 5: worked case with system": ("TIMEOUT", {"TIMEOUT": "90"}, "TIMEOUT=[90]"),
    "rule 5: only in .env keeps its value": ("FILE_ONLY", {}, "FILE_ONLY=[file]"),
    "rank 3 beats rank 4": ("SETTINGS_AND_FILE", {}, "SETTINGS_AND_FILE=[settings]"),
    "a later .env beats an earlier one": ("TWO_FILES", {}, "TWO_FILES=[second]"),
    "a later line beats an earlier one": ("TWO_LINES", {}, "TWO_LINES=[second]"),
    "rank 5: no source": ("NOWHERE", {}, "NOWHERE unset"),
    "a name of the framework": (
        "COMMAND_NAME",
        {"COMMAND_NAME": "sys"},
        "COMMAND_NAME=[show]",
    ),
    "a name of the framework in envs": ("LIB_DIR", {}, "LIB_DIR=[{root}/core/lib]"),
}


@pytest.fixture(scope="module")
def ruled(shared_install):
    files = {
        "command.json": command(
            envs={
                "TIMEOUT": "60",
                "BOTH": "envs",
                "ENVS_AND_FILE": "envs",
                "LIB_DIR": "/x",
            },
            env_files=["a.env", "b.env"],
        ),
        "a.env": "TIMEOUT=40\nENVS_AND_FILE=file\nFILE_ONLY=file\nTWO_FILES=first\n"
        "SETTINGS_AND_FILE=file\nTWO_LINES=first\nTWO_LINES=second\n",
        "b.env": "TWO_FILES=second\nCOMMAND_CATEGORY=x\n",
        "main.sh": SHOW,
    }
    return shared_install(
        {
            "config/settings.conf": "TIMEOUT=30\nSETTINGS_AND_FILE=settings\nSETTINGS=settings\n"
            "unset UNSET_THERE\nCLI_DIR=/x\n",
            **{
                f"commands/demo/show/{name}": content for name, content in files.items()
            },
            **{
                f"plugins/more/extra/show/{name}": content
                for name, content in files.items()
            },
        }
    )


@pytest.mark.parametrize(("name", "env", "line"), RULES.values(), ids=RULES.keys())
def test_rules(ruled, name, env, line):
    line = line.format(root=ruled.root)
    assert ruled.run("demo", "show", name, env=env).all == (0, f"{line}\n", "")


@pytest.mark.parametrize(("name", "env", "line"), RULES.values(), ids=RULES.keys())
@pytest.mark.sampled
def test_rules_for_a_command_of_a_plugin(ruled, name, env, line):
    line = line.format(root=ruled.root)
    assert ruled.run("extra", "show", name, env=env).all == (0, f"{line}\n", "")


def test_references_across_sources(install):
    made = install(
        {
            "config/settings.conf": 'S="$SYS-$CLI_DIR"\nCHAIN=s\nSHADOWED=settings\n',
            "commands/demo/show/command.json": command(
                env_files=["a.env", "b.env"],
                envs={
                    "E": "$S $F $G",
                    "LATER": "[$NEXT]",
                    "NEXT": "$E!",
                    "CHAIN": "${CHAIN}e",
                    "SELF": "${SELF:-none}+",
                    "PATHLIKE": "$SYS:/x",
                    "SYS": "changed",
                    "AFTER": "$SYS",
                    "WHO": "$COMMAND_CATEGORY $COMMAND_NAME",
                },
            ),
            "commands/demo/show/a.env": 'F="$S/f"\nSHADOWED=file\nSEEN=$SHADOWED\n'
            "CHAIN=${CHAIN}f\n",
            "commands/demo/show/b.env": "G=$F/g\n",
            "commands/demo/show/main.sh": SHOW,
        }
    )
    names = [
        "S",
        "F",
        "G",
        "E",
        "LATER",
        "NEXT",
        "CHAIN",
        "SELF",
        "PATHLIKE",
        "SYS",
        "AFTER",
    ]
    result = made.run("demo", "show", *names, "SEEN", "WHO", env={"SYS": "sys"})
    root = made.root
    s = f"sys-{root}"
    assert result.all == (
        0,
        (
            f"S=[{s}]\nF=[{s}/f]\nG=[{s}/f/g]\nE=[{s} {s}/f {s}/f/g]\nLATER=[[]]\n"
            f"NEXT=[{s} {s}/f {s}/f/g!]\nCHAIN=[se]\nSELF=[none+]\nPATHLIKE=[sys:/x]\nSYS=[sys]\n"
            "AFTER=[sys]\nSEEN=[settings]\nWHO=[demo show]\n"
        ),
        "",
    )


def test_variables_do_not_leak_to_other_commands(install):
    made = install(
        {
            "commands/demo/one/command.json": command(envs={"OWN": "1"}),
            "commands/demo/one/main.sh": SHOW + '"$CLI_DIR/core/cli" demo two OWN\n',
            "commands/demo/two/command.json": command(),
            "commands/demo/two/main.sh": SHOW,
        }
    )
    assert made.run("demo", "two", "OWN").stdout == "OWN unset\n"
    # A command that another one calls gets what the outer one's caller would get.
    assert made.run("demo", "one", "OWN").stdout == "OWN=[1]\nOWN unset\n"
    assert made.run("demo", "two", "OWN").stdout == "OWN unset\n"


def test_required_envs(install):
    made = install(
        {
            "config/settings.conf": "IN_SETTINGS=1\nEMPTY=\n",
            "commands/demo/show/command.json": command(
                required_envs=[
                    "IN_SETTINGS",
                    "IN_FILE",
                    "IN_ENVS",
                    "EMPTY",
                    "NOWHERE",
                    "HERE",
                ],
                envs={"IN_ENVS": "1"},
                env_files=[".env"],
            ),
            "commands/demo/show/.env": "IN_FILE=1\n",
            "commands/demo/show/main.sh": "#!/bin/sh\necho ran\n",
        }
    )
    file = made.root / "commands/demo/show/command.json"
    result = made.run("demo", "show", env={"HERE": ""})
    assert (result.status, result.stdout) == (1, "")
    here = "HERE is empty in your environment (give it a value there, or unset it)"
    assert result.stderr.startswith(
        f"cli: {file}: EMPTY must be set; NOWHERE must be set; {here}; export th"
    )
    assert result.stderr.count("\n") == 1
    for place in ("settings.conf", "env_files", "envs", "export"):
        assert place in result.stderr
    env = {"HERE": "1", "EMPTY": "1", "NOWHERE": "1"}
    assert made.run("demo", "show", env=env).all == (0, "ran\n", "")
    (file.parent / ".env").rename(file.parent / "away")
    said = made.run("demo", "show", env=env).stderr
    gone = f"IN_FILE must be set; {file.parent}/.env does not exist; export it, or set it in "
    assert said.startswith(f"cli: {file}: {gone}")
    result = made.run("demo", "show", env={**env, "HERE": "", "IN_FILE": "1"})
    assert result.stderr.startswith(f"cli: {file}: {here}; export it, ")


@pytest.mark.parametrize("debug", ["true", "1", "on", "TRUE", "On"])
def test_debug_lines_say_what_was_ignored_and_no_value(ruled, debug):
    result = ruled.run("demo", "show", "TIMEOUT", env={"TIMEOUT": "90", "DEBUG": debug})
    assert result.stdout == "TIMEOUT=[90]\n"
    lines = result.stderr.splitlines()
    assert all(
        line.startswith("[DEBUG] 2") and line[10:33].count(":") == 2 for line in lines
    )
    ignored = [line for line in lines if " TIMEOUT: " in line]
    sources = ["command.json", "config/settings.conf", "a.env"]  # the strongest first
    assert len(ignored) == len(sources)
    assert all(source in line for source, line in zip(sources, ignored, strict=True))
    assert not any(
        value in result.stderr for value in ("TIMEOUT=", " 40", " 30 ", "=60", "= 90")
    )


@pytest.mark.parametrize("debug", ["false", "0", "off", "", "yes", "2", " true"])
def test_no_debug_lines_otherwise(ruled, debug):
    env = {"TIMEOUT": "90", "DEBUG": debug}
    assert ruled.run("demo", "show", "TIMEOUT", env=env).all == (
        0,
        "TIMEOUT=[90]\n",
        "",
    )


def test_debug_of_a_source_is_for_the_script_only(install):
    made = install(
        {
            "commands/demo/show/command.json": command(envs={"DEBUG": "true"}),
            "commands/demo/show/main.sh": SHOW,
        }
    )
    assert made.run("demo", "show", "DEBUG").all == (0, "DEBUG=[true]\n", "")


def offered(*variables: Variable, system=None, framework=None) -> Layers:
    layers = Layers(system or {}, framework or {})
    for variable in variables:
        layers.offer(variable)
    return layers


def test_the_lowest_rank_wins_and_within_a_rank_the_later():
    layers = Layers({"S": "s"}, {"F": "f"})
    for name in ("S", "F"):
        layers.offer(Variable(name, "x", "envs", ENVS))
    offers = [
        (ENV_FILES, "1"),
        (ENV_FILES, "2"),
        (3.5, "3"),
        (ENV_FILES, "4"),
        (SETTINGS, "5"),
    ]
    winners = []
    for rank, value in offers:
        layers.offer(Variable("X", value, "a", rank))
        winners.append(layers.get("X"))
    assert winners == ["1", "2", "3", "3", "5"]
    assert layers.environment() == {"S": "s", "F": "f", "X": "5"}
    assert [layers.get(name) for name in ("S", "F", "X", "NONE")] == [
        "s",
        "f",
        "5",
        None,
    ]


def test_trace_names_the_winner_and_what_it_shadows():
    layers = offered(
        Variable("X", "1", "settings", SETTINGS),
        Variable("X", "2", "a.env", ENV_FILES),
        Variable("X", "3", "b.env", ENV_FILES),
        Variable("X", "4", "envs", ENVS),
        Variable("S", "5", "envs", ENVS),
        Variable("F", "6", "envs", ENVS),
        system={"S": "s", "F": "old", "G": "same", "OTHER": "o"},
        framework={"F": "f", "G": "same"},
    )
    traced = {
        name: (
            one.value,
            one.rank,
            [(weaker.value, weaker.rank) for weaker in one.shadows],
        )
        for name, one in traced_variables(layers).items()
    }
    assert traced == {
        "X": ("4", ENVS, [("1", SETTINGS), ("3", ENV_FILES), ("2", ENV_FILES)]),
        "S": ("s", SYSTEM, [("5", ENVS)]),
        "F": ("f", FRAMEWORK, [("old", SYSTEM), ("6", ENVS)]),
        "G": ("same", FRAMEWORK, []),
        "OTHER": ("o", SYSTEM, []),
    }


def test_values_that_expand_to_more_than_the_system_takes(install):
    lines = f"A={'x' * 100_000}\n" + "".join(f"B{n}=x$A\n" for n in range(50))
    made = install(
        {
            "commands/demo/show/command.json": command(env_files=[".env"]),
            "commands/demo/show/.env": lines,
            "commands/demo/show/main.sh": SHOW,
        }
    )
    result = made.run("demo", "show")
    assert (result.status, result.stdout) == (126, "")
    assert ": Argument list too long; unset large variables" in result.stderr
