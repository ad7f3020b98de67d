"""What a run loads, and little else; `Struct` is the shape of the records that it makes."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform():  # noqa: ANN201 - only a type checker listens
        return lambda kind: kind


@dataclass_transform()
class Struct:
    """Named values: annotated fields, given in order or by name.

    `dataclasses` would cost as much as a whole run. What is not given has the class's value;
    what is no field only a type checker finds. What there is one of for each variable or command
    has slots instead, as making it takes a third of the time.
    """

    fields: "ClassVar[tuple[str, ...]]" = ()

    def __init_subclass__(cls) -> None:
        cls.fields += tuple(cls.__annotations__)

    def __init__(self, *values: "Any", **named: "Any") -> None:
        for name, value in zip(self.fields, values):  # noqa: B905 - what is left has a default
            named[name] = value  # noqa: PERF403 - `update` with pairs takes longer
        self.__dict__ = named

    def row(self) -> "list[Any]":
        """Return the values, in order."""
        return [getattr(self, name) for name in self.fields]

    @classmethod
    def of_row(cls, row: "Iterable[Any]") -> "Self":
        """Return the record of these values; raises ValueError where there are more or less."""
        found = cls.__new__(cls)
        found.__dict__ = dict(zip(cls.fields, row, strict=True))
        return found
