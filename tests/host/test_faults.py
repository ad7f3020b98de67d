"""Bad input: one line on stderr, the documented status, nothing run, no traceback."""

import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from testing.installation import PROJECT, Result, command

ESCAPES = ("\x1b", "\u202e", "\u2066", "\x07", "\x9b", "\u200b")
HOSTILE = "evil\x1b[31m\x07\r\n\u202egnp\u2066\x9b2J\u200b\0x".replace("\0", "")
RAN = "#!/bin/sh\necho ran\n"


@pytest.fixture(scope="module")
def made(shared_install):
    made = shared_install(
        {
            "commands/demo/good/command.json": command(),
            "commands/demo/good/main.sh": RAN,
        }
    )
    made.run("demo", "good")
    return made


def clean(result):
    """Check what holds for every answer, however bad the input."""
    both = result.stdout + result.stderr
    assert "Traceback" not in both
    assert "internal error" not in both
    assert not [one for one in ESCAPES if one in both]
    return result


def refused(result, status, *parts):
    """Check that one line says why, and that nothing was shown or run."""
    clean(result)
    assert (result.status, result.stdout) == (status, ""), result
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("cli: ")
    for part in parts:
        assert str(part) in result.stderr


def runs(made):
    """Check that a good command still runs, whatever stands beside it."""
    result = made.run("demo", "good")
    assert (result.status, result.stdout) == (0, "ran\n")


# cli.json

CONFIGS = {
    "missing": (None, "configuration file not found: {path}"),
    "empty": (b"", "{path}:1:1: "),
    "malformed": (b'{"name": "N",\n "version": }', "{path}:2:13: "),
    "no object": (b"[]", "{path}: expected an object"),
    "no name": (b'{"version": "1.0.0"}', '{path}: "name": missing'),
    "no version": (b'{"name": "N"}', '{path}: "version": missing'),
    "key twice": (b'{"name": "N", "name": "N"}', '"name" occurs twice'),
    "not UTF-8": (b'{"name": "\xff"}', "{path}:1: not UTF-8"),
    "wrong type": (b'{"name": "N", "version": 1}', '"version": expected a string'),
    "directory": (os.mkdir, "{path}: not a regular file"),
    "fifo": (os.mkfifo, "{path}: not a regular file"),
    "device": (
        lambda path: os.symlink("/dev/zero", path),
        "{path}: not a regular file",
    ),
    "dangling": (
        lambda path: os.symlink("nowhere", path),
        "configuration file not found",
    ),
    "loop": (lambda path: os.symlink(path, path), "{path}: "),
}


@pytest.mark.parametrize(("content", "words"), CONFIGS.values(), ids=CONFIGS.keys())
@pytest.mark.parametrize("how", ["in its place", "GLOBAL_CONFIG_FILE"])
@pytest.mark.sampled
def test_a_bad_cli_json(made, tmp_path, content, words, how):
    own = made.root / "core" / "cli.json"
    path = own if how == "in its place" else tmp_path / "alternate.json"
    saved = own.read_bytes()
    if path.exists():
        path.unlink()
    if callable(content):
        content(path)
    elif content is not None:
        path.write_bytes(content)
    env = {} if path == own else {"GLOBAL_CONFIG_FILE": str(path)}
    asked = [("demo", "good")]
    if (
        content is not None
    ):  # where there is none, no words are answered with the page of --help
        asked.append(())
    if path != own and content is not None:  # --version answers where there is none
        asked.append(("--version",))
    try:
        for arguments in asked:
            result = made.run(*arguments, env=env)
            refused(result, 1, words.format(path=path))
    finally:
        os.rmdir(path) if path.is_dir() else path.unlink(missing_ok=True)
        own.write_bytes(saved)


def test_a_hostile_path_of_cli_json(made):
    refused(
        made.run("demo", "good", env={"GLOBAL_CONFIG_FILE": f"/none/{HOSTILE}"}),
        1,
        "\\x1b[31m",
    )
    refused(
        made.run("demo", "good", env={"CLI_DIR": f"/none/{HOSTILE}"}), 1, "\\x1b[31m"
    )
    refused(
        made.run("demo", "good", env={"CLI_DIR": "/none/\udcff"}),
        1,
        "/none/\\xff/core/cli.json",
    )


# command.json

