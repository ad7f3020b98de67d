"""`self import`: make a command for each recipe of a justfile, Makefile, …"""

import hashlib
import json
import os
import re
import shlex
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from builtin_plugins.authoring.new import check_words
from builtin_plugins.authoring.recipes import Recipe, Tool, recipes_in, tool_of
from builtin_plugins.library.files.atomic import (
    discard,
    make_directory,
    mode_below,
    remove_path,
    sync_directory,
    temporary,
    write_file,
)
from builtin_plugins.library.files.file_lock import file_lock
from builtin_plugins.library.files.undo import (
    os_errors_explained,
    signals_blocked,
    undoing,
)
from builtin_plugins.library.versioned_directory import staging
from builtin_plugins.registry.directory import MANIFEST, names_in, read_plugin
from builtin_plugins.registry.entry import NAME_RULE, Entry, is_plugin_name
from builtin_plugins.registry.registry import read_registry
from builtin_plugins.self_commands.decorator import YES, argument, self_command, text
from builtin_plugins.self_commands.project import nearest_project
from host import OperationError, UsageError, is_word
from host.session.session import Session
from host.text import plural

_SHEBANG = "#!/bin/sh\n"


@self_command(
    "import",
    "Make commands from a justfile, Makefile or package.json",
    argument("file", required=True, type="file", complete="file"),
    argument("words...", "The category (default: the tool's name).", complete="none"),
    argument("--update", "Update an earlier import, except scripts that you changed."),
    text("--plugin", "NAME", "Write the commands into plugins/NAME."),
    argument(
        "--project",
        "Write the commands into the nearest project.",
        conflicts=["--plugin"],
    ),
    YES,
)
def import_(
    session: Session,
    file: str,
    words: tuple[str, ...],
    update: bool,
    plugin: str | None,
    project: bool,
    yes: bool,
) -> None:
    """Write one script for each recipe of FILE, in the category WORDS.

    By default, the category has the tool's name. Each script calls the tool; nothing is
    translated. With --update, the scripts of an earlier import are updated, except those that
    you changed.
    """
    path = Path(os.path.abspath(file))
    tool = tool_of(path)
    if not words:
        words = (tool.name,)
    check_words(words)
    recipes = _agreed_recipes(session, path, tool, yes=yes)

    say = session.messages.line
    left_out: dict[str, list[str]] = {}
    with (
        os_errors_explained(),
        signals_blocked(),
        ExitStack() as locked,
        undoing() as undo,
    ):
        if plugin is not None:
            # Another process may make the same plugin.
            plugins_dir = session.installation.plugins_dir
            make_directory(plugins_dir, undo=undo)
            locked.enter_context(file_lock(os.path.realpath(plugins_dir), say))
        base, root = _base(session, plugin, undo, project=project)
        make_directory(str(base), undo=undo)
        # Another process may make the same category.
        locked.enter_context(file_lock(os.path.realpath(base), say))
        folder = base.joinpath(*words)
        if folder.exists() and not update:
            hint = "to update an earlier import, add --update; otherwise name another category"
            raise OperationError(f"{folder}: already exists", hint)

        scripts = _scripts(tool, path, folder, recipes, root, left_out)
        reasons = _reasons(left_out)
        # An update may remove the last command, but a first import must make one.
        if not scripts and not update:
            what = f"{path} contains no recipe that can be a command"
            raise OperationError(what, "; ".join(reasons))

        if project:
            _check_inside(root, {folder, *(script.parent for script in scripts)})
        category = _category(tool, path)
        if folder.exists():
            _synchronize(session, folder, path, scripts, category, undo)
        else:
            _write_new(folder, scripts, category, undo)

    session.show_lines(
        f"{folder}: {plural(len(scripts), 'command')}",
        *reasons,
        f"try it:  {session.program} {' '.join(words)}",
    )


def _agreed_recipes(
    session: Session, path: Path, tool: Tool, *, yes: bool
) -> list[Recipe]:
    """Return the recipes in a file, of which there is at least one.

    To list its recipes, a tool may run code that is in the file, so the user is asked before.
    """
    if tool.listing:
        question = f"Run {tool.name} to list the recipes of {path}?"
        otherwise = f"{path}: nothing was imported"
        session.ask_to_continue(question, yes, otherwise, required=True)

    recipes = recipes_in(path, tool, session.environ)
    if not recipes:
        raise OperationError(f"{path} contains no recipes")
    return recipes


