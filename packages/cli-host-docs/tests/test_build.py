"""`docs build`: the content of a page in each format, and the files that are written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cli_host_docs.formats import markdown_code, markdown_text
from conftest import Cli

PAGE = """\
<!-- Made by `docs build`; change the definitions of the commands instead. -->

# acme deploy

Bring it to the servers

## acme deploy app

Deploy the application

    acme deploy app <env> [--jobs N] [--force]

May destroy something.

Question before each run: Deploy it now?

### Arguments

- `<env>`: Where to (one of dev, prod)
- `-j, --jobs N`: integer; default: 4
- `--force`: Do it all the same

### Variables

- `DEPLOY_URL`
- `DB_PASSWORD`: secret
- `DEPLOY_TOKEN`: must be set

### Requirements

- `kubectl`
- `jq>=1.6`

### Examples

- `acme deploy app dev -j 2`: try it

## acme deploy status

Do deploy status

    acme deploy status [args…]

Changes nothing.

Also called st.
"""

HOSTILE = (
    "<script>alert(1)</script> [x](javascript:x) `a` **b** &lt; ![i](u) | # \\ $x$ ~~s~~ _u_",
    "# no heading",
    "- no item",
    "1. no item",
    "=== ",
    ".SH NOTHING",
    "'br",
    "\\fBbold\\fR",
    "two\nlines\x1b[31m\u202e",
    "--> <!-- commands end -->",
)


def test_a_page_in_markdown(cli: Cli) -> None:
    status, out, err = cli.run("docs", "build", "--output", "pages", "deploy")
    assert (status, out, err) == (0, "", "files: 2, changed: 2\n")
    assert (cli.home / "pages/deploy/index.md").read_text() == PAGE
    first = (cli.home / "pages/index.md").read_text()
    assert "- [deploy](deploy/index.md): Bring it to the servers\n" in first


@pytest.mark.parametrize("form", ["markdown", "html", "man"])
def test_no_value_of_a_variable_is_on_a_page(cli: Cli, form: str) -> None:
    assert cli.run("docs", "build", "--output", "pages", "--format", form)[0] == 0
    text = "".join(path.read_text() for path in (cli.home / "pages").rglob("*.*"))
    assert "hush" not in text
    assert "op://" not in text
    assert "DB_PASSWORD" in text.replace("\\", "")


def test_only_what_has_changed_is_written(cli: Cli) -> None:
    build = ("docs", "build", "--output", "pages")
    count = cli.run(*build)[2]
    assert cli.run(*build)[2] == count.replace("changed: 3", "changed: 0")
    cli.command("deploy status", description="Another text")
    cli.command("db dump")
    assert "changed: 3\n" in cli.run(*build)[2]  # of db, deploy and the first page


def test_an_invalid_definition_is_status_1(cli: Cli) -> None:
    build = ("docs", "build", "--output", "pages")
    assert cli.run(*build)[0] == 0
    cli.command("db dump")
    (cli.root / "commands/deploy/status/command.json").write_text("{")
    status, _, err = cli.run(*build)
    assert status == 1
    assert "commands/deploy/status/command.json" in err
    assert (cli.home / "pages/db/index.md").exists(), "the others are written"


def test_a_page_of_a_category_that_is_gone_goes_and_other_files_stay(cli: Cli) -> None:
    build = ("docs", "build", "--output", "pages")
    cli.command("db dump")
    cli.run(*build)
    own = cli.home / "pages/own.md"
    own.write_text("mine")
    shutil.rmtree(cli.root / "commands/db")
    assert cli.run(*build)[0] == 0
    assert not (cli.home / "pages/db/index.md").exists()
    assert own.read_text() == "mine"


def test_a_file_that_it_did_not_make_is_not_replaced(cli: Cli) -> None:
    (cli.home / "pages").mkdir()
    (cli.home / "pages/index.md").write_text("mine")
    assert cli.run("docs", "build", "--output", "pages") == (
        1,
        "",
        "acme docs build: pages/index.md was not made by `docs build`; choose another --output\n",
    )
    assert os.listdir(cli.home / "pages") == ["index.md"]


def test_a_list_of_commands_between_two_marks(cli: Cli) -> None:
    readme = cli.home / "README.md"
    readme.write_text(
        "# Us\n<!-- commands begin -->\nold\n<!-- commands end -->\nrest\n"
    )
    inject = ("docs", "build", "--inject", "README.md", "deploy")
    assert cli.run(*inject)[0] == 0
    assert readme.read_text() == (
        "# Us\n<!-- commands begin -->\n\n"
        "- `acme deploy app <env> [--jobs N] [--force]`: Deploy the application\n"
        "- `acme deploy status [args…]`: Do deploy status\n"
        "\n<!-- commands end -->\nrest\n"
    )
    cli.command("deploy status", description=HOSTILE[-1])
    cli.run(*inject)
    assert "changed: 0" in cli.run(*inject)[2]
    readme.write_text("no marks")
    assert cli.run(*inject) == (
        1,
        "",
        "acme docs build: README.md has no markers; "
        "add two lines: <!-- commands begin -->, <!-- commands end -->\n",
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "nothing to write; give --output DIR or --inject FILE"),
        (("--output", "x", "nope"), "nope: there is no such category"),
        (
            ("--inject", "/dev/null", "--format", "html"),
            "--inject requires --format markdown",
        ),
    ],
)
def test_usage(cli: Cli, words: tuple[str, ...], line: str) -> None:
    assert cli.run("docs", "build", *words) == (2, "", f"acme docs build: {line}\n")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain text, (really): 1.5 - a_b", "plain text, (really): 1.5 - a\\_b"),
        ("<b> [x](y) `c` *d* &lt;", "\\<b\\> \\[x\\](y) \\`c\\` \\*d\\* \\&lt;"),
        ("# a", "\\# a"),
        ("- a", "\\- a"),
        ("+ a", "\\+ a"),
        ("12. a", "12\\. a"),
        ("1) a", "1\\) a"),
        ("===", "\\==="),
        ("    code", "code"),
        ("https://example.org", "https\\://example.org"),
        ("a\n# b", "a\\\\n\\# b"),
    ],
)
def test_text_means_nothing_to_markdown(text: str, escaped: str) -> None:
    assert markdown_text(text) == escaped


@pytest.mark.parametrize(
    ("text", "span"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("``", "``` `` ```")],
)
def test_a_code_span_has_a_fence_that_its_text_does_not_have(
    text: str, span: str
) -> None:
    assert markdown_code(text) == span


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def _hostile(cli: Cli) -> None:
    for number, text in enumerate(HOSTILE):
        cli.command(
            f"odd c{number}",
            description=text,
            examples=[{"command": text, "description": text}],
            args=[{"name": "--x", "value": "N", "description": text, "default": text}],
        )


def test_hostile_text_is_text_in_html(cli: Cli) -> None:
    _hostile(cli)
    assert (
        cli.run("docs", "build", "--output", "pages", "--format", "html", "odd")[0] == 0
    )
    page = _Tags()
    page.feed((cli.home / "pages/odd/index.html").read_text())
    assert not page.tags & {"script", "a", "b", "i", "img"}
    assert "<script>alert(1)</script> [x](javascript:x)" in page.text
    assert "two\\nlines\\x1b[31m\\u202e" in page.text


def test_hostile_text_is_text_in_a_man_page(cli: Cli) -> None:
    _hostile(cli)
    assert cli.run("docs", "build", "--output", "man", "--format", "man", "odd")[0] == 0
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    page = cli.home / "man/acme-odd.1"
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert [
        line for line in lint.stdout.splitlines() if "missing date" not in line
    ] == []
    shown = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=500", page],
                           capture_output=True, text=True, check=True)  # fmt: skip
    plain = re.sub(".\b", "", shown.stdout)
    for text in (
        ".SH NOTHING",
        "'br",
        "\\fBbold\\fR",
        "two\\nlines\\x1b[31m\\u202e",
        "# no heading",
    ):
        assert f"       {text}\n" in plain


def test_names_that_meet_in_man_pages(cli: Cli) -> None:
    cli.command("db backup now")
    cli.command("db-backup later")
    status, _, err = cli.run("docs", "build", "--output", "man", "--format", "man")
    assert (status, err) == (
        1,
        "acme docs build: man/acme-db-backup.1: two pages would have this name; "
        "use another --format\n",
    )
    assert not (cli.home / "man").exists()
    assert cli.run("docs", "build", "--output", "pages")[0] == 0


def test_a_man_page_for_each_command(cli: Cli) -> None:
    cli.git("init", "--quiet")
    cli.git("add", "core/cli.json")
    env = {**cli.environ, "GIT_COMMITTER_DATE": "2026-02-03T12:00:00Z"}
    call = ["git", "-C", str(cli.root), "commit", "--quiet", "--message", "one"]
    subprocess.run(call, env=env, check=True)
    call = ["docs", "build", "--output", "man", "--format", "man", "deploy"]
    assert cli.run(*call)[0] == 0
    names = sorted(path.name for path in (cli.home / "man").iterdir())
    assert names == [
        "acme-deploy-app.1",
        "acme-deploy-status.1",
        "acme-deploy.1",
        "acme.1",
    ]
    text = (cli.home / "man/acme-deploy-app.1").read_text()
    assert (
        '.TH "ACME\\-DEPLOY\\-APP" 1 "2026-02-03" "acme 1.2.3" "User commands"\n'
        in text
    )
    assert (
        ".SH SYNOPSIS\n\\fBacme deploy app\\fR <env> [\\-\\-jobs N] [\\-\\-force]\n"
        in text
    )
    sections = [line for line in text.splitlines() if line.startswith(".SH")]
    assert [line.strip('"').split(" ")[1].strip('"') for line in sections] == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "ENVIRONMENT", "REQUIREMENTS", "EXAMPLES",
    ]  # fmt: skip
    category = (cli.home / "man/acme-deploy.1").read_text()
    assert "\\fBacme\\-deploy\\-app(1)\\fR\nDeploy the application\n" in category
    assert cli.run(*call, env={"SOURCE_DATE_EPOCH": "0"})[2] == "files: 4, changed: 0\n"
    if shutil.which("mandoc"):
        for name in names:
            page = cli.home / "man" / name
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                  capture_output=True, text=True, check=False)  # fmt: skip
            assert (lint.returncode, lint.stdout) == (0, "")


def test_empty_folders_are_removed(cli: Cli) -> None:
    cli.command("db backup now")
    call = ["docs", "build", "--output", "pages"]
    cli.run(*call)
    (cli.home / "pages/mine").mkdir()
    assert (cli.home / "pages/db/backup/index.md").exists()
    shutil.rmtree(cli.root / "commands/db")
    cli.run(*call)
    names = {path.name for path in (cli.home / "pages").iterdir()}
    assert {"index.md", "deploy", "mine"} <= names
    assert "db" not in names


CLICKED = """
import click

