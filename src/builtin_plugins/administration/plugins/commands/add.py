"""`self plugin add`."""

from typing import NamedTuple

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
from builtin_plugins.administration.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.administration.plugins.install import (
    Plan,
    check_new_name,
    ensure_built,
    install,
    plan_of,
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
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.plugins_folder.entry import Entry, check_under
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
    site = "gitlab" if gitlab else "bitbucket" if bitbucket else ""
    if listed := listed_plugin(session, source, timeout):
        if ref or sha256:
            raise UsageError(
                "--ref and --sha256 cannot be used with a name from a catalogue"
            )
        wanted = listed.plugin_source(site=site, ssh=ssh)
        name = name or ("" if wanted.entry.is_package else listed.name)
    else:
        wanted = parse_source(
            source, ref=ref or "", sha256=sha256 or "", site=site, ssh=ssh
        )
    if name and wanted.entry.is_package:
        raise UsageError(
            "--name cannot be used with a package, which keeps its own name"
        )
    scripts = _scripts(wanted.entry, prefix or "", split or "", under or "")
    if no_path and wanted.entry.is_package:
        raise UsageError("--no-path cannot be used with a package")
    path = () if no_path else None  # None: a directory of plain scripts gets the key
    wanted.entry = wanted.entry.replaced(name=name or "", scripts=scripts, path=path)
    if team and wanted.entry.is_users_directory:
        raise UsageError(
            "--team cannot be used with a directory", "add a git repository instead"
        )
    options = _Options(ref=ref, team=team, force=force, yes=yes, verbose=verbose)
    with begin_change(session, timeout) as change:
        _add(wanted, change, options)


class _Options(NamedTuple):
    """The options of `self plugin add` that do not describe the plugin.

    `ref` is None if the user gave none: a plugin that is installed already then keeps its ref.
    """

    ref: str | None
    team: bool
    force: bool
    yes: bool
    verbose: bool


def _add(wanted: PluginSource, change: Change, options: _Options) -> None:
    """Fetch and add a plugin, unless it is surely installed already."""
    session, given = change.session, wanted.entry
    former = (
        _entry_of_name(given, change)
        if given.name
        else _installed_from(given, change, options.ref)
    )
    if former:
        # What the user did not give again stays: the name, and how scripts become commands.
        wanted.entry = wanted.entry.replaced(
            name=former.name,
            scripts=former.scripts if given.scripts is None else given.scripts,
            path=former.path if given.path is None else given.path,
        )
    is_same_ref = former and options.ref in (None, former.ref)
    if former and is_same_ref and _needs_no_fetch(former, wanted.entry, change):
        if options.team:
            with locked_registry(change) as locked:
                locked.registry.put(former, team=True)
                locked.commit()
            session.show_lines(
                f"{former.name} is in plugins/registry.json; commit that file"
            )
            return
        session.show_lines(
            f"{_installed(former, change)}{make_source(former).name_hint}"
        )
        return

    change.messages.debug(f"fetching {wanted.entry.source}")
    staged = ensure_built(wanted.fetch(change), change, yes=options.yes)
    if staged.entry.is_in_environment:
        have = (
            "is among the packages that the program itself has; nothing was installed"
        )
        session.show_lines(f"{staged.entry.name} {staged.entry.version} {have}")
        return
    _add_staged(staged, change, options)


def _scripts(
    entry: Entry, prefix: str, split: str, under: str
) -> dict[str, str | bool] | None:
    """Return the value of `scripts` in the registry, or None if no option sets it."""
    if (prefix or split) and entry.is_package:
        raise UsageError(
            "--prefix and --split can only be used with a directory of scripts"
        )
    if under:
        check_under("--under", under)
    texts = {"prefix": prefix, "split": split, "under": under}
    scripts: dict[str, str | bool] = {key: text for key, text in texts.items() if text}
    if under and not (prefix or split or entry.is_package):
        # Files are commands only in a directory without definitions; reading the staged
        # directory shows whether it is one, and then drops this key.
        scripts["files"] = False
    return scripts or None


def _add_staged(staged: PluginVersion, change: Change, options: _Options) -> None:
    """Show what a staged plugin adds, ask, and install it."""
    session, entry = change.session, staged.entry
    former = _entry_of_name(entry, change)
    if former is None:
        check_new_name(entry, ())
    else:
        entry = entry.replaced(enabled=former.enabled)
    plan = plan_of(entry, change.registry, change.plugins_dir)
    if plan is Plan.NOTHING:
        session.show_lines(_installed(entry, change))
        return

    staged = staged.replaced(entry=entry)
    current = former if plan is Plan.UPDATE else None
    preview(session, current, staged, verbose=options.verbose)
    check_collisions(staged, change, force=options.force)
    if current:
        ask_to_continue(
            session, f"Update {entry.name}?", options.yes, "nothing was changed"
        )
    else:
        ask_to_continue(session, "Add it?", options.yes, "nothing was added")
    check_declared_commands(staged, change, force=options.force)
    done = install(entry, change, new=former is None, team=options.team)
    if done is Plan.NOTHING:
        session.show_lines(_installed(entry, change))
        return
    next_steps = ["commit plugins/registry.json for your team"]
    if not options.team:
        next_steps = _ways(entry, change)
    session.show_lines(f"{done.value} {entry.name}", *next_steps)


def _installed_from(wanted: Entry, change: Change, ref: str | None) -> Entry | None:
    """Return the entry of an installed plugin from the source of `wanted`, or None.

    Several plugins can be from one source, with different names: if the user gave a `ref`, a
    plugin of this ref comes first.
    """
    entries = [
        entry
        for entry in change.registry.entries.values()
        if _has_same_source(entry, wanted)
    ]
    installed = [entry for entry in entries if _is_present(entry, change)]
    if ref is not None:
        installed.sort(key=lambda entry: entry.ref != ref)
    return installed[0] if installed else None


def _entry_of_name(wanted: Entry, change: Change) -> Entry | None:
    """Return the entry that has the name of `wanted`, which adding would replace, or None.

    Raises PluginError if that entry has another source, unless both are packages: the name of a
    package is the same in every source.
    """
    former = change.registry.entries.get(wanted.name)
    if former is None or (former.is_package and wanted.is_package):
        return former
    if not _has_same_source(former, wanted):
        raise _name_is_taken(former, wanted, change)
    return former


def _has_same_source(entry: Entry, other: Entry) -> bool:
    return (entry.kind, entry.source) == (other.kind, other.source)


def _name_is_taken(former: Entry, wanted: Entry, change: Change) -> PluginError:
    """Return the error for a source whose plugin would have the name of another plugin."""
    owner = (
        f"the plugin from {masked_text(former.source)}"
        if former.source
        else "another plugin"
    )
    what = f"{former.name} is already the name of {owner}"
    *_, removal = _ways(former, change)
    if not make_source(wanted).name_hint:
        return PluginError(what, removal)
    return PluginError(
        what, f"to add both, choose another name with --name; or {removal}"
    )


def _needs_no_fetch(former: Entry, wanted: Entry, change: Change) -> bool:
    """Return whether `former` is surely what the user wants.

    A wheel may have changed, and another checksum means another file.
    """
    is_file = make_source(former).is_one_version
    same_file = wanted.sha256 in ("", former.sha256) and not is_file
    return same_file and _is_present(former, change)


def _is_present(entry: Entry, change: Change) -> bool:
    return make_source(entry).is_present(change.plugins_dir)


def _installed(entry: Entry, change: Change) -> str:
    """Return a line that shows an installed plugin, and how to update and remove it."""
    return "; ".join([f"{heading(entry)} is already installed", *_ways(entry, change)])


def _ways(entry: Entry, change: Change) -> list[str]:
    """Return how to update a plugin, and how to remove it (or disable it if a team shares it)."""
    command = f"{change.session.program} self plugin"
    stays = why_it_stays(change.session, entry)
    update = stays or f"update it with: {command} update {entry.name}"
    word = "disable" if change.registry.is_shared(entry.name) else "remove"
    return [update, f"{word} it with: {command} {word} {entry.name}"]
