"""The preview of a plugin: what adding or updating it changes."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from builtin_plugins.plugins.plan_change import Plan, Update
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.version import PluginVersion, Words
from host import Definition, Problem, masked_text
from host.session.session import Session
from host.skills import skill_names
from host.text import plural
from host.text_width import table_lines

_MOST_ROWS = 30  # of commands in a preview without --verbose
_MOST_NAMES = 10  # in a line of a preview without --verbose

_Commands = Mapping[Words, Definition]
_Uses = Mapping[str, list[str]]
_NONE: _Uses = {}


def preview(session: Session, plan: Plan, *, verbose: bool = False) -> None:
    """Print what a plan adds, or what it changes.

    What is restored is shown as if it were new: there are no files to compare it with. Invalid
    definitions are reported as warnings. Without `verbose`, long lists are cut.
    """
    before = None
    if plan.former is not None and isinstance(plan, Update):
        plugins_dir = session.installation.plugins_dir
        before = make_source(plan.former).current_version(plugins_dir)
    session.show_lines(*plan_lines(before, plan.version, verbose=verbose))
    session.messages.warn(*plan.version.problems)


def plan_lines(
    before: PluginVersion | None, after: PluginVersion, *, verbose: bool = True
) -> list[str]:
    """Return the lines that show what a plugin adds, or what it changes from `before`."""
    commands = after.commands
    uses = _uses_of_plugin(after)
    if before:
        title = _change_title(before.entry, after.entry)
        former_uses = _uses_of_plugin(before)
        lines = change_lines(title, before.commands, commands, former_uses, uses)
        # Declarations show no change if only the code behind them is another.
        is_other_file = before.entry.hooks != after.entry.hooks
        is_other = is_other_file or _python_code(before) != _python_code(after)
        if after.hooks_file and is_other:
            hooks = ", ".join(after.hooks) or "unknown"
            lines.append(f"  ~ Python code, with the hooks {hooks}")
        return lines

    lines = [heading(after.entry)]
    if after.entry.description:
        lines.append(f"  {after.entry.description}")
    count = f"commands: {len(commands)}"
    if after.has_python:
        count += "; its Python code may declare more"
    lines.append(count)

    has_many_commands = len(commands) > _MOST_ROWS
    if has_many_commands and not verbose:
        lines += _grouped_lines(commands)
    else:
        lines += command_lines({" ": commands.items()})

    lines += _left_out_lines(after.left_out, verbose=verbose)
    for what, names in {**_uses(commands), **uses}.items():
        if names:
            lines.append(f"{what}: {_names(names, verbose=verbose)}")

    is_cut = has_many_commands or len(after.left_out) > _MOST_NAMES
    if is_cut and not verbose:
        lines.append("to see everything, add --verbose")
    return lines


def _change_title(before: Entry, after: Entry) -> str:
    """Return what changes: the version, or only the user's choices for the same version."""
    version = version_text(after)
    if before.version_dir != after.version_dir:
        return f"{after.name}: {version_text(before)} → {version}"

    changes = []
    if before.ref != after.ref:
        changes.append(f"{_ref_text(before)} → {_ref_text(after)}")
    if before.scripts != after.scripts:
        changes.append("other words for its commands")
    if before.path != after.path:
        folders = "none"
        if after.path:
            folders = ", ".join(after.path)
        changes.append(f"folders that a run appends to PATH: {folders}")

    if not changes:
        return f"{after.name}: {version_text(before)} → {version}"
    # A linked directory has no versions.
    if not after.is_users_directory:
        changes.append(f"still at {version}")
    return f"{after.name}: {', '.join(changes)}"


def _ref_text(entry: Entry) -> str:
    return entry.ref or "the default branch"


