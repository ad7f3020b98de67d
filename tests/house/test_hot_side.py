"""What a run loads: next to nothing; and what only some changes need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from testing.installation import PROJECT, Made, command

# What a run must not pay for: see the hot side in CONTRIBUTING.md.
_BANNED = {
    *(
        "click",
        "dataclasses",
        "dotenv",
        "functools",
        "importlib.metadata",
        "importlib_metadata",
    ),
    *(
        "inspect",
        "json",
        "logging",
        "pathlib",
        "pluggy",
        "re",
        "requests",
        "shutil",
        "signal",
    ),
    *("site", "subprocess", "tempfile", "typing", "wcwidth"),
}

_PLANNED_RUN = """
import sys
sys.path.append({source!r})
sys.argv = {argv!r}
import host.processes.process
def execute(plan):
    print("\\n".join(sorted(sys.modules)))
    raise SystemExit(0)
host.processes.process.execute = execute
from host.__main__ import main
main()
"""


PLAIN = {
    "commands/a/b/command.json": command(envs={"X": "${HOME}"}),
    "commands/a/b/main.sh": "#!/bin/bash\n",
}
WHOLE = {
    **PLAIN,
    "commands/a/b/command.json": command(envs={"X": "${HOME}"}, env_files=[".env"]),
    "commands/a/b/.env": "Y=1\nZ='two'\n",
    "config/settings.conf": "S=1\n",
}


def _started(
    made: Made, program: str, words: list[str]
) -> subprocess.CompletedProcess[str]:
    """Run a program that starts as the launcher does, with `words`."""
    text = program.format(
        source=str(PROJECT / "src"), argv=[str(made.launcher), *words]
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", text],
        env={"PATH": "/usr/bin:/bin", "HOME": str(made.home)},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize("files", [PLAIN, WHOLE], ids=["plain", "whole"])
def test_a_planned_run_imports_next_to_nothing(
    install: Callable[..., Made], files: dict[str, object]
) -> None:
    made = install(files)
    assert made.run("a", "b").status == 0  # writes the lock
    modules = set(_started(made, _PLANNED_RUN, ["a", "b"]).stdout.split())
    assert ("host.variables.settings" in modules) == (files is WHOLE)
    assert not modules & {*_BANNED, "os"}
    assert not {name for name in modules if name.startswith("builtin_plugins")}


_ANSWER = """
import posix, sys
sys.path.append({source!r})
sys.argv = {argv!r}
from host.__main__ import main
end = posix._exit
def tell(status):
    posix.write(2, "\\n".join(sorted(sys.modules)).encode())
    end(status)
posix._exit = tell
main()
"""


@pytest.mark.parametrize(
    ("words", "may"),
    [
        (["--version"], {"json"}),
        (["a"], set()),
        (["--complete", "zsh", "a", ""], set()),
        (
            ["self", "list", "--format", "json"],
            {"site"},
        ),
        (
            ["self", "plugin", "list"],
            {"json", "re", "functools", "typing", "signal", "site"},
        ),
        (["self", "which", "a", "b"], {"re", "functools", "typing", "site"}),
        (["--complete", "zsh", "self", "plugin", "remove", ""], set()),
    ],
    ids=[
        "version",
        "listing",
        "completion",
        "everything",
        "plugins",
        "a word",
        "its completion",
    ],
)
def test_what_an_answer_loads(
    install: Callable[..., Made], words: list[str], may: set[str]
) -> None:
    made = install(PLAIN)
    made.run("a")
    modules = set(_started(made, _ANSWER, words).stderr.split())
    assert "host.pages" in modules
    assert modules & (_BANNED - may) == set()


def test_a_limited_run_imports_little_more(install: Callable[..., Made]) -> None:
    made = install(
        {
            "commands/a/b/command.json": command(
                timeout="10m",
                envs={"API_TOKEN": "hunter22", "KEY_PASSWORD": '"x"\n1234'},
            ),
            "commands/a/b/main.sh": "#!/bin/bash\n",
        }
    )
    address = "https://example.org:8443/builds?branch=main&page=2"
    words = ["a", "b", "--stage=prod", "ada@example.org:/srv", address]
    assert made.run(*words).status == 0  # writes the lock
    modules = set(_started(made, _ANSWER, words).stderr.split())
    assert "host.launch.demands" in modules
    assert not modules & {*_BANNED, "os", "__future__", "fcntl", "select"}


def test_the_packages_that_a_run_makes_itself_have_only_a_docstring() -> None:
    host = PROJECT / "src/host"
    packages = {*host.glob("*/__init__.py")} - {host / "testing/__init__.py"}
    made = (host / "__main__.py").read_text().partition("ROOMS = (")[2]
    assert {f'"{package.parent.name}"' for package in packages} == {
        *re.findall(r'"\w+"', made.partition("\n)")[0])
    }
    for package in packages:
        [docstring] = ast.parse(package.read_text()).body
        assert isinstance(docstring, ast.Expr)


def test_a_change_that_needs_no_network_loads_no_requests() -> None:
    module = "builtin_plugins.plugins.agreed_build"
    program = f"import sys, {module}; print('requests' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
