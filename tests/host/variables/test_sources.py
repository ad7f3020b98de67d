"""Sources that plugins declare: ranks between, words that they serve, and bad answers."""

import os
import posix
import signal
import time

import pytest

from host.catalog.declared_commands import parse_declared
from host.errors import SourceError
from host.pages.variable_table import traced_variables
from host.record_base import EnvSource
from host.variables.layers import ENV_FILES, ENVS, SETTINGS, Layers
from host.variables.read_sources import SourceReader
from testing.installation import command
from testing.processes import processes_left_with

MODULE = """
import os, signal, subprocess, sys, time
def words(words, environment):
    return {"WORDS": " ".join(words), "SEEN": environment.get("A", "none")}

def same(words, environment):
    environment["HOME"] = "changed"
    return {"A": environment["A"]}

answer = {}
def given(words, environment):
    return answer["it"]

def fails(words, environment):
    raise RuntimeError("odd")

def exits(words, environment):
    raise SystemExit(0)

def reaches(words, environment):
    os.chdir("/")
    os.umask(0o077)
    os.environ["REACHED"] = "1"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    os.write(1, b"written\\n")
    subprocess.run(["echo", "by another"])
    return {"A": "", "B": "b"}

def forks(words, environment):
    os.fork()
    return {"A": str(os.getpid())}

def leaves_running(words, environment):
    subprocess.Popen(["sleep", "60"], env={"MARK": environment["MARK"]})
    return {"A": "1"}

def closes(words, environment):
    sys.stdout.close()
    return {"A": "1"}

async def waits(words, environment):
    return {}

def dies(words, environment):
    os._exit(0)

def killed(words, environment):
    os.kill(os.getpid(), signal.SIGKILL)

def hangs(words, environment):
    subprocess.Popen(["sleep", "60"], env={"MARK": environment["MARK"]})
    time.sleep(60)

def large(words, environment):
    return {f"V{n}": "" if n % 2 else "x" * 997 for n in range(3000)}
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    import importlib
    import sys

    (tmp_path / "cli_host_test_provider.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("cli_host_test_provider")
    del sys.modules["cli_host_test_provider"]


def python(function, rank=SETTINGS, words=()):
    provider = f"cli_host_test_provider:{function}"
    return EnvSource(function, rank, (), provider, words, "python", "acme")


def read(*sources, system=None, **fields):
    layers = Layers(system or {}, {})
    definition = parse_declared("plugin x", command(**{**fields, "entrypoint": "a:b"}))
    reading = SourceReader(("demo", "one"), definition, layers, [].append)
    for source in sources:
        reading.read(source)
    return layers


def test_a_provider_gets_words_and_the_environment_so_far(module):
    layers = read(python("words"), system={"A": "a", "WORDS": "mine"})
    assert layers.environment() == {"A": "a", "WORDS": "mine", "SEEN": "a"}


def test_a_provider_changes_nothing_but_what_it_returns(module):
    system = {"A": "a", "HOME": "/h"}
    assert read(python("same"), system=system).environment() == system


def test_only_the_commands_that_it_serves(module):
    served = [(), ("demo",), ("demo", "one")]
    others = [("demo", "two"), ("one",), ("demo", "one", "more")]
    for words in [*served, *others]:
        found = read(python("words", words=words)).environment()
        assert bool(found) is (words in served)


def test_the_stronger_of_two_that_say_the_same_keeps_its_rank(module, tmp_path):
    """What repeats a weaker value takes it over: a weaker third cannot change it."""
    (tmp_path / "a.env").write_text("A=first\n")
    (tmp_path / "b.env").write_text("A=second\n")
    layers = read(
        EnvSource("a", ENV_FILES, [str(tmp_path / "a.env")]),
        python("same", rank=3.5),
        EnvSource("b", ENV_FILES, [str(tmp_path / "b.env")]),
    )
    assert layers.environment() == {"A": "first"}
    winner = traced_variables(layers)["A"]
    assert (winner.rank, winner.value) == (3.5, "first")
    assert [one.value for one in winner.shadows] == ["second", "first"]


def test_ranks_between(module, tmp_path):
    (tmp_path / "a.env").write_text("A=file\nB=file\n")
    module.answer["it"] = {"A": "provider", "B": "provider", "C": "provider"}
    file = EnvSource("a", ENV_FILES, [str(tmp_path / "a.env")])
    own = EnvSource("envs", ENVS, reader="envs")
    for rank, expected in ((ENVS, "envs"), (SETTINGS, "envs"), (ENV_FILES, "envs")):
        layers = read(python("given", rank=rank), file, own, envs={"A": "envs"})
        assert layers.get("A") == expected
        assert layers.get("B") == ("file" if rank == ENV_FILES else "provider")
        assert layers.get("C") == "provider"


@pytest.mark.parametrize(
    ("answer", "told"),
    [(one, "expected a dict that maps variable names")
     for one in (None, [], {"A": 1}, {1: "A"}, {"A B": ""}, {"": ""}, {"A": "\0"}, {"A": None})]
    + [({"A": "\ud83d"}, "surrogates not allowed")],
    ids=repr,
)  # fmt: skip
def test_bad_answers(module, answer, told):
    module.answer["it"] = answer
    with pytest.raises(SourceError, match=told) as caught:
        read(python("given"))
    assert "acme" in str(caught.value)


def test_what_cannot_be_loaded():
    for provider in ("cli_host_none:x", "host.errors:none"):
        with pytest.raises(
            SourceError, match=f"plugin acme: {provider}: cannot be loaded"
        ):
            read(EnvSource("s", 3, (), provider, (), "python", "acme"))


@pytest.mark.parametrize(
    ("function", "told"),
    [("fails", "raised RuntimeError: odd"), ("exits", "raised SystemExit: 0")],
)
def test_a_provider_that_raises_or_exits(module, function, told):
    with pytest.raises(SourceError, match=f"plugin acme: .*:{function}: {told}"):
        read(python(function))


def test_nothing_that_a_provider_does_reaches_the_run(module, capfd):
    mask = os.umask(0o022)
    os.umask(mask)
    before = (
        os.getcwd(),
        dict(os.environ),
        {one: signal.getsignal(one) for one in signal.Signals},
    )
    assert read(python("reaches")).environment() == {"A": "", "B": "b"}
    after = (
        os.getcwd(),
        dict(os.environ),
        {one: signal.getsignal(one) for one in signal.Signals},
    )
    assert after == before
    assert (os.umask(mask), signal.pthread_sigmask(signal.SIG_BLOCK, [])) == (
        mask,
        set(),
    )
    out, err = capfd.readouterr()
    assert (out, sorted(err.splitlines())) == ("", ["by another", "written"])


def test_a_fork_in_a_provider_answers_once(module):
    for _ in range(5):
        answer = read(python("forks")).environment()["A"]
        assert answer != str(os.getpid())
        with pytest.raises(ProcessLookupError):  # no process of it is left
            os.kill(int(answer), 0)


@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_provider_that_is_async(module):
    with pytest.raises(SourceError, match="expected a dict that maps variable names"):
        read(python("waits"))


def test_a_provider_that_closes_stdout(module):
    assert read(python("closes")).environment() == {"A": "1"}


def test_what_a_provider_answers_may_be_long(module):
    found = read(python("large")).environment()
    assert len(found) == 3000
    assert (found["V0"], found["V1"]) == ("x" * 997, "")


@pytest.mark.parametrize("function", ["dies", "killed"])
def test_a_provider_that_ends_its_process(module, function):
    with pytest.raises(SourceError, match=f"acme: .*:{function}: ended the process"):
        read(python(function))


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs /proc")
@pytest.mark.parametrize("function", ["hangs", "leaves_running"])
def test_what_a_provider_starts_is_gone_when_it_has_answered_or_hung(module, function):
    mark = f"mark-{time.monotonic_ns()}"
    system = {
        "MARK": mark,
        "CLI_SETTINGS_TIMEOUT": "1" if function == "hangs" else "60",
    }
    if function == "hangs":
        with pytest.raises(SourceError, match="did not answer within 1 s"):
            read(python(function), system=system)
    else:
        assert read(python(function), system=system).get("A") == "1"
    assert processes_left_with(mark) == []


def test_what_the_system_does_not_know(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr(posix, "getuid", lambda: 3_999_999_999)
    text = "$PWD|$HOME|$USER|${PWD:-none}"
    assert (
        read(EnvSource("envs", ENVS, reader="envs"), envs={"A": text}).get("A")
        == "|||none"
    )
