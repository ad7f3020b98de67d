"""Commands written in Python: a click command or a callable, declared by a plugin or named."""

import os
import signal
import subprocess
import sys

import pytest

from host.launch.python_command import PYTHON_COMMAND
from testing.installation import IMPORTABLE, command

MODULE = '''
import os, sys
import click

@click.command()
@click.option("--count", default=1)
@click.argument("words", nargs=-1)
def clicked(count, words):
    """Says words."""
    click.echo(f"{count} {' '.join(words)} {os.environ.get('A')}")

@click.group()
def group():
    pass

@group.command()
def inner():
    raise click.ClickException("did not work")

def plain(args):
    sys.stdout.buffer.write(b"|".join(os.fsencode(one) for one in args))

def status(args):
    return int(args[0])

def text(args):
    return "text"

def fails(args):
    raise ValueError("went\\nwrong")

def exits(args):
    sys.exit(args[0] if args else None)

def interrupted(args):
    os.kill(os.getpid(), 2)

def pid(args):
    print(os.getpid())

def lots(args):
    for number in range(int(args[0])):
        print(number)

def refuses(args):
    from host import OperationError

    print("some output")
    raise OperationError("it did not work")

def broken(args):
    raise BrokenPipeError("a socket")

def closes(args):
    print("before")
    sys.stdout.close()

def detaches(args):
    print("before")
    sys.stdout.detach()

def closes_descriptor(args):
    os.close(1)

def nothing(args):
    return None

def listed(args):
    return [1]

def true(args):
    return True

def variables(args):
    print(os.environ.get("FROM_SETTINGS"), os.environ["NEEDED"], os.environ["COMMAND_NAME"])

def arguments(args):
    print(args, os.environ["ARG_COUNT"], os.environ["ARG_WORD"])

class Holder:
    attribute = staticmethod(plain)
'''


@pytest.fixture(scope="module")
def made(shared_install):
    """An installation whose commands name the functions of an importable module."""
    module = IMPORTABLE / f"python_commands_{os.getpid()}.py"
    try:
        module.write_text(MODULE)
    except OSError:
        pytest.skip(f"{IMPORTABLE} cannot be written")
    functions = (
        "clicked group plain lots broken status text fails exits interrupted pid none"
    )
    functions += " refuses closes detaches closes_descriptor nothing listed true"
    broken = {
        "no-module": "cli_host_no_such_module:x",
        "hostile": "cli_host_no\u00e9:x",
    }
    files = {
        f"commands/py/{name}/command.json": command(
            entrypoint=f"{IMPORTABLE.name}.{module.stem}:{name}", envs={"A": "a"}
        )
        for name in [*functions.split(), "Holder.attribute"]
    }
    files |= {
        f"commands/py/{name}/command.json": command(entrypoint=reference)
        for name, reference in broken.items()
    }
    for name in ("arguments", "clicked"):
        files[f"commands/py/declared-{name}/command.json"] = command(
            entrypoint=f"{IMPORTABLE.name}.{module.stem}:{name}",
            args=[
                {"name": "word", "required": True, "description": "to say"},
                {"name": "--count", "value": "N", "type": "integer", "default": "1"},
            ],
        )
    files["commands/py/paged/command.json"] = {
        **files["commands/py/declared-arguments/command.json"],
        "help": "page",
    }
    for name, fields in (("alone", {"sources": False}), ("fed", {})):
        files[f"commands/py/{name}/command.json"] = command(
            entrypoint=f"{IMPORTABLE.name}.{module.stem}:variables",
            required_envs=["NEEDED"],
            **fields,
        )
    files["config/settings.conf"] = "FROM_SETTINGS=1\n"
    made = shared_install(files)
    made.run("py", "plain")
    yield made
    module.unlink()


@pytest.mark.slow
def test_a_click_command(made):
    assert made.run("py", "clicked", "--count", "2", "a", "b").all == (
        0,
        "2 a b a\n",
        "",
    )
    result = made.run("py", "clicked", "--help")
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "Usage: cli py clicked [OPTIONS] [WORDS]...\n\n  Says words."
    )
    result = made.run("py", "clicked", "--none")
    assert (result.status, result.stdout) == (2, "")
    assert "Usage: cli py clicked" in result.stderr
    result = made.run("py", "group", "inner")
    assert result.all == (1, "", "Error: did not work\n")


@pytest.mark.parametrize(
    "args", [[], ["a b", ""], [b"\xff", "é"], ["x", "--help"], ["--", "-x"]], ids=repr
)
def test_a_callable_gets_its_arguments(made, args):
    raw = [one if isinstance(one, bytes) else one.encode() for one in args]
    env = {"LC_ALL": "C"} if b"\xff" in args else {}
    result = made.run("py", "plain", *args, env=env)
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.encode("utf-8", "surrogateescape") == b"|".join(raw)


def test_a_callable_may_be_an_attribute(made):
    assert made.run("py", "Holder.attribute", "a b", "").all == (0, "a b|", "")


@pytest.mark.parametrize("status", [0, 2, 255])
def test_statuses(made, status):
    assert made.run("py", "status", str(status)).all == (status, "", "")


def test_it_may_call_sys_exit(made):
    assert made.run("py", "exits", "a text").status == 1
    assert made.run("py", "exits").all == (0, "", "")


