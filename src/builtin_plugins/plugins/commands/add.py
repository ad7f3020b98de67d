"""`self plugin add`."""

from collections.abc import Mapping
from typing import Any

from builtin_plugins.plugins.agreed_build import ensure_built
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.plugins.directory_contents import check_not_empty
from builtin_plugins.plugins.plan_change import (
    Add,
    Nothing,
    Plan,
    Restore,
    has_other_choices,
)
from builtin_plugins.plugins.preview import (
    heading,
    preview,
    why_it_stays,
)
from builtin_plugins.plugins.sources.base import PluginSource, make_source
from builtin_plugins.plugins.sources.parse import parse_source
from builtin_plugins.plugins.team_catalogue import listed_plugin
from builtin_plugins.plugins.transaction import (
    Transaction,
    begin,
    check_free_name,
)
from builtin_plugins.registry.entry import (
    NAME_RULE,
    Entry,
    check_under,
    is_plugin_name,
)
from builtin_plugins.registry.version import PluginVersion
from builtin_plugins.self_commands.decorator import (
    TIMEOUT,
    YES,
    argument,
    self_command,
    text,
)
from host import PluginError, UsageError, masked_text
from host.session.session import Session


def _choice(name: str, value: str, description: str) -> dict[str, Any]:
    """Return the declaration of an option that is "" to take an earlier choice back."""
    return {**text(name, value, description), "pattern": ".*"}


@self_command(
    "plugin add",
    "Add a plugin from a directory, git, an archive, pip or a catalogue",
    argument(
        "source",
        required=True,
        complete="builtin_plugins.plugins.commands.plugin_names:sources",
    ),
    _choice("--ref", "REF", "A branch, tag or commit of a git repository."),
    text("--name", "NAME", "The name of the plugin in this installation."),
    text("--sha256", "HASH", "The expected SHA-256 of the archive or wheel."),
    _choice(
        "--prefix",
        "TEXT",
        "Add only scripts with the prefix TEXT; command names omit it.",
    ),
    _choice("--split", "TEXT", "The separator of the words in a script's name."),
    _choice("--under", "WORDS", "Add all commands below this category."),
    argument("--no-path", "Do not append the directory of plain scripts to PATH."),
    argument("--ssh", "Clone user/repo over ssh."),
    argument("--gitlab", "Clone user/repo from GitLab."),
    argument("--bitbucket", "Clone user/repo from Bitbucket.", conflicts=["--gitlab"]),
    argument("--team", "Record the plugin in registry.json, for the whole team."),
    argument("--force", "Add the plugin even if it defines an existing command."),
    YES,
    argument("--verbose", "List every command and every file that is left out."),
    TIMEOUT,
    synonyms=("install", "plugin install"),
    short="add",
)
def plugin_add(  # noqa: PLR0913, PLR0917 - one parameter for each option
    session: Session,
    source: str,
    ref: str | None,
    name: str | None,
    sha256: str | None,
    prefix: str | None,
    split: str | None,
    under: str | None,
    no_path: bool,
    ssh: bool,
    gitlab: bool,
    bitbucket: bool,
    team: bool,
    force: bool,
    yes: bool,
    verbose: bool,
    timeout: float,
) -> None:
    """Add a plugin from SOURCE; `self add` is a short form of this command.

    SOURCE is one of:
      name                      a plugin in a catalogue that cli.json names
      ./directory               a linked directory: edits take effect at once
      user/repo, a git address  a repository to clone (https, ssh, git, file)
      .tar.gz, .zip             an archive: a path or an https address
      .whl                      a wheel: a path or an https address
      pip:REQUIREMENT           a package, with its requirements
      'pip:NAME @ git+https://…'
                                a repository to build a package from

    In an installation made from a team's repository, the plugin is added only for you, in
    plugins/registry.local.json. With --team, it is recorded in the shared registry.json.

    If the plugin is installed already, --ref, --prefix, --split, --under and --no-path
    change what you chose before; '' takes a choice back, as in --under ''.

    The new commands and Python hooks are shown first, without running the plugin's code.
    On a terminal, you are then asked whether to add the plugin; without a terminal, it is
    added at once.
    """
    site = ""
    if gitlab:
        site = "gitlab"
    elif bitbucket:
        site = "bitbucket"

    listed = listed_plugin(session, source, timeout)
    if listed is None:
        version = {"ref": ref or "", "sha256": sha256 or ""}
        plugin_source = parse_source(source, **version, site=site, ssh=ssh)
    elif ref or sha256:
        what = "--ref and --sha256 cannot be used with a name from a catalogue"
        raise UsageError(what)
    else:
        plugin_source = listed.plugin_source(site=site, ssh=ssh)

    entry = plugin_source.entry
    if entry.is_package:
        _check_package_options(name, prefix, split, no_path=no_path)
    elif listed is not None and not name:
        name = listed.name
    if team and entry.is_users_directory:
        what = "--team cannot be used with a directory"
        raise UsageError(what, "add a git repository instead")

    options = {"prefix": prefix, "split": split, "under": under}
    plugin_source = plugin_source.replaced(
        name=name or "",
        scripts=_scripts(entry, options),
        path=() if no_path else None,  # None: a directory of plain scripts gets the key
    )
    with begin(session, timeout) as transaction:
        change = transaction.stage()
        fetched = _version_to_add(plugin_source, ref, change, yes=yes)
        entry = fetched.entry
        if entry.is_in_environment:
            what = f"{entry.name} {entry.version} is among the packages that the program itself has"
            session.show_lines(f"{what}; nothing was installed")
            return
        _add(
            fetched,
            transaction,
            change,
            yes=yes,
            force=force,
            team=team,
            verbose=verbose,
        )
    transaction.warn_of_unremoved([entry.name])


