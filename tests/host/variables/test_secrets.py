"""`secrets`: references that are resolved in a run, and nowhere else."""

import json
import os
import pty
import time

import pytest

from testing.installation import IMPORTABLE, command
from testing.projects import BUILD, Shop

SHOW = '#!/bin/bash\necho "$TOKEN|$OTHER"\n'


def files(secrets, **fields):
    return {
        "commands/a/b/command.json": command(secrets=secrets, **fields),
        "commands/a/b/main.sh": SHOW,
        "commands/a/b/token": "from-file\n",
        "tools/give": '#!/bin/sh\necho x >>"$HOME/asked"\nprintf "%s\\n" "$*"\n',
        "tools/fail": "#!/bin/sh\necho noise >&2\necho it is locked >&2\nexit 3\n",
    }


def env(made, **more):
    return {"PATH": f"{made.root}/tools:/usr/bin:/bin", **more}


def asked(made):
    file = made.home / "asked"
    return file.read_text().count("x") if file.exists() else 0


def test_run_and_file(install):
    made = install(files({"TOKEN": "run:give 'a b' $HOME", "OTHER": "file:token"}))
    done = made.run("a", "b", env=env(made))
    assert done.all == (0, f"a b {made.home}|from-file\n", "")
    assert asked(made) == 1


def test_a_background_process_that_keeps_stdout_open_delays_nothing(install):
    made = install(files({"TOKEN": "run:start"}))
    start = "#!/bin/sh\nsleep 60 &\nseq 1 20000\necho end\n"
    made.write(
        {
            "tools/start": start,
            "commands/a/b/main.sh": '#!/bin/bash\necho "${TOKEN: -9}"\n',
        }
    )
    started = time.monotonic()
    assert made.run("a", "b", env=env(made)).all == (0, "20000\nend\n", "")
    assert time.monotonic() - started < 50


@pytest.mark.parametrize(
    "more",
    [
        {"envs": {"TOKEN": "other"}},
        {"env_files": ["variables"]},
        "settings",
        "caller",
    ],
    ids=["envs", "env_files", "settings", "caller"],
)
def test_a_secret_that_another_source_gives_is_not_asked(install, more):
    fields = more if isinstance(more, dict) else {}
    made = install(files({"TOKEN": "run:give it"}, **fields))
    made.write({"commands/a/b/variables": "TOKEN=other\n"})
    if more == "settings":
        made.write({"config/settings.conf": "TOKEN=other\n"})
    caller = {"TOKEN": "other"} if more == "caller" else {}
    done = made.run("a", "b", env=env(made, **caller))
    assert done.all == (0, "other|\n", "")
    assert asked(made) == 0


FAILURES = {
    "a failing one": ("run:fail now", "fail ended with status 3: it is locked"),
    "a missing one": (
        "run:nothere x",
        "nothere cannot start: No such file or directory",
    ),
    "no file": ("file:none", "{place}/none does not exist"),
    "an unknown scheme": (
        "vault:x",
        "unknown scheme vault; known schemes: file, run; for more ",
    ),
    "an open quote": ("run:give 'x", "no closing quotation"),
    "needs a terminal": ("run:sh -c 'cat </dev/tty'", "sh ended with status "),
    "reads stdin": ("run:sh -c 'read x || exit 7'", "sh ended with status 7"),
    "a NUL": ("run:printf 'a\\0b'", "its value is not a string, or contains a NUL"),
    "hangs": (
        "run:sleep 60",
        "did not answer within 1 s; to wait longer, set CLI_SECRETS_TIMEOUT",
    ),
}


@pytest.mark.parametrize(("reference", "reason"), FAILURES.values(), ids=[*FAILURES])
def test_a_failing_provider_gives_one_line(install, reference, reason):
    made = install(files({"TOKEN": reference}))
    place = made.root / "commands/a/b"
    started = time.monotonic()
    options = {"start_new_session": True}
    seconds = "1" if "within 1 s" in reason else "60"
    done = made.run("a", "b", env=env(made, CLI_SECRETS_TIMEOUT=seconds), **options)
    assert time.monotonic() - started < 50
    assert (done.status, done.stdout) == (1, "")
    begin = f'cli: {place}/command.json: "secrets.TOKEN": {reference}: {reason.format(place=place)}'
    assert done.stderr.startswith(begin)
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_each_failing_reference_has_its_line_and_all_are_asked_at_once(install):
    made = install(files({"TOKEN": "run:sh -c 'sleep 1; exit 2'", "OTHER": "run:fail"}))
    done = made.run("a", "b", env=env(made))
    assert (done.status, done.stdout, done.stderr.count("\n")) == (1, "", 2)
    assert "secrets.TOKEN" in done.stderr
    assert "secrets.OTHER" in done.stderr


