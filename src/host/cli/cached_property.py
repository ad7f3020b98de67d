"""`once`: an attribute that is worked out when it is first asked for, and kept."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property as once
else:

    class once:  # noqa: N801 - it stands where cached_property would, whose import costs 8 ms
        """What `functools.cached_property` is, without importing that."""

        def __init__(self, method: object) -> None:
            self.method = method
            self.__doc__ = method.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, owner: object, kind: type | None = None) -> object:
            if owner is None:
                return self
            value = owner.__dict__[self.name] = self.method(owner)
            return value


__all__ = ["once"]
