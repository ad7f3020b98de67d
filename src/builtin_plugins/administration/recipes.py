"""Recipes of other tools, read from a justfile, Makefile, package.json, …

`just`, `task` and `mise` list their recipes as JSON; package.json and Makefile are read as text.
Nothing is translated: each recipe is run by its own tool.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from builtin_plugins.io.bounded_call import bounded_call
from host import OperationError, UsageError, find_program, is_word

_LISTING_SECONDS = 60


class Recipe(NamedTuple):
    """One recipe.

    name        as its tool writes it, such as `db:migrate`
    definition  keys of a command.json: description, args, aliases, group
    left_out    the reason why it is not imported, or ""
    """

    name: str
    definition: dict[str, Any]
    left_out: str = ""


class Tool(NamedTuple):
    """A tool that runs recipes.

    name     its program, and the default category of its recipes
    files    a regular expression for the names of its files
    read     a function that gets the file's path and its text or listing, and yields recipes
    call     a template, for `str.format`, of the command line that runs a recipe
    listing  the command line that prints its recipes as JSON, or "" if its file is read as text
    direct   if the tool passes only the words after `--` to a recipe: a pattern of `case` in sh
             for first words of lines that the tool gets as they are; `--` is put before others
    """

    name: str
    files: str
    read: Callable[[Path, Any], Iterator[Recipe]]
    call: str
    listing: str = ""
    direct: str = ""


def tool_of(path: Path) -> Tool:
    """Return the tool that reads a file of this name. Raises UsageError if there is none."""
    for tool in TOOLS:
        if re.fullmatch(tool.files, path.name, re.IGNORECASE):
            return tool
    raise UsageError(
        f"{path}: not a file that can be imported",
        "choose a justfile, Makefile, package.json, Taskfile.yml or mise.toml",
    )


def recipes_in(path: Path, tool: Tool, environ: Mapping[str, str]) -> list[Recipe]:
    """Return the recipes of a file, listed by its tool or read from the file itself.

    Raises OSError if the file cannot be read, and OperationError if its content is invalid.
    """
    try:
        text = (
            _listing(path, tool, environ) if tool.listing else path.read_text("utf-8")
        )
        return list(tool.read(path, text))
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise OperationError(
            f"{path}: {tool.name} recipes cannot be read: {failure}"
        ) from None


def _listing(path: Path, tool: Tool, environ: Mapping[str, str]) -> Any:
    if not find_program(tool.name, environ):
        raise OperationError(
            f"{path}: {tool.name} is not installed", f"install {tool.name} first"
        )
    words = [
        word.format(file=path, directory=path.parent) for word in tool.listing.split()
    ]
    done = bounded_call(words, environ, _LISTING_SECONDS, f"{path}: {tool.name}")
    if done.status:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise OperationError(f"{path}: {tool.name} failed: {reason}")
    return json.loads(done.stdout)


def _definition(description: str | None, **more: Any) -> dict[str, Any]:
    keys = {
        "description": (description or "").strip().partition("\n")[0].strip(),
        **more,
    }
    keys["aliases"] = [*filter(is_word, more.get("aliases") or ())]
    return {key: value for key, value in keys.items() if value}


def _just(path: Path, module: Any) -> Iterator[Recipe]:
    """Yield the recipes of `just --dump --dump-format json`, including those of modules."""
    aliases = module["aliases"].values()
    for recipe in module["recipes"].values():
        if recipe["private"]:
            yield Recipe(recipe["namepath"], {}, "private")
            continue
        groups = [
            attribute["group"]
            for attribute in recipe["attributes"]
            if isinstance(attribute, dict) and "group" in attribute
        ]
        definition = _definition(
            recipe["doc"],
            group=groups[0] if groups else "",
            aliases=[
                alias["name"] for alias in aliases if alias["target"] == recipe["name"]
            ],
            args=_just_arguments(recipe["parameters"]),
        )
        yield Recipe(recipe["namepath"], definition)
    for inner in module["modules"].values():
        yield from _just(path, inner)


def _just_arguments(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a recipe's parameters as the `args` of a command.json, or [] if one is an option.

    If `just` computes a default value, the value is unknown here. The argument is then optional
    and has no default.
    """
    if any(parameter.get("long") or parameter.get("short") for parameter in parameters):
        return []

    arguments = []
    is_repeated = False
    for parameter in parameters:
        is_repeated = parameter["kind"] != "singular"
        name = parameter["name"] + ("..." if is_repeated else "")
        argument = {"name": name, **_definition(parameter.get("help"))}
        default = parameter["default"]
        if default is None and parameter["kind"] != "star":
            argument["required"] = True
        elif isinstance(default, str) and not is_repeated:
            argument["default"] = default
        # After a recipe's name, `just` takes every word as a value, also `--release` and `--`.
        argument["passthrough"] = True
        arguments.append(argument)

    if arguments and not is_repeated:
        about = "Further recipes and their arguments"
        arguments.append(
            {"name": "recipes...", "description": about, "passthrough": True}
        )
    return arguments