PROVIDERS = """
import os, time
def upper(references, environ):
    return {one: KeyError("gone") if "none" in one else one.upper() for one in references}
def hangs(references, environ):
    time.sleep(60)
def raises(references, environ):
    raise SystemExit("locked")
def numbers(references, environ):
    return dict.fromkeys(references, 1)
def ends(references, environ):
    os._exit(0)
VALUES = {"TOKEN": "p@$$w0rd$HOME 'q' #d\\\\n\\ne", "OTHER": "", "not-a-name": "x"}
def maps(references, environ):
    odd = {
        "nested": {"TOKEN": {}}, "numbers": {"TOKEN": 1}, "nul": {"TOKEN": "\\0"},
        "risky": {"LD_PRELOAD": "/x"},
    }
    return {one: odd.get(one.partition(":")[2], VALUES) for one in references}
def texts(references, environ):
    return {one: "TOKEN='a b'\\nOTHER=$TOKEN" for one in references}
"""
HOOKS = """
from host import SecretScheme, hookimpl
@hookimpl
def secret_schemes():
    for name in ("upper", "hangs", "raises", "numbers", "ends"):
        yield SecretScheme(name, f"{module}:{name}")
    yield SecretScheme("maps", f"{module}:maps")
    yield SecretScheme("both", f"{module}:upper", f"{module}:texts")
"""
# The reference of a second secret, and why it has no value.
OF_PLUGINS = {
    "an exception for one": ("upper:none", "KeyError: 'gone'"),
    "one that hangs": ("hangs:x", "did not answer within 1 s; to wait longer, set CLI"),
    "one that raises": ("raises:x", "SystemExit: locked"),
    "no text": ("numbers:x", "its value is not a string, or contains a NUL"),
    "one that ends the process": ("ends:x", "ended the process instead of answering"),
}


@pytest.fixture(scope="module")
def of_plugins(shared_install):
    module = IMPORTABLE / f"providers_of_secrets_{os.getpid()}.py"
    try:
        module.write_text(PROVIDERS)
    except OSError:
        pytest.skip(f"{IMPORTABLE} cannot be written")
    hooks = f"module = {f'{IMPORTABLE.name}.{module.stem}'!r}\n{HOOKS}"
    made = shared_install(files({}))
    made.write(
        {
            "plugins/p/plugin.json": {"name": "p", "hooks": "h.py"},
            "plugins/p/h.py": hooks,
        }
    )
    yield made
    module.unlink()


def test_a_scheme_of_a_plugin(of_plugins):
    secrets = {"TOKEN": "upper:a$HOME", "OTHER": "upper:b"}
    of_plugins.write({"commands/a/b/command.json": command(secrets=secrets)})
    home = f"{of_plugins.home}".upper()
    assert of_plugins.run("a", "b").all == (0, f"UPPER:A{home}|UPPER:B\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reference", "reason"), OF_PLUGINS.values(), ids=[*OF_PLUGINS]
)
def test_a_provider_of_a_plugin_that_fails(of_plugins, reference, reason):
    secrets = {"TOKEN": "upper:a", "OTHER": reference}
    of_plugins.write({"commands/a/b/command.json": command(secrets=secrets)})
    done = of_plugins.run("a", "b", env={"CLI_SECRETS_TIMEOUT": "1"})
    assert (done.status, done.stdout) == (1, "")
    [*others, last] = done.stderr.splitlines()
    assert f'"secrets.OTHER": {reference}: ' in last
    assert reason in last
    assert len(others) == (reference == "ends:x")  # it ends the process of all


def test_a_mapping_of_a_provider_is_data(of_plugins):
    of_plugins.write({"commands/a/b/command.json": command(env_files=["maps:x"])})
    value = "p@$$w0rd$HOME 'q' #d\\n\ne"
    warning = 'cli: warning: maps:x: "not-a-name" cannot be the name of a variable, and is ignored'
    assert of_plugins.run("a", "b").all == (0, f"{value}|\n", f"{warning}\n")
    refers = command(env_files=["maps:x"], envs={"OTHER": "<$TOKEN>"})
    of_plugins.write({"commands/a/b/command.json": refers})
    assert of_plugins.run("a", "b").all == (0, f"{value}|<{value}>\n", f"{warning}\n")


