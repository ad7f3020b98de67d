"""`self init --from`: make an installation from a team's source, first in a staging directory."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.library.files import atomic
from builtin_plugins.library.git import Git
from builtin_plugins.plugins.change import (
    Change,
    begin_change_in,
)
from builtin_plugins.plugins.collisions import check_collisions
from builtin_plugins.plugins.commands import sync
from builtin_plugins.plugins.directory_contents import read_commands
from builtin_plugins.plugins.preview import command_lines
from builtin_plugins.plugins.sources.base import PluginSource
from builtin_plugins.plugins.transaction import begin
from builtin_plugins.program import completion_code, shipped_files
from builtin_plugins.program.launcher import (
    ensure_launcher,
    launchers_in,
    write_launcher,
)
from builtin_plugins.program.on_path import link_on_path
from builtin_plugins.registry import registry
from builtin_plugins.registry.entry import LOCAL
from builtin_plugins.registry.version import PluginVersion
from builtin_plugins.team.contained import (
    contained_plugins,
    read_team_registry,
    show_contained,
)
from builtin_plugins.team.source import (
    check_configuration,
    check_no_launcher,
    config_file,
    fetch,
    has_config,
    shell_code,
    team_source,
)
from host import OperationError
from host.caller import xdg_home
from host.installation import Layout, read_config
from host.record_base import CommandTree
from host.session.session import Session
from host.text import plural

_OTHER_PLACE = "choose another directory, or use --name NAME"
_GIT_SECONDS = 60.0
# A launcher with one of these names could be started in the place of the program.
_STARTED = (
    "bash",
    "env",
    "git",
    "pip",
    "pipx",
    "python",
    "python3",
    "sh",
    "ssh",
    "sudo",
    "uv",
)

# Appended to the shipped .gitignore, whose own patterns keep some of these files in git.
_MORE_IGNORED = ("/core/*", "/core/lib/*", "/core/schema/*", f"/plugins/{LOCAL}")


def init_from(
    session: Session,
    text: str,
    directory: str | None,
    name: str | None,
    *,
    yes: bool,
    timeout: float,
) -> None:
    """Make an installation from SOURCE, or complete one that was made from SOURCE before."""
    source = team_source(text)
    root = _root(session, directory, name)

    is_agreed = False

    # Without DIRECTORY and NAME, only the source's cli.json knows the name and so the directory.
    is_place_known = bool(directory or name)
    if not is_place_known or not has_config(root):
        above = os.path.dirname(root)
        atomic.make_directory(above)
        with begin_change_in(session, above, timeout) as change:
            fetch(source, change)
            own_name = _own_name(change.files, source)  # also checks cli.json
            if not name and own_name in _STARTED:
                what = f"core/cli.json names {own_name}, a program that this one starts"
                remedy = "choose another name with --name NAME"
                raise OperationError(f"{source.entry.source}: {what}", remedy)
            if not name:
                name = own_name or session.program
            root = _root(session, directory, name)
            if not has_config(root):
                _make(source, root, name, change, yes=yes)
                is_agreed = True

    if name is None:
        name = _name_of_launcher(root) or session.program

    if source_of_installation(root, session.environ) != source.entry.source:
        what = f"{root}: this installation was not made from {source.entry.source}"
        raise OperationError(what, _OTHER_PLACE)
    _finish(session, source, root, name, yes=yes, is_agreed=is_agreed, timeout=timeout)


def _name_of_launcher(root: str) -> str:
    """Return the name of an installation's program, or "" without a launcher."""
    launchers = launchers_in(os.path.join(root, "core"))
    if not launchers:
        return ""
    return os.path.basename(launchers[0])


def _root(session: Session, directory: str | None, name: str | None) -> str:
    """Return the absolute path of the installation to make.

    It is `directory`, or else the value of CLI_DIR, or else a folder in the data directory.
    """
    layout = session.layout
    if name:
        shipped_files.check_program_name(name)
    if directory:
        return os.path.abspath(directory)

    is_set_by_caller = not layout.default and layout.launcher != layout.root  # CLI_DIR
    if is_set_by_caller:
        return layout.root

    if not name:
        name = session.program
    data_dir = xdg_home(session.environ, "DATA")
    return os.path.realpath(os.path.join(data_dir, name))