def _check_package_options(
    name: str | None, prefix: str | None, split: str | None, *, no_path: bool
) -> None:
    """Raise UsageError for an option that has no meaning for a package."""
    if name:
        what = "--name cannot be used with a package, which keeps its own name"
        raise UsageError(what)
    if prefix or split:
        what = "--prefix and --split can only be used with a directory of scripts"
        raise UsageError(what)
    if no_path:
        raise UsageError("--no-path cannot be used with a package")


def _scripts(
    entry: Entry, options: Mapping[str, str | None]
) -> dict[str, str | bool] | None:
    """Return what the options say about `scripts` in the registry, or None if none is given.

    An option that is "" takes a former choice back.
    """
    scripts: dict[str, str | bool] = {
        key: value for key, value in options.items() if value is not None
    }
    if not scripts:
        return None

    under = options["under"]
    if under:
        check_under("--under", under)
    is_only_place = scripts.keys() == {"under"}
    if is_only_place and not entry.is_package:
        # Files are commands only in a directory without definitions; reading the staged
        # directory shows whether it is one, and then drops this key.
        scripts["files"] = False
    return scripts


def _combined_scripts(
    chosen: Mapping[str, str | bool], former: Mapping[str, str | bool] | None
) -> Mapping[str, str | bool] | None:
    """Return the value of `scripts` for a plugin that had `former`, with the keys of `chosen`.

    A key of `chosen` that is "" takes a former choice back.
    """
    combined = dict(chosen)
    if former is not None:
        combined = {**former, **chosen}
    # Files stay commands if they were, or if an option about their names makes them so.
    had_files = _has_files(former)
    if had_files or _has_files(chosen):
        combined.pop("files", None)

    remaining = {key: value for key, value in combined.items() if value != ""}
    has_choice = bool(remaining.keys() - {"files"})
    if had_files or has_choice:
        return remaining
    if len(remaining) < len(combined):
        return None  # the last choice is taken back: as before the first one
    return remaining


def _has_files(scripts: Mapping[str, str | bool] | None) -> bool:
    """Return whether files are commands in a directory with this value of `scripts`."""
    if scripts is None:
        return False
    return scripts.get("files") is not False


def _version_to_add(
    source: PluginSource, ref: str | None, change: Change, *, yes: bool
) -> PluginVersion:
    """Return the installed version if it is surely the one to add, otherwise fetch and build it.

    `ref` is None if the user gave none: a plugin that is installed already then keeps its ref.
    """
    given = source.entry
    former = _former(given, ref, change)
    source = source.replaced(**_choices_of(given, former))
    if former:
        source = source.replaced(name=former.name)
        if _is_surely_the_version(former, given, ref, change):
            installed = former.replaced(**_choices_of(given, former))
            return make_source(installed).current_version(change.plugins_dir)

    change.messages.debug(f"fetching {given.source}")
    staged = ensure_built(source.fetch(change), change, yes=yes)
    if former is None:
        # Only the fetched files show the name of some plugins, and so what the user chose before.
        former = _entry_of_name(staged.entry, change)
        if former:
            staged = _reread(staged, former, change)
    return staged


def _former(given: Entry, ref: str | None, change: Change) -> Entry | None:
    """Return the entry that adding `given` would replace, as far as it is known before fetching.

    Without a name, this is the entry of a plugin that is installed from the same source. Several
    plugins can be from one source, with different names: if the user gave a `ref`, a plugin of this
    ref comes first.
    """
    if given.name:
        return _entry_of_name(given, change)

    installed = []
    for entry in change.registry.entries.values():
        if not _has_same_source(entry, given):
            continue
        if make_source(entry).is_present(change.plugins_dir):
            installed.append(entry)

    if not installed:
        return None
    for entry in installed:
        if entry.ref == ref:
            return entry
    return installed[0]


