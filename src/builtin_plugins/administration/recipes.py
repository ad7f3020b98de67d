"""Recipes of other tools: the contents of a justfile, Makefile, package.json, … as records.

`just`, `task` and `mise` list their recipes as JSON; package.json and Makefile are read as text.
Nothing is translated: each recipe is run by its own tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from builtin_plugins.io.bounded_call import bounded_call
from builtin_plugins.io.files.undo import os_errors_explained
from host import OperationError, UsageError, find_program

_LISTING_SECONDS = 60

FILE, DIRECTORY, NAME = "{file}", "{directory}", "{name}"  # placeholders in the words of a call


class Recipe(NamedTuple):
    """One recipe.

    name        as its tool writes it, such as `db:migrate`
    definition  keys of a command.json: description, args, aliases, group, help
    """

    name: str
    definition: dict[str, Any]


class Tool(NamedTuple):
    """A tool that runs recipes.

    name     its program, and the word for its recipes
    files    a regular expression for the names of its files
    listing  the words that print its recipes, () if its file is read as text
    read     turns the file or the printed listing into recipes
    call     the words that run a recipe; its name follows
    last     the words between the name of a recipe and its arguments
    """

    name: str
    files: str
    listing: tuple[str, ...]
    read: Callable[[Path, Any], Iterator[Recipe]]
    call: tuple[str, ...]
    last: tuple[str, ...] = ()


def tool_of(path: Path) -> Tool:
    """Return the tool that reads a file of this name; raises UsageError if there is none."""
    for tool in TOOLS:
        if re.fullmatch(tool.files, path.name, re.IGNORECASE):
            return tool
    raise UsageError(
        f"{path}: not a file that can be imported",
        "name a justfile, Makefile, package.json, Taskfile.yml or mise.toml",
    )


def recipes_in(path: Path, tool: Tool, environ: Mapping[str, str]) -> list[Recipe]:
    """Return the recipes of a file; runs the file's tool if that can list them.

    Raises OperationError if the file or the listing cannot be read.
    """
    try:
        with os_errors_explained(path):
            text = _listing(path, tool, environ) if tool.listing else path.read_text("utf-8")
        return list(tool.read(path, text))
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise OperationError(f"{path}: {tool.name} recipes cannot be read: {failure}") from None


def _listing(path: Path, tool: Tool, environ: Mapping[str, str]) -> Any:
    if not find_program(tool.name, environ):
        raise OperationError(f"{path}: {tool.name} is not installed", f"install {tool.name} first")
    places = {FILE: str(path), DIRECTORY: str(path.parent)}
    command = [places.get(word, word) for word in tool.listing]
    try:
        done = bounded_call(command, environ, _LISTING_SECONDS)
    except TimeoutError:
        raise OperationError(f"{path}: {tool.name} took over {_LISTING_SECONDS} s") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise OperationError(f"{path}: {tool.name} failed: {reason}")
    return json.loads(done.stdout)


def _definition(description: str | None, **more: Any) -> dict[str, Any]:
    keys = {"description": (description or "").strip().partition("\n")[0].strip(), **more}
    return {key: value for key, value in keys.items() if value}


def _just(_path: Path, module: Any) -> Iterator[Recipe]:
    """Yield the recipes of `just --dump --dump-format json`, including those of modules."""
    aliases: dict[str, list[str]] = {}
    for alias in module["aliases"].values():
        aliases.setdefault(alias["target"], []).append(alias["name"])
    for recipe in module["recipes"].values():
        if recipe["private"]:
            continue
        groups = [
            one["group"] for one in recipe["attributes"] if isinstance(one, dict) and "group" in one
        ]
        yield Recipe(
            recipe["namepath"],
            _definition(
                recipe["doc"],
                group=groups[0] if groups else "",
                aliases=aliases.get(recipe["name"]),
                args=_just_arguments(recipe["parameters"]),
            ),
        )
    for inner in module["modules"].values():
        yield from _just(_path, inner)


def _just_arguments(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `args` for the parameters of a recipe, or [] if `args` cannot express one of them.

    A default that just computes is unknown here, so that argument is only marked as optional.
    """
    if any(one.get("long") or one.get("short") or one.get("pattern") for one in parameters):
        return []
    arguments = []
    for one in parameters:
        many = one["kind"] != "singular"
        argument: dict[str, Any] = {"name": one["name"] + "..." * many}
        if one["kind"] != "star" and one["default"] is None:
            argument["required"] = True
        elif isinstance(one["default"], str) and not many:
            argument["default"] = one["default"]
        arguments.append(argument | _definition(one.get("help")))
    return arguments


