"""`self` commands that need no click: groups, and those declared as any command.

click costs more than all that they do, so only their help pages use it.
"""

from __future__ import annotations

from host.run.declared_arguments import Argument, read_declarations
from host.run.json_files import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import click

    from host.cli.session import Session
    from host.records import Terminal

    Texts = Mapping[str, Sequence[str]]
    Action = Callable[[Session, Texts], None]


class PlainCommand:
    """What to call with the session and the texts of each argument that was given, by its name.

    `help` is its page's text.
    """

    def __init__(self, action: Action, declared: Sequence[Mapping[str, Any]]) -> None:
        self.action = action
        self.declared = declared
        self.help = action.__doc__ or ""

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return read_declarations([Fields("self", dict(one)) for one in self.declared], "")

    def call(self, session: Session, words: tuple[str, ...], args: Sequence[str]) -> None:
        """Call it with `args`; raises UsageError where they do not fit."""
        from host.run.given_arguments import texts

        self.action(session, texts(self.arguments, args, session.program, words))

    def for_click(self) -> click.Command:
        """Return it as a click command, for help pages and inside groups."""
        import click

        arguments = self.arguments

        def call(**values: Any) -> None:
            named = zip(arguments, values.values(), strict=True)
            given = {one.name: _several(value) for one, value in named if value}
            self.action(click.get_current_context().obj, given)

        params: list[click.Parameter] = []
        for one in arguments:
            name = one.bare_name.lstrip("-")
            if one.option:
                kind = click.Choice(one.choices) if one.choices else None
                params.append(
                    click.Option(
                        [one.name, name],
                        is_flag=one.flag,
                        type=kind,
                        default=one.default,
                        show_default=one.default is not None,
                        help=one.description,
                    )
                )
            else:
                count = -1 if one.repeats else 1
                params.append(click.Argument([name], nargs=count, required=one.required))
        return click.Command(None, callback=call, params=params, help=self.help)


def _several(value: Any) -> Sequence[str]:
    return value if isinstance(value, tuple) else (value,)


class Group:
    """A word of `self` with words of its own: `words` has each one's reference and one-line help.

    `meant` has what other programs call them.
    """

    def __init__(
        self, help: str, words: Mapping[str, tuple[str, str]], meant: Mapping[str, str]
    ) -> None:
        self.help = help
        self.words = words
        self.meant = meant

    def usage(self, label: str) -> str:
        return f"{label} [OPTIONS] [COMMAND] [ARGS]..."

    def page(self, label: str, terminal: Terminal) -> str:
        from host.cli.page import Page

        page = Page(terminal)
        page.title(label)
        page.paragraph(self.help)
        page.usage(self.usage(label))
        page.table("Options", [("-h, --help", "Show this message and exit.")])
        page.table("Commands", [(word, about) for word, (_, about) in self.words.items()])
        return page.text()


def takes(*declared: Mapping[str, Any]) -> Callable[[Action], PlainCommand]:
    """Make a function a `self` command that takes the declared arguments."""
    return lambda action: PlainCommand(action, declared)


ALL = {"name": "--all", "description": "Hidden ones and other systems' too."}
FORMAT = {
    "name": "--format",
    "value": "TEXT",
    "default": "text",
    "description": "text, json, tree or a plugin's.",
}


def chosen_format(given: Texts) -> str:
    """Return what --format says, or its default."""
    return given.get("--format", ("text",))[0]
