"""White label: where an installation is found, and two installations that call one another."""

import sys
from pathlib import Path

import pytest

from testing.installation import Made, command

SHOW = (
    "#!/bin/sh\n"
    'printf "%s|%s|%s|%s|%s|%s|%s\\n" "$CLI_DIR" "$CORE_DIR" "$LIB_DIR" "$PLUGINS_DIR" '
    '"$GLOBAL_CONFIG_FILE" "$COMMAND_NAME" "$COMMAND_CATEGORY"\n'
    'if [ "$1" = then ]; then shift; exec "$@"; fi\n'
)
# The command's script runs the rest of its arguments as a shell line.
CALL = '#!/bin/sh\neval "$1"\n'
FILES = {
    "commands/demo/show/command.json": command(),
    "commands/demo/show/main.sh": SHOW,
    "commands/demo/call/command.json": command(),
    "commands/demo/call/main.sh": CALL,
}


def shown(made: Made, words: str = "demo/show", config: str = "") -> str:
    root = str(made.root)
    config = config or f"{root}/core/cli.json"
    category, _, name = words.rpartition("/")
    return f"{root}|{root}/core|{root}/core/lib|{root}/plugins|{config}|{name}|{category}\n"


@pytest.fixture(scope="module")
def pair(shared_install):
    """Two installations, `alpha` and `beta`, and `bare`: a third one without a launcher."""
    alpha = shared_install(FILES, program="alpha")
    beta = shared_install(
        {**FILES, "core/cli.json": {"name": "Beta", "version": "2.0.0"}}, "beta"
    )
    bare = shared_install(
        {**FILES, "core/cli.json": {"name": "Bare", "version": "3.0.0"}}
    )
    (bare.root / "core" / "cli").unlink()
    alternate = {"name": "Alternate", "version": "9.9.9"}
    bare.write({"alternate.json": alternate})
    return alpha, beta, bare


def call(pair, line: str, **env: str):
    """Run `line` in a command of alpha, with ALPHA, BETA, X and ALT to name things."""
    alpha, beta, bare = pair
    names = {
        "ALPHA": str(alpha.launcher),
        "BETA": str(beta.launcher),
        "X": str(bare.root),
        "ALT": str(bare.root / "alternate.json"),
    }
    return alpha.run("demo", "call", line, env={**names, **env})


def test_a_command_of_one_program_that_calls_another_gets_that_ones_installation(pair):
    _, beta, _ = pair
    assert call(pair, '"$BETA" demo show; "$BETA" --version').all == (
        0,
        shown(beta) + "Beta 2.0.0\n",
        "",
    )


def test_cli_dir_given_inside_a_command_counts(pair):
    _, _, bare = pair
    result = call(
        pair, 'CLI_DIR="$X" "$BETA" demo show; CLI_DIR="$X" "$BETA" --version'
    )
    assert result.all == (0, shown(bare) + "Bare 3.0.0\n", "")


def test_cli_dir_given_inside_a_command_counts_for_the_same_program(pair):
    _, _beta, bare = pair
    result = call(
        pair, 'CLI_DIR="$X" "$ALPHA" demo show; CLI_DIR="${BETA%/core/*}" "$ALPHA" -V'
    )
    assert result.all == (0, shown(bare) + "Beta 2.0.0\n", "")


def test_a_program_started_with_cli_dir_stays_there_when_it_calls_itself(pair):
    _alpha, beta, bare = pair
    again = '"$ALPHA" demo call \'"$ALPHA" demo call "\\"\\$ALPHA\\" demo show"\''
    for other in (beta, bare):
        result = call(pair, again, CLI_DIR=str(other.root))
        assert result.all == (0, shown(other), "")


def test_a_program_started_with_cli_dir_calls_another_which_gets_its_own(pair):
    _, beta, bare = pair
    result = call(pair, '"$BETA" demo show; "$BETA" --version', CLI_DIR=str(bare.root))
    assert result.all == (0, shown(beta) + "Beta 2.0.0\n", "")


