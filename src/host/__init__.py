"""The host runs `cli <category> <command> [args]`; plugins declare the commands.

A plugin imports everything from here. Its hooks need `hookimpl` and the records that they return.
Its commands in Python need `Program` and the errors that they raise::

    from host import CommandDeclaration, CommandTree, EnvSource, Watch, hookimpl
    from host import Program, UsageError, masked, printable
"""

_MODULES: dict[str, str] = {}  # public name -> module, filled on first access


def __getattr__(name: str) -> object:
    """Import a public name on first access, because a run of a command needs none of them."""
    if not _MODULES:
        with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as file:
            lines = [line.split() for line in file if line.startswith("from ")]
        _MODULES.update({name: module for _, module, _, name, *_ in lines})
    if name == "__all__":
        return [*_MODULES]
    if name not in _MODULES:
        raise AttributeError(f"module 'host' has no attribute {name!r}")
    found: object = getattr(__import__(_MODULES[name], fromlist=[name]), name)
    return found


def __dir__() -> list[str]:
    """Return all names of this module, imported or not, for `help(host)` and editors."""
    return sorted({*globals(), *__getattr__("__all__")})  # type: ignore[misc]
