"""What plugins declare and each run reads in the lock: trees of commands, sources of variables."""

from host.run.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal


class CommandTree(Record):
    """A directory of categories, laid out like `commands/`.

    path     the absolute path of the directory
    plugin   the name of its plugin in listings, or "" for the installation's own commands
    dev      whether its author works on it in place; listings then show `[dev]`
    scripts  None if only folders are commands, or {} if scripts are commands, too. For scripts
             directly in `path`, the optional key "prefix" is text to remove from their names,
             and "split" is the text that separates words in their names.
    under    the words of the category that contains the whole tree, or () for the root
    root     the directory of the plugin, which contains `path`; by default, `path` itself
    path_folders   folders in `root`, as absolute paths, that a run of each command appends to PATH
    order    set by the host: the position of its plugin, 0 for the installation itself
    """

    path: str
    plugin: str = ""
    dev: bool = False
    scripts: "Mapping[str, str] | None" = None
    under: "Sequence[str]" = ()
    root: str = ""
    path_folders: "Sequence[str]" = ()
    order: int = 0


class EnvSource(Record):
    """A source of variables for the commands whose words begin with `words`.

    Plugin sources are read after settings.conf and before `.env` files. Set either `files` or
    `provider`.

    name       the name that `self env` shows
    rank       from 2 (as strong as `envs`) to 4 (as weak as `.env` files). Only built-in plugins
               may leave it out; it then follows from `reader`.
    files      absolute paths of `.env` files
    provider   "module:attr", called with (words, environment) in a child process; it returns
               a dict of strings
    words      the leading words of the commands that it serves, or () for all commands
    reader     for built-in plugins only, which have "shell" for settings.conf, and "env_files" or
               "envs" for that key of the command's definition; leave it out
    plugin, folders   set by the host: the plugin that declares it, and its packages
    """

    name: str
    rank: float = 0
    files: "Sequence[str]" = ()
    provider: str = ""
    words: "Sequence[str]" = ()
    reader: "Literal['dotenv', 'python', 'shell', 'env_files', 'envs']" = "dotenv"
    plugin: str = ""
    folders: "Sequence[str]" = ()

    def serves(self, words: tuple[str, ...]) -> bool:
        """Return whether it is for the command `words`."""
        return words[: len(self.words)] == tuple(self.words)
