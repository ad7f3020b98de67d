"""`Record`: the base of the records that the host and its plugins exchange."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar, Self, dataclass_transform

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
