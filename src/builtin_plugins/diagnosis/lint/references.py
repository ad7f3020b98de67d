"""Check the Python references of entrypoints, by the text of modules; no module is imported.

What only running code could tell is taken to be right: a name that a star import may define, for
example, and an entrypoint that a hooks file computes.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import NamedTuple

from builtin_plugins.self_commands.findings import Finding
from host import HostError, Problem
from host.catalog.definition import is_reference
from host.files.paths import read_regular
from host.processes.importing import complete_import_path
from host.suggestions import did_you_mean

_KEY = "entrypoint"
_INSTALL = "install the package that has it, or correct the reference"


class Fault(NamedTuple):
    """Why a reference is wrong, and the remedy.

    `is_certain` is false if the reason depends on what is installed: the reference may be right
    where the plugin or installation is used.
    """

    text: str
    remedy: str = ""
    is_certain: bool = True

    def finding(
        self, path: str, line: int = 0, column: int = 0, *, is_here: bool
    ) -> Finding:
        """Return the finding; with `is_here`, what is checked belongs to this installation."""
        problem = Problem(path, self.text, self.remedy, _KEY, line, column)
        is_error = self.is_certain or is_here
        return Finding("entrypoint", problem, hint=not is_error)


def reference_fault(reference: str, folders: Sequence[str] = ()) -> Fault | None:
    """Return why a reference "package.module:attr" names nothing that can run, or None.

    `folders` come before the program's own packages on the import path.
    """
    module, _, attribute = reference.partition(":")
    spec = find_module(module, folders)
    if spec is None:
        return Fault(f"there is no module {module}", _INSTALL, is_certain=False)
    if spec.origin is None:
        return None  # a folder without __init__.py
    if not spec.origin.endswith(".py"):
        return None  # a module in C

    try:
        tree = ast.parse(read_regular(spec.origin, HostError))
    except (SyntaxError, ValueError) as failure:
        return Fault(f"{spec.origin} is not valid Python: {failure}")
    except (HostError, FileNotFoundError):
        return None

    names = _Names()
    names.visit(tree)
    return _fault_of_name(module, attribute, names)


def _fault_of_name(module: str, attribute: str, names: _Names) -> Fault | None:
    if names.is_open:
        return None

    # A class may inherit its attributes, so only the first name is checked.
    name = attribute.partition(".")[0]
    if name not in names.bound:
        text = f"{module} does not define {name}"
        public = []
        for bound in sorted(names.bound):
            if not bound.startswith("_"):
                public.append(bound)
        return Fault(text, did_you_mean(name, public))
    if attribute in names.values:
        return Fault(f"{name} in {module} is neither a function nor a click command")
    return None


def entrypoints_in(
    path: str, code: bytes, folders: Sequence[str], *, is_here: bool
) -> Iterator[Finding]:
    """Yield a finding for each wrong entrypoint in a file with hooks.

    Only a reference that the file writes out is checked, as in `{"entrypoint": "x.y:z"}`.
    """
    lines = code.splitlines()
    for text in _written_entrypoints(ast.parse(code)):
        fault = _fault_in_hooks_file(path, str(text.value), folders)
        if fault is None:
            continue

        line = lines[text.lineno - 1]
        # The column is in characters, and `col_offset` in bytes.
        before = line[: text.col_offset].decode(errors="replace")
        column = len(before) + 1
        yield fault.finding(path, text.lineno, column, is_here=is_here)


def may_import_hooks(code: bytes, attribute: str) -> bool:
    """Return whether the code may have hooks from another module.

    A module has them if it imports a name of a hook, or all names. An object, `attribute`, may have
    those of its class, so for an object any import counts from a package that may have hooks.
    """
    from host.hookspecs import HOOKS  # imported here: it needs pluggy

    names = {"*", *HOOKS}
    without_hooks = {*sys.stdlib_module_names, "host", "pluggy"}
    for node in ast.walk(ast.parse(code)):
        if attribute and not without_hooks.issuperset(_imported_packages(node)):
            return True
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            name = alias.asname or alias.name
            if name in names:
                return True
    return False


def _imported_packages(node: ast.AST) -> list[str]:
    """Return the top-level packages that a statement imports from, "" for that of the module."""
    modules = []
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.level:
        modules = [""]
    elif isinstance(node, ast.ImportFrom) and node.module:
        modules = [node.module]
    return [module.partition(".")[0] for module in modules]


def _written_entrypoints(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts that the code gives to the key "entrypoint"."""
    for node in ast.walk(tree):
        for value in _values_of_key(node):
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


