"""The records that planning hooks take and return, and the record of a variable."""

from __future__ import annotations

from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.catalog.definition import Definition
    from host.errors import HostError
    from host.plugin_functions import AfterRun, BeforeRun
    from host.variables.layers import Variable


class Installation(Record):
    """The paths of the running installation, all absolute.

    program                   the program's name as the user typed it
    root                      the directory of the installation
    commands_dir, plugins_dir, config_dir   its directories `commands`, `plugins` and `config`
    """

    program: str
    root: str
    commands_dir: str
    plugins_dir: str
    config_dir: str


class CommandDeclaration(Record):
    """A command written in Python: its words, and the content of its command.json as a dict.

    words        such as ("cloud", "login")
    definition   the keys of a command.json; its `entrypoint` is a reference
                 "package.module:attr" to a click command, a Typer application, or a callable
                 that takes the list of arguments and returns an exit status

    A click command or Typer application without `args` is one command, also if it is a group: all
    words behind `words` go to click, which parses, helps and completes. There are no ARG_…
    variables. When the lock is built, the program reads the words and the short help of its
    subcommands, and the names of its secret parameters. Help pages, Tab and the tools of
    assistants ask click in a child process, within 3 seconds.
    """

    words: tuple[str, ...]
    definition: Mapping[str, Any]


class CategoryDeclaration(Record):
    """The name and description of a category whose commands are declared in Python.

    words               such as ("cloud",)
    name, description   as in a category.json
    """

    words: tuple[str, ...]
    name: str
    description: str = ""


class PlannedRun(Record):
    """A run that is about to start, as a `BeforeRun` function gets it.

    words       the words of the command
    arguments   its arguments, complete and checked; secret values are masked
    definition  its `Definition`
    effects     "read", "change" or "destroy", with those of the given options
    directory   the directory in which it starts
    user        the name of the account
    origin      what started it, as in a `FinishedRun`
    client      the assistant, the coding agent or another program that asked for it, or {}
    hosts       for a run on other machines, their names
    """

    words: tuple[str, ...]
    arguments: tuple[str, ...]
    definition: Definition
    effects: str
    directory: str
    user: str
    origin: str
    client: Mapping[str, str] = {}
    hosts: tuple[str, ...] = ()


class FinishedRun(Record):
    """A finished run, as the history records it; secret values in its arguments are masked.

    id          12 hexadecimal digits
    start       the time of its start in UTC, such as "2026-03-01T09:30:00.125Z"
    seconds     how long it ran
    words       the words of the command
    arguments   its arguments
    directory   the directory in which it started
    user, host  the name of the account, and of the machine
    version     the version in cli.json
    plugin      the plugin that provides the command, or ""
    status      its exit status, as a shell shows it
    signal      the number of the signal that ended it, or 0
    origin      "terminal", "ci", "cron", "agent", "mcp", "fleet" or "script"
    client      the assistant or other program that asked for the run, or {}
    hosts       for a run on several hosts, the result of each
    outer       the id of the run that started this one, or ""
    traceparent   the span of the run, as its command got it in TRACEPARENT, or "": see `AfterRun`
    """

    id: str
    start: str
    seconds: float
    words: tuple[str, ...]
    arguments: tuple[str, ...]
    directory: str
    user: str
    host: str
    version: str
    plugin: str
    status: int
    signal: int
    origin: str
    client: Mapping[str, str] = {}
    hosts: Sequence[Mapping[str, Any]] = ()
    outer: str = ""
    traceparent: str = ""


class Skill(Record):
    """A text for assistants that a plugin has in `skills/NAME/SKILL.md`; nothing of it runs.

    name          NAME, the name of its folder
    description   what its front matter says of it, on one line, or ""
    plugin        the plugin
    text          the whole file; pass the lines through `printable` before you show them
    """

    name: str
    description: str
    plugin: str
    text: str


class Watch(Record):
    """A file or directory that a hook has read; if it changes, all hooks are called again."""

    path: str


class PluginOrder(Record):
    """The names of plugins in their order of precedence; the others come after them."""

    names: tuple[str, ...]


class BrokenPlugin(Record):
    """A plugin that cannot be used, and the reason as one readable line.

    `plugin` is "" if the registry cannot be read, so that nobody knows which plugin it is. With
    `missing`, the reason is that its files are not there.
    """

    plugin: str
    reason: str
    missing: bool = False


class PluginFile(Record):
    """A plugin with hooks in the Python file at `path`; messages show `origin` as its source.

    `under` has the words of the category that contains everything that it declares.
    """

    name: str
    origin: str
    path: str
    under: tuple[str, ...] = ()


