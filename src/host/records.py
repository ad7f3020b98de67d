"""What crosses the hook boundary: plain facts, never objects to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Installation:
    """Where the running installation keeps its files; all paths are absolute."""

    program: str
    root: str
    commands_dir: str
    plugins_dir: str
    config_dir: str


@dataclass(frozen=True, slots=True)
class CommandTree:
    """A directory of categories, laid out like `commands/`.

    `plugin` names the plugin that it belongs to, "" for the installation's own;
    `dev` marks one that its author is working on in place. `finder` is what looks into
    it (host.run.locate); this distribution's own plugins may name another one.
    """

    path: str
    plugin: str = ""
    dev: bool = False
    finder: str = ""


@dataclass(frozen=True, slots=True)
class CommandDeclaration:
    """A command written in Python: its words and what its command.json would hold.

    `definition` has the keys of a command.json; `entrypoint` is a reference
    "package.module:attr" to a `click.Command` or to a callable that takes the list
    of arguments and returns an exit status.
    """

    words: tuple[str, ...]
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EnvSource:
    """A source of variables for the commands whose words start with `words`.

    `rank` is from 2 (as strong as `envs`) to 4 (as weak as `.env` files). Either
    `files`, absolute paths of `.env` files, or `provider`, a "module:attr" called
    with (words, environment) that returns a dict of strings, in a process of its own.
    Plugin sources are read after settings.conf and before `.env` files.
    """

    name: str
    rank: float
    files: tuple[str, ...] = ()
    provider: str = ""
    words: tuple[str, ...] = ()
    reader: Literal["dotenv", "python", "shell", "env_files", "envs"] = "dotenv"


@dataclass(frozen=True, slots=True)
class Watch:
    """A file or directory that a hook looked at: when it changes, hooks are asked again."""

    path: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a hook met and that costs a plugin its commands: `plugin` and the reason."""

    plugin: str
    reason: str


@dataclass(frozen=True, slots=True)
class PluginFile:
    """A Python file with hookimpls that is a plugin: its `name`, where it comes from, `path`."""

    name: str
    origin: str
    path: str


@dataclass(frozen=True, slots=True)
class Disabled:
    """An installed distribution whose plugins are switched off, under its canonical name."""

    distribution: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command as listings show it; `directory` is "" for one declared in Python.

    `installed` is None outside `setup`. `definition` has the attributes of a
    command.json (SPEC 2.3), already checked. `shadows` names the places whose
    command of the same words this one hides.
    """

    words: tuple[str, ...]
    definition: Any
    directory: str
    origin: Literal["commands", "plugin", "python"]
    plugin: str = ""
    dev: bool = False
    installed: bool | None = None
    shadows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a command's run: its value, the source that won, and what that shadows.

    `rank` as in SPEC 2.6, 0 for what describes the run itself; `source` names a file with
    line or key, or "system" for the caller's environment.
    """

    name: str
    value: str
    source: str
    rank: float
    shadows: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Category:
    """A category as listings show it."""

    words: tuple[str, ...]
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What a renderer shows: the root (no words), a category, or all below (`deep`).

    `name`, `description` and, for the root, `version` head it. `everything` is true
    when commands for other systems and hidden ones are in `commands` too. A category that
    is `runnable` has an entrypoint of its own, with the declared `arguments`.
    """

    program: str
    words: tuple[str, ...]
    name: str
    description: str
    version: str = ""
    categories: tuple[Category, ...] = ()
    commands: tuple[Command, ...] = ()
    deep: bool = False
    everything: bool = False
    runnable: bool = False
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Terminal:
    """What stdout can show: its `width` in columns, `colour`, and characters (`encoding`)."""

    width: int = 80
    colour: bool = False
    encoding: str = "utf-8"

    def can_print(self, text: str) -> bool:
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True
