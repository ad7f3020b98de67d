"""`test`: run the tests of an installation's scripts."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import click

from cli_host_test.bats import (
    Report,
    bats_arguments,
    check_filter,
    find_bats,
    run_bats,
    shown_from,
)
from cli_host_test.completion import complete_words
from cli_host_test.selection import chosen_files
from cli_host_test.surroundings import make_surroundings
from host import OneLineCommand, OperationError, Program

_FORMATS = ("pretty", "tap", "junit")


@click.command(cls=OneLineCommand)
@click.option(
    "--filter", metavar="REGEX", help="Run only tests whose names match REGEX."
)
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    help="Run N tests at the same time; with GNU parallel, also tests of several files.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(_FORMATS),
    help="Format of the report. [default: pretty on a terminal, otherwise tap]",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Also write the report to FILE: JUnit if it ends in .xml, otherwise TAP.",
)
@click.option(
    "--env",
    "passed",
    metavar="NAME",
    multiple=True,
    help="Let tests see this variable of yours.",
)
@click.argument("words", nargs=-1, metavar="[WORDS]...", shell_complete=complete_words)
def command(words: tuple[str, ...], passed: tuple[str, ...], **options: Any) -> int:
    """Run the .bats files of the commands below WORDS, or all.

    Each test has its own copy of the installation, HOME and PATH. The exit status is 0 if all
    tests pass, 1 if a test fails or there is none, 2 for wrong words or options, and 127 without
    bats.
    """
    program = Program.current()
    report = _report(options["style"], options["output"])
    files = chosen_files(program, words)
    bats = find_bats(os.environ)
    try:
        with tempfile.TemporaryDirectory(prefix="cli-host-test-") as directory:
            environ = make_surroundings(program, directory, os.environ, passed)
            pattern = options["filter"]
            if pattern is not None:
                check_filter(bats, environ, pattern, files)

            arguments = bats_arguments(pattern, options["jobs"], report, directory)
            paths = [*shown_from(program.root), *files]
            status = run_bats([bats, *arguments, *paths], environ)
            report.keep(directory)
    except OSError as failure:
        raise OperationError(f"the tests were not run: {failure}") from None
    return status


def _report(style: str | None, output: str | None) -> Report:
    """Return what is shown and what is written; with --output, --format is that of the file."""
    shown = "tap"
    if sys.stdout.isatty():
        shown = "pretty"
    if output is None:
        return Report(style or shown, "", "")

    if style is None and output.endswith(".xml"):
        style = "junit"
    path = os.path.abspath(output)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise OperationError(f"{output}: the directory {folder} does not exist")
    return Report(shown, style or "tap", path)