class PluginPackage(Record):
    """A plugin whose packages are in folders of its own, not in the program's environment.

    name      its name in the registry
    folders   the directories that a process of the plugin adds to `sys.path`
    points    the entry points for plugins in these folders
    under     the words of the category that contains everything that it declares, or ()
    """

    name: str
    folders: tuple[str, ...]
    points: tuple[PackageEntryPoint, ...]
    under: tuple[str, ...] = ()


class PackageEntryPoint(Record):
    """An entry point for plugins: its name, its reference, and the distribution that has it."""

    name: str
    reference: str
    distribution: str
    version: str


class Disabled(Record):
    """A disabled plugin.

    plugin     its name; for a distribution, the canonical name; "*" for all of other distributions
    commands   the words of each of its commands, if they are known
    """

    plugin: str
    commands: tuple[tuple[str, ...], ...] = ()


class Limit(Record):
    """One of the keys `record`, `timeout` and `exclusive` as it applies to a run.

    value    the value of the key, such as True or "90s"
    source   the file that sets it, `plugin NAME` for a command in Python, or CLI_RECORD for the
             variable of the caller
    """

    value: bool | str
    source: str


class ClickParameter(Record):
    """A parameter of a click command, as click itself describes it.

    depth       0 for a parameter of the declared command, 1 for one of its subcommand, and so on
    name        its name in Python
    option      whether it is an option; otherwise it is positional
    names       the names of an option, such as ("-r", "--region")
    negations   the names that make a flag false, such as ("--no-wait",)
    kind        "string", "integer", "number" or "boolean": the type of one value
    flag, counts   whether it is a flag; whether it counts how often it is given
    repeats     whether it may have any number of values
    size        how many words one value has
    required    whether a call without a terminal fails without it
    hidden, secret   whether click hides it; whether its value must not be shown
    choices     the values that it takes, as a user types them, or ()
    bounds      keys of JSON Schema, such as {"minimum": 1}
    default     in the type of `kind`, a list for several values; None for none, or for one that
                nobody could type
    help        its help on one line
    label, about   its row in click's own help page, or ""
    """

    depth: int
    name: str
    option: bool
    names: tuple[str, ...]
    negations: tuple[str, ...]
    kind: str
    flag: bool
    counts: bool
    repeats: bool
    size: int
    required: bool
    hidden: bool
    secret: bool
    choices: tuple[str, ...]
    bounds: Mapping[str, float]
    default: Any
    help: str
    label: str
    about: str


class ClickCommand(Record):
    r"""A click command or one of its subcommands, as click itself describes it.

    words        the words of the subcommand, or () for the declared command
    description  its short help
    text         its help without marks such as `\b`
    usage        its usage line, with the program's name
    hidden       whether it, or a group above it, is hidden
    runs         false for a group that needs a subcommand
    is_plain     whether click's own rules decide what its words mean: nothing on the way to it
                 chains, or parses by itself
    parameters   those of all levels, without options such as `--help` that only print something
    """

    words: tuple[str, ...]
    description: str
    text: str
    usage: str
    hidden: bool
    runs: bool
    is_plain: bool
    parameters: tuple[ClickParameter, ...]


class Plan(Record):
    """What a run of a command would execute: see `Program.plan`.

    words       the words of the command
    definition  its `Definition`
    argv        the program that the run starts, and its arguments; () if it cannot be started
    arguments   the arguments that the command gets
    interpreter the program that runs the command's file, or "" for a binary or an unknown one
    directory   the directory in which it starts
    variables   the variables that the run adds, and the required ones, by name and unmasked. The
                value of a secret is its reference.
    programs    the state of each required program, such as {"jq>=1.6": "not on PATH"}: "" if it is
                as required, and "not checked" if it would have to be started for its version
    question    what the user must confirm before the run, or ""
    effects     "read", "change" or "destroy"
    limits      how the run is recorded and limited: a `Limit` for each key that a file sets
    errors      the `HostError`s that prevent the run, the first one first
    after       the functions of plugins that are called after the run
    before      the functions of plugins that are asked before the run
    asked       what these functions would ask the user
    """

    words: tuple[str, ...]
    definition: Definition
    argv: tuple[str, ...]
    arguments: tuple[str, ...]
    interpreter: str
    directory: str
    variables: Mapping[str, Variable]
    programs: Mapping[str, str]
    question: str
    effects: str
    limits: Mapping[str, Limit]
    errors: tuple[HostError, ...]
    after: Sequence[AfterRun] = ()
    before: Sequence[BeforeRun] = ()
    asked: tuple[str, ...] = ()