def _task(_path: Path, listing: Any) -> Iterator[Recipe]:
    """Yield the tasks of `task --list-all --json`."""
    for task in listing["tasks"]:
        about = task["desc"] or task["summary"]
        yield Recipe(task["name"], _definition(about, aliases=task.get("aliases")))


def _mise(path: Path, listing: Any) -> Iterator[Recipe]:
    """Yield the tasks of `mise tasks ls --json` that are defined below the file's directory."""
    for task in listing:
        if path.parent not in Path(task["source"]).resolve().parents:
            continue
        reason = "hidden" if task["hide"] else ""
        definition = _definition(task["description"], aliases=task["aliases"])
        yield Recipe(task["name"], definition, reason)


def _npm(_path: Path, text: str) -> Iterator[Recipe]:
    """Yield the scripts of a package.json."""
    for name, script in (json.loads(text).get("scripts") or {}).items():
        yield Recipe(name, _definition(script))


_RULE = re.compile(r"^(?P<targets>[^\s#:=][^#:=]*?)\s*&?::?(?!=)(?P<rest>.*)$")
_VARIABLE = re.compile(
    r"\s*((export|override|private)\s+)*[\w.-]+\s*(\?|\+|!|:{1,3})?="
)
_KEYWORDS = (  # first words of lines that are not rules
    *(
        "ifeq",
        "ifneq",
        "ifdef",
        "ifndef",
        "else",
        "endif",
        "include",
        "-include",
        "sinclude",
    ),
    *("vpath", "export", "unexport", "override", "undefine"),
)
_DEFINE = re.compile(r"\s*((export|override)\s+)*define\b")
_DOCUMENTED = re.compile(r"##+\s*(?P<text>.*)")


def _make(_path: Path, text: str) -> Iterator[Recipe]:
    r"""Yield the targets in the text of a Makefile.

    Patterns, computed names and files that `make` builds are left out: names that contain `.` or
    `/`, unless they are phony or documented. The description is the text after `##` on the
    target's line, or the comment above that line. In a name, `\:` stands for a colon.
    """
    phony: set[str] = set()
    targets: dict[
        str, tuple[str, bool]
    ] = {}  # the description, and whether it was after ##
    comment = ""  # the first line of the comment directly above
    for line in _lines_outside_define(text):
        found, documented = _RULE.match(line), _DOCUMENTED.search(line)
        if found and found["targets"] == ".PHONY":
            phony.update(found["rest"].split())
        elif found and not _VARIABLE.match(found["rest"]):
            about = documented["text"] if documented else comment
            for name in _target_names(found["targets"]):
                targets.setdefault(name, (about, documented is not None))
        is_comment = line.startswith("#")
        comment = (comment or line.lstrip("# ")) if is_comment else ""
    for name, (about, is_documented) in targets.items():
        reason = _reason_of_make(name, is_chosen=name in phony or is_documented)
        if reason is not None:
            yield Recipe(name.replace("\0", ":"), _definition(about), reason)


def _target_names(text: str) -> list[str]:
    """Return the names in the part of a line before its colon; none if the line is no rule."""
    names = text.split()
    if names[0] in _KEYWORDS or text.count("(") != text.count(")"):
        return []  # such as `ifeq ($(X),a:b)` and `$(info a: b)`
    return [text] if "$" in text else names


def _lines_outside_define(text: str) -> Iterator[str]:
    r"""Yield the lines of a Makefile without recipes and `define`; `\:` becomes a NUL."""
    depth = 0
    for line in text.replace("\\\n", " ").replace("\\:", "\0").splitlines():
        if _DEFINE.match(line):
            depth += 1
        elif line.split()[:1] == ["endef"]:
            depth -= 1
        elif depth <= 0:
            yield line


def _reason_of_make(name: str, *, is_chosen: bool) -> str | None:
    """Return why a target is left out, "" if it is imported, or None if it is not worth a word."""
    if name.startswith("."):
        return None  # a directive of make, such as .SUFFIXES
    if "%" in name:
        return "a pattern"
    if "$" in name:
        return "its name is computed"
    if not is_chosen and re.search("[./]", name):
        return "a file that make builds"
    return ""


TOOLS = (
    Tool(
        "just",
        r"\.?justfile|.*\.just",
        _just,
        "just --justfile {file} --working-directory {directory} {recipe}",
        "just --justfile {file} --dump --dump-format json",
    ),
    Tool(
        "make",
        r"(gnu)?makefile|.*\.mk",
        _make,
        "make --no-print-directory -C {directory} -f {name} {recipe}",
    ),
    Tool(
        "npm",
        r"package\.json",
        _npm,
        "npm --prefix {directory} run {recipe}",
        direct="--",
    ),
    Tool(
        "task",
        r"taskfile(\.dist)?\.ya?ml",
        _task,
        "task --exit-code --taskfile {file} --dir {directory} {recipe}",
        "task --taskfile {file} --dir {directory} --list-all --json",
        direct="-- | [A-Za-z_]*=*",  # a task's variables stand before `--`
    ),
    Tool(
        "mise",
        r"\.?mise(\..+)?\.toml",
        _mise,
        "mise --cd {directory} run {recipe}",
        "mise --cd {directory} tasks ls --json",
    ),
)
