"""Every command that README and docs show is run, and its output is what they say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from testing.environments import add_build_tools
from testing.installation import PROJECT
from testing.pages import GUIDES, INSIDE, PEERS, clone, matches, run_all, steps_of

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DOCS = ["README.md", *sorted(str(p.relative_to(PROJECT)) for p in PROJECT.glob("docs/**/*.md"))]
_OTHERS = {
    "docs/plugins.md",
    *GUIDES,
    *INSIDE,
    *PEERS,
}  # run by test_plugins, test_guides, test_guides

# By .ci/run and test_site.
_INSTALLER = "curl -LsSf https://cli-host.github.io/cli-host/install.sh | sh\n"
_RUN_ELSEWHERE = [
    ("README.md", "bash tests/run\n"),
    ("README.md", _INSTALLER),
    ("docs/index.md", _INSTALLER),
]


def test_every_page_with_commands_is_run() -> None:
    assert {doc for doc in _DOCS if steps_of((PROJECT / doc).read_text())} == {
        "README.md",
        *_OTHERS,
    }


def test_commands_of_the_readme(
    tmp_path: Path, new_venv: Callable[[Path], Path], packages: Path
) -> None:
    """.ci/run calls the first of them where there is no environment and no build tools."""
    checkout = tmp_path / "cli-host"
    clone(checkout)
    build = add_build_tools(new_venv(checkout / ".venv"), packages)
    home = tmp_path / "home"
    home.mkdir()
    env = {
        **{key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_"))},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "USER": "reader",
        "BIN_DIR": str(home / "bin"),
        "PYTHON": sys.executable,
        "LANG": "C.UTF-8",
        **build,
    }
    steps = steps_of((checkout / "README.md").read_text())
    shown = run_all(steps, checkout, env)
    assert len(shown) == len(steps), shown
    for step, output in zip(steps, shown, strict=True):
        assert matches(step.expected, output), f"$ {step.command}\n{output}"


def test_every_command_block_is_tested_or_plain() -> None:
    allowed = {"sh", "console", "json", "python", "toml", "text", "bash", "ini"}
    allowed |= {"just", "make", "yaml"}  # what other programs read
    for name in _DOCS:
        for language, body in _FENCE.findall((PROJECT / name).read_text()):
            if language == "sh" and name != "docs/writing-plugins.md":  # test_plugins.py runs it
                assert (name, body) in _RUN_ELSEWHERE
            else:
                assert language in allowed, (name, language)


def test_ci_runs_the_commands_of_the_readme_in_order_and_first() -> None:
    page, run = ((PROJECT / name).read_text() for name in ("README.md", ".ci/run"))
    commands = ["bash install.sh && core/cli demo hello", "bash tests/run"]
    assert [
        page.count(f"\n{start}{one}\n") for start, one in zip(["$ ", ""], commands, strict=True)
    ] == [1, 1]
    rest = ["bash install.sh --uninstall\n", "-m venv .venv-lint"]
    places = [run.rindex(one) for one in (*commands, *rest)]
    assert places == sorted(places)


def test_the_matcher_can_fail() -> None:
    assert matches(["a … c", "…"], "a b c\nmore\n")
    assert not matches(["a … c"], "a b d\n")
    assert not matches(["a"], "a\nb\n")
