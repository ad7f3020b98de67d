"""The `self` commands that look: version, list, lock, env, which, init."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from host import is_secret
from testing.installation import Made, command

Install = Callable[..., Made]

BASH = "#!/bin/bash\necho ran\n"


def test_version(install: Install) -> None:
    made = install()
    for words in (["--version"], ["-V"], ["self", "version"]):
        assert made.run(*words).all == (0, "Test CLI 1.2.3\n", "")


@pytest.fixture
def traced(install: Install) -> Made:
    """SPEC's worked case, with secrets."""
    return install(
        {
            "commands/a/b/command.json": command(
                envs={"TIMEOUT": "60", "API_TOKEN": "in-envs"}, env_files=[".env"]
            ),
            "commands/a/b/.env": "TIMEOUT=40\nONLY_FILE=x\n",
            "commands/a/b/main.sh": BASH,
            "config/settings.conf": "TIMEOUT=30\nDB_PASSWORD=hunter2\n",
        }
    )


def rows_of(made: Made, *options: str, **env: str) -> dict[str, dict[str, object]]:
    shown = made.run("self", "env", "a", "b", "--format", "json", *options, env=env)
    assert (shown.status, shown.stderr) == (0, "")
    return {row.pop("name"): row for row in json.loads(shown.stdout)}


def test_env_says_who_won_and_what_it_shadows(traced: Made) -> None:
    definition = f"{traced.root}/commands/a/b/command.json"
    env_file = f"{traced.root}/commands/a/b/.env"
    settings = f"{traced.root}/config/settings.conf"
    shadowed = [
        {"value": "30", "source": f"{settings}:1", "rank": 3},
        {"value": "40", "source": f"{env_file}:1", "rank": 4},
    ]
    envs = {"value": "60", "source": f"{definition}: envs.TIMEOUT", "rank": 2}
    assert rows_of(traced)["TIMEOUT"] == {**envs, "shadows": shadowed}
    assert rows_of(traced, TIMEOUT="90")["TIMEOUT"] == {
        "value": "90",
        "source": "system",
        "rank": 1,
        "shadows": [envs, *shadowed],
    }
    assert rows_of(traced)["ONLY_FILE"] == {
        "value": "x",
        "source": f"{env_file}:2",
        "rank": 4,
        "shadows": [],
    }
    assert rows_of(traced)["COMMAND_NAME"]["rank"] is None


def test_env_masks_secrets_unless_asked(traced: Made) -> None:
    for options in ([], ["--all"]):
        shown = traced.run(
            "self", "env", "a", "b", *options, env={"MY_key": "abc"}
        ).stdout
        assert "hunter2" not in shown
        assert "in-envs" not in shown
        assert "abc" not in shown
    traced.write(
        {"config/settings.conf": "DB_PASSWORD=hunter2\nURL=db://me:hunter2@host\n"}
    )
    rows = rows_of(traced)
    assert (rows["DB_PASSWORD"]["value"], rows["URL"]["value"]) == (
        "********",
        "db://…@host",
    )
    shown = traced.run("self", "env", "a", "b", "--show-secrets").stdout
    assert "db://me:hunter2@host" in shown
    assert "in-envs" in shown


def test_env_shows_the_callers_own_if_named(traced: Made) -> None:
    assert "HOME" not in rows_of(traced)
    assert rows_of(traced, "MINE", MINE="1")["MINE"] == {
        "value": "1",
        "source": "system",
        "rank": 1,
        "shadows": [],
    }


def test_env_runs_nothing_of_the_command(traced: Made) -> None:
    assert "\nran\n" not in traced.run("self", "env", "a", "b").stdout