def _own_name(root: str, source: PluginSource) -> str:
    """Return the name in the source's cli.json, in lower case, or "" for no valid name."""
    name = check_configuration(root, source.entry.source).lower()
    if not shipped_files.is_program_name(name):
        return ""
    return name


def _make(
    source: PluginSource, root: str, name: str, change: Change, *, yes: bool
) -> None:
    """Complete the staged files, show their contents, ask, and move them to `root`."""
    if not _is_free(root):
        raise _is_taken(root)

    _complete(source, change, name)
    staged = session_of(change.session, change.files, name)
    read_team_registry(staged, source.entry.source, {})
    _show_commands(source, root, name, change, staged)

    contained = contained_plugins(staged, source.entry.source)
    show_contained(staged, contained)
    versions = [*contained.values(), *_add_plugins(staged, change.seconds)]
    with_python = [version.entry.name for version in versions if _is_python(version)]
    if with_python:
        names = ", ".join(with_python)
        line = f"plugins whose Python code runs in the program: {names}"
        change.session.show_lines(line)
    change.session.ask_to_continue("Create it?", yes, "nothing was created")
    _move(change.files, root)


def _is_python(version: PluginVersion) -> bool:
    return version.has_python or version.entry.is_package


def _add_plugins(staged: Session, seconds: float) -> list[PluginVersion]:
    """Show the plugins that the registry of the staged installation lists, and install them.

    Packages are only shown: nothing may be built before the question. Returns all of them.
    """
    versions = []
    with begin(staged, seconds) as transaction:
        listed = transaction.registry
        plans = []
        for entry in sync.missing_entries(staged, listed, listed):
            plan, part = sync.fetch_plugin(entry, transaction)
            versions.append(plan.version)
            check_collisions(plan.version, part, force=True)
            if not entry.is_package:
                plans.append((plan, part))
        transaction.save(plans)
    return versions


def _is_free(root: str) -> bool:
    """Return whether there is nothing at `root`, or an empty directory."""
    if not os.path.lexists(root):
        return True
    return os.path.isdir(root) and not os.listdir(root)


def _is_taken(root: str) -> OperationError:
    return OperationError(f"{root}: already exists and is not empty", _OTHER_PLACE)


def _move(files: str, root: str) -> None:
    """Give the directory `files` the name `root`, which is free."""
    above = os.path.dirname(root)
    os.chmod(files, atomic.mode_below(above))
    # The files must be on disk before their directory gets its name.
    atomic.sync_file_system(files)
    try:
        with suppress(FileNotFoundError):
            os.rmdir(root)
        os.rename(files, root)
    except OSError:
        # Another process has made it meanwhile.
        if _is_free(root):
            raise
        raise _is_taken(root) from None
    atomic.sync_directory(above)


def _show_commands(
    source: PluginSource, root: str, name: str, change: Change, staged: Session
) -> None:
    """Show where the staged installation will be, and its commands."""
    session = change.session
    session.show_lines(f"{name} from {source.entry.source} will be created in {root}")

    commands_dir = staged.installation.commands_dir
    commands, problems = read_commands(CommandTree(commands_dir, scripts={}))
    lines = command_lines({" ": commands.items()})
    session.show_lines(f"commands: {len(commands)}", *lines)
    code = shell_code(change.files)
    if code:
        session.show_lines(f"shell code of every run: {code}")
    for problem in problems:
        session.messages.warn(str(problem).replace(f"{change.files}/", ""))


def _complete(source: PluginSource, change: Change, name: str) -> None:
    """Add missing files: the launcher, the library, cli.json and git's ignore patterns."""
    root = change.files
    address = source.entry.source
    check_no_launcher(root, address, name, ", or use --name")
    for directory in ("core", "commands", "plugins"):
        os.makedirs(os.path.join(root, directory), exist_ok=True)
    if not has_config(root):
        atomic.write_file(config_file(root), shipped_files.cli_json(name))

    # A team's repository has its own .gitignore; `prepare_git` writes to .git/info/exclude.
    shipped_files.add_missing(root, name, without=(shipped_files.GITIGNORE,))
    if source.is_from_git:
        prepare_git(root, change.session.environ)
    else:
        record = os.path.join(root, shipped_files.TEAM_SOURCE)
        atomic.write_file(record, f"{address}\n")
    write_launcher(os.path.join(root, "core", name))


