"""The option `--timeout` of commands that download."""

from __future__ import annotations

import click

USUAL_SECONDS = 600.0  # for each download, clone or run of pip
_LONGEST = 86_400.0


def seconds(text: str | float) -> float:
    """Return a time that can be waited; raises click's usage error for any other text."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= _LONGEST:  # also "nan", which is not above 0
        raise click.BadParameter(f"{text}: expected seconds, above 0 and at most {_LONGEST:g}")
    return found


timeout_option = click.option(
    "--timeout",
    type=seconds,
    default=USUAL_SECONDS,
    show_default=True,
    help="Seconds for each download.",
)