NAMES = {
    True: [
        *(
            "DB_PASS",
            "PGPASS",
            "PGPASSWORD",
            "MYSQL_PWD",
            "GH_PAT",
            "AUTH",
            "BEARER",
            "COOKIE",
        ),
        *(
            "CREDS",
            "API_TOKEN",
            "SECRET",
            "DB_PASSWD",
            "SSH_PASSPHRASE",
            "A_PW",
            "KEY",
            "APIKEY",
        ),
        *(
            "AWS_ACCESS_KEY_ID",
            "CREDENTIAL",
            "CREDENTIALS",
            "PRIVATE",
            "MY_PRIVATE_THING",
            "PASS",
        ),
        *(
            "my_key",
            "db_password",
            "GITHUBTOKEN",
            "CLIENTSECRETS",
            "API_KEYS",
            "HTTP_AUTH",
        ),
        *(
            "DB_PASSWORD2",
            "TOKEN1",
            "KEY2_FILE",
            "SECRETKEY",
            "MYSQLPWD",
            "PWD2",
            "JWT",
            "MYJWT",
        ),
        *(
            "AUTHORIZATION",
            "HTTP_AUTHORIZATION",
            "OAUTH",
            "GITHUBPAT",
            "ROOTPW",
            "SSHPRIVATE",
        ),
    ],
    False: [
        *(
            "KEYBOARD",
            "KEYBOARD_LAYOUT",
            "PWD",
            "OLDPWD",
            "PATH",
            "PATTERN",
            "AUTHOR",
            "MONKEY",
        ),
        *(
            "COMPASS",
            "BYPASS_CACHE",
            "HOME",
            "PASSIVE",
            "SECRETARY",
            "PRIVATEER",
            "_",
            "A__B",
        ),
        *("COMPAT", "COMPASS2", "pwd", "OldPwd", "123", "A_1"),
    ],
}


