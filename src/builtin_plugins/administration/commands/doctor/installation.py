"""Checks of an installation: files, permissions, settings, definitions and plugins."""

import os
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from builtin_plugins.administration.commands.lint.linter import Lint, with_positions
from builtin_plugins.administration.findings import Finding
from builtin_plugins.administration.plugins.commands.sync import sync_plugin
from builtin_plugins.administration.plugins.reconcile import reconcile_if_free
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.program.launcher import launcher_of, launchers_in
from builtin_plugins.administration.program.shipped_files import (
    HASHES,
    has_damaged_hashes,
    own_files,
    renew,
    renew_hashes,
)
from builtin_plugins.io.files.atomic import remove_path
from builtin_plugins.plugins_folder.directory import (
    ENTRY_FILE,
    read_kept_entry,
    store_of,
)
from builtin_plugins.plugins_folder.entry import LOCAL, REGISTRY, Entry
from builtin_plugins.plugins_folder.registry import effective_registry, registry_path
from builtin_plugins.setup.hooks import ENTRYPOINT, tool_settings_of
from builtin_plugins.store.versions import abandoned
from host import HostError, Problem, find_program, version_problem
from host.cli.ask_trust import project_contents
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import Catalog
from host.run.settings import capture_settings
from host.run.trust import is_trusted, read_trusted, trusted_file

_SYNC_SECONDS = 600.0  # limit for each download of `doctor --fix`
_UNREAD_SETTINGS = ("settings.conf", "core/settings.conf", "commands/settings.conf")


class Subject:
    """The checked installation, with its lock and commands.

    If the installation cannot be read, `wrong` is the error, and `lock` and `commands` are missing.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.layout, self.environ = (
            session,
            session.layout,
            session.environ,
        )
        self.launchers = launchers_in(self.layout.core_dir, anywhere=True)
        self.wrong: HostError | None = None
        try:
            self.plugins_dir = session.installation.plugins_dir
            self.lock = session.current_lock or session.refresh_lock()
            self.commands = contents(Catalog(self.lock), (), deep=True).commands
        except HostError as error:
            self.wrong = error

    @property
    def call(self) -> str:
        """Return the program's name or, if that is not on PATH, its path, quoted for a shell."""
        path, program = launcher_of(self.layout), self.session.program
        is_usable = find_program(program, self.environ) is None and os.access(
            path, os.X_OK
        )
        return shlex.quote(path) if is_usable else program


def finding(
    text: str,
    remedy: str,
    fix: Callable[[], object] | None = None,
    *,
    hint: bool = False,
) -> Finding:
    """Return a finding without a check's name; `self doctor` adds the name."""
    return Finding("", Problem("", text, remedy), hint, fix)


def files(subject: Subject) -> Iterator[Finding]:
    """Yield the error of an invalid installation, or the missing and old files of a valid one."""
    root, config = subject.layout.root, subject.layout.config_file
    again = f"{subject.call} self init {shlex.quote(root)}"
    if subject.wrong:
        remedy = subject.wrong.remedy or f"fix {config}"
        yield finding(subject.wrong.what, remedy if os.path.lexists(config) else again)
        return
    min_version = subject.session.installation.config.min_version
    if min_version and (problem := version_problem(config, min_version)):
        yield Finding("", problem)
    if not os.path.isdir(subject.layout.lib_dir):
        yield finding(f"{subject.layout.lib_dir}: missing", again)
        return
    old = [
        file.relative.name for file in own_files(root) if file.state_in(root) == "stale"
    ]
    if old:
        text = f"missing or from another version of this program: {', '.join(old)}"
        fix = partial(renew, root, subject.session.messages.warn)
        remedy = f"{subject.call} self doctor --fix"
        yield finding(f"{subject.layout.core_dir}: {text}", remedy, fix)


def settings(subject: Subject) -> Iterator[Finding]:
    """Yield the problems in settings.conf; outside safe mode, it is sourced to find them."""
    session, root, file = (
        subject.session,
        subject.layout.root,
        subject.layout.settings_file,
    )
    for path in (os.path.join(root, name) for name in _UNREAD_SETTINGS):
        if os.path.isfile(path):
            yield finding(
                f"{path} is not read", f"move the lines of this file to {file}"
            )
    if session.safe:
        return
    ours = session.installation.run_variables((session.program,))
    try:
        capture_settings(file, {**subject.environ, **ours})
    except HostError as error:
        yield finding(error.what, error.remedy or f"fix {file}")


def permissions(subject: Subject) -> Iterator[Finding]:
    """Yield the files and directories of this installation that every user can change."""
    layout, commands_dir = subject.layout, subject.session.installation.commands_dir
    for path in (
        *(
            layout.root,
            layout.core_dir,
            layout.config_file,
            layout.lib_dir,
            *subject.launchers,
        ),
        *(layout.config_dir, layout.settings_file, commands_dir),
        *(subject.plugins_dir, registry_path(subject.plugins_dir)),
    ):
        if _is_open(path):
            fix = partial(
                os.chmod, path, stat.S_IMODE(os.stat(path).st_mode) & ~stat.S_IWOTH
            )
            yield finding(
                f"every user can write to {path}", f"chmod o-w {shlex.quote(path)}", fix
            )