def _choices_of(given: Entry, former: Entry | None) -> dict[str, Any]:
    """Return `scripts` and `path`: what the user gives now or, option by option, gave before."""
    scripts = None
    path = None
    if former:
        scripts = former.scripts
        path = former.path

    if given.scripts is not None:
        scripts = _combined_scripts(given.scripts, scripts)
    if given.path is not None:
        path = given.path
    return {"scripts": scripts, "path": path}


def _reread(staged: PluginVersion, former: Entry, change: Change) -> PluginVersion:
    """Return a fetched version whose commands get their words by the user's former choices."""
    entry = staged.entry.replaced(**_choices_of(staged.entry, former))
    if not has_other_choices(entry, staged.entry):
        return staged
    root = change.files
    if entry.is_users_directory:
        root = entry.source
    return make_source(entry).contents(root)


def _is_surely_the_version(
    former: Entry, given: Entry, ref: str | None, change: Change
) -> bool:
    """Return whether nothing has to be fetched to know that `former` is the version to add."""
    if ref not in (None, former.ref):
        return False
    # Another checksum means another file.
    if given.sha256 not in ("", former.sha256):
        return False

    source = make_source(former)
    if source.is_one_version:  # a wheel may have changed
        return False
    return source.is_present(change.plugins_dir)


def _add(
    version: PluginVersion,
    transaction: Transaction,
    change: Change,
    *,
    yes: bool,
    force: bool,
    team: bool,
    verbose: bool,
) -> None:
    """Show what a fetched or installed version adds or changes, ask, and carry it out."""
    session = change.session
    entry = version.entry
    hint = make_source(entry).name_hint
    if _entry_of_name(entry, change) is None and not is_plugin_name(entry.name):
        what = f"{entry.name!r} is not a valid plugin name"
        raise PluginError(f"{what}; {NAME_RULE}{hint}")

    plan = transaction.plan(version)
    if isinstance(plan, Nothing):
        line = f"{_installed(entry, change)}{hint}"
        if team:
            transaction.save([(plan, change)], team=True)
            line = f"{entry.name} is in plugins/registry.json; commit that file"
        session.show_lines(line)
        return
    if isinstance(plan, Add):
        check_free_name(entry, change.plugins_dir)

    check_not_empty(version, change.messages)
    preview(session, plan, verbose=verbose)
    check_collisions(plan.version, change, force=force)
    verb, question, otherwise = _words_for(plan)
    session.ask_to_continue(question, yes, otherwise)
    # This runs the code of a package, so it comes after the question.
    check_declared_commands(plan.version, change, force=force)
    [saved] = transaction.save([(plan, change)], team=team)
    if isinstance(saved, Nothing):  # another process was faster
        session.show_lines(_installed(entry, change))
        return

    next_steps = ["commit plugins/registry.json for your team"]
    if not team:
        next_steps = _ways(plan.entry, change)
    session.show_lines(f"{verb} {entry.name}", *next_steps)


def _words_for(plan: Plan) -> tuple[str, str, str]:
    """Return what a plan does, as a participle, the question, and the result of a no."""
    if isinstance(plan, Add):
        return "added", "Add it?", "nothing was added"
    if isinstance(plan, Restore):
        return "restored", "Add it?", "nothing was changed"
    return "updated", f"Update {plan.entry.name}?", "nothing was changed"


def _entry_of_name(given: Entry, change: Change) -> Entry | None:
    """Return the entry that has the name of `given`, which adding would replace, or None.

    Raises PluginError if that entry has another source, unless both are packages: the name of a
    package is the same in every source.
    """
    former = change.registry.entries.get(given.name)
    if former is not None and not former.is_same_plugin(given):
        raise _name_is_taken(former, given, change)
    return former


def _has_same_source(entry: Entry, other: Entry) -> bool:
    return (entry.kind, entry.source) == (other.kind, other.source)


def _name_is_taken(former: Entry, given: Entry, change: Change) -> PluginError:
    """Return the error for a source whose plugin would have the name of another plugin."""
    owner = "another plugin"
    if former.source:
        owner = f"the plugin from {masked_text(former.source)}"
    what = f"{former.name} is already the name of {owner}"

    *_, removal = _ways(former, change)
    if not make_source(given).name_hint:
        return PluginError(what, removal)
    other_name = "to add both, choose another name with --name"
    return PluginError(what, f"{other_name}; or {removal}")


def _installed(entry: Entry, change: Change) -> str:
    """Return a line that shows an installed plugin, and how to update and remove it."""
    what = f"{heading(entry)} is already installed"
    return "; ".join([what, *_ways(entry, change)])


def _ways(entry: Entry, change: Change) -> list[str]:
    """Return how to update a plugin, and how to remove it (or disable it if a team shares it)."""
    command = f"{change.session.program} self plugin"
    update = why_it_stays(change.session, entry)
    if not update:
        update = f"update it with: {command} update {entry.name}"

    word = "remove"
    if change.registry.is_shared(entry.name):
        word = "disable"
    return [update, f"{word} it with: {command} {word} {entry.name}"]
