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
        _read_names()
    if name == "__all__":
        return list(_MODULES)
    if name not in _MODULES:
        raise AttributeError(f"module 'host' has no attribute {name!r}")

    module = __import__(_MODULES[name], fromlist=[name])
    public: object = getattr(module, name)
    return public


def _read_names() -> None:
    # Editors and mypy read the same file, so there is one list of public names.
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as file:
        for line in file:
            if line.startswith("from "):
                _, module, _, name, *_ = line.split()
                _MODULES[name] = module


def __dir__() -> list[str]:
    """Return all names of this module, imported or not, for `help(host)` and editors."""
    if not _MODULES:
        _read_names()
    return sorted({*globals(), *_MODULES})