DEFINITIONS = {
    "malformed": b"{",
    "empty": b"",
    "key twice": b'{"name": "N", "name": "M", "description": "D", "entrypoint": "main.sh"}',
    "NaN": b'{"name": "N", "description": "D", "entrypoint": "main.sh", "x": NaN}',
    "trailing comma": b'{"name": "N", "description": "D", "entrypoint": "main.sh",}',
    "wrong type": b'{"name": 1, "description": "D", "entrypoint": "main.sh"}',
    "no description": b'{"name": "N", "entrypoint": "main.sh"}',
    "bad name in envs": b'{"name":"N","description":"D","entrypoint":"m","envs":{"\\u001b":""}}',
    "not UTF-8": b'{"name": "\xff"}',
    "fifo": os.mkfifo,
    "directory": os.mkdir,
    "device": lambda path: os.symlink("/dev/zero", path),
    "loop": lambda path: os.symlink(path, path),
}


@pytest.mark.parametrize("content", DEFINITIONS.values(), ids=DEFINITIONS.keys())
@pytest.mark.sampled
def test_a_bad_definition_harms_only_its_own_command(made, content):
    folder = made.root / "commands" / "demo" / "bad"
    folder.mkdir()
    path = folder / "command.json"
    path.write_bytes(content) if isinstance(content, bytes) else content(path)
    (folder / "main.sh").write_text(RAN)
    try:
        refused(made.run("demo", "bad"), 1, path)
        refused(made.run("demo", "bad", "--help"), 1, path)
        runs(made)
        listing = clean(made.run("demo"))
        assert listing.status == 0
        assert "good" in listing.stdout
        assert "bad" not in listing.stdout.split()
        assert listing.stderr.count("\n") == 1
        assert f"{path}" in listing.stderr
    finally:
        shutil.rmtree(folder)


def test_a_bom_is_no_fault(made):
    made.write({"commands/demo/bom/main.sh": RAN})
    made.write(
        {
            "commands/demo/bom/command.json": b"\xef\xbb\xbf"
            + json.dumps(command()).encode()
        }
    )
    assert made.run("demo", "bom").all == (0, "ran\n", "")


@pytest.mark.parametrize("content", ["{", '{"name": 1}', "[]"])
def test_a_bad_category(made, content):
    made.write({"commands/demo/category.json": content})
    listing = clean(made.run("demo"))
    root = clean(made.run())
    (made.root / "commands" / "demo" / "category.json").unlink()
    assert (listing.status, root.status) == (0, 0)
    assert "good" in listing.stdout
    assert "demo" in root.stdout
    assert root.stderr.count("\n") == 1


# Words

WORDS = {
    "category": (
        ("dem", "good"),
        "cli: unknown command dem; did you mean cli demo?\n",
    ),
    "command": (
        ("demo", "god"),
        "cli: unknown command god in demo; did you mean cli demo good?\n",
    ),
    "nothing near": (("zzzz",), "cli: unknown command zzzz; see: cli --help\n"),
    "option": (("--none",), "--none"),
    "option of a category": (("demo", "--none"), "--none"),
    "option of a category before": (("demo", "-x", "good"), "-x"),
    "hostile": ((HOSTILE,), "evil\\x1b[31m\\x07\\r\\n\\u202egnp\\u2066\\x9b2J\\u200b"),
    "hostile command": (("demo", HOSTILE), "\\x1b[31m"),
    "not UTF-8": ((b"\xff\xfe",), "\\xff\\xfe"),
    "empty": (("",), "cli: "),
    "empty command": (("demo", ""), "cli: "),
    "path": (("demo/good",), "demo/good"),
    "path up": (("demo", "../demo/good"), "../demo/good"),
    "dots": (("..", "commands", "demo", "good"), ".."),
    "huge": (("x" * 100_000,), "cli: unknown command"),
    "many": (tuple("x" for _ in range(10_000)), "cli: unknown command x"),
    "format": (("--format", "none"), "none"),
}


@pytest.mark.parametrize(("words", "told"), WORDS.values(), ids=WORDS.keys())
@pytest.mark.sampled
def test_unknown_words(made, words, told):
    refused(made.run(*words), 2, told)


# Hostile names and texts in definitions


