"""The errors that a user can cause, and the exit status of each.

    HostError                1    base, and any other failure
    ├── InstallationError    1    cli.json is missing or invalid
    ├── DefinitionError      1    a command.json, category.json or plugin.json is invalid
    ├── SourceError          1    settings.conf, a .env file or `envs` cannot be read
    ├── PluginError          1    a plugin or registry.json is invalid
    ├── OperationError       1    a command could not do its work
    ├── NotConfirmedError    1    the user did not confirm a command
    ├── UsageError           2    unknown category, command or option
    ├── CannotStartError   126    the command exists but cannot start on this machine
    └── MissingError       127    the entrypoint, its interpreter or a required program is missing

Each error carries a `Problem`, which has the description, location and remedy as separate
values. The program prints them as one line and exits with the error's status. A command in Python
raises OperationError if it cannot do its work, and UsageError for invalid arguments::

    raise UsageError(f"{name}: no such host", suggestions=["cli fleet run web1"])
    raise OperationError(f"{path}: cannot be written", "choose another --output")
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Problem:
    """One problem: its description, its location and its remedy; `str` returns them as one line.

    path      the file or other subject, such as a plugin; "" if `text` names it
    text      the description of the problem
    remedy    the command or change that solves the problem, or ""
    key       the key in a JSON file, such as "os" or "args[1].type"; "" for the whole file
    line      the line in a text file, from 1; 0 for the whole file
    column    the column in that line, from 1; 0 for the whole line
    """

    def __init__(
        self,
        path: str,
        text: str,
        remedy: str = "",
        key: str = "",
        line: int = 0,
        column: int = 0,
    ) -> None:
        self.path = path
        self.text = text
        self.remedy = remedy
        self.key = key
        self.line = line
        self.column = column

    @property
    def message(self) -> str:
        """The description of the problem with its key, without the path and line."""
        if not self.key:
            return self.text
        return f'"{self.key}": {self.text}'

    @property
    def what(self) -> str:
        """The description of the problem with its location, without the remedy."""
        parts = []
        if self.path:
            parts.append(self.path)
        for number in (self.line, self.column):
            if number:
                parts.append(str(number))
        if not parts:
            return self.message

        place = ":".join(parts)
        return f"{place}: {self.message}"

    def inside(self, whole: str) -> "Problem":
        """Return a copy with `whole`, such as the name of the file's archive, before the path."""
        path = whole
        if self.path:
            path = f"{whole}: {self.path}"
        return self.replaced(path, self.text)

    def replaced(self, path: str, text: str) -> "Problem":
        """Return a copy with another path and text."""
        return Problem(path, text, self.remedy, self.key, self.line, self.column)

    def __str__(self) -> str:
        if not self.remedy:
            return self.what
        return f"{self.what}; {self.remedy}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return False
        return vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))


class HostError(Exception):
    """The base class of all errors that a user can cause.

    `what` describes the problem, and `remedy` describes what to do. `status` is the exit status.
    `problem` has the location, if it is known, as separate values. `suggestions` are command lines
    that the user may have meant; the message includes them. `others` has problems that were found
    together with this one; each is printed before it. `said` has the lines of another program, such
    as pip, that explain the error; they are printed below it. Catch this class to catch all errors,
    but raise one of the subclasses.
    """

    status = 1
    others: "tuple[Problem, ...]" = ()
    suggestions: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    def __init__(self, what: "str | Problem", remedy: str = "") -> None:
        if isinstance(what, str):
            what = Problem("", what, remedy)
        self.problem = what
        super().__init__(str(self.problem))

    @property
    def what(self) -> str:
        """The description of the problem, with its location."""
        return self.problem.what

    @property
    def remedy(self) -> str:
        """The change or command that solves the problem, or ""."""
        return self.problem.remedy


class InstallationError(HostError):
    """The installation cannot be found, or its cli.json is invalid."""


class DefinitionError(HostError):
    """A definition file is invalid."""


class SourceError(HostError):
    """A source of variables cannot be read completely."""


class PluginError(HostError):
    """A plugin, or the registry that lists plugins, is invalid."""


class OperationError(HostError):
    """A command could not do its work."""


class NotConfirmedError(HostError):
    """The user did not confirm a command; nothing was run."""


class UsageError(HostError):
    """The command line is invalid, for example because of an unknown command or argument."""

    status = 2

    def __init__(
        self,
        what: "str | Problem",
        remedy: str = "",
        *,
        suggestions: "Iterable[str]" = (),
    ) -> None:
        self.suggestions = tuple(suggestions)
        if self.suggestions:  # they say more than a remedy
            lines = " or ".join(self.suggestions)
            remedy = f"did you mean {lines}?"
        super().__init__(what, remedy)


class CannotStartError(HostError):
    """The command exists but cannot start on this machine."""

    status = 126


class MissingError(HostError):
    """The entrypoint's file, its interpreter, or a program in `requires` is missing."""

    status = 127
