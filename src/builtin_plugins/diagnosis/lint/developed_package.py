"""A Python package that its author develops here, and its modules with hooks; none is imported."""

import os

from builtin_plugins.diagnosis.lint.references import find_module
from builtin_plugins.plugins.python_project import hook_references
from builtin_plugins.plugins_folder.entry import Entry
from host import Record
from host.files.paths import is_inside


class DevelopedPackage(Record):
    """A project: its directory, and the entry points for plugins as "package.module:attr".

    `own` are the directories of its modules. The plugin's processes have `folders` on their import
    path: these directories, and for a linked project that of the packages that it requires.
    """

    root: str
    references: tuple[str, ...]
    own: tuple[str, ...]
    folders: tuple[str, ...]
    is_linked: bool

    def file_of(self, module: str) -> str:
        """Return the file of one of its modules, or "" if there is no such module in Python."""
        spec = find_module(module, self.folders)
        if spec is None or spec.origin is None:
            return ""
        if not spec.origin.endswith(".py"):
            return ""  # a module in C

        # An entry point may also name a module of a package that it requires.
        file = os.path.realpath(spec.origin)
        for folder in self.own:
            if is_inside(file, os.path.realpath(folder)):
                return spec.origin
        return ""


def linked_package(entry: Entry, plugins_dir: str) -> DevelopedPackage | None:
    """Return the package that is a link to its project; None for any other, or if it is missing."""
    if not entry.is_package or not entry.dev:
        return None
    folder = os.path.realpath(entry.root(plugins_dir))
    if not entry.version_dir or not os.path.isdir(folder):
        return None

    # Imported here because few installations have a linked project.
    from builtin_plugins.plugins import package_folder
    from builtin_plugins.plugins.sources.pip import PipSource

    points = package_folder.entry_points(entry.name, folder)
    references = [point.reference for point in points]

    source = PipSource.of(entry)
    folders = tuple(source.folders(folder))
    own = folders[:-1]  # the last one has the packages that it requires
    if not all(map(os.path.isdir, own)):
        return None  # the user has moved the project, as `self doctor` reports

    return DevelopedPackage(
        source.address, tuple(references), own, folders, is_linked=True
    )


def package_in(root: str) -> DevelopedPackage:
    """Return the package of the project in the directory `root`."""
    # Most projects have their modules in one of these directories.
    own = (os.path.join(root, "src"), root)
    references = tuple(hook_references(root))
    return DevelopedPackage(root, references, own, own, is_linked=False)
