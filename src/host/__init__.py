"""The host: `cli <category> <command> [args]`, planned by plugins, executed here.

Plugin authors need `hookimpl` and the records that hooks return, both from here::

    from host import CommandDeclaration, CommandTree, EnvSource, Watch, hookimpl
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.errors import (
        CannotStartError,
        DefinitionError,
        HostError,
        InstallationError,
        MissingError,
        OperationError,
        PluginError,
        SourceError,
        UsageError,
    )
    from host.marking import hookimpl
    from host.program import Program, masked
    from host.records import (
        Category,
        Command,
        CommandDeclaration,
        CommandTree,
        Disabled,
        EnvSource,
        Installation,
        Listing,
        PluginFile,
        Problem,
        Terminal,
        Variable,
        Watch,
    )
    from host.run.definition import Definition
    from host.run.text import printable
    from host.secret_names import is_secret

__all__ = [
    "CannotStartError",
    "Category",
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
    "MissingError",
    "OperationError",
    "PluginError",
    "PluginFile",
    "Problem",
    "Program",
    "SourceError",
    "Terminal",
    "UsageError",
    "Variable",
    "Watch",
    "hookimpl",
    "is_secret",
    "masked",
    "printable",
]


_ELSEWHERE = {
    "Definition": "host.run.definition",
    "Program": "host.program",
    "hookimpl": "host.marking",
    "is_secret": "host.secret_names",
    "masked": "host.program",
    "printable": "host.run.text",
}


def __getattr__(name: str) -> object:
    """Load the public names when first asked for: a run needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'host' has no attribute {name!r}")
    home = _ELSEWHERE.get(name, "host.errors" if name.endswith("Error") else "host.records")
    found: object = getattr(__import__(home, fromlist=[name]), name)
    return found
