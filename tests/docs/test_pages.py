"""Every command that README and docs show is run, and its output is what they say."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

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


def test_every_page_with_commands_is_run() -> None:
    assert {doc for doc in _DOCS if steps_of((PROJECT / doc).read_text())} == {
        "README.md",
        *_OTHERS,
    }


def test_commands_of_the_readme(tmp_path: Path) -> None:
    checkout = tmp_path / "cli-host"
    clone(checkout)
    home = tmp_path / "home"
    home.mkdir()
    env = {
        **{key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_"))},
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "USER": "reader",
        "BIN_DIR": str(home / "bin"),
        "PYTHON": sys.executable,
        "LANG": "C.UTF-8",
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
                assert (name, body) == ("README.md", "bash tests/run\n")
            else:
                assert language in allowed, (name, language)


def test_the_test_command_of_the_readme_is_what_ci_calls() -> None:
    assert "```sh\nbash tests/run\n```" in (PROJECT / "README.md").read_text()
    assert (PROJECT / ".ci" / "run").read_text().rstrip().endswith("\nbash tests/run")


def test_the_matcher_can_fail() -> None:
    assert matches(["a … c", "…"], "a b c\nmore\n")
    assert not matches(["a … c"], "a b d\n")
    assert not matches(["a"], "a\nb\n")
