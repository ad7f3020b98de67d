"""The click options of a run, and `Options` made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from cli_host_fleet.fleet import Options
from cli_host_fleet.rollout import Amount


class _AmountType(click.ParamType):  # type: ignore[type-arg]
    """A number of hosts or a percentage, at least `least`."""

    name = "N|N%"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: Any, param: Any, ctx: Any) -> Amount:
        try:
            amount = Amount.parse(value)
        except ValueError as failure:
            self.fail(str(failure), param, ctx)
        if amount.number < self._least:
            self.fail(f"{value!r}: must be at least {self._least}", param, ctx)
        return amount


def _all_of(
    options: Sequence[Any],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds these click options, the first of them first."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


rollout_options = _all_of(
    [
        click.option(
            "--serial",
            type=_AmountType(1),
            metavar="N",
            help="Run in batches of N hosts, or N%.",
        ),
        click.option(
            "--max-fail",
            type=_AmountType(0),
            metavar="N",
            help="Start no further host after more than N, or N%, have failed.",
        ),
        click.option(
            "--retries",
            type=click.IntRange(0),
            default=0,
            metavar="N",
            help="Try unreachable hosts again, at most N times.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(0),
            default=0,
            metavar="S",
            help="Limit the command to S seconds.",
        ),
    ]
)
variable_options = _all_of(
    [
        click.option(
            "--env", "asked", multiple=True, metavar="NAME", help="Send this variable."
        ),
        click.option(
            "--env-from-inventory",
            "from_inventory",
            multiple=True,
            metavar="NAME",
            help="Send this variable of the inventory, and no others of it.",
        ),
    ]
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Only show what would be done."
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    help="Print lines and a table, or the results as JSON.",
)
group_options = _all_of(
    [
        click.option(
            "--group/--no-group",
            default=None,
            help="Print equal outputs once (default: on a terminal).",
        ),
        click.option(
            "--diff", is_flag=True, help="Print differences from the largest group."
        ),
    ]
)


def options_of(params: Mapping[str, Any]) -> Options:
    """Return the options of a run, from those of `connecting_options` and `rollout_options`."""
    return Options(
        params["forks"],
        params["serial"],
        params["max_fail"],
        params["retries"],
        params["timeout"],
        params["connect_timeout"],
    )
