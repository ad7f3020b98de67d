"""Recipes of other tools, read from a justfile, Makefile, package.json, …

`just`, `task` and `mise` list their recipes as JSON; package.json and Makefile are read as text.
Nothing is translated: each recipe is run by its own tool.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builtin_plugins.library.bounded_call import bounded_call
from host import OperationError, UsageError, find_program, is_word

_LISTING_SECONDS = 60


class Recipe(NamedTuple):
    """One recipe.

    name        as its tool writes it, such as `db:migrate`
    definition  keys of a command.json: description, args, aliases, group, confirm
    left_out    the reason why it is not imported, or ""
    asks_once   whether the only question of a run is the one in `confirm`, so that the tool itself
                need not ask it again
    """

    name: str
    definition: dict[str, Any]
    left_out: str = ""
    asks_once: bool = False


class Tool(NamedTuple):
    """A tool that runs recipes.

    name     its program, and the default category of its recipes
    files    a regular expression for the names of its files
    read     a function that gets the file's path and its text or listing, and yields recipes
    call     a template, for `str.format`, of the command line that runs a recipe
    listing  the command line that prints its recipes as JSON, or "" if its file is read as text
    yes      the option that answers the tool's questions, or ""; it stands behind the program
    direct   if the tool passes only the words after `--` to a recipe: a pattern of `case` in sh
             for first words of lines that the tool gets as they are; `--` is put before others
    """

    name: str
    files: str
    read: Callable[[Path, Any], Iterator[Recipe]]
    call: str
    listing: str = ""
    yes: str = ""
    direct: str = ""


def tool_of(path: Path) -> Tool:
    """Return the tool that reads a file. Raises UsageError if there is none.

    Several tools read a package.json: its key `packageManager` decides, and otherwise it is npm.
    """
    tools = []
    for tool in TOOLS:
        if re.fullmatch(tool.files, path.name, re.IGNORECASE):
            tools.append(tool)
    if len(tools) > 1:
        manager = _package_manager(path)
        tools = [tool for tool in tools if tool.name == manager] or tools
    if tools:
        return tools[0]
    raise UsageError(
        f"{path}: not a file that can be imported",
        "choose a justfile, Makefile, package.json, Taskfile.yml or mise.toml",
    )


def _package_manager(path: Path) -> str:
    """Return the name in `"packageManager": "pnpm@9.1.0"` of a package.json, or ""."""
    try:
        package = json.loads(path.read_text("utf-8"))
        name, _, _ = str(package.get("packageManager")).partition("@")
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""  # `recipes_in` reports it
    return name


def recipes_in(path: Path, tool: Tool, environ: Mapping[str, str]) -> list[Recipe]:
    """Return the recipes of a file, listed by its tool or read from the file itself.

    Raises OSError if the file cannot be read, and OperationError if its content is invalid.
    """
    try:
        if tool.listing:
            listing = _listing(path, tool, environ)
        else:
            listing = path.read_text("utf-8")
        recipes = list(tool.read(path, listing))
        # JSON allows half of a surrogate pair, but no file can contain it.
        json.dumps(recipes, ensure_ascii=False).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as failure:
        # Another version of the tool may print another structure.
        what = f"{path}: {tool.name} recipes cannot be read: {failure}"
        raise OperationError(what) from None
    return recipes


def _listing(path: Path, tool: Tool, environ: Mapping[str, str]) -> Any:
    if not find_program(tool.name, environ):
        what = f"{path}: {tool.name} is not installed"
        raise OperationError(what, f"install {tool.name} first")

    argv = []
    for word in tool.listing.split():
        argv.append(word.format(file=path, directory=path.parent))
    finished = bounded_call(argv, environ, _LISTING_SECONDS, f"{path}: {tool.name}")

    if finished.status:
        error = finished.stderr.decode(errors="replace").strip()
        reason, _, _ = error.partition("\n")
        raise OperationError(f"{path}: {tool.name} failed: {reason}")
    return json.loads(finished.stdout)


def _definition(
    description: str | None,
    *,
    group: str = "",
    aliases: Iterable[str] | None = (),
    args: Sequence[dict[str, Any]] = (),
    confirm: str = "",
) -> dict[str, Any]:
    """Return the keys of a command.json; keys without a value are left out.

    The description is the first line of the tool's text. An alias that cannot be a command's
    name is left out, too.
    """
    first_line = ""
    if description:
        first_line, _, _ = description.strip().partition("\n")

    definition = {
        "description": first_line.strip(),
        "group": group,
        "aliases": [alias for alias in aliases or () if is_word(alias)],
        "args": args,
        "confirm": confirm,
    }
    return {key: value for key, value in definition.items() if value}


def _just(path: Path, module: Any) -> Iterator[Recipe]:
    """Yield the recipes of `just --dump --dump-format json`, including those of modules."""
    aliases: dict[str, list[str]] = {}
    for alias in module["aliases"].values():
        aliases.setdefault(alias["target"], []).append(alias["name"])

    recipes = module["recipes"]
    for recipe in recipes.values():
        if recipe["private"]:
            yield Recipe(recipe["namepath"], {}, "private")
            continue
        definition = _definition(
            recipe["doc"],
            group=_just_group(recipe),
            aliases=aliases.get(recipe["name"]),
            args=_just_arguments(recipe["parameters"]),
            confirm=_just_question(recipe),
        )
        has_other_questions = any(
            map(_just_question, _just_dependencies(recipe, recipes))
        )
        yield Recipe(recipe["namepath"], definition, asks_once=not has_other_questions)

    for inner in module["modules"].values():
        yield from _just(path, inner)


def _just_group(recipe: dict[str, Any]) -> str:
    """Return the first group of a recipe, or "": an attribute is a name, or an object."""
    for attribute in recipe["attributes"]:
        if isinstance(attribute, dict) and "group" in attribute:
            group: str = attribute["group"]
            return group
    return ""


def _just_question(recipe: dict[str, Any]) -> str:
    """Return the question of a recipe with `[confirm]` or `[confirm("Really?")]`, or ""."""
    for attribute in recipe["attributes"]:
        # Both a name and the key of an object are found by `in`.
        if "confirm" not in attribute:
            continue
        text = attribute["confirm"] if isinstance(attribute, dict) else None
        if isinstance(text, str):
            return text
        return f"Run recipe {recipe['namepath']}?"
    return ""


def _just_dependencies(
    recipe: dict[str, Any], recipes: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return all recipes that `just` runs with a recipe, but not the recipe itself."""
    found: dict[str, dict[str, Any]] = {}
    pending = [recipe]
    while pending:
        for dependency in pending.pop()["dependencies"]:
            name = dependency["recipe"]
            if name in recipes and name not in found:
                found[name] = recipes[name]
                pending.append(recipes[name])
    return list(found.values())


