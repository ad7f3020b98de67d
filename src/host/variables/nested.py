"""Nested runs: what a run reads in CLI_RUN, which the runs around it have exported.

`host.variables.chain_entry` writes CLI_RUN and describes it. A run that is not inside another run
does not import this module.
"""

from host.caller import FRAMEWORK_NAMES, NEEDED_RUN_PARTS, RUN, RUN_PARTS
from host.files.paths import join
from host.record_base import Record
from host.text import value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class OuterRun(Record):
    """A run around this one: its installation, its `Layout.launcher`, and hashes of its variables.

    `config_file` is "" for `core/cli.json` below the root. `hashes` has a hash of each value from
    sources and declared arguments by name, and "" for a secret. `added` has the folders that the
    run appended to PATH. `ids` are those of the recorded runs, the nearest first, as in `ID.ID`.
    """

    root: str
    launcher: str
    config_file: str
    hashes: "Mapping[str, str]"
    added: "tuple[str, ...]" = ()
    ids: str = ""


def outer_runs(environ: "Mapping[str, str]") -> list[OuterRun]:
    """Return the runs in CLI_RUN, the innermost last, or [] if CLI_RUN cannot be parsed."""
    try:
        return [_parsed(text) for text in environ.get(RUN, "").split(" ")]
    except ValueError:
        return []


def run_of(root: str, runs: list[OuterRun]) -> OuterRun | None:
    """Return the innermost run of the installation at `root`, or None if there is none."""
    for run in reversed(runs):
        if run.root == root:
            return run
    return None


def set_by_caller(
    usual_root: str, launcher: str, environ: "Mapping[str, str]"
) -> tuple[str, str, str]:
    """Return CLI_DIR and GLOBAL_CONFIG_FILE as the caller set them (or ""), and the launcher.

    Each run exports both variables. If a value differs from the one that the innermost run
    exported, that run's script has set it, and it is kept. Otherwise, the value comes from the
    innermost run with the same `launcher` (see `Layout`). If there is none, it comes from the
    innermost run of the installation at `usual_root`, or else it is "". If CLI_DIR comes from a
    run, the launcher comes from the same run.
    """
    root = environ.get("CLI_DIR", "")
    config_file = environ.get("GLOBAL_CONFIG_FILE", "")
    runs = outer_runs(environ)
    if not runs:
        return root, config_file, launcher

    innermost = runs[-1]
    usual_config = join(innermost.root, "core/cli.json")
    exported_config = innermost.config_file or usual_config
    sets_config = config_file != exported_config
    sets_root = root != innermost.root

    origin = _started_by(launcher, runs) or run_of(usual_root, runs)
    if origin is None:
        origin = OuterRun(root="", launcher=launcher, config_file="", hashes={})
    if not sets_config:
        config_file = origin.config_file
    if not sets_root:
        root = origin.root
        launcher = origin.launcher
    return root, config_file, launcher


def _started_by(launcher: str, runs: list[OuterRun]) -> OuterRun | None:
    """Return the innermost run that `launcher` has started, or None if there is none."""
    for run in reversed(runs):
        if run.launcher == launcher:
            return run
    return None


def without_outer_run(environ: "Mapping[str, str]", root: str) -> dict[str, str]:
    """Return `environ` without the variables that an outer run of this installation set.

    A variable that was changed inside the outer run is kept, unless it is in FRAMEWORK_NAMES.
    """
    run = run_of(root, outer_runs(environ))
    if run is None:
        return dict(environ)

    inherited = {}
    for name, value in environ.items():
        if name in FRAMEWORK_NAMES or _is_set_by(name, value, run.hashes):
            continue
        inherited[name] = value
    if run.added and "PATH" in inherited:
        from host.variables.path_folders import remove_folders

        inherited["PATH"] = remove_folders(inherited["PATH"], run.added)
    return inherited


def _is_set_by(name: str, value: str, hashes: "Mapping[str, str]") -> bool:
    """Return whether a run with these hashes has set the variable to this value.

    A secret has no hash, so its name counts even if the script has changed the value.
    """
    if name not in hashes:
        return False
    return hashes[name] in ("", value_hash(value))


def chained(environ: "Mapping[str, str]", entry: str) -> str:
    """Return CLI_RUN with `entry` at the end, and without an older entry for its root."""
    root = entry.partition(":")[0]
    entries = []
    if outer_runs(environ):  # otherwise, CLI_RUN cannot be parsed
        for older in environ[RUN].split(" "):
            if older.partition(":")[0] != root:
                entries.append(older)
    entries.append(entry)
    return " ".join(entries)


def outer_ids(environ: "Mapping[str, str]") -> str:
    """Return the ids of the recorded runs around this one, the nearest first, as in `ID.ID`."""
    for run in reversed(outer_runs(environ)):
        if run.ids:
            return run.ids
    return ""


def _parsed(text: str) -> OuterRun:
    """Return the run of an entry of CLI_RUN. Raises ValueError if it is invalid."""
    parts = text.split(":")
    has_all_parts = NEEDED_RUN_PARTS <= len(parts) <= RUN_PARTS
    if not has_all_parts or not parts[0].startswith("/"):
        raise ValueError
    parts += [""] * (RUN_PARTS - len(parts))
    root, launcher, config_file, hashes, folders, ids = parts

    pairs: dict[str, str] = {}
    for item in hashes.split(","):
        name, equals, value = item.partition("=")
        if equals and not value:
            raise ValueError
        if "=" in value:
            raise ValueError
        if name:  # CLI_RUN of a run that sets no variable has an empty item
            pairs[name] = value

    added = [_unescaped(folder) for folder in folders.split(",") if folder]
    return OuterRun(
        root=_unescaped(root),
        launcher=_unescaped(launcher or root),
        config_file=_unescaped(config_file),
        hashes=pairs,
        added=tuple(added),
        ids=ids,
    )


def _unescaped(text: str) -> str:
    for escape, character in (("%2C", ","), ("%20", " "), ("%3A", ":")):
        text = text.replace(escape, character)
    return text.replace("%25", "%")  # last: see `chain_entry`
