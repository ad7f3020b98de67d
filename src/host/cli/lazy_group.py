"""A click group whose commands are imported when they are called, not before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import click

from host.cli.plain_command import PlainCommand
from host.cli.unknown import unknown_word
from host.run.importing import load_reference
from host.run.process import Interrupts


class LazyGroup(click.Group):
    """A group made of `words`: each command's word, its reference and its one-line help.

    `meant` has what other programs call them.
    """

    def __init__(
        self,
        name: str,
        help: str,
        words: Mapping[str, tuple[str, str]],
        meant: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, help=help, invoke_without_command=True)
        self.words = words
        self.meant = meant or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.words)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.words:
            return None
        with Interrupts(raised=False):
            found = load_reference(self.words[cmd_name][0])
        if isinstance(found, PlainCommand):
            found = found.for_click()
        found.name = cmd_name
        return cast("click.Command", found)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.words and not args[0].startswith("-"):
            path = ctx.command_path
            raise unknown_word(args[0], path, f"{path} --help", self.words, self.meant)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(word, text) for word, (_, text) in self.words.items()])

    def invoke(self, ctx: click.Context) -> Any:
        if not ctx._protected_args and not ctx.args:  # noqa: SLF001 - as click's own groups look
            ctx.obj.show(ctx.get_help() + "\n")
            return 0
        return super().invoke(ctx)