def _reasons(left_out: Mapping[str, list[str]]) -> list[str]:
    """Return a line for each reason why recipes are left out."""
    lines = []
    for reason, names in left_out.items():
        lines.append(f"left out ({reason}): {', '.join(names)}")
    return lines


def _category(tool: Tool, file: Path) -> str:
    """Return the text of the category.json for the recipes of a file."""
    category = {
        "name": tool.name,
        "description": f"Recipes of {file.name}",
        "requires": [tool.name],
    }
    return _json(category)


def _base(
    session: Session, plugin: str | None, undo: ExitStack, *, project: bool
) -> tuple[Path, str]:
    """Return the directory for the category, and the root of the installation or project.

    A plugin that does not exist is made; `undo` gets the steps that remove it.
    """
    root = session.layout.root
    if project:
        nearest = nearest_project(session)
        return Path(nearest.commands_dir), nearest.root
    if plugin is None:
        return Path(session.installation.commands_dir), root
    return _tree_of_plugin(session, plugin, undo), root


def _check_inside(root: str, folders: set[Path]) -> None:
    """Raise OperationError if a link, which may be a stranger's, leads out of the project."""
    for folder in folders:
        real = folder.resolve()
        if Path(root) not in real.parents:
            what = f"{folder}: leads out of the project, to {real}"
            raise OperationError(what, "import without --project, or remove the link")


def _tree_of_plugin(session: Session, plugin: str, undo: ExitStack) -> Path:
    """Return the directory with the commands of a plugin; a missing plugin is made first."""
    if not is_plugin_name(plugin):
        raise UsageError(f"{plugin} is not a valid plugin name", NAME_RULE)

    plugins_dir = session.installation.plugins_dir
    entry = read_registry(plugins_dir).entries.get(plugin, Entry(plugin, "local"))
    path = Path(entry.root(plugins_dir))
    if not _has_files(path):
        manifest = str(path / MANIFEST)
        make_directory(str(path), undo=undo)
        undo.callback(discard, manifest)
        write_file(manifest, _json({"name": plugin, "scripts": {}}))

    directory_plugin = read_plugin(str(path), entry)
    if directory_plugin.tree.scripts is None:
        what = f"{path}: this plugin does not accept scripts as commands"
        hint = f'to accept scripts, add "scripts": {{}} to {MANIFEST}'
        raise OperationError(what, hint)
    return Path(directory_plugin.tree.path)


def _has_files(plugin: Path) -> bool:
    """Return whether a plugin is there; a killed import may have made only its directory."""
    for name in names_in(str(plugin)):
        if not name.startswith("."):
            return True
    return False


def _scripts(
    tool: Tool,
    file: Path,
    folder: Path,
    recipes: list[Recipe],
    root: str,
    left_out: dict[str, list[str]],
) -> dict[Path, str]:
    """Return the text of each script by its path.

    `left_out` gets the names of the other recipes by the reason.
    """
    scripts: dict[Path, str] = {}
    for recipe in recipes:
        # A namespace of the tool, such as `db:migrate` or `web/build`, becomes a category.
        words = [word for word in re.split("[:/]+", recipe.name) if word]
        if not words:
            words = [""]  # a recipe named `:` has no name that can be a command's
        path = folder.joinpath(*words[:-1], f"{words[-1]}.sh")

        if recipe.left_out:
            reason = recipe.left_out
        elif not all(map(is_word, words)):
            reason = "not a valid command name"
        elif path in scripts:
            reason = "another recipe has the same command name"
        else:
            scripts[path] = _script(tool, file, recipe, path.parent, root)
            continue
        left_out.setdefault(reason, []).append(recipe.name)

    return scripts


def _script(tool: Tool, file: Path, recipe: Recipe, folder: Path, root: str) -> str:
    """Return the script of a recipe in `folder`: its definition, and the call of the tool.

    If `file` is in the installation or project, paths in the script are relative to `folder`.
    """
    code = _definition_block(tool, recipe)
    if tool.direct:
        # Without this, `build -- --fix` would reach the recipe as `-- --fix`.
        code += f'case ${{1-}} in {tool.direct}) ;; *) set -- -- "$@" ;; esac\n'

    # The installation may be moved, or be another person's clone.
    real_root = Path(os.path.realpath(root))
    is_inside = real_root in file.resolve().parents
    start = folder if is_inside else None

    call = tool.call.format(
        file=_quoted(file, start),
        directory=_quoted(file.parent, start),
        name=shlex.quote(file.name),
        recipe=shlex.quote(recipe.name),
    )
    # The program asks what is in `confirm`.
    if tool.yes and recipe.asks_once and "confirm" in recipe.definition:
        call = call.replace(tool.name, f"{tool.name} {tool.yes}", 1)
    code += f'exec {call} "$@"\n'
    return f"{_SHEBANG}{_mark(file, code)}\n{code}"


