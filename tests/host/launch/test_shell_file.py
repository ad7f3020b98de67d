"""Commands that change the calling shell, in bash, zsh and fish."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command
from testing.shells import shell_path
from testing.terminal import Terminal

GO = 'printf "cd %q\\nexport WENT=%q\\nalias went=true\\n" "$1" "$1" >"$CLI_SHELL_FILE"\nexit 3\n'
SHELL = {"shell": True}
LOAD = {
    "bash": 'eval "$(cli self completion bash)"',
    "zsh": 'autoload -Uz compinit && compinit -D -u; eval "$(cli self completion zsh)"',
    "fish": "cli self completion fish | source",
}
BARE = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}
STATUS = {"bash": "$?", "zsh": "$?", "fish": "$status"}


@pytest.fixture(scope="module")
def made(shared_install: Callable[..., Made]) -> Made:
    return shared_install(
        {
            "commands/go/to/command.json": command(**SHELL, aliases=["into"]),
            "commands/go/to/main.sh": GO,
            "commands/go/inner/command.json": command(**SHELL),
            "commands/go/inner/main.sh": 'cli go plain >"$CLI_SHELL_FILE.out"\ncli go to /\n'
            'echo "export INNER=$?$(cat "$CLI_SHELL_FILE.out")" >"$CLI_SHELL_FILE"\n'
            'rm "$CLI_SHELL_FILE.out"\n',
            "commands/go/lines/command.json": command(**SHELL),
            "commands/go/lines/main.sh": 'echo "$1" >"$CLI_SHELL_FILE"\nexit 3\n',
            "commands/go/plain/command.json": command(),
            "commands/go/plain/main.sh": 'echo "${CLI_SHELL_FILE-unset}"\nexit 5\n',
        }
    )


def in_shell(made: Made, home: Path, shell: str, code: str, before: str = "") -> str:
    """Return what a shell prints that runs `before`, loads the completion and runs `code`."""
    environ = {
        "PATH": f"{made.launcher.parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }
    function = made.root / f"completion.{shell}"
    if not function.exists():
        function.write_text(made.run("self", "completion", shell).stdout)
    load = f". {function}"
    if shell == "zsh":
        load = f"compdef() {{ : }}; {load}"  # of `compinit`, which takes long
    done = subprocess.run(
        [shell_path(shell), *BARE[shell], "-c", f"{before}\n{load}\n{code}"],
        env=environ,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("shell", LOAD)
def test_the_shell_evaluates_what_the_command_writes(
    made: Made, tmp_path: Path, shell: str
) -> None:
    status = STATUS[shell]
    code = f'cli go to /usr; echo "{status} $PWD $WENT"; cli go into /bin; echo "$WENT"; alias'
    shown = in_shell(made, tmp_path, shell, code)
    assert shown.startswith("3 /usr /usr\n/bin\n")
    assert "went" in shown
    assert [*(tmp_path / ".cache/cli-host/shell").iterdir()] == []


@pytest.mark.parametrize(
    ("shell", "before"),
    [("bash", "shopt -s expand_aliases; "), ("zsh", ""), ("fish", "")],
    ids=LOAD,
)
def test_an_alias_of_the_programs_name(
    made: Made, tmp_path: Path, shell: str, before: str
) -> None:
    alias = f"{before}alias cli='cli --color never'"
    assert in_shell(made, tmp_path, shell, "cli go to /usr; pwd", alias) == "/usr\n"


@pytest.mark.parametrize(
    "lines", ["exit 7", "set -e; false", "return 4", "export LEFT=1; return 4"]
)
@pytest.mark.parametrize("shell", LOAD)
@pytest.mark.sampled
def test_no_line_keeps_the_file(
    made: Made, tmp_path: Path, shell: str, lines: str
) -> None:
    if shell == "fish" and lines.startswith("set -e"):
        lines = "exec true"  # fish has no such option
    code = f'cli go lines "{lines}"; echo "{STATUS[shell]} $LEFT"'
    goes_on = "return" in lines
    left = "1" if "LEFT" in lines else ""
    lines_shown = in_shell(made, tmp_path, shell, code).splitlines()
    # With -c, bash itself complains if `set -e` ends it inside a function.
    shown = [line for line in lines_shown if "pop_var_context" not in line]
    assert shown == ([f"3 {left}"] if goes_on else [])
    assert [*(tmp_path / ".cache/cli-host/shell").iterdir()] == []


@pytest.mark.parametrize("shell", LOAD)
def test_other_commands_have_no_file(made: Made, tmp_path: Path, shell: str) -> None:
    status = STATUS[shell]
    code = f'cli go plain; echo "{status}"; cli go plain | cat; env CLI_SHELL_FILE=x cli go plain'
    assert in_shell(made, tmp_path, shell, code) == "unset\n5\nunset\nunset\n"
    assert not (tmp_path / ".cache/cli-host/shell").exists()


def test_a_run_inside_the_command_has_no_file(made: Made, tmp_path: Path) -> None:
    shown = in_shell(made, tmp_path, "bash", 'cli go inner; echo "$INNER"')
    assert shown == (
        "1unset\ncli: go to: changes the calling shell, so it cannot run inside another command\n"
    )


def test_a_file_of_an_earlier_run_is_not_evaluated(made: Made, tmp_path: Path) -> None:
    code = (
        'mkdir -p ~/.cache/cli-host/shell; echo "echo stale" >~/.cache/cli-host/shell/cli.$$\n'
        "cli go plain"
    )
    assert in_shell(made, tmp_path, "bash", code) == "unset\n"


WITHOUT = {"/bin/zsh": "zsh", "": "bash|zsh|fish", "/bin/tcsh": "bash|zsh|fish"}


@pytest.mark.parametrize(("shell", "named"), WITHOUT.items())
def test_without_the_function(made: Made, shell: str, named: str) -> None:
    assert made.run("go", "to", "/", env={"SHELL": shell}).all == (
        1,
        "",
        "cli: go to: changes the calling shell, which has no function for cli yet;"
        f" run: cli self completion {named} --install, and open a new shell\n",
    )


def test_no_function_without_such_a_command(install: Callable[..., Made]) -> None:
    made = install({"commands/plain/command.json": command()})
    assert "--shell-file" not in made.run("self", "completion", "bash").stdout
    made.write(
        {"commands/bad/command.json": "{", "commands/go/command.json": command(**SHELL)}
    )
    done = made.run("self", "completion", "bash")
    assert (done.status, done.stderr) == (0, "")
    assert "--shell-file" in done.stdout


def test_whose_file_it_must_be(made: Made, tmp_path: Path) -> None:
    def refusal(path: Path | str) -> str:
        done = made.run("--shell-file", str(path), "go", "to", "/")
        assert done.status != 3
        return done.stderr

    shared = tmp_path / "shared"
    shared.touch(mode=0o666)
    shared.chmod(0o666)
    mine = tmp_path / "mine"
    mine.touch(mode=0o600)
    link = tmp_path / "link"
    link.symlink_to(mine)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    only = "--shell-file: must be a file that only you can read and write"
    assert refusal(shared) == f"cli: {shared}: {only}\n"
    assert "--shell-file: " in refusal(link)
    assert "--shell-file: " in refusal(pipe)
    assert (
        refusal("mine") == "cli: --shell-file: expected an absolute path; found mine\n"
    )
    mine.write_text("before")
    assert made.run("--shell-file", str(mine), "go", "to", "/").status == 3
    assert mine.read_text() == "cd /\nexport WENT=/\nalias went=true\n"


def test_a_project_does_not_change_the_shell(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / ".cli/commands/leave"
    folder.mkdir(parents=True)
    (folder / "command.json").write_text(json.dumps(command(**SHELL)))
    (folder / "main.sh").write_text('echo "cd /" >"$CLI_SHELL_FILE"\n')
    env = {"CLI_TRUST": os.path.realpath(tmp_path)}
    path = tmp_path / "file"
    done = made.run("--shell-file", str(path), "leave", cwd=tmp_path, env=env)
    what = '"shell": a command of a project cannot change the calling shell'
    assert done.all == (1, "", f"cli: {folder}/command.json: {what}\n")
    assert not path.exists()
    linted = made.run("self", "lint", str(tmp_path))
    assert linted.status == 1
    assert f"{folder}/command.json:1:73: {what}\n" in linted.stdout


def test_what_listings_and_pages_show(made: Made) -> None:
    listed = json.loads(made.run("go", "--format", "json").stdout)["commands"]
    assert {one["path"][-1]: one["shell"] for one in listed} == {
        "inner": True,
        "lines": True,
        "plain": False,
        "to": True,
    }
    assert "Changes the calling shell" in made.run("help", "go", "to").stdout


@pytest.mark.parametrize("shell", LOAD)
def test_jobs_and_the_terminal_with_the_function(
    made: Made, tmp_path: Path, shell: str
) -> None:
    made.write(
        {
            "commands/slow/command.json": command(),
            "commands/slow/main.sh": 'read -r line\necho "got $line"\n',
        }
    )
    path = f"{made.launcher.parent}:{os.environ['PATH']}"
    environ = {
        "PATH": path,
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PS1": "> ",
    }
    with Terminal([shell_path(shell), *BARE[shell], "-i"], environ) as terminal:
        terminal.type(f"{LOAD[shell]}; echo rea''dy\n")
        terminal.wait_for("ready")
        terminal.settle()
        terminal.type("cli slow\n")
        terminal.settle()
        terminal.type("\x1a")
        terminal.settle()
        terminal.type("fg\n")
        terminal.settle()
        terminal.type("hello\n")
        terminal.wait_for("got hello")
        terminal.type("cli slow\n")
        terminal.settle()
        terminal.type("\x03")
        terminal.settle()
        terminal.type(f"echo status={STATUS[shell]}\n")
        terminal.wait_for("status=130")
