"""Running a command end to end: it becomes the script, with all that the caller gave."""

import fcntl
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from host.catalog.definition import SYSTEM_OS
from host.processes.programs import start_of
from host.text import printable
from testing.installation import PROJECT, builder, command
from testing.plugin_sources import wheel
from testing.shells import shell_path

OTHER_OS = "mac" if SYSTEM_OS == "linux" else "linux"
PYTHON = f"#!{sys.executable} -IS\n"
ARGUMENTS = "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))\n"
C_PROGRAM = r"""
#include <stdio.h>
#include <string.h>
extern char **environ;
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) fwrite(argv[i], 1, strlen(argv[i]) + 1, stdout);
  fwrite("", 1, 1, stdout);
  for (char **entry = environ; *entry; entry++) fwrite(*entry, 1, strlen(*entry) + 1, stdout);
  return 0;
}
"""
SCRIPTS = {
    "args": PYTHON + ARGUMENTS,
    "pid": "#!/bin/sh\necho $$\n",
    "exit": '#!/bin/sh\nexit "$1"\n',
    "kill": '#!/bin/sh\nkill -"$1" $$\n',
    "cat": "#!/bin/sh\ncat\n",
    "where": "#!/bin/sh\npwd; umask; ulimit -n\n",
    "signals": "#!/bin/cat\n",
    "yes": '#!/bin/sh\necho $$ > "$1"; yes\n',
    "bash": '#!/bin/bash\necho "bash $0 $*"; declare -F log_info\n',
    "envbash": '#!/usr/bin/env bash\necho "bash $*"; declare -F log_info\n',
    "sh": '#!/bin/sh\necho "sh $*"\n',
    "zsh": '#!/usr/bin/env zsh\necho "zsh $* $ZSH_NAME"\n',
    "python": PYTHON + "import sys; print('python', *sys.argv[1:])\n",
    "spaces": '#!  /bin/sh   -e  \necho "spaces $-"\n',
    "helps": '#!/bin/sh\n: --help\necho "helped $*"\n',
    "helpless": "#!/bin/sh\necho ran\n",
}


@pytest.fixture(scope="module")
def made(shared_install):
    files = {}
    for name, text in SCRIPTS.items():
        files[f"commands/demo/{name}/command.json"] = command()
        files[f"commands/demo/{name}/main.sh"] = text
    made = shared_install(files)
    made.run("demo", "pid")
    return made


def add(made, name, text, **fields):
    """Write a command of the category `demo`; a text without `#!` gets no execute bit."""
    made.write(
        {f"commands/demo/{name}/command.json": command(**fields)}
        | ({f"commands/demo/{name}/main.sh": text} if text is not None else {})
    )
    return made.root / "commands" / "demo" / name / "main.sh"


