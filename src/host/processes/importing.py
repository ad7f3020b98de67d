"""Import objects by reference (`package.module:attr`), and complete the import path."""

import sys

from host.errors import PluginError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

OWN_PACKAGES = ("host", "builtin_plugins")  # what no plugin can replace


class _PluginFolder(str):
    """An entry of `sys.path` that belongs to one plugin, whose process this is."""

    __slots__ = ()

    def __reduce__(self) -> "tuple[type[str], tuple[str]]":
        return str, (str(self),)  # another process gets plain text


def load_reference(reference: str) -> "Any":
    """Return the object that `reference` names. Raises PluginError if it cannot be imported."""
    module, _, attribute = reference.partition(":")
    try:
        __import__(module)  # saves the import of importlib
        target: Any = sys.modules[module]
        for name in attribute.split("."):
            target = getattr(target, name)
    except (
        Exception,
        SystemExit,
    ) as failure:  # a module that is imported may do anything
        what = f"cannot be loaded: {type(failure).__name__}: {failure}"
        raise PluginError(Problem(reference, what)) from failure
    return target


def click_command(target: "Any") -> "Any":
    """Return the click command that an object is or, for a Typer application, makes; else None.

    It is recognised by what it can do, because Typer brings a click of its own.
    """
    typer: Any = sys.modules.get("typer")
    if typer is not None and isinstance(target, typer.Typer):
        return typer.main.get_command(target)
    for method in ("make_context", "get_params", "main"):
        if not callable(getattr(target, method, None)):
            return None
    return target


def complete_import_path(needed: str = "") -> None:
    """Import `site`, which the launcher skips (-S), to make all installed packages importable.

    `site` is slow and runs code in `.pth` files. If the caller needs only the package `needed`,
    `site` is imported only if that package is not found without it.
    """
    is_complete = not sys.flags.no_site or "site" in sys.modules
    if is_complete:
        return
    if needed and _finds(needed):
        return

    import site

    # The output of a `.pth` file goes to stderr, so that it is not taken for that of the command.
    stdout = sys.stdout
    sys.stdout = sys.stderr
    try:
        site.main()
    finally:
        sys.stdout = stdout


def _finds(package: str) -> bool:
    from _frozen_importlib_external import PathFinder

    return PathFinder.find_spec(package) is not None


def enter_plugin(folders: "Sequence[str]") -> None:
    """Make this process one of the plugin whose packages are in `folders`, () for any other plugin.

    The folders stand after the standard library and before the program's own packages, so a plugin
    gets its own version of a library that the program has, too. `host` and `builtin_plugins` are
    always the program's. `site` must have run before, because it would run the `sitecustomize` of a
    folder. A process that a plugin forks may belong to another plugin: it forgets the first one's
    folders and modules.
    """
    former = [entry for entry in sys.path if isinstance(entry, _PluginFolder)]
    if former == [*folders]:
        return
    sys.path[:] = program_path()
    if former:
        _forget_modules(former)

    for package in OWN_PACKAGES:
        __import__(package)  # their modules are looked up in them, not on `sys.path`
    _forget_modules_in(folders)
    end = _end_of_library()
    sys.path[end:end] = map(_PluginFolder, folders)


def _end_of_library() -> int:
    """Return the index in `sys.path` behind the standard library."""
    end = 0
    for index, entry in enumerate(sys.path):
        if entry.endswith("/lib-dynload"):  # the library's last directory
            end = index + 1
    return end


def _forget_modules(folders: "Sequence[str]") -> None:
    """Remove the modules below these folders, so that another plugin imports its own."""
    beginnings = tuple([f"{folder}/" for folder in folders])
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file:
            continue  # a namespace package, or built in
        if file.startswith(beginnings):
            del sys.modules[name]


def _forget_modules_in(folders: "Sequence[str]") -> None:
    """Remove the modules of the program that a plugin has, too, so that it imports its own."""
    from _frozen_importlib_external import PathFinder

    has_own = {}
    for name in list(sys.modules):
        package, _, _ = name.partition(".")
        if package in (*OWN_PACKAGES, "__main__"):
            continue
        if package in sys.stdlib_module_names:
            continue
        if package not in has_own:
            has_own[package] = PathFinder.find_spec(package, folders) is not None
        if has_own[package]:
            del sys.modules[name]


def program_path() -> list[str]:
    """Return `sys.path` without the folders of a plugin."""
    return [entry for entry in sys.path if not isinstance(entry, _PluginFolder)]
