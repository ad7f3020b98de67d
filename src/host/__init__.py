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
    from host.hookspecs import hookimpl
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
        Watch,
    )

__all__ = [
    "CannotStartError",
    "Category",
    "Command",
    "CommandDeclaration",
    "CommandTree",
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
    "SourceError",
    "Terminal",
    "UsageError",
    "Watch",
    "hookimpl",
]


def __getattr__(name: str) -> object:
    """Load the public names when first asked for: a run needs none of them."""
    if name == "hookimpl":
        from host.hookspecs import hookimpl

        return hookimpl
    if name.endswith("Error") and name in __all__:
        from host import errors

        failure: object = getattr(errors, name)
        return failure
    if name in __all__:
        from host import records

        record: object = getattr(records, name)
        return record
    raise AttributeError(f"module 'host' has no attribute {name!r}")