def _task(_path: Path, listing: Any) -> Iterator[Recipe]:
    """Yield the tasks of `task --list-all --json`."""
    for task in listing["tasks"]:
        about = task["desc"] or task["summary"]
        yield Recipe(task["name"], _definition(about, aliases=task.get("aliases")))


def _mise(path: Path, listing: Any) -> Iterator[Recipe]:
    """Yield the tasks of `mise tasks ls --json` that are defined below the file's directory.

    A task with a usage specification answers `--help` itself.
    """
    for task in listing:
        if path.parent in Path(task["source"]).resolve().parents and not task["hide"]:
            answers = "script" if task.get("usage") else ""
            about = _definition(task["description"], aliases=task["aliases"], help=answers)
            yield Recipe(task["name"], about)


def _npm(_path: Path, text: str) -> Iterator[Recipe]:
    """Yield the scripts of a package.json; npm runs `preX` and `postX` with X by itself."""
    scripts = json.loads(text).get("scripts") or {}
    for name, script in scripts.items():
        hooked = re.sub("^(pre|post)", "", name)
        if hooked == name or hooked not in scripts:
            yield Recipe(name, _definition(script))


_RULE = re.compile(r"^(?P<targets>[^\s#:=%$][^#:=%$]*?)\s*::?(?!=)(?P<rest>.*)$")
_DOCUMENTED = re.compile(r"##+\s*(?P<text>.*)")


def _make(_path: Path, text: str) -> Iterator[Recipe]:
    """Yield the targets of a Makefile that its text names.

    Targets that are built files are skipped: a target is used if it is phony or documented, or if
    its name has no `.` and no `/`. The description follows `##` on the target's line, or is in
    the comment above.
    """
    lines = text.replace("\\\n", " ").splitlines()
    rules = [(index, found) for index, line in enumerate(lines) if (found := _RULE.match(line))]
    phony = {
        name for _, found in rules if found["targets"] == ".PHONY" for name in found["rest"].split()
    }
    yielded: set[str] = set()
    for index, found in rules:
        about = _DOCUMENTED.search(found["rest"])
        description = about["text"] if about else _comment_above(lines, index)
        for name in found["targets"].split():
            chosen = name in phony or about or not re.search("[./]", name)
            if chosen and not name.startswith(".") and name not in yielded:
                yielded.add(name)
                yield Recipe(name, _definition(description))


def _comment_above(lines: list[str], index: int) -> str:
    """Return the first line of the comment directly above a line, "" if there is none."""
    first = index
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return lines[first].lstrip("# ") if first < index else ""


TOOLS = (
    Tool(
        "just",
        r"\.?justfile|.*\.just",
        ("just", "--justfile", FILE, "--dump", "--dump-format", "json"),
        _just,
        ("just", "--justfile", FILE, "--working-directory", DIRECTORY),
    ),
    Tool(
        "make",
        r"(gnu)?makefile|.*\.mk",
        (),
        _make,
        ("make", "--no-print-directory", "-C", DIRECTORY, "-f", NAME),
    ),
    Tool("npm", r"package\.json", (), _npm, ("npm", "--prefix", DIRECTORY, "run"), ("--",)),
    Tool(
        "task",
        r"taskfile(\.dist)?\.ya?ml",
        ("task", "--taskfile", FILE, "--dir", DIRECTORY, "--list-all", "--json"),
        _task,
        ("task", "--taskfile", FILE, "--dir", DIRECTORY),
        ("--",),
    ),
    Tool(
        "mise",
        r"\.?mise(\..+)?\.toml",
        ("mise", "--cd", DIRECTORY, "tasks", "ls", "--json"),
        _mise,
        ("mise", "--cd", DIRECTORY, "run"),
    ),
)