@click.command()
@click.argument("machine")
@click.option("--region", type=click.Choice(["north", "south"]), help="Where it is.")
@click.option("--token", hidden=True)
def create(**values):
    pass

@click.command()
def empty():
    pass
"""
CLICKED_HOOKS = """
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    for word in ("create", "empty"):
        keys = {"name": word, "description": "D", "entrypoint": "MODULE:" + word}
        yield CommandDeclaration(("cloud", word), keys)
"""


def test_click_commands(cli: Cli) -> None:
    """The page shows what click declares, as the help page does, and nothing hidden."""
    modules = Path(sysconfig.get_path("purelib"), "cli_host_docs_tests")
    modules.mkdir(exist_ok=True)
    module = modules / f"clicked_{os.getpid()}.py"
    module.write_text(CLICKED)
    plugin = cli.root / "plugins/cloudy"
    plugin.mkdir(parents=True)
    (plugin / "plugin.json").write_text('{"name": "cloudy", "hooks": "hooks.py"}')
    hooks = CLICKED_HOOKS.replace("MODULE", f"{modules.name}.{module.stem}")
    (plugin / "hooks.py").write_text(hooks)
    try:
        status, _, err = cli.run("docs", "build", "--output", "pages", "cloud")
    finally:
        module.unlink()
    assert (status, err) == (0, "files: 2, changed: 2\n")
    page = (cli.home / "pages/cloud/index.md").read_text()
    assert "\n    acme cloud create [OPTIONS] MACHINE\n" in page
    assert "\n- `--region [north|south]`: Where it is.\n" in page
    assert "\n    acme cloud empty [OPTIONS]\n" in page
    assert "token" not in page


def test_arguments_that_a_comment_describes(cli: Cli) -> None:
    """The page shows what a script says about its arguments, and that no run checks them."""
    script = cli.root / "commands/deploy/logs"
    script.write_text(
        "#!/bin/sh\n# @describe Show logs\n# @arg app!<X?> Which app\necho\n"
    )
    script.chmod(0o755)
    passed_on = {"name": "words...", "passthrough": True, "description": "For make"}
    cli.command("deploy make", args=[passed_on])
    assert cli.run("docs", "build", "--output", "pages", "deploy")[0] == 0
    page = (cli.home / "pages/deploy/index.md").read_text()
    assert "\n    acme deploy logs <app>\n" in page
    assert page.count("\nThe arguments are not checked before the script runs.\n") == 1
    assert "\n- `<app>`: Which app\n" in page
    notes = "may be repeated; passed on unchecked, options included"
    assert f"\n- `[words...]`: For make ({notes})\n" in page


def test_what_runs_for_a_category_alone_and_what_is_deprecated(cli: Cli) -> None:
    cli.category("deploy", name="Deploy", description="D", default="status")
    cli.command(
        "deploy app", deprecated="use deploy status", timeout="90s", exclusive=True
    )
    for form, page in (("markdown", "deploy/index.md"), ("man", "acme-deploy.1")):
        assert (
            cli.run("docs", "build", "--output", form, "--format", form, "deploy")[0]
            == 0
        )
        assert "The default command is status." in (cli.home / form / page).read_text()
    text = (cli.home / "markdown/deploy/index.md").read_text()
    assert "\nDeprecated\\: use deploy status\n".replace("\\", "") in text
    assert "\nEach run is ended after 90s.\n\nOnly one run at a time.\n" in text