@pytest.mark.parametrize(("name", "kind"), [("text", "str"), ("listed", "list")])
def test_what_is_no_status(made, name, kind):
    status, stdout, stderr = made.run("py", name).all
    assert (status, stdout) == (1, "")
    assert stderr.startswith(f"cli py {name}: {IMPORTABLE.name}.python_commands_")
    assert stderr.endswith(
        f":{name}: it returned {kind}; expected an exit status or None\n"
    )


def test_nothing_and_booleans_are_statuses(made):
    assert made.run("py", "nothing").all == (0, "", "")
    assert made.run("py", "true").all == (1, "", "")


def test_a_command_may_close_its_stdout(made):
    assert made.run("py", "closes").all == (0, "before\n", "")
    assert made.run("py", "detaches").all == (0, "before\n", "")
    assert made.run("py", "closes_descriptor").all == (0, "", "")


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_a_callable_gets_a_lone_help(made, word):
    assert made.run("py", "plain", word).all == (0, word, "")
    assert made.run("py", "plain", word, "x").all == (0, f"{word}|x", "")
    page = made.run("help", "py", "paged")
    assert "\nArguments:\n  word  to say\n" in page.stdout
    assert made.run("py", "paged", word).all == page.all
    assert made.run("py", "paged", word, "x").status == 2


def test_a_command_without_sources_starts_with_the_callers_environment(made):
    env = {"NEEDED": "x"}
    assert made.run("py", "fed", env=env).all == (0, "1 x fed\n", "")
    assert made.run("py", "alone", env=env).all == (0, "None x alone\n", "")
    assert made.run("py", "alone").status == 1
    assert "FROM_SETTINGS" not in made.run("self", "env", "py", "alone", env=env).stdout
    made.write({"config/settings.conf": "exit 3\n"})
    try:
        assert made.run("py", "fed", env=env).status == 1
        assert made.run("py", "alone", env=env).status == 0
    finally:
        made.write({"config/settings.conf": "FROM_SETTINGS=1\n"})


def test_declared_arguments(made):
    name = "declared-arguments"
    words = ("x", "--count", "2")
    assert made.run("py", name, *words).all == (0, "['x', '--count', '2'] 2 x\n", "")
    result = made.run("py", name, "x", "--coutn", "2")
    assert (result.status, result.stdout) == (2, "")
    assert (
        result.stderr
        == f"cli: py {name}: unknown option --coutn; did you mean --count?\n"
    )
    assert made.run("py", "declared-clicked", "x", "--count", "2").all == (
        0,
        "2 x None\n",
        "",
    )
    assert made.run("py", "declared-clicked", "--count", "2").status == 2
    page = made.run("py", "declared-clicked", "--help").stdout
    assert page.startswith("Usage: cli py declared-clicked [OPTIONS] [WORDS]...\n")


def test_an_exception_is_one_line_and_with_debug_a_traceback(made):
    result = made.run("py", "fails")
    assert (result.status, result.stdout) == (1, "")
    assert (
        result.stderr
        == "cli py fails: ValueError: went\\nwrong; for details, set DEBUG=1\n"
    )
    result = made.run("py", "fails", env={"DEBUG": "1"})
    assert result.status == 1
    assert "Traceback" in result.stderr


def test_an_interrupt_ends_it_as_a_shell_expects(made):
    assert made.run("py", "interrupted").all == (-signal.SIGINT, "", "")


@pytest.mark.slow
def test_a_stdout_that_takes_nothing(made):
    def shell(line):
        result = made.run(
            "-c", line.replace("CLI", str(made.launcher)), executable="/bin/bash"
        )
        return result.all

    for count in (5, 100_000):
        assert shell(f"CLI py lots {count} | true; echo ${{PIPESTATUS[0]}}") in (
            (0, "141\n", ""),
            (0, "0\n", ""),  # it was quicker than its reader
        )
        status, _, stderr = shell(f"CLI py lots {count} > /dev/full")
        assert (status, stderr.count("\n")) == (1, 1)
        assert stderr.startswith("cli py lots: OSError: [Errno 28]")
    assert shell("CLI py refuses > /dev/full") == (
        1,
        "",
        "cli py refuses: it did not work\n",
    )
    assert shell("CLI py lots 100000 | head -1; echo ${PIPESTATUS[0]}") == (
        0,
        "0\n141\n",
        "",
    )
    assert shell("CLI py lots 1 >&-") == (0, "", "")
    status, _, stderr = shell("CLI py broken")
    assert (status, stderr) == (
        1,
        "cli py broken: BrokenPipeError: a socket; for details, set DEBUG=1\n",
    )


@pytest.mark.parametrize("name", ["no-module", "hostile", "none"])
def test_what_cannot_be_imported(made, name):
    result = made.run("py", name)
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.startswith(f"cli py {name}: ")
    assert "cannot be loaded" in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_process_becomes_it(made):
    with subprocess.Popen(
        [made.launcher, "py", "pid"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.read() == f"{process.pid}\n".encode()


def test_the_callers_python_variables_do_not_disturb(made, tmp_path):
    (tmp_path / "click.py").write_text("raise SystemExit('shadowed')")
    env = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": "/none", "PYTHONINSPECT": "1"}
    assert made.run("py", "clicked", env=env, cwd=tmp_path).all == (0, "1  a\n", "")


def test_called_directly():
    words = [sys.executable, "-c", PYTHON_COMMAND, "label", "no:such"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("label: no:such: cannot be loaded: ")