@pytest.mark.slow
def test_hostile_texts_are_shown_escaped(made):
    made.write(
        {
            "commands/hostile/category.json": {"name": HOSTILE, "description": HOSTILE},
            "commands/hostile/one/command.json": command(
                name=HOSTILE,
                description=HOSTILE,
                group=HOSTILE,
                env_files=[HOSTILE],
                required_envs=["GONE"],
                os=["linux", "mac", HOSTILE],
                examples=[{"command": HOSTILE, "description": HOSTILE}],
                args=[{"name": "x", "description": HOSTILE, "choices": [HOSTILE]}],
                confirm=HOSTILE,
                unknown=HOSTILE,
            ),
            "commands/hostile/one/main.sh": RAN,
            "commands/hostile/two/command.json": command(os=[HOSTILE]),
            "commands/hostile/three/command.json": command(entrypoint=f"../{HOSTILE}"),
            "commands/hostile/four/command.json": command(entrypoint=HOSTILE),
        }
    )
    for words in (
        (),
        ("hostile",),
        ("hostile", "--format", "tree"),
        ("self", "list", "--all"),
        ("help", "hostile", "one"),
        ("hostile", "one", "--help"),
    ):
        result = clean(made.run(*words))
        assert (result.status, result.stderr) == (0, ""), words
        assert "\\x1b[31m" in result.stdout or "tree" in words  # which shows words only
    assert json.loads(made.run("self", "list", "--format", "json").stdout)["commands"]
    refused(made.run("hostile", "one"), 1, "\\x1b[31m")
    refused(made.run("hostile", "two"), 126, "\\x1b[31m")
    refused(made.run("hostile", "three"), 1, "\\x1b[31m")
    refused(made.run("hostile", "four"), 127, "\\x1b[31m")
    refused(made.run("hostile", "one", "y"), 2, "\\x1b[31m")
    for wrong in (
        {"args": [{"name": HOSTILE}]},
        {"aliases": [HOSTILE]},
        {"required_envs": [HOSTILE]},
    ):
        made.write({"commands/hostile/five/command.json": command(**wrong)})
        refused(made.run("hostile", "five"), 1, "\\x1b[31m")
    shutil.rmtree(made.root / "commands" / "hostile")


@pytest.mark.skipif(
    sys.platform == "darwin", reason="the file system refuses such names"
)
def test_hostile_names_of_files(made):
    names = [f"d{HOSTILE}", "\udcff", "sp ace", "-dash", "x" * 200]
    for name in names:
        (made.root / "commands" / "demo" / name).mkdir()
    os.mkfifo(made.root / "commands" / "demo" / "fifo")
    (made.root / "commands" / "demo" / "loop").symlink_to("loop")
    (made.root / "commands" / "demo" / "up").symlink_to("..")
    try:
        runs(made)
        listing = clean(made.run("demo"))
        assert (listing.status, listing.stderr.count("\n")) == (
            0,
            len(names) + 1,
        )  # and `up`
        assert all("left out" in line for line in listing.stderr.splitlines())
        assert "good" in listing.stdout
        everything = clean(made.run("self", "list"))
        assert (everything.status, everything.stderr.count("\n")) == (0, len(names) + 1)
    finally:
        for name in names:
            (made.root / "commands" / "demo" / name).rmdir()
        for name in ("fifo", "loop", "up"):
            (made.root / "commands" / "demo" / name).unlink()


@pytest.mark.parametrize("what", ["commands", "plugins", "config", "core/lib"])
@pytest.mark.parametrize("make", [None, os.mkfifo, Path.touch, lambda path: path.symlink_to(path)],
                         ids=["missing", "fifo", "file", "loop"])  # fmt: skip
@pytest.mark.sampled
def test_a_directory_that_is_none(install, what, make):
    made = install(
        {
            "commands/demo/good/command.json": command(),
            "commands/demo/good/main.sh": RAN,
            "plugins/p/extra/good/command.json": command(),
            "plugins/p/extra/good/main.sh": RAN,
            "config/settings.conf": "X=1\n",
        }
    )
    path = made.root / what
    path.unlink() if path.is_symlink() else shutil.rmtree(path)
    if make is not None:
        make(path)
    for category, own in (("demo", "commands"), ("extra", "plugins")):
        result = clean(made.run(category, "good"))
        if own == what:
            assert (result.status, result.stdout) == (2, "")
            assert (
                result.stderr.count("\n") <= 3
            )  # a broken registry is a line of its own
        elif what == "config" and make is not None and result.status == 1:
            refused(result, 1, path)
        else:
            assert (result.status, result.stdout) == (0, "ran\n")
    listing = clean(made.run())
    assert listing.status == 0
    assert listing.stderr.count("\n") <= 2


