"""Records: their base, and the two that plugins declare and every run reads in the lock."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, ClassVar, Literal, Self, dataclass_transform

else:

    def dataclass_transform():  # noqa: ANN201 - only a type checker uses it
        return lambda kind: kind


@dataclass_transform()
class Record:
    """Named values, set by position or keyword; records of one class with equal values are equal.

    A class attribute is the default for the value with its name. `values()` returns all values by
    name, and `replaced(name=value)` returns a copy with other values.
    """

    # Importing `dataclasses` would take as long as a whole run. Classes with many instances, such
    # as `Variable`, have a constructor of their own, which is three times as fast.

    _fields: "ClassVar[tuple[str, ...]]" = ()
    _known: "ClassVar[frozenset[str]]" = frozenset()
    _needed: "ClassVar[frozenset[str] | None]" = None  # None until the first instance

    def __init_subclass__(cls) -> None:
        cls._fields += tuple(cls.__annotations__)
        cls._needed = None

        inherits_constructor = "__init__" not in vars(cls)
        if inherits_constructor and cls.__init__ is not Record.__init__:
            # the constructor of the base lacks the values of this class
            cls.__init__ = Record.__init__  # type: ignore[method-assign]

    def __init__(self, *values: "Any", **named: "Any") -> None:
        needed = self._needed
        if needed is None:
            needed = self._find_needed()

        given = len(values) + len(named)
        if values:
            named.update(zip(self._fields, values))  # noqa: B905 - the count is checked
        if len(named) < given or not needed <= named.keys() <= self._known:
            names = ", ".join(self._fields)
            raise TypeError(f"{type(self).__name__} takes {names}, each once")
        self.__dict__.update(named)

    @classmethod
    def _find_needed(cls) -> "frozenset[str]":
        """Set `_needed` and `_known`, and return `_needed`.

        This is done for the first instance, because a run makes none of most classes.
        """
        needed = [name for name in cls._fields if not hasattr(cls, name)]
        cls._needed = frozenset(needed)
        cls._known = frozenset(cls._fields)
        return cls._needed

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.row()))

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self.values().items()]
        return f"{type(self).__name__}({', '.join(shown)})"

    def values(self) -> "dict[str, Any]":
        """Return the values by name."""
        return {name: getattr(self, name) for name in self._fields}

    def replaced(self, **changes: "Any") -> "Self":
        """Return a copy of the record with `changes` applied."""
        return type(self)(**self.values() | changes)

    def row(self) -> "list[Any]":
        """Return the values as a list, in the order in which the class declares them."""
        return [getattr(self, name) for name in self._fields]

    @classmethod
    def of_row(cls, row: "Iterable[Any]") -> "Self":
        """Return a record with these values. Raises ValueError if there are too many or too few."""
        record = cls.__new__(cls)
        record.__dict__ = dict(zip(cls._fields, row, strict=True))
        return record


class CommandTree(Record):
    """A directory of categories, laid out like `commands/`.

    path     the absolute path of the directory
    plugin   the name of its plugin in listings, or "" for the installation's own commands
    dev      whether its author works on it in place; lists of plugins then show `[dev]`
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