@pytest.mark.parametrize("what", ["nested", "numbers", "nul"])
def test_a_mapping_with_anything_but_text_is_an_error(of_plugins, what):
    of_plugins.write({"commands/a/b/command.json": command(env_files=[f"maps:{what}"])})
    done = of_plugins.run("a", "b")
    assert (done.status, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    reason = "the value of TOKEN is not a string, or contains a NUL"
    assert f'"env_files": maps:{what}: {reason}' in done.stderr


def test_a_mapping_is_no_value_of_one_secret(of_plugins):
    of_plugins.write(
        {"commands/a/b/command.json": command(secrets={"TOKEN": "maps:x"})}
    )
    done = of_plugins.run("a", "b")
    assert (done.status, done.stdout) == (1, "")
    assert '"secrets.TOKEN": maps:x: it has several values; name one' in done.stderr


def test_a_scheme_may_have_another_provider_for_files(of_plugins):
    secrets = {"OTHER": "both:b"}
    of_plugins.write(
        {"commands/a/b/command.json": command(secrets=secrets, env_files=["both:f"])}
    )
    assert of_plugins.run("a", "b").all == (0, "a b|a b\n", "")
    of_plugins.write({"commands/a/b/command.json": command(secrets=secrets)})
    assert of_plugins.run("a", "b").all == (0, "|BOTH:B\n", "")


def test_a_command_with_sudo_takes_no_dangerous_name_from_a_mapping(of_plugins):
    of_plugins.write(
        {"commands/a/b/command.json": command(env_files=["maps:risky"], sudo=True)}
    )
    done = of_plugins.run("a", "b")
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert 'must not set LD_PRELOAD for a command with "sudo"' in done.stderr


OPTIONAL = {
    "it fails": ("run:fail now", "fail ended with status 3: it is locked"),
    "an empty value": ("run:true", "its value is empty"),
    "an unset name": ("file:$NOT_SET/token", "$NOT_SET is not set"),
    "an unset name in a program's words": (
        "run:give 'x $NOT_SET'",
        "$NOT_SET is not set",
    ),
}


@pytest.mark.parametrize(("reference", "reason"), OPTIONAL.values(), ids=[*OPTIONAL])
def test_an_optional_secret_warns_and_stays_unset(install, reference, reason):
    secrets = {"TOKEN": reference, "OTHER": "run:give it"}
    made = install(files(secrets))
    done = made.run("a", "b", env=env(made))
    text = f'{made.root}/commands/a/b/command.json: "secrets.TOKEN": {reference}: {reason}\n'
    assert done.all == (1, "", f"cli: {text}")
    secrets["TOKEN"] = {"reference": reference, "optional": True}
    made.write({"commands/a/b/command.json": command(secrets=secrets)})
    made.write({"commands/a/b/main.sh": 'echo "${TOKEN-unset}|$OTHER"\n'})
    assert made.run("a", "b", env=env(made)).all == (
        0,
        "unset|it\n",
        f"cli: warning: {text}",
    )


def test_an_object_need_not_be_optional(install):
    made = install(files({"TOKEN": {"reference": "run:give ${NOT_SET:-x}"}}))
    assert made.run("a", "b", env=env(made)).all == (0, "x|\n", "")
    made.write(
        {"commands/a/b/command.json": command(secrets={"TOKEN": {"optional": True}})}
    )
    done = made.run("a", "b", env=env(made))
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert '"secrets.TOKEN.reference": missing' in done.stderr


def test_a_secret_counts_as_set_and_has_its_type(install):
    made = install(files({"TOKEN": "run:give x"}, required_envs=["TOKEN"]))
    assert made.run("a", "b", env=env(made)).stdout == "x|\n"
    typed = command(
        secrets={"TOKEN": "run:give x"},
        required_envs=[{"name": "TOKEN", "type": "port"}],
    )
    made.write({"commands/a/b/command.json": typed})
    done = made.run("a", "b", env=env(made))
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert "TOKEN must be a port" in done.stderr
    first = command(secrets={"TOKEN": "run:give x"}, required_envs=["NOT_SET"])
    made.write({"commands/a/b/command.json": first})
    before = asked(made)
    assert made.run("a", "b", env=env(made)).status == 1
    assert asked(made) == before


def test_a_reference_in_env_files(install):
    made = install(files({}, env_files=["run:give 'TOKEN=t'", "file:more"]))
    made.write({"commands/a/b/more": "OTHER='o'\n"})
    assert made.run("a", "b", env=env(made)).all == (0, "t|o\n", "")
    made.write({"commands/a/b/command.json": command(env_files=["sops:.env.enc"])})
    done = made.run("a", "b", env=env(made))
    assert done.status == 1
    assert '"env_files": sops:.env.enc: unknown scheme sops' in done.stderr
    more = command(
        env_files=["sops:.env.enc"], required_envs=["TOKEN"], envs={"URL": "$HOST/x"}
    )
    made.write({"commands/a/b/command.json": more})
    shown = made.run("self", "env", "a", "b", "TOKEN", env=env(made))
    line = "cli: sops:.env.enc: not resolved, so its variables are missing here\n"
    assert shown.all == (0, "TOKEN  is not set\n", line)
    assert "HOST" not in made.run("self", "lint", env=env(made)).stdout


def test_one_reference_for_two_names_is_resolved_once(install):
    made = install(
        files({"TOKEN": "run:give $WHAT", "OTHER": "run:give x"}, envs={"WHAT": "x"})
    )
    assert made.run("a", "b", env=env(made)).all == (0, "x|x\n", "")
    assert asked(made) == 1


def test_values_that_look_like_references_or_refer_to_secrets(install):
    envs = {
        "OTHER": "run:give x",
        "ENCRYPTED": "encrypted:BD",
        "URL": "https://x/$TOKEN",
    }
    made = install(files({"TOKEN": "run:give x"}, envs=envs))
    done = made.run("a", "b", env=env(made))
    assert (done.status, done.stdout) == (0, "x|run:give x\n")
    lines = done.stderr.splitlines()
    unresolved = "looks like a reference to a secret, but is not resolved here; "
    assert [line.partition("command.json: ")[2] for line in lines] == [
        f'"envs.OTHER": the value of OTHER {unresolved}move it to "secrets"',
        f'"envs.ENCRYPTED": the value of ENCRYPTED {unresolved}move it to "secrets"',
        '"envs.URL": $TOKEN is empty here, because secrets are resolved last; '
        "compute the value in the command",
    ]
    linted = made.run("self", "lint", "--format", "json", env=env(made)).stdout
    found = [one["message"] for one in json.loads(linted)["findings"]]
    for what in (
        "OTHER looks like a reference",
        "ENCRYPTED looks like",
        "$TOKEN is empty here",
    ):
        assert [one for one in found if what in one], (what, found)


def test_self_env_names_the_key_of_a_command_without_a_file(install):
    hooks = """from host import CommandDeclaration, hookimpl
@hookimpl
def discover_commands(installation):
    secrets = {"TOKEN": "run:give hunter2"}
    more = {"name": "x", "description": "x", "entrypoint": "x:y", "secrets": secrets}
    yield CommandDeclaration(("a", "declared"), more)
"""
    made = install(
        {"plugins/p/plugin.json": {"hooks": "h.py"}, "plugins/p/h.py": hooks}
    )
    shown = made.run("self", "env", "a", "declared", env=env(made)).stdout
    assert "run:give hunter2  ← secrets.TOKEN, not asked (rank 4.5)\n" in shown


def test_self_env_shows_the_reference(install):
    made = install(files({"TOKEN": "run:give hunter2"}))
    shown = made.run("self", "env", "a", "b", env=env(made))
    assert shown.status == 0
    assert "TOKEN" in shown.stdout
    assert "run:give hunter2" in shown.stdout
    assert "secrets.TOKEN, not asked (rank 4.5)" in shown.stdout
    for words in (
        ["help", "a", "b"],
        ["self", "list", "--format", "json"],
        ["self", "doctor"],
    ):
        made.run(*words, env=env(made))
    assert asked(made) == 0
    shown = made.run("self", "env", "a", "b", "--show-secrets", env=env(made))
    assert "hunter2  ← commands/a/b/command.json: secrets.TOKEN" in shown.stdout
    assert asked(made) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "typed", "shown", "status"),
    [
        (
            "printf pin: >/dev/tty; read x </dev/tty; echo \\$x",
            b"4711\n",
            "got 4711",
            0,
        ),
        ("printf pin: >/dev/tty; sleep 60", b"", "did not answer within 2 s", 1),
        ("printf pin: >/dev/tty; sleep 60", b"\x03", "", -2),
    ],
    ids=["answers", "hangs", "Ctrl-C"],
)
def test_a_provider_keeps_the_terminal(install, script, typed, shown, status):
    made = install(files({"TOKEN": f"run:sh -c '{script}'"}))
    made.write({"commands/a/b/main.sh": '#!/bin/sh\necho "got $TOKEN"\n'})
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(made.home),
        "CLI_SECRETS_TIMEOUT": "2",
    }
    pid, terminal = pty.fork()
    if not pid:
        os.execve(made.launcher, ["cli", "a", "b"], environ)
    out = b""
    while True:
        try:
            piece = os.read(terminal, 999)
        except OSError:
            break
        out += piece
        if b"pin:" in piece:
            os.write(terminal, typed)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status
    assert shown in out.decode()


