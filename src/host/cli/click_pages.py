"""click commands: called as `self` calls them, with pages like those made from definitions."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import ExitStack, redirect_stdout
from typing import Any

import click

from host.cli.options import HELP_WORDS
from host.cli.page import Page
from host.errors import OperationError, UsageError
from host.records import Terminal
from host.run.interrupts import RaisedInterrupts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.cli.session import Session


class PageFormatter(click.HelpFormatter):
    """What click says of a command, as a page like any other.

    click gives the usage before the text, so it waits until the text is written.
    """

    terminal = Terminal()

    def __init__(
        self,
        indent_increment: int = 2,
        width: int | None = None,
        max_width: int | None = None,
    ) -> None:
        super().__init__(indent_increment, self.terminal.width, max_width)
        self._page = Page(self.terminal)
        self._usage = self._heading = ""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self._page.title(prog)
        self._usage = f"{prog} {args}".rstrip()

    def write_paragraph(self) -> None:
        """Leave blank lines to the page."""

    def write_text(self, text: str) -> None:
        self._page.prose(text)

    def write_heading(self, heading: str) -> None:
        self._finish_usage()
        self._heading = heading

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        self._page.table(self._heading, [*rows])

    def getvalue(self) -> str:
        self._finish_usage()
        return self._page.text()

    def _finish_usage(self) -> None:
        if self._usage:
            self._page.usage(self._usage)
        self._usage = ""


class _Shown(io.StringIO):
    """A stdout whose text the session shows, so that a full disk is told as ever."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def write(self, text: str) -> int:
        self._session.show(text)
        return len(text)


def call_click(command: click.Command, session: Session, label: str, args: list[str]) -> int:
    """Call a click command with the session as its object; its usage errors become ours."""
    terminal = session.output.terminal
    look = {"terminal": terminal}
    click.Context.formatter_class = type("TerminalFormatter", (PageFormatter,), look)
    settings: dict[str, Any] = {
        "obj": session,
        "color": terminal.colour,
        "help_option_names": list(HELP_WORDS[1:]),
    }
    if session.sure:
        settings["default_map"] = {"yes": True}
    try:
        with ExitStack() as stack:
            if not {"-h", "--help"}.isdisjoint(args):  # click prints the page by itself
                stack.enter_context(redirect_stdout(_Shown(session)))
            stack.enter_context(RaisedInterrupts())
            context = stack.enter_context(command.make_context(label, args, **settings))
            status = command.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else label
        raise UsageError(_one_line(error.format_message()), f"see: {path} --help") from None
    except click.ClickException as error:
        raise OperationError(_one_line(error.format_message())) from None
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise abort.__context__ from None
        raise OperationError("stopped; nothing was changed") from None
    return status if isinstance(status, int) else 0


def _one_line(message: str) -> str:
    """Return click's message in the style of ours: no capital, no full stop, one line."""
    text = " ".join(message.split()).rstrip(".")
    return text[:1].lower() + text[1:]
