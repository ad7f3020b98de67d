"""What crosses the hook boundary when the lock is built, and variables: plain facts."""

from __future__ import annotations

from host.run import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal


class Installation(Record):
    """Where the running installation keeps its files; all paths are absolute.

    program                   the name that it was called by
    root                      its directory
    commands_dir, plugins_dir, config_dir   its `commands`, `plugins` and `config`
    """

    program: str
    root: str
    commands_dir: str
    plugins_dir: str
    config_dir: str


class CommandTree(Record):
    """A directory of categories, laid out like `commands/`.

    path     the directory, absolute
    plugin   the plugin that it belongs to, as listings name it; "" for the installation's own
    dev      whether its author is working on it in place: listings mark it `[dev]`
    scripts  {} if scripts in it are commands too; "prefix" is removed from the names of those
             directly in it, "split" separates words there; None if only folders are commands
    """

    path: str
    plugin: str = ""
    dev: bool = False
    scripts: Mapping[str, str] | None = None


class CommandDeclaration(Record):
    """A command written in Python: its words and what its command.json would hold.

    words        such as ("cloud", "login")
    definition   the keys of a command.json; its `entrypoint` is a reference
                 "package.module:attr" to a `click.Command` or to a callable that takes the
                 list of arguments and returns an exit status
    """

    words: tuple[str, ...]
    definition: Mapping[str, Any]


class CategoryDeclaration(Record):
    """What a category is for whose commands are declared in Python.

    words               such as ("cloud",)
    name, description   as in a category.json
    """

    words: tuple[str, ...]
    name: str
    description: str = ""


class EnvSource(Record):
    """A source of variables for the commands whose words start with `words`.

    Plugin sources are read after settings.conf and before `.env` files. One of `files` and
    `provider` is given.

    name       for people, as `self env` shows it
    rank       from 2 (as strong as `envs`) to 4 (as weak as `.env` files); only this
               distribution's own plugins leave it out, with a `reader` that has a rank
    files      absolute paths of `.env` files
    provider   "module:attr", called with (words, environment) in a process of its own;
               it returns a dict of strings
    words      the leading words of the commands that it serves, () for all
    reader     leave it out: for this distribution's own plugins
    """

    name: str
    rank: float | None = None
    files: tuple[str, ...] = ()
    provider: str = ""
    words: tuple[str, ...] = ()
    reader: Literal["dotenv", "python", "shell", "env_files", "envs"] = "dotenv"


class SecretScheme(Record):
    """A scheme of references to secrets, such as `op` for `op://prod/db/password`.

    scheme     what stands before the colon: lower-case letters, digits, `-` and `+`
    provider   "module:attr", called with (references, environment) in a child process: all
               references of one run with this scheme, as a list, and the command's variables.
               It returns a dict: for each reference its value, or an exception with the reason.
               Its current directory is the definition's, so relative paths start there.
               For an entry of `env_files` the value is the text of a `.env` file.
    """

    scheme: str
    provider: str


class Watch(Record):
    """A file or directory that a hook looked at: when it changes, hooks are asked again."""

    path: str


class BrokenPlugin(Record):
    """A plugin that cannot be used, and the reason, which is a line for people."""

    plugin: str
    reason: str


class PluginFile(Record):
    """A Python file with hookimpls that is a plugin: its `name`, where it comes from, `path`."""

    name: str
    origin: str
    path: str


class Disabled(Record):
    """A plugin that is switched off.

    plugin     its name; that of an installed distribution is the canonical one
    commands   the words of each of its commands, where they are known
    """

    plugin: str
    commands: tuple[tuple[str, ...], ...] = ()


class Variable(Record):
    """One variable of a command's run: its value, the source that won, and what that shadows.

    name      such as "DB_HOST"
    value     as the run has it; show it to nobody before `masked`
    source    a file with line or key, a plugin and its source, "system" for the caller's
              environment, "framework"
    rank      1 the caller's environment, 2 `envs`, 3 settings.conf, 4 `.env` files, plugins
              between 2 and 4; 0 for what describes the run itself, such as COMMAND_NAME
              (`self env --format json` has null for it)
    shadows   the weaker ones of the same name, strongest first
    """

    name: str
    value: str
    source: str
    rank: float
    shadows: tuple[Variable, ...] = ()