def _grouped_lines(commands: _Commands) -> list[str]:
    """Return a row for each first word, or for each command if all have the same first words.

    A word with several commands shows their number. At most `_MOST_ROWS` rows are returned, and a
    line for the rest.
    """
    depth = _common_words(commands)
    groups: dict[Words, list[Words]] = {}
    for words in sorted(commands):
        groups.setdefault(words[: depth + 1], []).append(words)

    rows = []
    shown_commands = 0
    for first, members in [*groups.items()][:_MOST_ROWS]:
        about = commands[members[0]].description
        if len(members) > 1:
            about = f"{len(members)} commands"
        rows.append((f"    {' '.join(first)}", about))
        shown_commands += len(members)

    lines = list(table_lines(rows))
    left = len(commands) - shown_commands
    if left:
        lines.append(f"    and {plural(left, 'more command')}")
    return lines


def _common_words(commands: Iterable[Words]) -> int:
    """Return the number of leading words that all commands share and that name no command."""
    first = min(commands)
    last = max(commands)
    depth = 0
    # Without the last word: that is the command's own.
    for left, right in zip(first[:-1], last[:-1], strict=False):
        if left != right:
            break
        depth += 1
    return depth


def _left_out_lines(left_out: Iterable[Problem], *, verbose: bool) -> list[str]:
    """Return a line for each reason why files are not commands, with the names of the files."""
    reasons: dict[str, list[str]] = {}
    for problem in left_out:
        reasons.setdefault(problem.text, []).append(problem.path)
    if not reasons:
        return []

    count = sum(map(len, reasons.values()))
    lines = [f"files that are not commands: {count}"]
    for reason, paths in reasons.items():
        lines.append(f"    {reason}: {_names(paths, verbose=verbose)}")
    return lines


def _names(names: list[str], *, verbose: bool) -> str:
    """Return the names in one line; without `verbose`, only the first and the number of others."""
    if verbose or len(names) <= _MOST_NAMES:
        return ", ".join(names)
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{shown} and {len(names) - _MOST_NAMES} more"


def change_lines(
    title: str, old: _Commands, new: _Commands, used: _Uses = _NONE, uses: _Uses = _NONE
) -> list[str]:
    """Return `title`, a line for each changed command, and lines for new variables and the like.

    `used` (old version) and `uses` (new version) list what the plugin itself uses, such as hooks.
    """
    lines = [title, *_changed_commands(old, new)]

    # Rights and requirements deserve a line of their own, whichever command brings them.
    former_uses = {**_uses(old), **used}
    new_uses = {**_uses(new), **uses}
    for what, names in new_uses.items():
        former_names = former_uses[what]
        new_names = [name for name in names if name not in former_names]
        if new_names:
            lines.append(f"  ! new {what}: {', '.join(new_names)}")
    return lines


def _changed_commands(old: _Commands, new: _Commands) -> Iterator[str]:
    """Yield a line for each command that is added, removed or changed."""
    added = []
    changed = []
    for words, definition in new.items():
        if words not in old:
            added.append((words, definition))
        elif _differs(old[words], definition):
            changed.append((words, definition))

    removed = []
    for words, definition in old.items():
        if words not in new:
            removed.append((words, definition))
    return command_lines({"+": added, "-": removed, "~": changed})


def _uses(commands: _Commands) -> dict[str, list[str]]:
    """Return what commands use, keyed by kind, such as "variables" or "requires" (programs)."""
    with_sudo = []
    variables: set[str] = set()
    required: set[str] = set()
    programs: set[str] = set()
    for words, definition in commands.items():
        if definition.sudo:
            with_sudo.append(" ".join(words))

        variables.update(definition.envs)
        required.update(definition.required_envs)
        programs.update(map(str, definition.requires))

    return {
        "sudo": with_sudo,
        "variables": sorted(variables),
        "required variables": sorted(required),
        "requires": sorted(programs),
    }


def _path_folders(plugin: PluginVersion) -> list[str]:
    """Return the folders that runs append to PATH, relative to the plugin's directory."""
    folders: set[str] = set()
    if plugin.entry.path:
        folders.update(plugin.entry.path)

    for definition in plugin.commands.values():
        for folder in definition.path_folders:
            root = definition.plugin_root
            if not root:
                root = definition.roots[0]
            real_root = os.path.realpath(root)
            path = os.path.relpath(os.path.realpath(folder), real_root)
            folders.add(path)
    return sorted(folders)