# Permissions


def without_rights(made, *words, **options):
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("setpriv as root is needed")
    drop = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    return made.run(*drop, made.launcher, *words, executable=setpriv, **options)


UNREADABLE = {
    "cli.json": ("core/cli.json", 1),
    "command.json": ("commands/demo/good/command.json", 1),
    "script": ("commands/demo/good/main.sh", 126),
    "its directory": ("commands/demo/good", 1),
    "category": ("commands/demo", 1),
    "commands": ("commands", 2),
    "core": ("core", None),
    "settings.conf": ("config/settings.conf", 1),
}


@pytest.mark.parametrize(("name", "status"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read(made, name, status):
    made.write({"config/settings.conf": "X=1\n"})
    path = made.root / name
    mode = stat.S_IMODE(path.stat().st_mode)
    path.chmod(0)
    try:
        result = without_rights(made, "demo", "good")
        listing = None
        if name.startswith(("commands", "core")):
            listing = without_rights(made, "demo")
    finally:
        path.chmod(mode)
        (made.root / "config" / "settings.conf").unlink()
    assert "ran" not in result.stdout
    if status is not None:  # without `core` there is no launcher to start
        last = result.stderr.splitlines(keepends=True)[-1]
        refused(Result(result.status, result.stdout, last), status)
        assert f"{path}" in result.stderr
        assert result.stderr.count("\n") <= 2
    assert listing is None or "Traceback" not in listing.stderr


def test_a_directory_that_cannot_be_listed_still_runs(made):
    folder = made.root / "commands" / "demo"
    folder.chmod(0o311)
    try:
        assert without_rights(made, "demo", "good").all == (0, "ran\n", "")
        listing = clean(without_rights(made, "demo"))
        assert f"{folder}: Permission denied" in listing.stderr
    finally:
        folder.chmod(0o755)


@pytest.fixture(scope="module")
def for_nobody(made, tmp_path_factory):
    """Run the program as nobody, whose interpreter must not lie below /root."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("setpriv as root is needed")
    from builtin_plugins.program.launcher import launcher_text

    packages = os.path.realpath(PROJECT / "src")
    site = sysconfig.get_path("purelib")
    for python in ("/usr/bin/python3", sys.executable):
        check = [
            setpriv,
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            python,
            "-IS",
            "-c",
        ]
        script = f"import sys; sys.path += {[packages, site]!r}; import host.program, pluggy; "
        script += "assert sys.version_info >= (3, 11)"
        done = subprocess.run([*check, script], capture_output=True, check=False)
        if done.returncode == 0:
            break
    else:
        pytest.skip("nobody can read no interpreter and the packages")
    launcher = made.root / "core" / "nobody"
    text = launcher_text(python)
    launcher.write_text(text.replace("\ntry:", f"\nsys.path.append({site!r})\ntry:", 1))
    launcher.chmod(0o755)
    opened = []
    for directory in made.root.parents:
        mode = stat.S_IMODE(directory.stat().st_mode)
        if mode & 0o005 != 0o005:
            opened.append((directory, mode))
            directory.chmod(mode | 0o055)

    def run(*words, **options):
        nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        return made.run(*nobody, launcher, *words, executable=setpriv, **options)

    yield run
    for directory, mode in opened:
        directory.chmod(mode)


@pytest.mark.slow
def test_as_nobody_with_a_lock_of_roots(made, for_nobody):
    """It finds root's lock made by another interpreter, cannot write one, and runs."""
    made.run("demo", "good")
    env = {"HOME": "/nonexistent"}
    result = clean(for_nobody("demo", "good", env=env))
    assert (result.status, result.stdout) == (0, "ran\n")
    secret = made.root / "commands" / "demo" / "good" / "command.json"
    secret.chmod(0o600)
    result = for_nobody("demo", "good", env=env)
    secret.chmod(0o644)
    assert (result.status, result.stdout) == (1, "")
    assert f"{secret}: Permission denied" in result.stderr


# Environment: nothing set


@pytest.mark.parametrize(
    "words", [("demo", "good"), (), ("demo",), ("--version",), ("self", "list")]
)
def test_a_bare_environment(made, words):
    line = " ".join(["exec env -i", str(made.launcher), *words])
    result = clean(made.run("-c", line, executable="/bin/sh"))
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout


ODD_ENVIRONMENTS = {
    "TERM dumb": {"TERM": "dumb"},
    "TERM empty": {"TERM": ""},
    "TERM unknown": {"TERM": "no\x1b[31m"},
    "HOME nowhere": {"HOME": "/none"},
    "HOME empty": {"HOME": ""},
    "HOME relative": {"HOME": "x"},
    "PATH empty": {"PATH": ""},
    "COLUMNS odd": {"COLUMNS": "x"},
    "COLUMNS huge": {"COLUMNS": "99999999999"},
    "COLUMNS zero": {"COLUMNS": "0"},
    "COLUMNS negative": {"COLUMNS": "-5"},
    "COLUMNS one": {"COLUMNS": "1"},
    "locale unknown": {"LC_ALL": "xx_XX.no"},
    "locale C": {"LC_ALL": "C"},
    "encoding unknown": {"PYTHONIOENCODING": "none"},
    "not UTF-8": {
        "X": "\udcff",
        "TERM": "\udcff",
        "HOME": "/\udcff",
        "XDG_CACHE_HOME": "/\udcff",
    },
    "PYTHONPATH": {"PYTHONPATH": "/none", "PYTHONHOME": "/none", "PYTHONINSPECT": "1"},
}


@pytest.mark.parametrize("env", ODD_ENVIRONMENTS.values(), ids=ODD_ENVIRONMENTS.keys())
def test_odd_environments(made, env):
    is_for_listings = env.keys() & {"COLUMNS", "TERM"}
    for words in (("demo",),) if is_for_listings else (("demo", "good"), ("demo",)):
        result = clean(made.run(*words, env=env))
        assert (result.status, result.stderr) == (0, ""), words


# Closed and full streams


def shell(made, line, **options):
    line = line.replace("CLI", str(made.launcher))
    return clean(made.run("-c", line, executable="/bin/bash", **options))


SHOWS = [
    "demo",
    "--version",
    "help demo good",
    "self list --format json",
    "self plugin add --help",
]


@pytest.mark.parametrize("words", SHOWS)
def test_a_full_or_closed_stdout(made, words):
    result = shell(made, f"CLI {words} > /dev/full")
    refused(result, 1, "No space left on device")
    result = shell(made, f"CLI {words} >&-")
    refused(result, 1)
    result = shell(made, f"CLI {words} | true; echo ${{PIPESTATUS[0]}}")
    assert (result.stdout in ("141\n", "0\n"), result.stderr) == (True, "")


CLOSED = ["2>&-", "<&- 2>&-", "2> /dev/full", "<&- >/dev/null 2>&-"]


@pytest.mark.parametrize("streams", CLOSED)
def test_other_streams_closed_or_full(made, streams):
    for words, status in (("demo good", 0), ("demo", 0), ("demo none", 2)):
        result = shell(made, f"CLI {words} {streams}")
        assert result.status == status, words
        quiet = "/dev/null" in streams
        assert bool(result.stdout) is (status == 0 and not quiet)


@pytest.mark.slow
@pytest.mark.parametrize("streams", ["<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_nothing_is_written_to_what_is_not_stdout(made, tmp_path, streams):
    """Files that are opened must not get the numbers of streams that are closed."""
    made.write({"config/settings.conf": "X=1\n"})
    before = {path: path.read_bytes() for path in made.root.rglob("*.json")}
    all_closed = streams.count("-") == 3
    for words in ("demo good", *(("self list", "none") if all_closed else ())):
        (made.root / "cli.lock").unlink(missing_ok=True)
        result = shell(made, f"CLI {words} {streams}")
        assert result.stdout == ""
        assert result.status in (0, 1, 2)
    (made.root / "config" / "settings.conf").unlink()
    assert before == {path: path.read_bytes() for path in made.root.rglob("*.json")}
    runs(made)


def test_a_deleted_current_directory(made, tmp_path):
    for words in ("demo good", "demo", "self list"):
        gone = tmp_path / "gone"
        gone.mkdir()
        result = clean(made.run("-c", f"rmdir {gone}; exec {made.launcher} {words}",
                                executable="/bin/dash", cwd=gone))  # fmt: skip
        assert result.status == 0, words
        assert result.stdout
        assert (
            result.stderr == "" or words == "demo good"
        )  # a shell complains by itself


@pytest.mark.slow
def test_a_directory_of_the_installation_that_vanishes_meanwhile(made):
    """Commands appear and vanish while listings run: no traceback, whatever they see."""
    folder = made.root / "commands" / "demo" / "flicker"
    script = (
        f"while [ ! -e {made.root}/stop ]; do mkdir -p {folder}/a/b; "
        f"echo '{{' > {folder}/a/command.json; rm -rf {folder}; done"
    )
    process = subprocess.Popen(["/bin/sh", "-c", script])
    end = time.monotonic() + 0.7
    try:
        while time.monotonic() < end:
            assert clean(made.run("self", "list")).status == 0
            assert clean(made.run("demo", "flicker", "a")).status in (0, 1, 2)
    finally:
        (made.root / "stop").touch()
        process.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def test_internal_errors_are_one_line_and_with_debug_a_traceback(made):
    """No input is known that leads there, so the program is broken by hand."""
    launcher = made.root / "core" / "broken"
    text = made.launcher.read_text().replace(
        "sys.exit(main())",
        "import host.__main__ as program\n"
        "def find_layout(*_):\n    raise RuntimeError('odd\\nand \\x1b')\n"
        "program.find_layout = find_layout\nsys.exit(main())",
    )
    launcher.write_text(text)
    launcher.chmod(0o755)
    result = made.run("demo", "good", executable=launcher)
    assert result.all == (
        *(1, ""),
        "broken: internal error: RuntimeError: odd\\nand \\x1b; for details, set DEBUG=1\n",
    )
    result = made.run("demo", "good", executable=launcher, env={"DEBUG": "1"})
    assert (result.status, "Traceback" in result.stderr) == (1, True)


# What is no file

FILES = [
    "plugins/registry.json",
    "plugins/.registry.last.json",
    "plugins/.registry.local.last.json",
    "plugins/.registry.lock",
    "plugins/p/plugin.json",
    "commands/a/b/command.json",
    "commands/a/category.json",
    "commands/a/b/.env",
    "commands/a/b/main.sh",
    "config/settings.conf",
    "core/cli.json",
    "cli.lock",
    "cli.lock.index",
]


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
        made.bind(path.name)


# Who opens a FIFO waits. Of the others, some files are one.
KINDS = {"FIFO": os.mkfifo, "directory": os.mkdir, "socket": make_socket}
SOME = {
    ("directory", "commands/a/b/.env"),
    ("directory", "core/cli.json"),
    ("socket", "cli.lock"),
}
NO_FILES = [
    pytest.param(name, make, id=f"{kind}-{name}")
    for name in FILES
    for kind, make in KINDS.items()
    if kind == "FIFO" or (kind, name) in SOME
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "make"), NO_FILES)
@pytest.mark.sampled
def test_what_is_no_file_never_waits(install, name, make):
    made = install(
        {
            "commands/a/b/command.json": command(env_files=[".env"]),
            "commands/a/b/main.sh": RAN,
            "plugins/p/q/r/command.json": command(),
            "config/settings.conf": "S=1\n",
        }
    )
    made.run("a", "b")
    path = made.root / name
    path.unlink(missing_ok=True)
    make(path)
    for words in (["a", "b"], ["a"], ["self", "doctor"]):
        result = clean(made.run(*words))
        assert result.stderr.count("\n") <= 2, words


def test_a_missing_dev_null_is_one_line_or_no_problem(install):
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    made = install(
        {"commands/a/b/command.json": command(), "commands/a/b/main.sh": RAN}
    )
    # /dev/shm stays, because the installation may be there.
    bare = "mount --bind /dev/shm /mnt; mount -t tmpfs tmpfs /dev; mkdir /dev/shm; "
    bare += 'mount --bind /mnt /dev/shm; exec "$@"'
    without = ("-m", "sh", "-c", bare, "_", str(made.launcher))
    unshare = Path(shutil.which("unshare"))
    expected = made.run("a", "b").all
    assert made.run(*without, "a", "b", executable=unshare, input=b"").all == expected
    assert made.run(*without, "--version", executable=unshare, input=b"").status == 0
    made.write({"config/settings.conf": "A=1\n"})
    said = "cli: /dev/null: No such file or directory; to make it, as root: mknod"
    failed = made.run(*without, "a", "b", executable=unshare, input=b"")
    assert (failed.status, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert failed.stderr.startswith(said)