def test_a_chosen_config_file_is_not_handed_to_another_program(pair):
    alpha, beta, bare = pair
    alternate = str(bare.root / "alternate.json")
    line = '"$ALPHA" -V; "$BETA" -V; "$BETA" demo show; "$ALPHA" demo show'
    result = call(pair, line, GLOBAL_CONFIG_FILE=alternate)
    assert result.all == (
        0,
        "Alternate 9.9.9\nBeta 2.0.0\n" + shown(beta) + shown(alpha, config=alternate),
        "",
    )


def test_a_config_file_chosen_inside_a_command_counts(pair):
    _, _beta, _bare = pair
    result = call(
        pair,
        'GLOBAL_CONFIG_FILE="$ALT" "$BETA" -V; GLOBAL_CONFIG_FILE=$ALT "$ALPHA" -V',
    )
    assert result.all == (0, "Alternate 9.9.9\nAlternate 9.9.9\n", "")


def test_config_file_and_directory_may_both_be_chosen(pair):
    _alpha, _, bare = pair
    env = {
        "CLI_DIR": str(bare.root),
        "GLOBAL_CONFIG_FILE": str(bare.root / "alternate.json"),
    }
    result = call(pair, '"$ALPHA" demo show; "$ALPHA" -V', **env)
    assert result.all == (
        0,
        shown(bare, config=env["GLOBAL_CONFIG_FILE"]) + "Alternate 9.9.9\n",
        "",
    )


def test_the_chain_back_to_the_first_program_gets_the_firsts_own(pair):
    alpha, _beta, _ = pair
    result = call(pair, '"$BETA" demo call \'"$ALPHA" demo show; "$ALPHA" -V\'')
    assert result.all == (0, shown(alpha) + "Test CLI 1.2.3\n", "")


