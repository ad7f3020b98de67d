"""The host: `cli <category> <command> [args]`, planned by plugins, executed here.

All that a plugin needs is here. Its hooks need `hookimpl` and the records that they return; its
commands in Python need `Program`, and an error to raise::

    from host import CommandDeclaration, CommandTree, EnvSource, Watch, hookimpl
    from host import Program, UsageError, masked, printable
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.cli.page_layout import Page
    from host.errors import (
        CannotStartError,
        DefinitionError,
        HostError,
        InstallationError,
        MissingError,
        NotConfirmedError,
        OperationError,
        PluginError,
        Problem,
        SourceError,
        UsageError,
    )
    from host.hook_marker import hookimpl
    from host.program import Program
    from host.records import (
        BrokenPlugin,
        Category,
        CategoryDeclaration,
        Command,
        CommandDeclaration,
        CommandTree,
        Disabled,
        EnvSource,
        Installation,
        Listing,
        PluginFile,
        Record,
        Terminal,
        Variable,
        Watch,
    )
    from host.run import find_program
    from host.run.argument_spec import Argument
    from host.run.command import Definition, RequiredVariable, is_word
    from host.run.expand import expand
    from host.run.text import Messages, printable
    from host.secrets import declared_secrets, is_hidden_everywhere, is_secret, masked, masked_text
    from host.text_width import width_of, wrap

__all__ = [
    "Argument",
    "BrokenPlugin",
    "CannotStartError",
    "Category",
    "CategoryDeclaration",
    "Command",
    "CommandDeclaration",
    "CommandTree",
    "Definition",
    "DefinitionError",
    "Disabled",
    "EnvSource",
    "HostError",
    "Installation",
    "InstallationError",
    "Listing",
    "Messages",
    "MissingError",
    "NotConfirmedError",
    "OperationError",
    "Page",
    "PluginError",
    "PluginFile",
    "Problem",
    "Program",
    "Record",
    "RequiredVariable",
    "SourceError",
    "Terminal",
    "UsageError",
    "Variable",
    "Watch",
    "declared_secrets",
    "expand",
    "find_program",
    "hookimpl",
    "is_hidden_everywhere",
    "is_secret",
    "is_word",
    "masked",
    "masked_text",
    "printable",
    "width_of",
    "wrap",
]


_ELSEWHERE = {
    "Argument": "host.run.argument_spec",
    "Definition": "host.run.command",
    "Messages": "host.run.text",
    "Page": "host.cli.page_layout",
    "Problem": "host.errors",
    "Program": "host.program",
    "RequiredVariable": "host.run.command",
    "declared_secrets": "host.secrets",
    "expand": "host.run.expand",
    "find_program": "host.run",
    "hookimpl": "host.hook_marker",
    "is_hidden_everywhere": "host.secrets",
    "is_secret": "host.secrets",
    "is_word": "host.run.command",
    "masked": "host.secrets",
    "masked_text": "host.secrets",
    "printable": "host.run.text",
    "width_of": "host.text_width",
    "wrap": "host.text_width",
}


def __getattr__(name: str) -> object:
    """Load the public names when first asked for: a run needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'host' has no attribute {name!r}")
    home = _ELSEWHERE.get(name, "host.errors" if name.endswith("Error") else "host.records")
    found: object = getattr(__import__(home, fromlist=[name]), name)
    return found


def __dir__() -> list[str]:
    """Tell `help(host)` and editors of the public names, too."""
    return sorted({*globals(), *__all__})
