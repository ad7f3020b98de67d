"""`self sync`: update an installation to its team's current state."""

import os
import shlex
import shutil
from contextlib import suppress

from builtin_plugins.library.files.atomic import make_directory
from builtin_plugins.library.files.file_lock import file_lock
from builtin_plugins.library.files.undo import signals_blocked
from builtin_plugins.library.git import (
    Git,
    check_fast_forward,
    differing_paths,
    fetch_newest,
)
from builtin_plugins.plugins.change import Change, begin_change_in
from builtin_plugins.plugins.commands.sync import (
    check_usable,
    fetch_plugins,
    install_missing,
    install_plugins,
    missing_entries,
)
from builtin_plugins.plugins.directory_contents import read_commands
from builtin_plugins.plugins.preview import change_lines, plan_lines
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.sources.git import write_commit
from builtin_plugins.plugins.transaction import begin
from builtin_plugins.program.shipped_files import (
    CLI_JSON,
    has_repository,
    is_checkout,
    renew,
    replaceable_files,
)
from builtin_plugins.registry.directory import dropped_entries
from builtin_plugins.registry.entry import LOCAL, VERSIONS, Entry
from builtin_plugins.registry.registry import (
    Registry,
    read_registry,
    registry_path,
)
from builtin_plugins.self_commands.decorator import TIMEOUT, YES, self_command
from builtin_plugins.team.contained import (
    changed_lines,
    read_team_registry,
)
from builtin_plugins.team.init import (
    prepare_git,
    session_of,
    source_of_installation,
)
from builtin_plugins.team.source import (
    check_configuration,
    check_installation,
    check_no_launcher,
    config_file,
    shell_code,
)
from host import OperationError, printable
from host.record_base import CommandTree
from host.session.session import Session
from host.text import plural

_GIT_SECONDS = 60.0  # limit for a call that contacts no server
_MOST_NAMED = 5  # changed files that are named


@self_command(
    "sync",
    "Update everything from the team's repository: commands and plugins",
    YES,
    TIMEOUT,
)
def sync(session: Session, yes: bool, timeout: float) -> None:
    """Update this installation from its team's repository.

    An installation made from git is fast-forwarded to the newest commit of its branch. Your own
    changes stay; if one conflicts, nothing is updated. Plugins are updated to the versions in
    plugins/registry.json, and the shell library to the version of this program. Changes to
    commands are shown first.
    """
    root = session.layout.root
    is_git = has_repository(root)
    if is_checkout(root):
        raise OperationError(
            f"self sync cannot update the program's own checkout {root}",
            f"update the checkout with: {session.program} self update",
        )

    if is_git:
        restore_lost_files(session)
        area = os.path.join(session.installation.plugins_dir, VERSIONS)
        make_directory(area)
        with begin_change_in(session, area, timeout) as change:
            if _to_newest(change, yes):
                return
    else:
        source = source_of_installation(root, session.environ)
        if source:
            what = "which is no git repository, so its commands are not updated"
            session.show_lines(f"{session.program}: made from {source}, {what}")

    _complete(session)
    shared = registry_path(session.installation.plugins_dir)
    install_missing(session, shared, dry_run=False, yes=yes, timeout=timeout)


def _complete(session: Session) -> None:
    """Write what git does not have: its ignore patterns, and the files of this program."""
    root = session.layout.root
    # A repository that was cloned by hand was never prepared by `self init --from`.
    if has_repository(root):
        prepare_git(root, session.environ)
    renew(root, session.messages.line)


def restore_lost_files(session: Session) -> None:
    """Restore cli.json and registry.json from git, if a killed change has lost or emptied them."""
    root = session.layout.root
    git = Git(root, session.environ, _GIT_SECONDS)
    restore_lost_file(session, git, str(CLI_JSON))
    plugins_dir = session.installation.plugins_dir
    registry = os.path.relpath(registry_path(plugins_dir), root)
    restore_lost_file(session, git, registry)


def restore_lost_file(session: Session, git: Git, path: str) -> None:
    """Restore a file of the installation's repository that is missing or empty."""
    with suppress(OSError):
        if os.path.getsize(os.path.join(git.directory, path)):
            return
    if git("ls-tree", "--name-only", "HEAD", "--", path):
        git("checkout", "HEAD", "--", path)
        session.messages.line(f"restored {path} from git")