def _uses_of_plugin(plugin: PluginVersion) -> dict[str, list[str]]:
    """Return what a plugin itself uses, in the form of `_uses`."""
    entry = plugin.entry
    packages = []
    for package in entry.packages:
        if package.name != entry.name:
            packages.append(f"{package.name} {package.version}")

    return {
        "Python hooks": list(plugin.hooks),
        "skills, texts for assistants": skill_names(plugin.root),
        "packages": packages,
        "folders that a run appends to PATH": _path_folders(plugin),
    }


def _python_code(plugin: PluginVersion) -> dict[str, bytes]:
    """Return the contents of a plugin's files with Python code, by their paths in it.

    The files behind links are in the plugin's repository.
    """
    contents = {}
    seen = set()
    for directory, folders, names in os.walk(plugin.root, followlinks=True):
        real = os.path.realpath(directory)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)

        for name in names:
            path = os.path.join(directory, name)
            is_code = name.endswith(".py") or path == plugin.hooks_file
            if is_code and os.path.isfile(path):
                inside = os.path.relpath(path, plugin.root)
                contents[inside] = Path(path).read_bytes()
    return contents


def _differs(old: Definition, new: Definition) -> bool:
    """Return whether a command's files differ; False if the old or new files cannot be read."""
    before = _own_files(old)
    after = _own_files(new)
    if not before or not after:
        return False
    return before != after


def _own_files(command: Definition) -> dict[str, bytes]:
    """Return the contents of a command's files by path; {} if they cannot be read."""
    # A script stands among other commands; the files beside it are not its own.
    paths = [Path(command.file)]
    is_folder = bool(command.file) and not command.is_script
    folder = Path(command.directory)

    contents = {}
    try:
        if is_folder:
            paths = [*folder.iterdir()]
            inner = os.path.dirname(os.path.normpath(command.entrypoint))
            if inner:
                paths += (folder / inner).rglob("*")
        for path in paths:
            if path.is_file():
                contents[os.path.relpath(path, folder)] = path.read_bytes()
    except OSError:
        return {}
    return contents


def why_it_stays(session: Session, entry: Entry) -> str:
    """Return why `update` skips a plugin, or "" for a plugin that `update` does not skip."""
    if entry.is_users_directory:
        return "edits take effect at once"
    if entry.dev:
        again = f"{session.program} self plugin add {shlex.quote(entry.source)}"
        return f"edits take effect at once; after a change of pyproject.toml: {again}"

    source = make_source(entry)
    if source.is_one_version:
        other = f"to install another version: {session.program} self plugin add WHEEL"
        return f"stays at {version_text(entry)}; {other}"
    if not entry.pinned:
        return ""

    argument = shlex.quote(source.unpinned)
    command = f"{session.program} self plugin add {argument}"
    pin = version_text(entry)
    if entry.ref:
        pin = entry.ref
        command += " --ref REF, or --ref '' for the default branch"
    return f"stays at {pin}; to change that: {command}"


def version_text(entry: Entry) -> str:
    """Return the version and the commit, or the start of the checksum if there is neither."""
    if entry.version and entry.commit:
        return f"{entry.version} ({entry.commit[:12]})"
    return entry.version or entry.origin[:12] or "unknown"


def heading(entry: Entry) -> str:
    """Return a plugin's name, version, kind and source on one line."""
    title = entry.name
    if entry.version:
        title += f" {entry.version}"

    facts = [entry.kind]
    if entry.source:
        facts.append(masked_text(entry.source))
    if entry.ref:
        facts.append(f"ref {entry.ref}")
    if entry.commit:
        facts.append(f"commit {entry.commit[:12]}")
    return f"{title} ({', '.join(facts)})"


def command_lines(
    groups: Mapping[str, Iterable[tuple[Words, Definition]]],
) -> Iterator[str]:
    """Yield a line for each command: its key in `groups` (such as `+`), words and description."""
    rows = []
    for mark, commands in groups.items():
        for words, definition in sorted(commands, key=lambda command: command[0]):
            about = definition.description
            if definition.sudo:
                about += " [sudo]"
            rows.append((f"  {mark} {' '.join(words)}", about))
    return table_lines(rows)
