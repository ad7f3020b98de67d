"""Every command that README and docs show is run, and its output is what they say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.environments import add_build_tools
from testing.installation import PROJECT
from testing.pages import GUIDES, PEERS, clone, matches, run_all, steps_of

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DOCS = [
    "README.md",
    *sorted(str(p.relative_to(PROJECT)) for p in PROJECT.glob("docs/**/*.md")),
]
_OTHERS = {
    "docs/plugins.md",
    *GUIDES,
    *PEERS,
}  # run by test_plugins, test_guides, test_guides

# The first commands of a reader, in this order. .ci/run runs them in a fresh clone.
_FIRST = ["bash install.sh && core/cli demo hello", "bash tests/run"]
_RUN_ELSEWHERE = [
    ("README.md", "bash tests/run\n"),
    ("docs/tutorial.md", "bash tests/run\n"),
    # README shows these with their output.
    (
        "docs/index.md",
        "bash install.sh --name acme\nacme self plugin add ~/bin\nacme\n",
    ),
    ("docs/how-to/install.md", "bash install.sh && core/cli demo hello\n"),
]
# Pages for a reader with a clone, and the directory where the commands begin.
_CLONED = {"README.md": "cli-host", "docs/tutorial.md": ""}


def test_every_page_with_commands_is_run() -> None:
    assert {doc for doc in _DOCS if steps_of((PROJECT / doc).read_text())} == {
        *_CLONED,
        *_OTHERS,
    }


@pytest.mark.night
@pytest.mark.parametrize("page", _CLONED)
def test_commands_of_a_page_for_a_clone(
    page: str, tmp_path: Path, new_venv: Callable[[Path], Path], packages: Path
) -> None:
    """.ci/run calls the first of them where there is no environment and no build tools."""
    home = tmp_path / "home"
    checkout = home / "cli-host"
    clone(checkout)
    build = add_build_tools(new_venv(checkout / ".venv"), packages)
    git = {
        f"GIT_{who}_{what}": "reader@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = {
        **{
            key: value
            for key, value in os.environ.items()
            if key.startswith(("PIP_", "SSL_"))
        },
        "PATH": f"{home}/.local/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "USER": "reader",
        "BIN_DIR": str(home / ".local/bin"),
        "PYTHON": sys.executable,
        "LANG": "C.UTF-8",
        **git,
        **build,
    }
    steps = steps_of((checkout / page).read_text())
    shown = run_all(steps, home / _CLONED[page], env)
    assert len(shown) == len(steps), shown
    for step, output in zip(steps, shown, strict=True):
        assert matches(step.expected, output), f"$ {step.command}\n{output}"


def test_every_command_block_is_tested_or_plain() -> None:
    allowed = {"sh", "console", "json", "python", "toml", "text", "bash", "ini"}
    allowed |= {"just", "make", "yaml"}  # what other programs read
    for name in _DOCS:
        for language, body in _FENCE.findall((PROJECT / name).read_text()):
            if (
                language == "sh" and name != "docs/writing-plugins.md"
            ):  # test_plugins.py runs it
                assert (name, body) in _RUN_ELSEWHERE
            else:
                assert language in allowed, (name, language)


def test_a_reader_s_first_steps_are_in_order() -> None:
    """Install and run, the reader's own folder, the tests."""
    blocks = [block for _, block in _FENCE.findall((PROJECT / "README.md").read_text())]
    install, own, tests = blocks[:3]
    assert install.startswith(f"$ {_FIRST[0]}\n")
    assert "\n$ bash install.sh --name acme\n" in own
    assert tests == f"{_FIRST[1]}\n"


def test_ci_runs_the_first_commands_in_order() -> None:
    run = (PROJECT / ".ci/run").read_text()
    places = [
        run.rindex(command) for command in (*_FIRST, "bash install.sh --uninstall\n")
    ]
    assert places == sorted(places)


def test_the_matcher_can_fail() -> None:
    assert matches(["a … c", "…"], "a b c\nmore\n")
    assert not matches(["a … c"], "a b d\n")
    assert not matches(["a"], "a\nb\n")