def prepare_git(root: str, environ: Mapping[str, str]) -> None:
    """In a checkout, make git ignore this machine's files and the user's own plugins."""
    git = Git(root, environ, _GIT_SECONDS)
    path = git("rev-parse", "--git-path", "info/exclude")  # elsewhere for a worktree
    exclude = os.path.join(root, os.fsdecode(path).rstrip("\n"))
    former = ""
    with suppress(FileNotFoundError):
        former = Path(exclude).read_text("utf-8", "surrogateescape")
    if former and not former.endswith("\n"):
        former += "\n"

    plugins_dir = os.path.join(root, read_config(config_file(root)).plugins_dir)
    place = os.path.relpath(plugins_dir, root)
    known = former.splitlines()
    # What the user has removed since then stays away.
    if f"/{place}/{LOCAL}" not in known:
        shipped = shipped_files.gitignore().read_text(encoding="utf-8")
        text = "\n".join((shipped, *_MORE_IGNORED)).replace("/plugins/", f"/{place}/")
        new = [pattern for pattern in text.splitlines() if pattern not in known]
        content = "".join((former, *(f"{pattern}\n" for pattern in new)))
        os.makedirs(os.path.dirname(exclude), exist_ok=True)
        atomic.write_file(exclude, content.encode("utf-8", "surrogateescape"))
    _write_local_registry(plugins_dir)


def _write_local_registry(plugins_dir: str) -> None:
    """Write a missing registry of the user's own plugins; the team's stays unchanged."""
    local = registry.local_path(plugins_dir)
    if not os.path.lexists(local):
        atomic.make_directory(plugins_dir)
        empty = {"version": registry.FORMAT, "plugins": []}
        atomic.write_file(local, json.dumps(empty))


def session_of(session: Session, root: str, name: str, config: str = "") -> Session:
    """Return a session of the installation at `root`, with the cli.json `config` if not ""."""
    layout = Layout(name, root, config or config_file(root))
    return Session(
        layout,
        session.environ,
        session.messages,
        safe=session.safe,
        assume_yes=session.assume_yes,
        may_ask=session.may_ask,
    )


def source_of_installation(root: str, environ: Mapping[str, str]) -> str:
    """Return the address that an installation was made from, or "" if it is unknown."""
    if shipped_files.has_repository(root):
        with suppress(OperationError):
            git = Git(root, environ, _GIT_SECONDS)
            address = git("config", "--get", "remote.origin.url")
            return address.decode().strip()

    with suppress(OSError, ValueError):
        record = Path(root, shipped_files.TEAM_SOURCE)
        return record.read_text(encoding="utf-8").strip()
    return ""


def _finish(
    session: Session,
    source: PluginSource,
    root: str,
    name: str,
    *,
    yes: bool,
    is_agreed: bool,
    timeout: float,
) -> None:
    """Install missing plugins, link the program, set up completion and print the next steps."""
    environ = session.environ
    launcher = os.path.join(root, "core", name)
    ensure_launcher(launcher)

    installed = session_of(session, root, name)
    listed = registry.read_registry(installed.installation.plugins_dir)
    if [*sync.missing_entries(installed, listed, listed)]:
        sync.install_missing(
            installed,
            None,
            dry_run=False,
            yes=yes,
            timeout=timeout,
            is_agreed=is_agreed,
        )

    start = link_on_path(launcher, environ)
    if start.advice:
        session.messages.line(start.advice)

    contents = installed.contents((), deep=True)
    commands = plural(len(contents.commands), "command")
    lines = [f"{root}: {name} has {commands}, from {source.entry.source}"]

    # Completion calls the program by its name, which must lead to this installation.
    shell = ""
    if start.is_linked:
        shell = completion_code.uncompleted_shell(name, environ)
    if shell:
        completion_code.install_completion(shell, name, environ)
        path = completion_code.start_up_file(shell, name, environ)
        lines.append(f"Tab completion is installed in {path}; open a new shell")

    lines.append(f"start with: {start.word}")
    if source.is_from_git:
        lines.append(f"to stay current: {start.word} self sync")
    session.show_lines(*lines)
