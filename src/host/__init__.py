"""The host: `cli <category> <command> [args]`, planned by plugins, executed here.

All that a plugin needs is here. Its hooks need `hookimpl` and the records that they return; its
commands in Python need `Program`, and an error to raise::

    from host import CommandDeclaration, CommandTree, EnvSource, Watch, hookimpl
    from host import Program, UsageError, masked, printable
"""

_HOMES: dict[str, str] = {}  # the module of each public name, once one is asked for


def __getattr__(name: str) -> object:
    """Import a public name when it is asked for: a run needs none of them."""
    if not _HOMES:
        with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as file:
            lines = [line.split() for line in file if line.startswith("from ")]
        _HOMES.update({name: home for _, home, _, name, *_ in lines})
    if name == "__all__":
        return [*_HOMES]
    if name not in _HOMES:
        raise AttributeError(f"module 'host' has no attribute {name!r}")
    found: object = getattr(__import__(_HOMES[name], fromlist=[name]), name)
    return found


def __dir__() -> list[str]:
    """Return the public names, too, for `help(host)` and editors."""
    return sorted({*globals(), *__getattr__("__all__")})  # type: ignore[misc]