def one_line(made, result, status, *parts):
    """Check that nothing ran and one line says why."""
    assert (result.status, result.stdout) == (status, ""), result
    assert result.stderr.startswith("cli: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert str(part) in result.stderr


def test_the_process_becomes_the_script(made):
    with subprocess.Popen(
        [made.launcher, "demo", "pid"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.read() == f"{process.pid}\n".encode()


@pytest.mark.slow
def test_every_exit_status(made):
    for status in (0, 1, 2, 3, 126, 127, 128, 130, 254, 255):
        assert made.run("demo", "exit", str(status)).all == (status, "", "")


@pytest.mark.parametrize(
    "name", ["TERM", "KILL", "INT", "HUP", "PIPE", "SEGV", "XFSZ", "USR1"]
)
def test_killed_by_a_signal(made, name):
    assert made.run("demo", "kill", name).status == -getattr(signal, f"SIG{name}")


@pytest.mark.parametrize("name", ["PIPE", "XFSZ"])
def test_the_signals_that_python_ignores_have_their_default_action(made, name):
    lines = f"trap '' {name}; {made.launcher} demo kill {name}; echo $?"
    killed = 128 + getattr(signal, f"SIG{name}")
    assert made.run("-c", lines, executable=shell_path("sh")).stdout == f"{killed}\n"


ARGS = {
    "plain": ["a", "b"],
    "empty": ["", "", "x", ""],
    "blanks": ["a b", "\t", "\n", "a\nb", " "],
    "not UTF-8": [b"\xff\xfe", b"a\xe9"],
    "UTF-8": ["é✓🎉", "\u202e"],
    "dashes": [
        "--",
        "-",
        "--",
        "-x",
        "--all",
        "--format",
        "json",
        "--safe",
        "--version",
    ],
    "help later": ["x", "--help", "-h", "help"],
    "help word": ["help"],
    "shell": ["$HOME", "`id`", "$(id)", "*", "~", "'", '"', "\\", ";", "|"],
    "control": ["\x01", "\x1b[31m", "\x7f"],
    "many": [str(number) for number in range(5000)],
    "long": ["x" * 100_000],
}


_ARGS_AND_LOCALES = [
    *(pytest.param(args, {}, id=name) for name, args in ARGS.items()),
    *(
        pytest.param(ARGS[name], locale, id=f"{name}, {locale}")
        for name in ("not UTF-8", "UTF-8")
        for locale in ({"LC_ALL": "C"}, {"LC_ALL": "POSIX", "LANG": "xx"})
    ),
]


@pytest.mark.parametrize(("args", "locale"), _ARGS_AND_LOCALES)
def test_arguments_arrive_byte_for_byte(made, args, locale):
    result = made.run("demo", "args", *args, env=locale)
    assert (result.status, result.stderr) == (0, "")
    raw = [arg if isinstance(arg, bytes) else arg.encode() for arg in args]
    assert result.stdout.encode("utf-8", "surrogateescape") == b"\0".join(raw)


ENVIRONMENTS = {
    "bare": {},
    "dots": {"a.b": "1", "A-B": "2", " ": "3", "BASH_FUNC_f%%": "() { :;\n}"},
    "not UTF-8": {b"A\xff": b"\xfe\n", "É": "é"},
    "lines": {"A": "1\nB=2\n", "B": "", "C": " "},
    "locale C": {"LC_CTYPE": "C"},
    "locale POSIX": {"LC_CTYPE": "POSIX", "LANG": "C"},
    "locale empty": {"LC_CTYPE": ""},
    "locale C.UTF-8": {"LC_CTYPE": "C.UTF-8"},
    "locale LC_ALL": {"LC_ALL": "C"},
    "python": {
        "PYTHONPATH": "/x",
        "PYTHONHOME": "/none",
        "PYTHONUTF8": "0",
        "PYTHONSTARTUP": "/x",
    },
    "python warnings": {
        "PYTHONWARNINGS": "error",
        "PYTHONDEVMODE": "1",
        "PYTHONVERBOSE": "1",
    },
    "shell's own": {"PWD": "/no", "OLDPWD": "/x", "SHLVL": "7", "_": "me"},
    "large": {"A": "x" * 100_000},
}


@pytest.mark.parametrize("env", ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_the_environment_arrives_byte_for_byte(made, env):
    compiled(made)
    result = made.run("demo", "compiled", env=env)
    assert (result.status, result.stderr) == (0, "")
    raw = result.stdout.encode("utf-8", "surrogateescape").split(b"\0")[1:-1]
    found = dict(entry.split(b"=", 1) for entry in raw)
    assert len(found) == len(raw)
    root = os.fsencode(made.root)
    assert found == {
        b"PATH": os.environb[b"PATH"],
        b"HOME": os.fsencode(made.home),
        b"CLI_DIR": root,
        b"CORE_DIR": root + b"/core",
        b"LIB_DIR": root + b"/core/lib",
        b"PLUGINS_DIR": root + b"/plugins",
        b"GLOBAL_CONFIG_FILE": root + b"/core/cli.json",
        b"COMMAND_NAME": b"compiled",
        b"COMMAND_CATEGORY": b"demo",
        b"CLI_RUN": root + b":::",
        **{os.fsencode(name): os.fsencode(value) for name, value in env.items()},
    }


def test_an_environment_that_no_shell_makes(made, tmp_path):
    """Entries twice, without a name, without `=`: what can be handed on is, and it runs."""
    compiled(made)
    odd = tmp_path / "odd"
    source = tmp_path / "odd.c"
    source.write_text(
        "#include <unistd.h>\nint main(int c, char **v) {\n"
        '  char *e[] = {"A=1", "A=2", "NONE", "=x", "B=3", "PATH=/usr/bin:/bin", 0};\n'
        "  return execve(v[1], v + 1, e);\n}\n"
    )
    subprocess.run(["cc", "-o", odd, source], check=True)
    result = made.run(made.launcher, "demo", "compiled", executable=odd)
    assert (result.status, result.stderr) == (0, "")
    assert {"A=1", "B=3"} <= set(result.stdout.split("\0"))


def compiled(made):
    """Add a command that is a compiled program: arguments, an empty one, the environment."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    file = made.root / "commands" / "demo" / "compiled" / "main.sh"
    if not file.exists():
        add(made, "compiled", None)
        source = made.root / "program.c"
        source.write_text(C_PROGRAM)
        subprocess.run([compiler, "-o", file, source], check=True)
    return file


def test_a_compiled_program(made):
    file = compiled(made)
    result = made.run("demo", "compiled", "a b", b"\xff")
    assert (result.status, result.stdout.split("\0")[:3]) == (0, ["a b", "\udcff", ""])
    file.chmod(0o644)
    one_line(
        made, made.run("demo", "compiled"), 126, file, "not executable", "chmod +x"
    )
    file.chmod(0o755)


def test_names_come_through_an_alias_and_nesting(made):
    add(
        made,
        "aliased",
        "#!/bin/sh\necho $COMMAND_NAME $COMMAND_CATEGORY\n",
        aliases=["other"],
    )
    made.write({"commands/demo/sub/deep/run/command.json": command(hidden=True)})
    made.write(
        {
            "commands/demo/sub/deep/run/main.sh": (
                "#!/bin/sh\necho $COMMAND_NAME $COMMAND_CATEGORY\n"
            )
        }
    )
    assert made.run("demo", "other", "x").all == (0, "aliased demo\n", "")
    assert made.run("demo", "sub", "deep", "run").all == (0, "run demo/sub/deep\n", "")


LANGUAGES = {
    "bash": "log_info\n",
    "envbash": "log_info\n",
    "sh": "",
    "zsh": "",
    "python": "",
}


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("mode", [0o755, 0o644], ids=["executable", "no execute bit"])
def test_languages(made, name, mode):
    if name == "zsh" and shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    file = made.root / "commands" / "demo" / name / "main.sh"
    file.chmod(mode)
    result = made.run("demo", name, "a", "b c")
    assert (result.status, result.stderr) == (0, "")
    language = name.removeprefix("env")
    assert result.stdout.startswith(f"{language} ")
    assert "a b c" in result.stdout
    assert result.stdout.endswith(LANGUAGES[name])


@pytest.mark.parametrize("mode", [0o755, 0o644], ids=["executable", "no execute bit"])
def test_no_shebang_is_for_bash(made, mode):
    file = add(made, "plain", 'echo "$0 $#"; [[ a == a ]] && declare -F log_info\n')
    file.chmod(mode)
    assert made.run("demo", "plain", "x").all == (0, f"{file} 1\nlog_info\n", "")
    file.write_text("")
    assert made.run("demo", "plain").all == (0, "", "")


def test_blanks_in_a_shebang(made):
    result = made.run("demo", "spaces")
    assert (result.status, result.stderr) == (0, "")
    assert "e" in result.stdout.split()[1]
    (made.root / "commands/demo/spaces/main.sh").chmod(0o644)
    assert made.run("demo", "spaces").all == result.all


STARTS = {
    "missing interpreter": (
        "#!/no/such/interpreter\n",
        127,
        '/no/such/interpreter" is missing',
    ),
    "interpreter is a directory": ("#!/tmp\n", 127, '"/tmp" is missing'),
    "interpreter is no program": (
        "#!/etc/passwd\n",
        126,
        "cannot be started: Permission denied",
    ),
    "env of a missing program": (
        "#!/usr/bin/env no-such-program\n",
        127,
        "no-such-program",
    ),
    "env with options": (
        "#!/usr/bin/env -S no-such-program -x\n",
        127,
        "no-such-program",
    ),
    "env without a program": ("#!/usr/bin/env -S\n", 127, '"" is missing'),
    "CR LF": ("#!/bin/sh\r\necho x\r\n", 127, "CR LF"),
    "CR LF after an argument": ("#!/bin/sh -e\r\necho x\r\n", 127, "CR LF"),
    "CR LF and env": ("#!/usr/bin/env bash\r\necho x\r\n", 127, "CR LF"),
    "empty shebang": ("#!\necho x\n", 127, '"" is missing'),
    "blank shebang": ("#! \t \necho x\n", 127, '"" is missing'),
    "hostile interpreter": (
        "#!/no\x1b[31m\u202e/x\n",
        127,
        '"/no\\x1b[31m\\u202e/x" is missing',
    ),
    "interpreter without its own": ("#!{root}/broken-interpreter\n", 127, ""),
    "very long": ("#!/" + "x" * 5000 + "\n", 127, "is missing"),
    "no machine code": ("\x7fELF\0\0\0\0", 126, "cannot be started"),
}


@pytest.mark.parametrize(
    ("text", "status", "words"), STARTS.values(), ids=STARTS.keys()
)
def test_what_cannot_start(made, text, status, words):
    made.write({"broken-interpreter": "#!/no/such/thing\n"})
    file = add(made, "start", text.replace("{root}", str(made.root)))
    file.chmod(0o755)
    one_line(made, made.run("demo", "start"), status, file, words)


def test_a_missing_entrypoint(made):
    file = add(made, "missing", None)
    one_line(made, made.run("demo", "missing"), 127, file, "missing")
    file.symlink_to("nowhere")
    one_line(made, made.run("demo", "missing"), 127, file, "missing")
    assert made.run("demo", "missing", "--help").status == 0


ENTRYPOINTS = {
    "above": "../pid/main.sh",
    "absolute": "/bin/true",
    "the directory": ".",
    "parent": "..",
    "above and back": "../start/../pid/main.sh",
    "link": "link.sh",
    "linked directory": "linked/main.sh",
    "hostile": "../\x1b[31m\n",
}


@pytest.mark.parametrize("entrypoint", ENTRYPOINTS.values(), ids=ENTRYPOINTS.keys())
@pytest.mark.sampled
def test_an_entrypoint_outside_the_directory(made, entrypoint):
    file = add(made, "outside", None, entrypoint=entrypoint)
    for name, target in (("link.sh", "../pid/main.sh"), ("linked", "../pid")):
        if not (file.parent / name).is_symlink():
            (file.parent / name).symlink_to(target)
    target = os.path.realpath(file.parent / entrypoint)
    reason = f"{entrypoint} leads to {target}, which is outside the command's folder"
    said = f'{file.parent}/command.json: "entrypoint": {printable(reason)}'
    one_line(made, made.run("demo", "outside"), 1, said)
    one_line(made, made.run("demo", "outside", "--help"), 1, said)


def test_an_entrypoint_below_or_linked_inside(made):
    file = add(made, "below", "#!/bin/sh\necho main\n", entrypoint="bin/../bin/run")
    (file.parent / "bin").mkdir()
    (file.parent / "bin" / "run").symlink_to("../main.sh")
    assert made.run("demo", "below").all == (0, "main\n", "")
    linked = made.root / "commands" / "demo" / "linked-command"
    linked.symlink_to("below")
    assert made.run("demo", "linked-command").all == (0, "main\n", "")


def test_script_stands_for_entrypoint(made):
    fields = command(script="go.sh")
    del fields["entrypoint"]
    made.write({"commands/demo/script/command.json": fields})
    made.write({"commands/demo/script/go.sh": "#!/bin/sh\necho went\n"})
    assert made.run("demo", "script").all == (0, "went\n", "")


@pytest.mark.parametrize(
    "make",
    [os.mkfifo, os.mkdir, lambda path: os.symlink(path, path)],
    ids=["fifo", "directory", "loop"],
)
def test_an_entrypoint_that_is_no_file(made, make):
    file = add(made, "no-file", None)
    make(file)
    one_line(made, made.run("demo", "no-file"), 126, file)
    assert made.run("demo", "no-file", "--help").status == 0
    shutil.rmtree(file.parent)


def test_another_system_comes_before_any_variable(made, tmp_path):
    add(
        made,
        "foreign",
        "#!/bin/sh\n",
        os=[OTHER_OS],
        env_files=["/proc"],
        required_envs=["NONE"],
    )
    made.write({"config/settings.conf": f"touch {tmp_path}/sourced\nexit 1\n"})
    result = made.run("demo", "foreign")
    (made.root / "config" / "settings.conf").unlink()
    one_line(
        made, result, 126, f"demo foreign: runs on {OTHER_OS} only; this is {SYSTEM_OS}"
    )
    assert not (tmp_path / "sourced").exists()


def test_a_name_in_os_that_does_not_count(made):
    add(made, "foreign", "#!/bin/sh\n", os=["macos"])
    result = made.run("demo", "foreign")
    told = '"os": macos is not one of linux, mac; did you mean mac?'
    one_line(
        made,
        result,
        126,
        f"demo foreign: runs on macos only; this is {SYSTEM_OS}",
        told,
    )


@pytest.mark.slow
def test_safe_mode(made):
    assert made.run("--safe", "demo", "exit", "3").status == 3
    assert made.run("demo", "exit", "4", env={"CLI_SAFE": "1"}).status == 4


def test_too_large_for_the_system(made):
    envs = {"A": "x" * 3_000_000, "B": "y" * 2000, "SECRET": "z" * 1000, "C": "x"}
    add(made, "large", "#!/bin/sh\n", envs=envs)
    result = made.run("demo", "large", "word" * 10)
    one_line(made, result, 126, "unset large variables")
    assert "xx" not in result.stderr
    assert "zz" not in result.stderr


# What a file system takes for the name of a directory, and bash for more than text.
ODD_NAMES = [
    *(
        "$(touch pwned)",
        "`touch pwned`",
        "$HOME",
        "a b",
        "'",
        '"',
        "\\",
        "~",
        "*?[a]",
        "a\nb",
    ),
    *("é\udcff", "-x", "a:b", "{a,b}", "\x1b[1m"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
@pytest.mark.sampled
def test_an_installation_may_stand_anywhere(tmp_path, name):
    made = builder(tmp_path / name)({"config/settings.conf": "IN_SETTINGS=1\n"})
    show = 'log_info "here" 2>&1 | grep -c here; echo "$IN_SETTINGS $IN_FILE ${BASH_ENV-none}"\n'
    fields = {"env_files": [".env"]}
    add(made, "bare", show, **fields)
    add(made, "bash", f"#!/bin/bash\n{show}", **fields)
    for one in ("bare", "bash"):
        made.write({f"commands/demo/{one}/.env": "IN_FILE=2\n"})
        assert made.run("demo", one, cwd=tmp_path).all == (0, "1\n1 2 none\n", "")
    assert made.run("demo", "bare", env={"BASH_ENV": "/x"}).stdout == "1\n1 2 /x\n"
    assert made.run("self", "which", "demo", "bash").status == 0
    left = {one.name for one in tmp_path.rglob("*pwned*")} - {name}
    assert left == set()


def test_an_installation_without_a_library_gets_the_shipped_one(install):
    made = install()
    add(made, "bash", '#!/bin/bash\nlog_info "$LIB_DIR"\n')
    (made.root / "core" / "lib").unlink()
    result = made.run("demo", "bash")
    assert (result.status, result.stdout) == (0, "")
    assert result.stderr.endswith(f" - {made.root}/core/lib\n")


@pytest.mark.parametrize("library", ["init", "color", "sudo"])
def test_a_library_that_is_no_file_stops_nothing(install, library):
    made = install()
    add(made, "bash", "#!/bin/bash\necho ran\n")
    (made.root / "core" / "lib").unlink()
    shutil.copytree(PROJECT / "core" / "lib", made.root / "core" / "lib")
    file = made.root / "core" / "lib" / f"{library}.sh"
    file.unlink()
    os.mkfifo(file)
    result = made.run("demo", "bash")
    assert (result.status, result.stdout) == (0, "ran\n")
    shown = (
        "" if library == "init" else str(file)
    )  # init.sh: the shipped library is loaded
    assert shown in result.stderr
    assert result.stderr.count("\n") == bool(shown)


def test_a_file_system_without_execution(made, tmp_path):
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("unshare as root is needed")
    file = add(made, "noexec", "#!/bin/sh\necho ran\n")
    script = (
        f"mount -t tmpfs -o noexec tmpfs {tmp_path} || exit 99; cp -a "
        f"{file.parent}/. {tmp_path}; "
    )
    script += f"mount --bind {tmp_path} {file.parent}; exec {made.launcher} demo noexec"
    result = made.run("-m", "sh", "-c", script, executable="/usr/bin/unshare")
    if result.status == 99:
        pytest.skip("mounting is not allowed")
    one_line(made, result, 126, file, "noexec")


def as_nobody(made, *words):
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("setpriv as root is needed")
    drop = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    return made.run(*drop, made.launcher, *words, executable=setpriv)


def test_without_permission(made):
    file = add(made, "closed", "#!/bin/sh\necho ran\n")
    file.chmod(0o644)
    assert as_nobody(made, "demo", "closed").all == (0, "ran\n", "")
    file.chmod(0)
    one_line(made, as_nobody(made, "demo", "closed"), 126, file, "cannot be read")
    file.chmod(0o611)  # its owner may not execute it, others may
    one_line(
        made,
        as_nobody(made, "demo", "closed"),
        126,
        file,
        "cannot be started",
        "noexec",
    )


def test_a_program_that_may_be_run_and_not_read(made):
    file = compiled(made)
    file.chmod(0o111)
    result = as_nobody(made, "demo", "compiled", "x")
    file.chmod(0o755)
    assert (result.status, result.stdout[:2], result.stderr) == (0, "x\0", "")


# What the caller gave: stdin, directory, umask, limits, descriptors, signals, terminal.


def test_stdin_directory_umask_and_limits(made, tmp_path):
    assert made.run("demo", "cat", input=b"a\0\xffb").stdout == "a\0\udcffb"

    def prepare():
        os.umask(0o027)
        resource.setrlimit(resource.RLIMIT_NOFILE, (123, 123))

    result = made.run("demo", "where", cwd=tmp_path, preexec_fn=prepare)
    assert result.all == (0, f"{tmp_path}\n0027\n123\n", "")


def high(descriptor):
    """Move a descriptor above those that a test gives numbers to."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD, 50)
    os.close(descriptor)
    return moved


def pipe_ends() -> tuple[int, int, int]:
    """Return what holds `seven`, what can be written, and where that can be read; 20 or more."""
    import fcntl

    read, write = os.pipe()
    back, out = os.pipe()
    os.write(write, b"seven\n")
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 20) for one in (read, out, back)]
    for one in (read, write, back, out):
        os.close(one)
    return high[0], high[1], high[2]


def test_inherited_descriptors(made):
    add(
        made,
        "descriptor",
        f"{PYTHON}import os\nos.write(8, os.read(7, 10))\nfound = []\n"
        "for number in range(64):\n    try:\n        os.fstat(number)\n"
        "        found.append(number)\n    except OSError:\n        pass\nprint(found)\n",
    )
    read, out, back = pipe_ends()
    read, out = high(read), high(out)  # or closing them could close 7 or 8
    line = f"exec 7<&{read} 8>&{out} {read}<&- {out}>&-; exec {made.launcher} demo descriptor"
    result = made.run("-c", line, executable="/bin/bash", pass_fds=[read, out])
    os.close(out)
    assert result.all == (0, "[0, 1, 2, 7, 8]\n", "")
    assert os.read(back, 10) == b"seven\n"
    os.close(read)
    os.close(back)


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_stay_closed(made, tmp_path, streams):
    add(
        made,
        "streams",
        f"{PYTHON}import os, sys\nfound = []\nfor number in range(3):\n"
        "    try:\n        os.fstat(number)\n        found.append(number)\n"
        "    except OSError:\n        pass\n"
        "open(sys.argv[1], 'w').write(str(found))\n",
    )
    numbers = {"<&-": [1, 2], ">&-": [0, 2], "2>&-": [0, 1]}
    shown = tmp_path / "shown"
    all_closed = streams not in numbers
    if all_closed:
        (made.root / "cli.lock").unlink()
    for _ in range(2 if all_closed else 1):  # without a lock and with one
        line = f"{made.launcher} demo streams {shown} {streams}"
        assert made.run("-c", line, executable="/bin/bash").all == (0, "", "")
        assert shown.read_text() == str(numbers.get(streams, []))


def dispositions(text):
    lines = [line.split() for line in text.splitlines()]
    return {
        one[0]: int(one[1], 16)
        for one in lines
        if one[0] in ("SigBlk:", "SigIgn:", "SigCgt:")
    }


def bit(number):
    return 1 << (number - 1)


def test_signal_dispositions(made):
    """A command has those of a program that is started in its place."""

    def prepare():
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

    ignored = (
        bit(signal.SIGINT)
        | bit(signal.SIGHUP)
        | bit(signal.SIGQUIT)
        | bit(signal.SIGTSTP)
    )
    for preexec, blocks, ignores in (
        (None, 0, 0),
        (prepare, bit(signal.SIGUSR1), ignored),
    ):
        found = made.run(
            "demo", "signals", "/proc/self/status", preexec_fn=preexec
        ).stdout
        # How the interpreter of these tests starts children may have one more signal ignored.
        plain = subprocess.run(
            ["/bin/cat", "/proc/self/status"],
            preexec_fn=preexec,
            capture_output=True,
            check=True,
        ).stdout.decode()
        assert dispositions(found) == dispositions(plain)
        assert dispositions(found)["SigBlk:"] == blocks
        assert dispositions(found)["SigIgn:"] & (bit(32) - 1) == ignores
        assert dispositions(found)["SigCgt:"] == 0


def test_a_closed_pipe_ends_the_script(made, tmp_path):
    line = f"{made.launcher} demo yes {tmp_path}/pid | head -1; echo ${{PIPESTATUS[0]}}"
    result = made.run("-c", line, executable="/bin/bash")
    assert result.all == (0, "y\n141\n", "")


def terminal(made, script, typed=b"", before=()):
    """Run a command on a terminal; type when it says `ready`; return status and what is shown."""
    add(made, "terminal", script)
    pid, descriptor = pty.fork()
    if pid == 0:
        environ = {"PATH": os.environ["PATH"], "HOME": str(made.home)}
        words = [*before, str(made.launcher), "demo", "terminal"]
        os.execve(words[0], words, environ)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            chunk = os.read(descriptor, 1024)
        except OSError:
            break
        shown += chunk
        if not chunk:
            break
        if typed and b"ready" in shown:
            os.write(descriptor, typed)
            typed = b""
    os.close(descriptor)
    return os.waitpid(pid, 0)[1], shown.decode().replace("\r\n", "\n")


def test_the_terminal_is_the_callers(made):
    script = (
        "#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty && echo ready && read "
        'x\necho "<$x>"\n'
    )
    status, shown = terminal(made, script, b"typed\n")
    assert status == 0
    assert "<typed>" in shown


def test_ctrl_c_reaches_the_script_and_nobody_else_answers(made):
    status, shown = terminal(made, "#!/bin/sh\necho ready; exec sleep 60\n", b"\x03")
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGINT
    assert shown.replace("^C", "") == "ready\n"
    script = "#!/bin/bash\ntrap 'echo caught; exit 7' INT\necho ready\nread -t 60\n"
    status, shown = terminal(made, script, b"\x03")
    assert (os.WEXITSTATUS(status), "caught" in shown) == (7, True)


SLOW_SPAWN = ["-qqq", "-o", "/dev/null", "-e", "trace=clone,clone3,vfork"]
SLOW_SPAWN += ["-e", "inject=clone,clone3,vfork:delay_exit=400000"]


@pytest.mark.parametrize("slow", [False, True], ids=["reading", "while bash starts"])
def test_ctrl_c_while_settings_are_read(made, slow):
    strace = shutil.which("strace")
    if slow and strace is None:
        pytest.skip("strace is not installed")
    made.write({"config/settings.conf": "echo ready\nexec sleep 99\n"})
    start = time.monotonic()
    before = [strace, *SLOW_SPAWN] if slow else []
    status, shown = terminal(made, "#!/bin/sh\necho ran\n", b"\x03", before)
    (made.root / "config" / "settings.conf").unlink()
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGINT
    assert shown.replace("^C", "") == "ready\n"
    assert time.monotonic() - start < 60  # whoever outlives it holds the terminal


def test_background_and_stop(made):
    """Job control sees the script itself: it stops and goes on as any program."""
    add(made, "stop", "#!/bin/sh\nkill -STOP $$; echo went on\n")
    process = subprocess.Popen(
        [made.launcher, "demo", "stop"], stdout=subprocess.PIPE, start_new_session=True
    )
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    os.kill(process.pid, signal.SIGCONT)
    assert process.communicate(timeout=60)[0] == b"went on\n"
    assert process.returncode == 0


# The library in bash scripts.


def test_the_library_does_not_leak(made, tmp_path):
    add(
        made,
        "library",
        "#!/bin/bash\ndeclare -F log_info\nenv | grep -c -e BASH_ENV -e CLI_HOST -e BASH_FUNC\n"
        "bash -c 'declare -F log_info; echo grand $?'\n"
        "sh -c 'type log_info' >/dev/null 2>&1; echo $?\n"
        'echo "$0 $# $- ${BASH_SOURCE[0]##*/}"\n',
    )
    result = made.run("demo", "library", "x")
    file = made.root / "commands/demo/library/main.sh"
    expected = f"log_info\n0\ngrand 1\n127\n{file} 1 hB main.sh\n"
    assert result.all == (0, expected, "")
    startup = tmp_path / "startup"
    startup.write_text("echo started $1\n")
    result = made.run("demo", "library", "x", env={"BASH_ENV": str(startup)})
    assert result.stdout.splitlines() == [
        *("started x", "log_info", "1", "started", "grand 1", "127"),
        f"{file} 1 hB main.sh",
    ]


def test_an_interactive_bash_leaks_nothing(made):
    add(made, "asks", "#!/bin/bash -i\nenv | grep -c -e BASH_ENV -e CLI_HOST\n").chmod(
        0o755
    )
    assert made.run("demo", "asks").stdout == "0\n"


def test_functions_of_the_caller_are_in_nobodys_way(made):
    add(
        made,
        "own",
        "#!/bin/bash\ndeclare -F log_info\nenv | grep -c -e BASH_ENV -e CLI_HOST\n",
    )
    evil = {
        f"BASH_FUNC_{name}%%": "() { echo EVIL; }"
        for name in ("unset", "set", "export")
    }
    assert made.run("demo", "own", env=evil).stdout == "log_info\n0\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_the_library_by_sourcing(made, shell):
    add(
        made,
        "sourced",
        f'#!{shell_path(shell)}\n. "$LIB_DIR/logger.sh"\nlog_info hello\n',
    )
    result = made.run("demo", "sourced")
    assert (result.status, result.stdout) == (0, "")
    assert result.stderr.startswith("[INFO] ")
    assert result.stderr.endswith(" - hello\n")


OPTIONS = {
    "#!/bin/bash": True,
    "#!/bin/bash -e": True,
    "#!/bin/bash -p": False,
    "#!/bin/bash --posix": False,
    "#!/usr/bin/env bash": True,
    "#!/usr/bin/env -S bash -eu": True,
    "#!/usr/bin/env -S bash -p": False,
    "#!/usr/bin/env -S A=1 bash -o posix": False,
    "#!/usr/bin/env -S -u HOME -C / bash": False,  # only env can tell
    "#!/usr/bin/env -S A=1 B=2 bash -e": True,
    "#!/usr/bin/env -S 'bash'": False,  # only env can tell
    "#!/bin/sh": False,
    "": True,
}


@pytest.mark.parametrize(("shebang", "loads"), OPTIONS.items(), ids=OPTIONS.keys())
def test_which_shells_load_the_library(made, shebang, loads):
    file = add(made, "loads", f"{shebang}\ntype log_info >/dev/null 2>&1; echo $?\n")
    file.chmod(0o755)
    result = made.run("demo", "loads")
    assert (result.status, result.stderr) == (0, "")
    assert (result.stdout == "0\n") is loads
    found = start_of(str(file), {"PATH": os.environ["PATH"]})
    assert found.loads_library is loads
    assert not start_of(str(file), {"POSIXLY_CORRECT": ""}).loads_library


# --help as the only argument, and beside others.

HELPS = {
    "answers itself": (("helps", "--help"), "helped --help\n"),
    "answers itself, short": (("helps", "-h"), "helped -h\n"),
    "an option of the script": (("helpless", "-h", "localhost"), "ran\n"),
    "not first": (("helpless", "x", "--help"), "ran\n"),
    "twice": (("helpless", "--help", "--help"), "ran\n"),
    "help is a word": (("helpless", "help"), "ran\n"),
}


@pytest.mark.parametrize(("words", "stdout"), HELPS.values(), ids=HELPS.keys())
def test_help_passed_through(made, words, stdout):
    assert made.run("demo", *words).all == (0, stdout, "")


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_page_instead_of_running(made, word):
    result = made.run("demo", "helpless", word)
    assert (result.status, result.stderr) == (0, "")
    assert "cli demo helpless" in result.stdout
    assert "ran" not in result.stdout.split()


@pytest.mark.slow
def test_a_category_with_an_entrypoint(made):
    made.write(
        {
            "commands/tool/category.json": {
                "name": "T",
                "description": "D",
                "entrypoint": "all.sh",
            },
            "commands/tool/all.sh": '#!/bin/sh\necho "all $* $COMMAND_NAME<$COMMAND_CATEGORY>"\n',
            "commands/tool/one/command.json": command(),
            "commands/tool/one/main.sh": "#!/bin/sh\necho one\n",
        }
    )
    assert made.run("tool", "-x", "one").all == (0, "all -x one tool<>\n", "")
    assert made.run("tool", "--format", "json").all == (
        0,
        "all --format json tool<>\n",
        "",
    )
    assert made.run("tool", "one").all == (0, "one\n", "")
    for words in (("tool",), ("tool", "--help"), ("tool", "-h"), ("tool", "help")):
        assert "one" in made.run(*words).stdout
    one_line(made, made.run("demo", "-x"), 2, "-x")
    one_line(made, made.run("tool", "none"), 2, "none")
    for words in (
        ("tool", "-h", "localhost"),
        ("tool", "--help", "one"),
        ("demo", "-h", "pid"),
    ):
        one_line(
            made,
            made.run(*words),
            2,
            f"unexpected argument {words[2]}; see: cli {words[0]} --help",
        )
    assert made.run("tool", "--help", "--format", "json").stdout.startswith("{")


def test_programs_are_found_as_execvp_does(made, tmp_path):
    add(made, "env", "#!/usr/bin/env tool\n")
    (made.root / "commands/demo/env/main.sh").chmod(0o755)
    tool = tmp_path / "tool"
    tool.mkdir()
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    one_line(made, made.run("demo", "env", env=env), 127, 'tool" is missing')
    tool.rmdir()
    tool.write_text("#!/bin/sh\necho tool\n")
    one_line(made, made.run("demo", "env", env=env), 127, 'tool" is missing')
    tool.chmod(0o755)
    assert made.run("demo", "env", env=env).all == (0, "tool\n", "")
    assert (
        made.run("demo", "env", env={"PATH": ":/usr/bin:/bin"}, cwd=tmp_path).stdout
        == "tool\n"
    )


def test_a_bare_environment(made):
    script = f"exec env -i {made.launcher} demo envbash x"
    result = made.run("-c", script, executable="/bin/sh")
    assert result.all == (0, "bash x\nlog_info\n", "")
    add(made, "bare", "echo $HOME\n")
    script = f"exec env -i PATH=/none {made.launcher} demo bare"
    result = made.run("-c", script, executable="/bin/sh")
    if os.access("/bin/bash", os.X_OK):  # the same bash that reads settings.conf then
        assert result.all == (0, "\n", "")
    else:
        one_line(made, result, 127, "without bash")


WHO = "#!/bin/bash\n# Ship it\n%stype log_info >/dev/null 2>&1 && echo library || echo none\n"
BLOCK = WHO % '# /// command\n# {"group": "G"}\n# ///\n'
SCRIPT = WHO % "# @flag --dry  Only print\n"
DEFINED = WHO % ""
STRANGERS = {
    "commands": ({"commands/ship": SCRIPT}, True),
    "commands, a folder": ({"commands/ship/main.sh": SCRIPT}, True),
    "a plugin's script": ({"plugins/p/ship": SCRIPT}, False),
    "a plugin's main": ({"plugins/p/ship/main.sh": SCRIPT}, False),
    "a plugin's script with a block": ({"plugins/p/ship": BLOCK}, True),
    "a plugin's command.json": (
        {"plugins/p/ship/command.json": command(), "plugins/p/ship/main.sh": DEFINED},
        True,
    ),
    "a plugin's category.json": (
        {
            "plugins/p/ship/category.json": {"entrypoint": "go.sh"},
            "plugins/p/ship/go.sh": DEFINED,
        },
        True,
    ),
    "a project's script": ({"project/.cli/commands/ship": SCRIPT}, False),
    "a project's script with a block": ({"project/.cli/commands/ship": BLOCK}, True),
}


@pytest.mark.parametrize(("files", "gets"), STRANGERS.values(), ids=STRANGERS)
def test_which_scripts_get_the_library(install, files, gets):
    plugin = {"plugins/p/plugin.json": {"name": "p", "version": "1", "scripts": {}}}
    made = install({**plugin, **files})
    project = made.root / "project"
    project.mkdir(exist_ok=True)
    words = ["ship", "-v"] if "category" in str(files) else ["ship"]
    done = made.run(*words, cwd=project, env={"CLI_TRUST": str(project)})
    assert done.all == (0, "library\n" if gets else "none\n", "")


# A script in Python with its requirements (PEP 723).
WITH_BLOCK = """# Greet with a package.
# /// script
# requires-python = ">=3.11"
# dependencies = ["greeter"]
# ///
import sys
from greeter.words import WORD

print(WORD, *sys.argv[1:])
"""


@pytest.mark.slow
def test_uv_runs_a_script_with_its_requirements(install, tmp_path):
    wheel(tmp_path, "greeter", "1.0", "", {"words.py": "WORD = 'hello'\n"}, points={})
    made = install({"commands/greet.py": WITH_BLOCK})
    file = made.root / "commands/greet.py"
    file.chmod(0o755)
    uv = Path(sys.executable).parent
    env = {
        "PATH": f"{uv}:/usr/bin:/bin",
        "UV_FIND_LINKS": str(tmp_path),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_PYTHON": sys.executable,
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_NO_CONFIG": "1",
    }
    done = made.run("greet", "a b", env=env)
    assert (done.status, done.stdout) == (0, "hello a b\n")
    # An older uv takes the settings of the caller's directory.
    [*_, option, project, _script, _file] = start_of(str(file), env).argv
    assert (option, project) == ("--project", str(file.parent))

    missing = f"{file}: needs uv for its block # /// script, and uv is not on PATH"
    done = made.run("greet", env={"PATH": "/usr/bin:/bin"})
    remedy = "install uv: https://docs.astral.sh/uv/"
    assert done.all == (127, "", f"cli: {missing}; {remedy}\n")
    found = made.run("self", "doctor", env={"PATH": "/usr/bin:/bin"})
    assert f"{file}:1:1: needs uv" in found.stdout


def test_a_block_below_a_shebang_changes_nothing(install):
    file = "commands/greet.py"
    made = install({file: f"#!{sys.executable}\n{WITH_BLOCK}"})
    done = made.run("greet")
    assert (done.status, done.stdout) == (1, "")
    assert "No module named 'greeter'" in done.stderr
    linted = made.run("self", "lint").stdout
    assert f"{file}:1:1: its block # /// script has no effect" in linted
