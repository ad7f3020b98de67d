"""cli.sh: what a command says about itself."""

import json

import pytest

LOAD = 'set -eu\n. "$LIB_DIR/cli.sh"\n'
WORDS = {"COMMAND_CATEGORY": "setup/db", "COMMAND_NAME": "my-tool"}


@pytest.fixture
def core(tmp_path):
    """A core directory whose program is called tool."""
    core = tmp_path / "my core"
    core.mkdir()
    (core / "cli.json").write_text("{}")
    (core / "cli.json").chmod(0o755)
    (core / "lib").mkdir()
    (core / "notes.txt").write_text("")
    (core / "tool").write_text("")
    (core / "tool").chmod(0o755)
    return {"CORE_DIR": str(core)}


def test_the_words(run, shell):
    assert (
        run(shell, f"{LOAD}IFS=/; build_command_path", env=WORDS).out
        == "setup db my-tool\n"
    )
    assert (
        run(shell, f"{LOAD}build_command_path", env={"COMMAND_NAME": "x"}).out == "x\n"
    )
    assert run(shell, f"{LOAD}build_command_path").out == "\n"


def test_usage(run, shell, core):
    tails = {
        "": " [options]",
        "--no-options": "",
        "'<file> <directory>'": " <file> <directory>",
        "'<file>' '[%s]'": " <file> [%s]",
        "--no-options '<file>'": " <file>",
    }
    script = f"set -f\nIFS=,\n{LOAD}" + "".join(
        f"show_usage {given}\n" for given in tails
    )
    expected = "".join(
        f"Usage: tool setup db my-tool{tail}\n" for tail in tails.values()
    )
    assert run(shell, script, env={**WORDS, **core}) == (0, expected, "")


@pytest.mark.parametrize("env", [{}, {"CORE_DIR": "/nowhere"}])
def test_usage_without_the_framework(run, shell, env):
    assert run(shell, f"{LOAD}show_usage", env=env) == (0, "Usage: cli [options]\n", "")


def test_the_name_that_a_script_knows_wins(run, shell, core):
    assert run(shell, f"{LOAD}CLI_PROGRAM=other\nshow_usage", env=core).out.startswith(
        "Usage: other "
    )


@pytest.mark.parametrize("below", ["", "a b/c"])
def test_the_definition_is_beside_the_script_or_above(run, shell, tmp_path, below):
    command = tmp_path / "plugins" / "p" / "cat" / "my cmd"
    (command / below).mkdir(parents=True)
    (command / "command.json").write_text(
        json.dumps({"description": 'Does "it" \u2713 100%\\n'})
    )
    (tmp_path / "plugins" / "command.json").write_text("{}")
    script = f"{LOAD}cd /\nget_command_config_file; show_description"
    expected = f'{command}/command.json\nDoes "it" ✓ 100%\\n\n'
    assert run(shell, script, file=command / below / "main.sh") == (0, expected, "")


def test_a_relative_path_of_the_script(run, shell, tmp_path):
    (tmp_path / "command.json").write_text('{"description": "d"}')
    (tmp_path / "x.sh").write_text(f"{LOAD}cd /\nget_command_config_file")
    script = f'cd "{tmp_path}"; "{shell}" ./x.sh; "{shell}" x.sh'
    out = run(shell, script, file=tmp_path / "outer").out
    assert [line.replace("/./", "/") for line in out.splitlines()] == [
        f"{tmp_path}/command.json"
    ] * 2


def test_the_entrypoint_of_a_category(run, shell, tmp_path):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "category.json").write_text(
        '{"description": "All of it", "entrypoint": "x"}'
    )
    assert (
        run(shell, f"{LOAD}show_description", file=tmp_path / "cat" / "x").out
        == "All of it\n"
    )


def test_a_help_text_goes_on_without_a_description(run, shell, tmp_path):
    (tmp_path / "command.json").write_text("{}")
    assert run(shell, f"{LOAD}show_description; echo on") == (0, "on\n", "")


def test_no_definition(run, shell, tmp_path):
    script = f"{LOAD}show_description\nget_command_config_file"
    assert run(shell, script, file=tmp_path / "x") == (1, "", "")


def test_a_script_that_is_its_own_definition(run, shell, tmp_path):
    (tmp_path / "category.json").write_text('{"description": "All of it"}')
    text = f"#!/bin/sh\n# shellcheck disable=SC1090\n# Summary: Do it.\n{LOAD}"
    script = f"{text}show_description\nget_command_config_file"
    assert run(shell, script, file=tmp_path / "x") == (0, f"Do it.\n{tmp_path}/x\n", "")