@pytest.mark.parametrize(
    ("name", "secret"),
    [(name, secret) for secret, names in NAMES.items() for name in names],
)
def test_names_of_secrets(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


SHORT = {
    "a short one": ("abc", "xabcx abc", "x********x ********"),
    "two characters": ("pw", "-p pw pwd", "-p pw pwd"),
    "a switch": ("True", "True true", "True true"),
    "a digit": ("1", "1 10", "1 10"),
    "what a pattern would be": ("a.c", "abc a.c", "abc ********"),
}


@pytest.mark.parametrize(("secret", "value", "shown"), SHORT.values(), ids=SHORT)
def test_env_masks_short_secrets_in_other_values(
    traced: Made, secret: str, value: str, shown: str
) -> None:
    traced.write({"commands/a/b/.env": f"E_TOKEN='{secret}'\nSEEN='{value}'\n"})
    assert rows_of(traced)["SEEN"]["value"] == shown
    page = traced.run("help", "a", "b").stdout
    assert f"  {shown}  ← .env:2\n" in page


def test_env_masks_the_password_of_an_address(traced: Made) -> None:
    traced.write(
        {"commands/a/b/.env": "URL=postgres://u:hunter2@db.test:5432/x\nE_TOKEN=\n"}
    )
    rows = rows_of(traced)
    assert rows["URL"]["value"] == "postgres://…@db.test:5432/x"
    assert rows["E_TOKEN"]["value"] == ""
    assert (
        rows_of(traced, "--show-secrets")["URL"]["value"]
        == "postgres://u:hunter2@db.test:5432/x"
    )


def test_env_shows_an_empty_value_as_such(traced: Made) -> None:
    shown = traced.run("self", "env", "a", "b", env={"TIMEOUT": ""}).stdout
    assert re.search(r'^TIMEOUT +""  ← system \(rank 1\)$', shown, re.MULTILINE)


def test_env_names_the_line_of_settings(traced: Made) -> None:
    settings = f"{traced.root}/config/settings.conf"
    traced.write(
        {
            "config/settings.conf": "# TIMEOUT=1\nTIMEOUT=2\nif true; then\n  export A=1 B=2; C=3\n"
            f"fi\n. {traced.root}/config/more.conf\nTIMEOUT+=0\n",
            "config/more.conf": "D=4\n",
        }
    )
    rows = rows_of(traced)
    sources = {name: rows[name]["source"] for name in ("A", "B", "C", "D")}
    assert sources == {**dict.fromkeys("ABC", f"{settings}:4"), "D": settings}
    assert rows["TIMEOUT"]["shadows"][0] == {
        "value": "20",
        "source": f"{settings}:7",
        "rank": 3,
    }


def test_env_shows_what_describes_the_run_last(traced: Made) -> None:
    shown = traced.run("self", "env", "a", "b", "--format", "json")
    ranks = [row["rank"] for row in json.loads(shown.stdout)]
    own = ranks.count(None)
    assert own > 5
    assert None not in ranks[:-own]
    assert all(isinstance(rank, int) for rank in ranks[:-own])


def test_env_of_names(traced: Made) -> None:
    shown = traced.run(
        "self", "env", "a", "b", "HOME", "TIMEOUT", "NOWHERE", "--format", "json"
    )
    rows = json.loads(shown.stdout)
    assert [row["name"] for row in rows] == ["HOME", "TIMEOUT", "NOWHERE"]
    assert rows[0]["source"] == "system"
    unset = {
        "name": "NOWHERE",
        "value": None,
        "source": None,
        "rank": None,
        "shadows": [],
    }
    assert rows[2] == unset
    assert traced.run("self", "env", "a", "b", "NOWHERE").all == (
        0,
        "NOWHERE  is not set\n",
        "",
    )
    traced.write({"commands/a/category.json": {"name": "A", "entrypoint": "main.sh"}})
    traced.write({"commands/a/main.sh": BASH})
    assert traced.run("self", "env", "a", "NOWHERE").all == (
        0,
        "NOWHERE  is not set\n",
        "",
    )
    assert (
        "unknown command nothing in a"
        in traced.run("self", "env", "a", "nothing").stderr
    )


def test_env_tells_of_files_and_required_variables_that_are_missing(
    traced: Made,
) -> None:
    fields = command(
        env_files=[".env", ".env.${STAGE:-local}", "${NONE:-}"],
        required_envs=["TIMEOUT", "NEEDED"],
    )
    traced.write({"commands/a/b/command.json": fields})
    folder = f"{traced.root}/commands/a/b"
    for options in ([], ["--format", "json"]):
        shown = traced.run("self", "env", "a", "b", *options, env={"TIMEOUT": ""})
        assert shown.status == 0
        missing, required = shown.stderr.splitlines()
        assert missing == (
            f"cli: warning: {folder}/.env.local: this environment file does not exist"
        )
        empty = (
            "TIMEOUT is empty in your environment (give it a value there, or unset it)"
        )
        assert required.startswith(
            f"cli: warning: {folder}/command.json: {empty}; NEEDED must be set; "
        )


def test_a_word_without_arguments_takes_none(install: Install) -> None:
    said = "cli: self lock: unexpected argument more; usage: cli self lock\n"
    assert install().run("self", "lock", "more").all == (2, "", said)


@pytest.mark.parametrize("words", [["env"], ["which"]])
def test_env_and_which_want_a_command(traced: Made, words: list[str]) -> None:
    category = traced.run("self", *words, "a")
    assert category.all == (
        2,
        "",
        "cli: a is a category, not a command; name a command in the category\n",
    )
    assert traced.run("self", *words, "a", "c").status == 2
    missing = traced.run("self", *words)
    assert (missing.status, missing.stdout) == (2, "")
    [word] = words
    assert missing.stderr.startswith(
        f"cli: self {word}: words is missing; usage: cli self {word} <"
    )


@pytest.mark.slow
def test_which_names_file_interpreter_origin_and_shadows(install: Install) -> None:
    made = install(
        {
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": BASH,
            "commands/a/py/command.json": command(entrypoint="json.tool:main"),
            "plugins/one/a/b/command.json": command(),
            "plugins/one/a/c/command.json": command(),
            "plugins/one/a/c/main.sh": "echo no shebang\n",
            "plugins/two/a/c/command.json": command(),
        }
    )
    shown = json.loads(made.run("self", "which", "a", "b", "--format", "json").stdout)
    assert shown == {
        "file": f"{made.root}/commands/a/b/main.sh",
        "interpreter": "/bin/bash",
        "definition": f"{made.root}/commands/a/b/command.json",
        "origin": "commands",
        "plugin": None,
        "moved_to": None,
        "shadows": [f"{made.root}/plugins/one/a/b"],
    }
    listed = made.run("self", "list").stdout
    assert f"  a b   Description\n        hides {made.root}/plugins/one/a/b\n" in listed
    assert "hides" not in made.run("a").stdout
    text = made.run("self", "which", "a", "c", "--all").stdout
    assert f"file:        {made.root}/plugins/one/a/c/main.sh\n" in text
    assert "plugin:      one\n" in text
    assert f"shadows:     {made.root}/plugins/two/a/c\n" in text
    assert "shadows" not in made.run("self", "which", "a", "c").stdout
    python = json.loads(made.run("self", "which", "a", "py", "--format", "json").stdout)
    assert python["file"] == "json.tool:main"
    assert Path(python["interpreter"]).samefile(sys.executable)


def test_which_shows_a_file_whose_interpreter_is_missing(install: Install) -> None:
    made = install({"commands/x": "#!/opt/none/python9\n"})
    file = f"{made.root}/commands/x"
    done = made.run("self", "which", "x")
    assert (done.status, f"file:       {file}\n" in done.stdout) == (0, True)
    reason = f'{file}:1: its interpreter "/opt/none/python9" is missing'
    assert done.stderr == f"cli: warning: {reason}\n"


def test_which_shows_a_category_and_the_command_that_it_hides(install: Install) -> None:
    script = "#!/bin/sh\n"
    made = install(
        {
            "commands/deploy/go": script,
            "plugins/p/plugin.json": {"name": "p", "scripts": {}},
            "plugins/p/deploy": script,
        }
    )
    category = made.root / "commands/deploy"
    hidden = made.root / "plugins/p/deploy"
    done = made.run("self", "which", "deploy", "--all")
    assert done.all == (0, f"category: {category}\nshadows:  {hidden}\n", "")
    done = made.run("self", "which", "deploy", "--all", "--format", "json")
    assert json.loads(done.stdout) == {
        "category": [str(category)],
        "shadows": [str(hidden)],
    }
    assert made.run("self", "which", "deploy").status == 2


@pytest.mark.slow
def test_lock_is_built_and_named(install: Install) -> None:
    made = install()
    shown = made.run("self", "lock")
    assert shown.all == (0, f"{made.root}/cli.lock\n", "")
    assert (made.root / "cli.lock").exists()
    (made.root / "cli.lock").unlink()
    (made.root / "cli.lock").mkdir()
    shown = made.run("self", "lock")
    assert (shown.status, shown.stderr) == (0, "")
    written = Path(shown.stdout.rstrip())
    assert written.is_file()
    assert written.is_relative_to(made.home / ".cache")


@pytest.mark.slow
def test_init_never_overwrites(install: Install, tmp_path: Path) -> None:
    made = install()
    target = tmp_path / "new place"
    (target / "core").mkdir(parents=True)
    (target / "core" / "cli.json").write_text('{"name": "Mine", "version": "9.9.9"}')
    env = {"PATH": f"{made.home}/.local/bin:{os.environ['PATH']}"}
    first = made.run("self", "init", str(target), "--name", "acme", env=env)
    assert (first.status, first.stderr) == (0, "")
    fresh = Made(target, target / "core" / "acme", made.home)
    assert fresh.run("--version").stdout == "Mine 9.9.9\n"
    assert not (target / "commands").exists()
    fresh.write({"commands/demo/hello.sh": "#!/bin/sh\necho mine\n"})
    again = made.run("self", "init", str(target), "--name", "acme", env=env)
    assert again.all == (
        0,
        f"{target}: all files exist already\nstart with: acme\n",
        "",
    )
    assert fresh.run("demo", "hello").stdout == "mine\n"


@pytest.mark.slow
def test_init_links_the_program_and_its_second_line_can_be_pasted(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    link, target = made.home / ".local/bin/acme", tmp_path / "new"
    words = ("self", "init", str(target), "--name", "acme")
    path = f"{link.parent}:{os.environ['PATH']}"
    first = made.run(*words, env={"PATH": path})
    assert (first.status, first.stderr) == (0, "")
    assert first.stdout.splitlines()[1:] == ["next: acme self new command team hello"]
    assert link.readlink() == target / "core/acme"
    elsewhere = made.run(*words)
    assert elsewhere.stdout.endswith(f"\nstart with: {link}\n")
    assert elsewhere.stderr == "to run it as acme, put ~/.local/bin first on PATH\n"
    (made.home / "bin").mkdir()
    (made.home / "bin/greet").write_text("#!/bin/sh\n# Greet\necho hi\n")
    (made.home / "bin/greet").chmod(0o755)
    fresh = made.run(
        "self", "init", str(tmp_path / "b"), "--name", "other", env={"PATH": path}
    )
    next_line = fresh.stdout.splitlines()[1]
    assert next_line == "next: other self plugin add ~/bin"
    pasted = ("-c", next_line.removeprefix("next: ") + " && other greet")
    shell = made.run(*pasted, executable=Path("/bin/bash"), env={"PATH": path})
    assert shell.stdout.endswith("\nhi\n")


@pytest.mark.parametrize("place", [".local/bin", "programs"])
def test_init_replaces_no_program(install: Install, tmp_path: Path, place: str) -> None:
    """Neither a file in the home directory, nor a program on PATH by a link before it."""
    made = install()
    link, target = made.home / place / "acme", tmp_path / "new"
    link.parent.mkdir(parents=True)
    link.write_text(BASH)
    link.chmod(0o755)
    path = {"PATH": f"{made.home}/.local/bin:{link.parent}:{os.environ['PATH']}"}
    shown = made.run("self", "init", str(target), "--name", "acme", env=path)
    assert (shown.status, link.read_text()) == (0, BASH)
    assert (made.home / ".local/bin/acme").exists() == (place == ".local/bin")
    assert shown.stdout.endswith(
        f"\nnext: {target}/core/acme self new command team hello\n"
    )
    start = f"{link} is another program; to put this one on PATH as NAME: "
    assert shown.stderr == f"{start}ln -s {target}/core/acme ~/.local/bin/NAME\n"


def test_init_without_a_home_that_can_be_written(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    (tmp_path / "file").write_text("")
    env = {"HOME": f"{tmp_path}/file"}
    shown = made.run("self", "init", str(tmp_path / "new"), "--name", "acme", env=env)
    assert shown.status == 0
    assert f"next: {tmp_path}/new/core/acme self new" in shown.stdout
    assert f"export PATH={tmp_path}/new/core:$PATH" in shown.stderr


@pytest.mark.parametrize(("answer", "is_added"), [("y", True), ("", False)])
def test_init_offers_completion_on_a_terminal(
    install: Install, tmp_path: Path, answer: str, is_added: bool
) -> None:
    made = install()
    words = [made.launcher, "self", "init", tmp_path / "new", "--name", "acme"]
    path = f"{made.home}/.local/bin:{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(made.home), "SHELL": "/bin/zsh"}
    parent, child = pty.openpty()
    process = subprocess.Popen(
        words, env=env, stdin=child, stdout=subprocess.PIPE, stderr=child
    )
    os.close(child)
    os.write(parent, f"{answer}\n".encode())
    stdout, _ = process.communicate(timeout=60)
    os.close(parent)
    assert (process.returncode, stdout.count(b"\n")) == (0, 2)
    assert (made.home / ".zshrc").exists() == is_added


@pytest.mark.slow
def test_init_links_the_man_page(install: Install, tmp_path: Path) -> None:
    made, name = install(), f"acme-{os.getpid()}"
    page = Path(sys.prefix, "share/man/man1", f"{name}.1")
    if not page.with_name("cli.1").is_file() or sys.prefix == sys.base_prefix:
        pytest.skip("needs the program in a virtual environment, with its man page")
    elsewhere = [
        one for one in os.environ["PATH"].split(":") if one != f"{sys.prefix}/bin"
    ]
    words = ("self", "init", str(tmp_path / "new"), "--name", name)
    link = made.home / ".local/share/man/man1" / page.name
    try:
        assert made.run(*words, env={"PATH": ":".join(elsewhere)}).status == 0
        assert link.readlink() == page
        assert f".TH {name.upper()} " in page.read_text()
        made.launcher.with_name(name).unlink(missing_ok=True)
        fresh = Made(tmp_path / "new", tmp_path / "new/core" / name, made.home)
        assert fresh.run("self", "uninstall", "--yes").status == 0
        assert not os.path.lexists(link)
        assert not os.path.lexists(made.home / ".local/bin" / name)
    finally:
        page.unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["../x", "lib", "cli.json", "-x", "a b", ""])
def test_init_refuses_a_bad_name(install: Install, tmp_path: Path, name: str) -> None:
    made = install()
    shown = made.run("self", "init", str(tmp_path / "new"), f"--name={name}")
    assert (shown.status, shown.stdout, shown.stderr.count("\n")) == (2, "", 1)
    assert not (tmp_path / "new").exists()


def test_init_into_what_cannot_be_written(install: Install, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = install().run("self", "init", str(tmp_path / "file" / "x"))
    assert (shown.status, shown.stdout) == (1, "")
    assert shown.stderr.startswith(f"cli: {tmp_path}/file/x")
    assert shown.stderr.endswith(": Not a directory\n")


@pytest.mark.slow
def test_every_command_has_a_help_page(install: Install) -> None:
    made = install()
    pending = [("self",)]
    pages = 0
    while pending:
        words = pending.pop()
        shown = made.run(*words, "--help")
        assert (shown.status, shown.stderr) == (0, "")
        assert f"\nUsage: cli {' '.join(words)}" in shown.stdout
        assert max(map(len, shown.stdout.splitlines())) <= 80, shown.stdout
        assert "\\" not in shown.stdout
        pages += 1
        _, *sections = re.split(
            "^(?:Categories|Commands):$", shown.stdout, flags=re.MULTILINE
        )
        rows = [
            line
            for section in sections
            for line in section.splitlines()
            if line.strip()
        ]
        pending += [(*words, row.split()[0]) for row in rows]
    assert pages > 28


def test_self_is_reserved(install: Install) -> None:
    made = install(
        {
            "commands/self/version/command.json": command(),
            "commands/self/version/main.sh": BASH,
            "commands/self/mine/command.json": "{",
        }
    )
    assert made.run("self", "version").stdout == "Test CLI 1.2.3\n"
    listed = made.run("self")
    assert (listed.status, listed.stderr, "mine" in listed.stdout) == (0, "", False)
    left_out = f"{made.root}/commands/self: left out; the word self is reserved for this program"
    assert made.run().stderr == f"cli: warning: {left_out}\n"


def test_a_script_with_a_reserved_name_is_named_and_linted(install: Install) -> None:
    made = install({"commands/help.sh": BASH, "commands/self/mine/command.json": "{"})
    script, folder = f"{made.root}/commands/help.sh", f"{made.root}/commands/self"
    said = "left out; the word {} is reserved for this program"
    assert f"{script}: {said.format('help')}\n" in made.run().stderr
    for words in (("lint",), ("doctor",)):
        done = made.run("self", *words)
        shown = done.stdout.replace("commands/", f"{made.root}/commands/")
        assert done.status == 0, words
        assert "mine" not in done.stdout
        for place, word in ((script, "help"), (folder, "self")):
            assert f"{place.split('/')[-1]}:1:1: {said.format(word)}" in shown, words


@pytest.mark.parametrize(
    "words",
    [
        "plugin add ./x --sha256",
        "plugin add ./x --name",
        "init x --from",
        "init x --name",
    ],
)
def test_the_value_of_an_option_must_not_be_empty(install: Install, words: str) -> None:
    made = install()
    *command, option = words.split()
    said = f"cli: self {' '.join(command[: 1 + (command[0] == 'plugin')])}: {option} must not be"
    done = made.run("self", *words.split(), "", cwd=made.root)
    assert done.all == (2, "", f"{said} empty\n")
    assert not (made.root / "x").exists()


def test_self_works_without_a_home(install: Install) -> None:
    made = install()
    bare = Made(made.root, made.launcher, made.home)
    shown = bare.run("self", "version", env={"HOME": "", "PATH": os.environ["PATH"]})
    assert shown.stdout == "Test CLI 1.2.3\n"