def _just_arguments(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a recipe's parameters as the `args` of a command.json, or [] if one is an option.

    If `just` computes a default value, the value is unknown here. The argument is then optional
    and has no default.
    """
    arguments: list[dict[str, Any]] = []
    is_repeated = False
    for parameter in parameters:
        is_option = parameter.get("long") or parameter.get("short")
        if is_option:
            return []

        is_repeated = parameter["kind"] != "singular"
        name = parameter["name"]
        if is_repeated:
            name += "..."
        argument = {"name": name, **_definition(parameter.get("help"))}

        default = parameter["default"]
        if default is None and parameter["kind"] != "star":
            argument["required"] = True
        elif isinstance(default, str) and not is_repeated:
            argument["default"] = default

        # After a recipe's name, `just` takes every word as a value, also `--release` and `--`.
        argument["passthrough"] = True
        arguments.append(argument)

    # Words after the last argument are the names of further recipes.
    if arguments and not is_repeated:
        further = {
            "name": "recipes...",
            "description": "Further recipes and their arguments",
            "passthrough": True,
        }
        arguments.append(further)
    return arguments


_PROMPT = re.compile(r"(?m)^[ \t]+prompt:(?P<text>.*)$")


def _task(_path: Path, listing: Any) -> Iterator[Recipe]:
    """Yield the tasks of `task --list-all --json`."""
    for task in listing["tasks"]:
        description = task["desc"] or task["summary"]
        text = _text_of_task(task)
        question = _task_question(task["name"], text)
        definition = _definition(
            description, aliases=task.get("aliases"), confirm=question
        )
        # A task that it calls may have a question of its own.
        calls_others = re.search(r"\b(deps|task):", text) is not None
        yield Recipe(task["name"], definition, asks_once=not calls_others)


def _text_of_task(task: dict[str, Any]) -> str:
    """Return the lines of a task in its Taskfile, because the listing has no prompts."""
    location = task["location"]
    lines = Path(location["taskfile"]).read_text("utf-8").splitlines()
    indent = location["column"] - 1
    found: list[str] = []
    for line in lines[location["line"] :]:
        bare = line.lstrip()
        if bare and not bare.startswith("#") and len(line) - len(bare) <= indent:
            break
        found.append(line)
    return "\n".join(found)


def _task_question(name: str, text: str) -> str:
    """Return the prompt in the text of a task, or "". Several prompts are one question."""
    prompt = _PROMPT.search(text)
    if prompt is None:
        return ""
    question = prompt["text"].strip()
    if question[:1] in ("'", '"') and question.endswith(question[:1]):
        question = question[1:-1]
    # A template, an array or a text over several lines is known to the tool only.
    if not question or question[0] in "[|>#" or "{{" in question:
        return f"Run task {name}?"
    return question


def _mise(path: Path, listing: Any) -> Iterator[Recipe]:
    """Yield the tasks of `mise tasks ls --json` that are defined below the file's directory."""
    for task in listing:
        # `mise` also lists the tasks of the directories above and of the user.
        file = Path(task["source"]).resolve()
        if path.parent not in file.parents:
            continue
        definition = _definition(task["description"], aliases=task["aliases"])
        reason = "hidden" if task["hide"] else ""
        yield Recipe(task["name"], definition, reason)


def _npm(_path: Path, text: str) -> Iterator[Recipe]:
    """Yield the scripts of a package.json."""
    package = json.loads(text)
    scripts = package.get("scripts") or {}
    for name, script in scripts.items():
        yield Recipe(name, _definition(script))


# Blanks and `&` before the colon are in `targets`: to match them apart would take quadratic time.
_RULE = re.compile(r"^(?P<targets>[^\s#:=&][^#:=]*)::?(?!=)(?P<rest>.*)$")
_VARIABLE = re.compile(
    r"\s*((export|override|private)\s+)*[\w.-]+\s*(\?|\+|!|:{1,3})?="
)
# First words of lines that are not rules.
_KEYWORDS = (
    "ifeq",
    "ifneq",
    "ifdef",
    "ifndef",
    "else",
    "endif",
    "include",
    "-include",
    "sinclude",
    "vpath",
    "export",
    "unexport",
    "override",
    "undefine",
)
_DEFINE = re.compile(r"\s*((export|override)\s+)*define\b")
_DOCUMENTED = re.compile(r"##+\s*(?P<text>.*)")


class _Target(NamedTuple):
    """A target of a Makefile: its description, and whether that was in a comment with ##."""

    description: str
    is_documented: bool


def _make(_path: Path, text: str) -> Iterator[Recipe]:
    r"""Yield the targets in the text of a Makefile.

    Patterns, computed names and files that `make` builds are left out: names that contain `.` or
    `/`, unless they are phony or documented. The description is the text after `##` on the
    target's line, or the comment above that line. In a name, `\:` stands for a colon, and `\ ` for
    a blank.
    """
    phony: set[str] = set()
    targets: dict[str, _Target] = {}
    comment = ""  # the first line of the comment directly above
    for line in _lines_outside_define(text):
        rule = _RULE.match(line)
        if rule and rule["targets"].rstrip() == ".PHONY":
            phony.update(rule["rest"].split())
        elif rule and not _VARIABLE.match(rule["rest"]):
            target = _Target(comment, is_documented=False)
            documented = _DOCUMENTED.search(line)
            if documented:
                target = _Target(documented["text"], is_documented=True)
            for name in _target_names(rule["targets"]):
                # A target may have several rules; the first one describes it.
                targets.setdefault(name, target)

        if not line.startswith("#"):
            comment = ""
        elif not comment:
            comment = line.lstrip("# ")

    for name, target in targets.items():
        is_chosen = name in phony or target.is_documented
        reason = _reason_of_make(name, is_chosen=is_chosen)
        if reason is not None:
            definition = _definition(target.description)
            written = name.replace("\0", ":").replace("\1", " ")
            yield Recipe(written, definition, reason)


def _target_names(text: str) -> list[str]:
    """Return the names in the part of a line before its colon; none if the line is no rule."""
    text = text.rstrip().removesuffix("&").rstrip()  # `a b &: c` makes both at once
    names = text.split()
    if names[0] in _KEYWORDS:
        return []  # such as `ifeq ($(X),a:b)`
    if text.count("(") != text.count(")"):
        return []  # such as `$(info a: b)`
    if "$" in text:
        return [text]  # spaces may belong to a function: `$(addsuffix .o, a b)`
    return names


def _lines_outside_define(text: str) -> Iterator[str]:
    r"""Yield the lines of a Makefile without `define`; `\:` becomes `\0`, and `\ ` becomes `\1`."""
    text = text.replace("\\\n", " ").replace("\\:", "\0").replace("\\ ", "\1")
    depth = 0

    for line in text.split("\n"):
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
        yes="--yes",
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
    Tool("pnpm", r"package\.json", _npm, "pnpm --dir {directory} run {recipe}"),
    Tool("yarn", r"package\.json", _npm, "yarn --cwd {directory} run {recipe}"),
    Tool(
        "task",
        r"taskfile(\.dist)?\.ya?ml",
        _task,
        "task --exit-code --taskfile {file} --dir {directory} {recipe}",
        "task --taskfile {file} --dir {directory} --list-all --json",
        yes="--yes",
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