def _values_of_key(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Dict):  # {"entrypoint": "x.y:z"}
        for key, value in zip(node.keys, node.values, strict=True):
            if _is_key(key):
                yield value
    elif isinstance(node, ast.keyword):  # dict(entrypoint="x.y:z")
        if node.arg == _KEY:
            yield node.value
    elif isinstance(node, ast.Assign):  # keys["entrypoint"] = "x.y:z"
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _is_key(target.slice):
                yield node.value


def _is_key(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == _KEY


def _fault_in_hooks_file(
    path: str, reference: str, folders: Sequence[str]
) -> Fault | None:
    if not is_reference(reference):
        return Fault('expected a reference "package.module:attr"')
    module = reference.partition(":")[0]
    is_its_name = module == os.path.basename(path).removesuffix(".py")
    if is_its_name and find_module(module, folders) is None:
        # The lock leaves such a command out: see `host.lock.plugin_worker`.
        text = f"{reference} is in the hooks file, which a run cannot import"
        return Fault(text, "put it into a package, or make the command a script")
    return reference_fault(reference, folders)


def find_module(name: str, folders: Sequence[str] = ()) -> ModuleSpec | None:
    """Find a module without importing it or the packages that contain it.

    `folders` come before the program's own packages on the import path.
    """
    first, *inner = name.split(".")
    complete_import_path("" if folders else first)

    spec = None
    try:
        if folders:
            spec = PathFinder.find_spec(first, [*folders, *sys.path])
        if spec is None:
            spec = importlib.util.find_spec(first)
        for part in inner:
            if spec is None or spec.submodule_search_locations is None:
                return None
            places = [*spec.submodule_search_locations]
            spec = PathFinder.find_spec(f"{spec.name}.{part}", places)
    # For example, a module that is imported already has no `__spec__`.
    except (ImportError, ValueError):
        return None
    return spec


class _Names(ast.NodeVisitor):
    """The names that the code of a module binds at its top level.

    bound    all names
    values   those that are bound once, and to a literal such as 3 or []
    is_open  whether there may be more: through a star import, `global` or `__getattr__`
    """

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.values: set[str] = set()
        self.is_open = False

    def _bind(self, name: str) -> None:
        self.values.discard(name)
        self.bound.add(name)

    def _enter_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name)
        if node.name == "__getattr__":
            self.is_open = True
        # Names inside are its own, unless it declares them as `global`.
        if any(isinstance(inner, ast.Global) for inner in ast.walk(node)):
            self.is_open = True

    visit_FunctionDef = visit_AsyncFunctionDef = _enter_function  # noqa: N815 - ast's names

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass  # it has names of its own

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._bind(node.id)
        elif node.id in ("globals", "exec", "vars"):
            self.is_open = True

    def visit_alias(self, node: ast.alias) -> None:
        if node.name == "*":
            self.is_open = True
        name = node.asname
        if not name:  # `import x.y` binds x
            name, _, _ = node.name.partition(".")
        self._bind(name)

    def visit_Assign(self, node: ast.Assign) -> None:
        known = {*self.bound}
        self.generic_visit(node)
        if isinstance(node.value, _LITERALS):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id not in known:
                    self.values.add(target.id)


_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)