def test_the_value_is_nowhere_but_in_the_command_s_environment(install):
    made = install(files({"TOKEN": "file:token"}))
    made.write(
        {"commands/a/b/main.sh": '#!/bin/bash\ntr "\\0" "\\n" </proc/$$/cmdline\n'}
    )
    done = made.run("a", "b", env=env(made, DEBUG="1"))
    assert done.status == 0
    assert "from-file" not in done.stdout + done.stderr
    for place, _, names in os.walk(made.root):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                assert name == "token" or b"from-file" not in file.read()


def test_secrets_of_a_category_have_no_effect_on_commands_below(install):
    category = {
        "name": "A",
        "entrypoint": "main.sh",
        "secrets": {"TOKEN": "run:give x"},
    }
    made = install(files({}))
    made.write({"commands/a/category.json": category, "commands/a/main.sh": SHOW})
    assert made.run("a", "b", env=env(made)).all == (0, "|\n", "")
    assert made.run("a", "-x", env=env(made)).all == (0, "x|\n", "")


def test_a_caller_that_masks_gets_the_variables(install):
    made = install(
        files({"TOKEN": "run:give t", "OTHER": "run:give o"}, envs={"LANG": "lost"})
    )
    made.write({"commands/a/b/main.sh": 'echo "$TOKEN ${CLI_REPORT_FD-unset}"\n'})
    reading, writing = os.pipe()
    caller = env(made, LANG="won", CLI_REPORT_FD=str(writing))
    assert made.run("a", "b", env=caller, pass_fds=[writing]).all == (
        0,
        "t unset\n",
        "",
    )
    os.close(writing)
    with open(reading, "rb") as pipe:
        *pairs, last, end = pipe.read().split(b"\0")
    assert {b"TOKEN=t", b"OTHER=o", b"LANG=won", b"LANG=lost", b"COMMAND_NAME=b"} <= {
        *pairs
    }
    assert {pair for pair in pairs if pair.startswith(b"=")} == {
        b"=t",
        b"=o",
    }  # from references
    assert (last, end) == (b"", b"")
    assert asked(made) == 2