def test_the_variables_of_a_run_without_sources(pair):
    alpha, _, _ = pair
    result = alpha.run("demo", "call", "env | sort")
    names = {line.partition("=")[0] for line in result.stdout.splitlines()}
    assert names <= {
        *("CLI_DIR", "CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "GLOBAL_CONFIG_FILE"),
        *(
            "COMMAND_NAME",
            "COMMAND_CATEGORY",
            "CLI_RUN",
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "_",
        ),
    }


def test_the_callers_framework_paths_are_replaced(pair):
    alpha, _, _ = pair
    stale = dict.fromkeys(
        ["CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "COMMAND_NAME"], "stale"
    )
    assert alpha.run("demo", "show", env=stale).all == (0, shown(alpha), "")


@pytest.mark.slow
def test_the_name_comes_from_the_executable_and_cli_json(shared_install):
    made = shared_install(
        {**FILES, "core/cli.json": {"name": "Ünïted", "version": "0.0.1"}}, "acme"
    )
    link = made.home / "acme-link"
    link.symlink_to(made.launcher)
    for executable in (made.launcher, link):
        name = executable.name
        assert made.run("--version", executable=executable).all == (
            0,
            "Ünïted 0.0.1\n",
            "",
        )
        unknown = made.run("dmo", executable=executable)
        assert unknown.status == 2
        assert unknown.stderr.startswith(f"{name}: ")
        assert f"did you mean {name} demo?" in unknown.stderr
        assert unknown.stderr.count("\n") == 1
        assert (
            f"{name} demo show"
            in made.run("help", "demo", "show", executable=executable).stdout
        )
        assert f"Usage: {name} " in made.run(executable=executable).stdout


def test_commands_dir_and_plugins_dir_of_cli_json(shared_install):
    made = shared_install(
        {
            "core/cli.json": {
                "name": "N",
                "version": "1.0.0",
                "commands_dir": "scripts/all",
                "plugins_dir": "more",
            },
            "scripts/all/demo/show/command.json": command(),
            "scripts/all/demo/show/main.sh": SHOW,
            "more/extra/tools/show/command.json": command(),
            "more/extra/tools/show/main.sh": SHOW,
        }
    )
    assert f"|{made.root}/more|" in made.run("demo", "show").stdout
    assert f"|{made.root}/more|" in made.run("tools", "show").stdout


def test_an_installation_in_the_data_home_needs_no_launcher_inside(
    shared_install, tmp_path
):
    made = shared_install(FILES, program="acme")
    launcher = tmp_path / "bin" / "acme"
    launcher.parent.mkdir()
    made.launcher.rename(launcher)
    data = tmp_path / "data"
    data.mkdir()
    (data / "acme").symlink_to(made.root)
    result = made.run(
        "demo", "show", executable=launcher, env={"XDG_DATA_HOME": str(data)}
    )
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{made.root}|")
    # Nothing there: a hint how to make one.
    empty = str(tmp_path / "none")
    result = made.run("demo", "show", executable=launcher, env={"XDG_DATA_HOME": empty})
    assert (result.status, result.stdout) == (1, "")
    assert f"{empty}/acme/core/cli.json" in result.stderr
    assert "acme self init" in result.stderr
    assert result.stderr.count("\n") == 1
    # A config file that the caller chose is none that `self init` makes.
    chosen = {"XDG_DATA_HOME": str(data), "GLOBAL_CONFIG_FILE": f"{empty}.json"}
    result = made.run("demo", "show", executable=launcher, env=chosen)
    assert result.all == (1, "", f"acme: configuration file not found: {empty}.json\n")


@pytest.mark.parametrize("name", ["CLI_DIR", "GLOBAL_CONFIG_FILE"])
def test_relative_paths_count_from_the_current_directory(pair, name):
    alpha, _, bare = pair
    relative = "." if name == "CLI_DIR" else "alternate.json"
    result = alpha.run("--version", env={name: relative}, cwd=bare.root)
    assert result.all == (
        0,
        "Bare 3.0.0\n" if name == "CLI_DIR" else "Alternate 9.9.9\n",
        "",
    )


def in_deleted_directory(made: Made, line: str):
    gone = made.root / "gone"
    script = f'mkdir "{gone}" && cd "{gone}" && rmdir "{gone}" && {line}'
    return made.run("-c", script, executable=Path("/bin/sh"))


def test_a_relative_path_in_a_deleted_directory_is_one_line(pair):
    alpha, _, _ = pair
    for prefix in ("CLI_DIR=x", "GLOBAL_CONFIG_FILE=x"):
        result = in_deleted_directory(alpha, f"{prefix} {alpha.launcher} demo show")
        assert (result.status, result.stdout) == (1, "")
        assert result.stderr.splitlines()[-1] == (
            "alpha: the current directory was deleted, so relative paths cannot be used; "
            "use absolute paths"
        )
    result = in_deleted_directory(alpha, "../core/alpha demo show")
    assert result.status == 1
    assert "current directory was deleted" in result.stderr


def test_an_absolute_path_in_a_deleted_directory_runs(pair):
    alpha, _, _ = pair
    result = in_deleted_directory(alpha, f"{alpha.launcher} demo show")
    assert (result.status, result.stdout) == (0, shown(alpha))


@pytest.mark.skipif(
    sys.platform == "darwin", reason="the file system refuses such names"
)
def test_an_installation_whose_path_is_hostile(tmp_path_factory, shared_install):
    made = shared_install(FILES)
    odd = made.root.parent / "sp ace 'q\" $HOME \udce9 é\n[31m"
    made.root.rename(odd)
    moved = Made(odd, odd / "core" / "cli", made.home)
    moved.launcher.unlink()
    from builtin_plugins.program.launcher import write_launcher

    write_launcher(str(moved.launcher))
    assert moved.run("demo", "show").all == (0, shown(moved), "")
    (odd / "config").mkdir()
    (odd / "config" / "settings.conf").write_text("X=$BASH_SOURCE\n")
    result = moved.run("demo", "call", 'printf "%s" "$X"')
    assert result.all == (0, f"{odd}/config/settings.conf", "")
    (odd / "core" / "cli.json").write_text("{")
    result = moved.run("demo", "show")
    assert result.status == 1
    assert result.stderr.count("\n") == 1
    assert "\\xe9 é\\n[31m/core/cli.json:1:" in result.stderr
