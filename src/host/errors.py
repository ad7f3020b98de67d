"""The errors that a user can cause, each with the exit status that it ends in.

    HostError                1    base, and what has no kind of its own
    ├── InstallationError    1    cli.json missing or wrong, no usable installation
    ├── DefinitionError      1    a command.json, category.json or plugin.json is wrong
    ├── SourceError          1    settings.conf, a .env file or `envs` cannot be read
    ├── PluginError          1    a plugin or registry.json is wrong
    ├── OperationError       1    a command could not do its work
    ├── NotConfirmedError    1    a command that asks before it runs got no yes
    ├── UsageError           2    unknown category, command or option
    ├── CannotStartError   126    it is there but cannot start here
    └── MissingError       127    the entrypoint's file or its interpreter is missing

The message is one line: what is wrong and where, and what to do about it, each a value
of its own. A command in Python raises the one that fits; the program tells it in that line and
ends with its status. A command's own failure is an OperationError, words that do not fit are a
UsageError::

    raise UsageError(f"{name}: no such host", suggestions=["cli fleet run web1"])
    raise OperationError(f"{path}: cannot be written", "give another --output")
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class HostError(Exception):
    """A failure that one line on stderr explains: `what` is wrong, and the `remedy`, if any.

    `status` is the exit status. `suggestions` are command lines that may be meant; they are in
    the message, too. To catch all of them, catch this; raise one of the others.
    """

    status = 1
    suggestions: tuple[str, ...] = ()

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}; {remedy}" if remedy else what)
        self.what = what
        self.remedy = remedy


class InstallationError(HostError):
    """The installation cannot be found or its cli.json is wrong."""


class DefinitionError(HostError):
    """A definition file holds something that is not allowed there."""


class SourceError(HostError):
    """A source of variables cannot be read to its end."""


class PluginError(HostError):
    """A plugin, or the registry that lists plugins, is wrong."""


class OperationError(HostError):
    """A command could not do its work; nothing was left half done."""


class NotConfirmedError(HostError):
    """A command that asks before it runs was not told to go on; nothing was run."""


class UsageError(HostError):
    """The words on the command line name nothing that exists; `suggestions` may be meant."""

    status = 2

    def __init__(self, what: str, remedy: str = "", *, suggestions: "Iterable[str]" = ()) -> None:
        self.suggestions = tuple(suggestions)
        if self.suggestions:
            remedy = f"did you mean {' or '.join(self.suggestions)}?"
        super().__init__(what, remedy)


class CannotStartError(HostError):
    """The command exists but cannot start on this machine."""

    status = 126


class MissingError(HostError):
    """The entrypoint's file, or the interpreter that it names, is missing."""

    status = 127