@pytest.mark.parametrize("descriptor", ["abc", "", "-1", "99"])
def test_a_report_needs_an_open_descriptor(install, descriptor):
    made = install(files({}))
    what = f"CLI_REPORT_FD={descriptor} is not an open file descriptor"
    found = made.run("a", "b", env=env(made, CLI_REPORT_FD=descriptor))
    assert found.all == (1, "", f"cli: {what}; run: unset CLI_REPORT_FD\n")


def test_the_help_page_names_references_and_asks_nobody(install):
    made = install(
        files(
            {"TOKEN": "run:give x"}, required_envs=["TOKEN"], env_files=["run:give A=b"]
        )
    )
    page = made.run("a", "b", "--help", env=env(made)).stdout
    assert (
        "  TOKEN  run:give x  ← command.json: secrets.TOKEN, not asked, required\n"
        in page
    )
    assert "Environment files:\n  run:give A=b\n" in page
    assert "Secrets:\n  TOKEN  run:give x\n" in page
    assert asked(made) == 0


def test_a_file_that_others_can_write_gives_a_project_no_secret(install, tmp_path):
    shop = Shop(install({}), tmp_path / "shop")
    block = json.dumps({"secrets": {"TOKEN": "file:token"}})
    build = BUILD.replace("the shop.", f"the shop.\n# /// command\n# {block}\n# ///")
    shop.write({".cli/commands/build": build, ".cli/commands/token": "t\n"})
    shop.trust()
    assert shop.run("build").status == 0
    (shop.root / ".cli/commands/token").chmod(0o666)
    assert "token: every user can write to it" in shop.run("build").stderr
