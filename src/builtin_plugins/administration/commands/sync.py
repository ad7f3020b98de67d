"""`self sync`: update an installation to its team's current state."""

import os
import shutil

from builtin_plugins.administration.declared import TIMEOUT, YES, self_command
from builtin_plugins.administration.pages import plural
from builtin_plugins.administration.plugins.commands.sync import install_missing
from builtin_plugins.administration.plugins.directory_contents import read_commands
from builtin_plugins.administration.plugins.plugin_contents import (
    PluginContents,
    relocated,
)
from builtin_plugins.administration.plugins.preview import change_lines, plan_lines
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.plugins.sources.git import write_commit
from builtin_plugins.administration.plugins.transaction import Transaction, transaction
from builtin_plugins.administration.program.shipped_files import (
    CLI_JSON,
    is_checkout,
    renew,
)
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.administration.team.contained import changed_lines
from builtin_plugins.administration.team.init import prepare_git, session_of
from builtin_plugins.administration.team.source import check_installation
from builtin_plugins.io.checkout import (
    check_fast_forward,
    differing_paths,
    fast_forward,
    fetch_newest,
)
from builtin_plugins.io.files.undo import signals_blocked
from builtin_plugins.plugins_folder.registry import (
    local_path,
    read_registry,
    registry_path,
)
from host import HostError, OperationError, printable
from host.cli.session import Session
from host.run.declarations import CommandTree

_MOST_NAMED = 5  # changed files that are named


@self_command(
    "sync",
    "Update this installation from its team's repository",
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
    is_git = os.path.lexists(os.path.join(root, ".git"))
    if is_checkout(root):
        update = f"update the checkout with: {session.program} self update"
        raise OperationError(
            f"self sync cannot update the program's own checkout {root}", update
        )
    plugins_dir = session.installation.plugins_dir
    before = _plugins(plugins_dir)
    with transaction(session, timeout) as tx:
        if is_git:
            _to_newest(tx, yes)
            if not os.path.lexists(local_path(plugins_dir)):
                prepare_git(root)
        renew(root, tx.messages.warn)
    synced = session_of(session, root, session.program)
    plugins_dir = synced.installation.plugins_dir
    registry = read_registry(plugins_dir, registry_path(plugins_dir))
    install_missing(synced, registry, dry_run=False, yes=yes or is_git, timeout=timeout)
    for name, found in _plugins(plugins_dir).items():
        former = before.get(name, found)
        if former.entry.version_dir != found.entry.version_dir:
            session.show_lines(*plan_lines(former, found))


def _to_newest(tx: Transaction, yes: bool) -> None:
    """Show what the newest commit changes, ask, and fast-forward."""
    session, root = tx.session, tx.session.layout.root
    git = tx.git(root)
    address, old, new = fetch_newest(git)
    if old == new:
        line = f"{session.program}: {old[:12]} is the newest commit"
        if differing := differing_paths(git):
            line += f"; you changed {plural(len(differing), 'file')} of it: "
            line += printable(", ".join(differing[:_MOST_NAMED]))
        session.show_lines(line)
        return
    check_fast_forward(git, old, new, "git pull --rebase")
    aside = tx.git(os.path.join(tx.area, "aside.git"))
    git("clone", "--quiet", "--bare", "--shared", "--template=", root, aside.directory)
    write_commit(aside, new, tx.files, address, tx.messages.warn)
    check_installation(tx.files, address)
    if not git("ls-tree", "--name-only", old, "--", str(CLI_JSON)):
        _keep_configuration(session, tx.files)
    staged = session_of(session, tx.files, session.program)
    try:
        installations = (session.installation, staged.installation)
    except HostError as error:  # the commit's cli.json is invalid
        raise type(error)(relocated(error.problem, tx.files, address)) from None
    trees = [
        CommandTree(installation.commands_dir, scripts={})
        for installation in installations
    ]
    before, after = (read_commands(tree)[0] for tree in trees)
    title = f"{session.program}: {old[:12]} → {new[:12]}"
    session.show_lines(
        *change_lines(title, before, after),
        *changed_lines(git, session, staged, old, new, address),
    )
    ask_to_continue(session, "Update?", yes, "nothing was changed")
    with signals_blocked():
        fast_forward(git, old, new)


def _keep_configuration(session: Session, files: str) -> None:
    """Copy cli.json to the files of the newest commit, unless they have one.

    A team's repository needs none: `self init --from` writes it, and an update leaves it alone.
    """
    path = os.path.join(files, CLI_JSON)
    if not os.path.lexists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(os.path.join(session.layout.root, CLI_JSON), path)


def _plugins(plugins_dir: str) -> dict[str, PluginContents]:
    """Return the current version of each plugin in the registry, by name."""
    found: dict[str, PluginContents] = {}
    for name, entry in read_registry(plugins_dir).entries.items():
        source = make_source(entry)
        if not entry.is_users_directory and source.is_present(plugins_dir):
            found[name] = source.current_version(plugins_dir)
    return found
