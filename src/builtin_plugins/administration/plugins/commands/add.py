"""`self plugin add`."""

from functools import partial

from builtin_plugins.administration.declared import (
    TIMEOUT,
    YES,
    argument,
    self_command,
    text,
)
from builtin_plugins.administration.plugins.change import (
    Change,
    begin_change,
    locked_registry,
)
from builtin_plugins.administration.plugins.install import (
    Choices,
    ensure_built,
    install_staged,
    is_installed,
)
from builtin_plugins.administration.plugins.preview import (
    heading,
    preview,
    why_it_stays,
)
from builtin_plugins.administration.plugins.sources.base import (
    PluginSource,
    make_source,
)
from builtin_plugins.administration.plugins.sources.parse import parse_source
from builtin_plugins.administration.plugins.team_catalogue import listed_plugin
from builtin_plugins.plugins_folder.entry import (
    NAME_RULE,
    Entry,
    check_under,
    is_plugin_name,
)
from builtin_plugins.plugins_folder.version import PluginVersion
from host import PluginError, UsageError, masked_text
from host.cli.session import Session


@self_command(
    "plugin add",
    "Add a plugin from a directory, git, an archive, pip or a catalogue",
    argument(
        "source",
        required=True,
        complete="builtin_plugins.administration.plugins.commands.name_completion:sources",
    ),
    {
        **text("--ref", "REF", "A branch, tag or commit of a git repository."),
        "pattern": ".*",
    },
    text("--name", "NAME", "The name of the plugin in this installation."),
    text("--sha256", "HASH", "The expected SHA-256 of the archive or wheel."),
    text(
        "--prefix",
        "TEXT",
        "Add only scripts with the prefix TEXT; command names omit it.",
    ),
    text("--split", "TEXT", "The separator of the words in a script's name."),
    text("--under", "WORDS", "Add all commands below this category."),
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
    """Add a plugin from SOURCE.

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
        checksum = sha256 or ""
        plugin_source = parse_source(
            source, ref=ref or "", sha256=checksum, site=site, ssh=ssh
        )
    elif ref or sha256:
        what = "--ref and --sha256 cannot be used with a name from a catalogue"
        raise UsageError(what)
    else:
        plugin_source = listed.plugin_source(site=site, ssh=ssh)

    entry = plugin_source.entry
    if entry.is_package:
        _check_package_options(name, prefix, split, no_path=no_path)
    elif listed is not None:
        name = name or listed.name
    if team and entry.is_users_directory:
        what = "--team cannot be used with a directory"
        raise UsageError(what, "add a git repository instead")

    plugin_source = plugin_source.replaced(
        name=name or "",
        scripts=_scripts(entry, prefix or "", split or "", under or ""),
        path=() if no_path else None,  # None: a directory of plain scripts gets the key
    )
    choices = Choices(yes=yes, force=force, team=team)
    with begin_change(session, timeout) as change:
        _add(plugin_source, ref, change, choices, verbose=verbose)


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
    entry: Entry, prefix: str, split: str, under: str
) -> dict[str, str | bool] | None:
    """Return the value of `scripts` in the registry, or None if no option sets it."""
    if under:
        check_under("--under", under)

    values = {"prefix": prefix, "split": split, "under": under}
    scripts: dict[str, str | bool] = {key: text for key, text in values.items() if text}
    is_choice_of_files = bool(prefix or split) or entry.is_package
    if under and not is_choice_of_files:
        # Files are commands only in a directory without definitions; reading the staged
        # directory shows whether it is one, and then drops this key.
        scripts["files"] = False
    return scripts or None


def _add(
    source: PluginSource,
    ref: str | None,
    change: Change,
    choices: Choices,
    *,
    verbose: bool,
) -> None:
    """Fetch and add a plugin, unless it is surely installed already.

    `ref` is None if the user gave none: a plugin that is installed already then keeps its ref.
    """
    session = change.session
    former = _former(source.entry, ref, change)
    if former:
        source = _with_former_choices(source, former)
        if _is_surely_installed(former, source.entry, ref, change):
            _show_installed(former, change, choices)
            return

    change.messages.debug(f"fetching {source.entry.source}")
    staged = ensure_built(source.fetch(change), change, yes=choices.yes)
    entry = staged.entry
    if entry.is_in_environment:
        session.show_lines(
            f"{entry.name} {entry.version} is among the packages that the program itself has; "
            "nothing was installed"
        )
        return
    _add_staged(staged, change, choices, verbose=verbose)


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
        if _has_same_source(entry, given) and _is_present(entry, change):
            installed.append(entry)
    if ref is not None:
        installed.sort(key=lambda entry: entry.ref != ref)
    return installed[0] if installed else None


def _with_former_choices(source: PluginSource, former: Entry) -> PluginSource:
    """Return the source with what the user does not give again: name, scripts and path."""
    scripts = source.entry.scripts
    path = source.entry.path
    return source.replaced(
        name=former.name,
        scripts=former.scripts if scripts is None else scripts,
        path=former.path if path is None else path,
    )


def _is_surely_installed(
    former: Entry, given: Entry, ref: str | None, change: Change
) -> bool:
    """Return whether nothing has to be fetched to know that `former` is what the user adds."""
    if ref not in (None, former.ref):
        return False
    # A wheel may have changed, and another checksum means another file.
    if given.sha256 not in ("", former.sha256) or make_source(former).is_one_version:
        return False
    return _is_present(former, change)


def _show_installed(former: Entry, change: Change, choices: Choices) -> None:
    """Say that a plugin is installed already; for a team, record it in the shared registry."""
    session = change.session
    if not choices.team:
        hint = make_source(former).name_hint
        session.show_lines(f"{_installed(former, change)}{hint}")
        return

    with locked_registry(change) as locked:
        locked.registry.put(former, team=True)
        locked.commit()
    line = f"{former.name} is in plugins/registry.json; commit that file"
    session.show_lines(line)


def _add_staged(
    staged: PluginVersion, change: Change, choices: Choices, *, verbose: bool
) -> None:
    """Show what a staged plugin adds, ask, and install it."""
    session = change.session
    entry = staged.entry
    former = _entry_of_name(entry, change)
    if former:
        entry = entry.replaced(enabled=former.enabled)
    elif not is_plugin_name(entry.name):
        hint = make_source(entry).name_hint
        what = f"{entry.name!r} is not a valid plugin name; {NAME_RULE}{hint}"
        raise PluginError(what)
    if is_installed(entry, change.registry, change.plugins_dir):
        session.show_lines(_installed(entry, change))
        return

    # What is restored is shown as if it were new: there are no files to compare it with.
    verb = "added"
    current = None
    question = "Add it?"
    if former and _is_present(former, change):
        verb = "updated"
        current = former
        question = f"Update {entry.name}?"
    elif former:
        verb = "restored"

    staged = staged.replaced(entry=entry)
    show = partial(preview, session, current, verbose=verbose)
    if not install_staged(staged, change, choices, show, question):
        session.show_lines(_installed(entry, change))
        return
    next_steps = ["commit plugins/registry.json for your team"]
    if not choices.team:
        next_steps = _ways(entry, change)
    session.show_lines(f"{verb} {entry.name}", *next_steps)


def _entry_of_name(given: Entry, change: Change) -> Entry | None:
    """Return the entry that has the name of `given`, which adding would replace, or None.

    Raises PluginError if that entry has another source, unless both are packages: the name of a
    package is the same in every source.
    """
    former = change.registry.entries.get(given.name)
    if former is None or (former.is_package and given.is_package):
        return former
    if not _has_same_source(former, given):
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


def _is_present(entry: Entry, change: Change) -> bool:
    return make_source(entry).is_present(change.plugins_dir)


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
    word = "disable" if change.registry.is_shared(entry.name) else "remove"
    return [update, f"{word} it with: {command} {word} {entry.name}"]