def _definition_block(tool: Tool, recipe: Recipe) -> str:
    """Return the comment that contains the definition of the recipe's command."""
    definition = {"description": f"{tool.name} {recipe.name}", **recipe.definition}
    text = _json(definition)
    if len(text.splitlines()) > text.count("\n"):  # U+2028 ends a line, too
        text = json.dumps(definition, indent=2)
    block = "# /// command\n"
    for line in text.splitlines():
        block += f"# {line}\n"
    return f"{block}# ///\n"


def _quoted(path: Path, folder: Path | None) -> str:
    """Return the shell word for a path; with `folder`, relative to the script in that folder."""
    if folder is None:
        return shlex.quote(str(path))
    relative = os.path.relpath(path.resolve(), folder.resolve())
    return f'"${{0%/*}}"/{shlex.quote(relative)}'


def _mark(file: Path, code: str) -> str:
    """Return the comment to write above `code`; its checksum later shows if the code changed."""
    checksum = hashlib.sha256(code.encode()).hexdigest()[:16]
    return f"# Written by `self import` from {json.dumps(file.name)}: {checksum}"


def _is_as_written(text: str, file: Path) -> bool:
    mark, _, code = text.removeprefix(_SHEBANG).partition("\n")
    return mark == _mark(file, code)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _write_new(
    folder: Path, scripts: Mapping[Path, str], category: str, undo: ExitStack
) -> None:
    """Make the directory of a first import in one step."""
    above = str(folder.parent)
    make_directory(above, undo=undo)

    with staging(above) as stage:
        new = Path(stage, "new")
        make_directory(str(new), mode_below(above))
        write_file(str(new / "category.json"), category)
        for path, text in scripts.items():
            target = new / path.relative_to(folder)
            make_directory(str(target.parent), mode_below(above))
            write_file(str(target), text, 0o755)

        os.rename(new, folder)
        undo.callback(remove_path, str(folder))

    sync_directory(above)


def _synchronize(
    session: Session,
    folder: Path,
    file: Path,
    scripts: Mapping[Path, str],
    category: str,
    undo: ExitStack,
) -> None:
    """Write scripts and remove those of removed recipes, except scripts that the user changed."""
    category_file = folder / "category.json"
    if not category_file.exists():
        undo.callback(discard, str(category_file))
        write_file(str(category_file), category)

    hidden: list[str] = []  # former scripts under hidden names, for the undo
    for path, content in sorted(scripts.items()):
        if not path.exists():
            make_directory(str(path.parent), undo=undo)
            undo.callback(discard, str(path))
            write_file(str(path), content, 0o755)
            continue

        present = path.read_text(errors="replace")
        if present == content:
            continue
        if _is_as_written(present, file):
            hidden.append(_second_link(path, undo))
            write_file(str(path), content, 0o755)
        else:
            session.messages.warn(f"{path}: kept, because it was changed by hand")

    for path in sorted(folder.rglob("*.sh")):
        if path not in scripts and _may_go(path, file):
            hidden.append(_hidden(path, undo))

    # Every change has succeeded, so no undo needs the former scripts.
    for former in hidden:
        discard(former)
        with suppress(OSError):  # the directory of a removed script may be empty
            os.rmdir(os.path.dirname(former))


def _may_go(path: Path, file: Path) -> bool:
    """Return whether a script without a recipe is a former import's, not the user's own."""
    if not path.exists():
        return True  # a dangling link
    content = path.read_text(errors="replace")
    return _is_as_written(content, file)


def _hidden(path: Path, undo: ExitStack) -> str:
    """Rename a script of a removed recipe, and return its hidden name.

    A full disk could prevent that the undo writes the script again, but not that it renames it.
    """
    former = f"{temporary(str(path))}.former"
    os.rename(path, former)
    undo.callback(os.rename, former, path)
    return former


def _second_link(path: Path, undo: ExitStack) -> str:
    """Link a script under a hidden name before it is replaced, and return this name."""
    former = f"{temporary(str(path))}.former"
    discard(former)
    os.link(path, former)
    undo.callback(os.rename, former, path)
    return former