def _to_newest(change: Change, yes: bool) -> bool:
    """Show what the newest commit changes, ask, and fast-forward.

    Returns whether there was a newer commit, to which the user has agreed.
    """
    session = change.session
    root = session.layout.root
    git = change.git(root)
    # Another sync waits, but not for an answer of the user; git itself would fail.
    with file_lock(os.path.realpath(root), session.messages.line):
        address, old, new = fetch_newest(git)
    if old == new:
        _show_newest(session, git, old)
        return False

    # The files of the new commit are written beside the installation and examined there.
    _write_aside(change, git, old, new, address)
    replaceable = replaceable_files(root, session.program)
    check_fast_forward(git, old, new, replaceable=replaceable)
    staged = session_of(session, change.files, session.program)
    own = read_registry(session.installation.plugins_dir)
    listed = read_team_registry(staged, address, own.entries)
    # The new cli.json may name another directory for plugins.
    config = config_file(change.files)
    synced = session_of(session, root, session.program, config)
    _check_own_plugins(session, synced, git)

    _show_changes(change, staged, old, new, address)
    session.messages.warn(*listed.problems)

    with begin(synced, change.seconds) as transaction:
        coming = Registry(listed.shared, transaction.registry.personal)
        former = transaction.registry
        missing = [*missing_entries(synced, listed, coming, former)]
        fetched = fetch_plugins(transaction, missing, raises=False)
        _show_other_choices(session, staged, listed)
        session.ask_to_continue("Update?", yes, "nothing was changed")

        with (
            signals_blocked(),
            file_lock(os.path.realpath(root), session.messages.line),
        ):
            # This keeps what the user has changed of the program's files as NAME.old.
            renew(root, session.messages.line)
            git("merge", "--ff-only", "--quiet", new)
        _complete(synced)
        install_plugins(transaction, fetched, yes=yes)
    check_usable(listed)
    return True


def _check_own_plugins(session: Session, synced: Session, git: Git) -> None:
    """Raise OperationError if the team moves its plugins, and the user has plugins beside them."""
    former = session.installation.plugins_dir
    newest = synced.installation.plugins_dir
    if os.path.realpath(former) == os.path.realpath(newest):
        return

    registry = read_registry(former)
    own = []
    if registry.local and registry.local["plugins"]:
        own += [LOCAL, VERSIONS]
    for entry in dropped_entries(former, registry):
        if not git("ls-files", "--", os.path.join(former, entry.name)):
            own.append(entry.name)
    if own:
        paths = [os.path.join(former, name) for name in own]
        remedy = f"{shlex.join(('mkdir', '-p', newest))} && "
        remedy += f"{shlex.join(('mv', *paths, newest))}, and run self sync again"
        what = f"{former}: has plugins of your own, and the team moves its plugins to {newest}"
        raise OperationError(what, remedy)


def _show_other_choices(session: Session, staged: Session, listed: Registry) -> None:
    """Show the plugins whose version stays, but whose entry names other hooks, for example."""
    plugins_dir = session.installation.plugins_dir
    former = read_registry(plugins_dir, registry_path(plugins_dir)).entries
    for name, entry in listed.entries.items():
        before = former.get(name, Entry(name, entry.kind))
        is_same_version = entry.version_dir == before.version_dir
        if not is_same_version or _choices(entry) == _choices(before):
            continue

        place = plugins_dir
        if entry.is_users_directory:  # it is in the repository
            place = staged.installation.plugins_dir
        version = make_source(entry).current_version(place)
        session.show_lines(*plan_lines(None, version, verbose=False))


def _choices(entry: Entry) -> tuple[object, ...]:
    """Return what an entry says about a version's source and use, such as its hooks."""
    choices = (entry.enabled, entry.directory, entry.hooks, entry.scripts, entry.path)
    return (*entry.source_and_ref, *choices)


def _write_aside(change: Change, git: Git, old: str, new: str, address: str) -> None:
    """Write the files of the commit `new` into `change.files`, and check them."""
    session = change.session
    root = session.layout.root
    repository = os.path.join(change.area, "aside.git")
    git("clone", "--quiet", "--bare", "--shared", "--template=", root, repository)
    aside = change.git(repository)
    write_commit(aside, new, change.files, address, change.messages.warn)
    check_installation(change.files, address)
    check_no_launcher(change.files, address, session.program)

    has_configuration = git("ls-tree", "--name-only", old, "--", str(CLI_JSON))
    config_in = ""
    if not has_configuration:
        _keep_configuration(session, change.files)
        config_in = root
    check_configuration(change.files, address, config_in)


def _show_changes(
    change: Change, staged: Session, old: str, new: str, address: str
) -> None:
    """Show how the files in `change.files` differ from those of the installation."""
    session = change.session
    former_dir = session.installation.commands_dir
    newest_dir = staged.installation.commands_dir
    former, _ = read_commands(CommandTree(former_dir, scripts={}))
    newest, _ = read_commands(CommandTree(newest_dir, scripts={}))
    title = f"{session.program}: {old[:12]} → {new[:12]}"
    code = shell_code(change.files, session.layout.root)
    code_lines = [f"  ~ shell code of every run: {code}"] if code else []
    session.show_lines(
        *change_lines(title, former, newest),
        *code_lines,
        *changed_lines(session, staged, address),
    )


def _show_newest(session: Session, git: Git, commit: str) -> None:
    """Show that the installation has the newest commit, and the files that the user changed."""
    line = f"{session.program}: {commit[:12]} is the newest commit"

    differing = differing_paths(git)
    if differing:
        names = printable(", ".join(differing[:_MOST_NAMED]))
        line += f"; you changed {plural(len(differing), 'file')} of it: {names}"

    session.show_lines(line)


def _keep_configuration(session: Session, files: str) -> None:
    """Copy cli.json to the files of the newest commit, unless they have one.

    A team's repository needs none: `self init --from` writes it, and an update leaves it alone.
    """
    path = os.path.join(files, CLI_JSON)
    if os.path.lexists(path):
        return

    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(os.path.join(session.layout.root, CLI_JSON), path)