def _is_open(path: str) -> bool:
    with suppress(OSError):
        return os.stat(path).st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH
    return False


def definitions(subject: Subject) -> Iterator[Finding]:
    """Yield the findings of `self lint`, except those of plugins, which `plugins` reports."""
    findings = with_positions(Lint(subject.session).here())
    yield from (finding for finding in findings if finding.rule != "plugin")


def plugins(subject: Subject) -> Iterator[Finding]:
    """Yield the plugins that are broken or whose files are missing."""
    call = f"{subject.call} self plugin"
    entries = effective_registry(subject.plugins_dir).entries.values()
    unusable = {
        entry.name: entry
        for entry in entries
        if entry.enabled and not make_source(entry).is_present(subject.plugins_dir)
    }
    for plugin in subject.lock.plugins.values():
        if plugin.broken and plugin.name in (REGISTRY, LOCAL):
            yield finding(plugin.broken, "fix this file")
        elif plugin.broken and plugin.name not in unusable:
            text = f"plugin {plugin.full_name} is broken: {plugin.broken}"
            yield finding(text, f"fix the plugin, or: {call} disable {plugin.name}")
    for name, entry in unusable.items():
        text = f"the files of plugin {name} are missing"
        known = subject.lock.plugins.get(name)
        if known and not known.missing:
            text = f"plugin {name} is broken: {known.broken}"
        can_sync = not (entry.is_users_directory or entry.dev)
        back = f"{call} sync" if can_sync else "put them back"
        fix = partial(_sync, subject.session, entry) if can_sync else None
        yield finding(text, f"{back}, or: {call} remove {name}", fix)


def _sync(session: Session, entry: Entry) -> None:
    sync_plugin(session, entry, yes=False, timeout=_SYNC_SECONDS)


def records(subject: Subject) -> Iterator[Finding]:
    """Yield the damaged files in which the program records trust, versions and checksums."""
    trusted = trusted_file(subject.environ)
    try:
        read_trusted(subject.environ)
    except HostError as error:
        yield finding(error.what, error.remedy or f"rm {shlex.quote(trusted)}")
    for entry in effective_registry(subject.plugins_dir).entries.values():
        store = store_of(subject.plugins_dir, entry.name)
        for version in dict.fromkeys(
            filter(None, (entry.version_dir, *entry.versions))
        ):
            path = store.path(version)
            if os.path.isdir(path) and read_kept_entry(path) is None:
                remedy = f"rm -r {shlex.quote(path)}"
                if version == entry.version_dir:
                    remedy += f" && {subject.call} self plugin sync"
                yield finding(f"{path}/{ENTRY_FILE}: is damaged or missing", remedy)
    hashes = os.path.join(subject.layout.root, HASHES)
    if has_damaged_hashes(subject.layout.root):
        fix = partial(renew_hashes, subject.layout.root)
        yield finding(f"{hashes}: is damaged", f"{subject.call} self doctor --fix", fix)


def lock(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each lock file that other users can change; runs ignore such files."""
    for path in filter(os.path.isfile, subject.session.installation.locks):
        status = os.lstat(path)
        if status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
            text = f"{path}: other users can write to this lock, so it is ignored"
            yield finding(text, f"rm {shlex.quote(path)}", partial(os.unlink, path))


def leftovers(subject: Subject) -> Iterator[Finding]:
    """Yield the leftovers of interrupted changes, but nothing that a running change uses."""
    if abandoned(subject.plugins_dir):
        yield finding(
            f"{subject.plugins_dir}: a change to the plugins was interrupted",
            f"{subject.call} self plugin list",
            partial(reconcile_if_free, subject.plugins_dir),
        )
    tools = [
        command
        for command in subject.commands
        if command.definition.entrypoint == ENTRYPOINT
    ]
    for tool in tools:
        for path in abandoned(
            tool_settings_of(tool, subject.environ).paths.install_dir
        ):
            text = f"{path} is left over from an interrupted change"
            yield finding(
                text, f"rm -r {shlex.quote(path)}", partial(remove_path, path)
            )


def projects(subject: Subject) -> Iterator[Finding]:
    """Yield a hint for each project with untrusted commands; `definitions` checks the commands."""
    for project in subject.session.installation.around()[0]:
        root, commands = project.root, project_contents(project).commands
        if not all(is_trusted(command.definition) for command in commands):
            text = "this project has commands that are not trusted; you are asked before one runs"
            remedy = f"{subject.session.program} self trust {shlex.quote(root)}"
            yield finding(f"{root}: {text}", remedy, hint=True)
