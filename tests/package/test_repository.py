"""Files of the repository that no other test runs: they parse, and what they name exists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from testing.installation import PROJECT

_YAML = sorted([*PROJECT.glob(".github/**/*.yml"), PROJECT / ".pre-commit-config.yaml"])
_WORKFLOWS = sorted(PROJECT.glob(".github/workflows/*.yml"))


@pytest.mark.parametrize("file", _YAML, ids=lambda file: str(file.relative_to(PROJECT)))
def test_it_parses(file: Path) -> None:
    assert yaml.safe_load(file.read_text())


_ROOT = """
.ci .devcontainer .dockerignore .editorconfig .github .gitignore .pre-commit-config.yaml
.pre-commit-hooks.yaml CHANGELOG.md CODE_OF_CONDUCT.md CONTRIBUTING.md LICENSE README.md
SECURITY.md action.yml bench commands config core docs examples install.sh mkdocs.yml packages
plugins pyproject.toml release src tests
"""


def test_the_root_contains_only_what_belongs_there() -> None:
    """A trial in the root leaves files that `git add --all` commits unseen."""
    git = ["git", "-c", f"safe.directory={PROJECT}", "ls-files", "-z"]
    tracked = subprocess.run(
        git, cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    names = {path.split("/")[0] for path in tracked.split("\0")[:-1]}
    assert names == set(_ROOT.split())


def steps_of(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return [step for job in jobs for step in job.get("steps", [])]


@pytest.mark.parametrize("workflow", _WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_what_a_workflow_runs_is_here(workflow: Path) -> None:
    said = [step["run"].split() for step in steps_of(workflow) if "run" in step]
    ours = [
        word
        for words in said
        for word in words
        if re.match(r"(\.ci|docs|release|tests)/", word)
    ]
    assert ours or not said
    for word in ours:
        is_executable = (PROJECT / word).stat().st_mode & 0o100
        is_argument = word in (".ci/run", "docs/build") or word.endswith(
            ".py"
        )  # of bash
        assert is_executable or is_argument, word


@pytest.mark.parametrize("workflow", _WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_a_workflow_may_do_little(workflow: Path) -> None:
    read = yaml.safe_load(workflow.read_text())
    assert read["permissions"] in ({}, {"contents": "read"})
    assert [step for step in steps_of(workflow) if "secrets." in str(step)] == []
    for step in steps_of(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"] == {"persist-credentials": False}


def uses_of(workflow: Path) -> list[str]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    called = [*jobs, *steps_of(workflow)]
    return [call["uses"] for call in called if "uses" in call]


@pytest.mark.parametrize("workflow", _WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_an_action_is_pinned_by_commit(workflow: Path) -> None:
    for action in uses_of(workflow):
        assert action.startswith("./") or re.search(r"@[0-9a-f]{40}$", action), action


def test_the_whole_sweeps_run_each_night() -> None:
    steps = steps_of(PROJECT / ".github/workflows/nightly.yml")
    runs = [
        step["run"] for step in steps if step.get("env", {}).get("FULL_SWEEP") == "1"
    ]
    assert runs[:2] == ["bash tests/run", "bash packages/run-tests"]
    assert "tests/package/test_clean_root.py" in runs[2]


def test_each_package_is_published_and_after_the_program() -> None:
    steps = steps_of(PROJECT / ".github/workflows/release.yml")
    folders = [
        step["with"]["packages-dir"]
        for step in steps
        if "publish" in step.get("uses", "")
    ]
    packages = [
        f"dist/{file.parent.name}/"
        for file in PROJECT.glob("packages/*/pyproject.toml")
    ]
    assert folders[0] == "dist/cli-host/"
    assert set(packages) <= set(folders[1:])


@pytest.mark.parametrize(
    "page", ["SECURITY.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md"]
)
def test_what_a_page_names_is_here(page: str) -> None:
    text = (PROJECT / page).read_text()
    named = re.findall(r"`((?:tests|docs|release|bench)/[\w./-]+)`", text)
    linked = [one for one in re.findall(r"\]\(([^)#]+)", text) if "://" not in one]
    for name in [*named, *linked]:
        assert (PROJECT / name).exists(), f"{page} names {name}"


# In place of Python: it makes an environment of itself, and records the calls of pytest. As pytest
# does, it exits with 5 if no test fits -k: `rare` is only in the package `two`.
_RECORDER = """#!/bin/sh
case "$*" in
  *sysconfig*) echo "$TMPDIR/site" ;;
  "-m venv"*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/pip-licenses" ;;
  *"-m pytest"*)
    printf '%s:' "${PWD##*/}" >>"$RECORD"
    for word; do case $word in tests*|rare|absent) printf ' %s' "$word" >>"$RECORD" ;; esac; done
    echo >>"$RECORD"
    case "$PWD $*" in */one\\ *rare*|*absent*) exit 5 ;; esac ;;
esac
"""
_FILES = {"one": ["test_docs"], "two": ["test_docs", "test_two"]}
_RUNS_OF_PACKAGES = {
    "all": ([], 0, "one:\ntwo:\n"),
    "in both": (["tests/test_docs.py"], 0, "one: tests/test_docs.py\ntwo: tests/test_docs.py\n"),
    "in one": (["-q", "tests/test_two.py::test_a"], 0, "two: tests/test_two.py::test_a\n"),
    "by its path": (["packages/one/tests/test_docs.py"], 0, "one: tests/test_docs.py\n"),
    "package": (["packages/two/"], 0, "two: tests\n"),
    "in none": (["tests/test_three.py"], 2, ""),
    "-k in one": (["-k", "rare"], 0, "one: rare\ntwo: rare\n"),
    "-k in none": (["-k", "absent"], 5, "one: absent\ntwo: absent\n"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status", "runs"), _RUNS_OF_PACKAGES.values(), ids=_RUNS_OF_PACKAGES
)
def test_a_test_file_runs_the_packages_that_have_it(
    tmp_path: Path, arguments: list[str], status: int, runs: str
) -> None:
    for package, names in _FILES.items():
        folder = tmp_path / "packages" / package / "tests"
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.py").touch()
    requirements = tmp_path / "release/requirements"
    requirements.mkdir(parents=True)
    (requirements / "packages.txt").touch()
    install = requirements / "install"
    install.write_text('#!/bin/sh\n"$3" -m venv "$1"\n')
    install.chmod(0o755)
    script = tmp_path / "packages/run-tests"
    shutil.copy(PROJECT / "packages/run-tests", script)
    python = tmp_path / "python"
    python.write_text(_RECORDER)
    python.chmod(0o755)
    record = tmp_path / "record"
    record.touch()
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHON": str(python),
        "RECORD": str(record),
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        ["bash", script, *arguments],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, record.read_text()) == (status, runs), done.stderr
    if status:
        assert done.stderr.startswith("packages/run-tests: no package has ")


@pytest.mark.parametrize(
    ("version", "said"),
    [("9.9.9", "pyproject.toml says"), ("", "name the version")],
    ids=["another", "none"],
)
def test_a_tag_of_another_version_is_refused(version: str, said: str) -> None:
    done = subprocess.run(
        [PROJECT / "release" / "version", version],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert said in done.stderr
