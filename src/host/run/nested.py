"""Nested runs: each run exports CLI_RUN for the runs inside it (CONTRACT 2).

CLI_RUN has an entry for each installation in the chain of runs, the innermost last:
`ROOT:PROGRAM:CONFIG_FILE:NAME=HASH,NAME=HASH`, with one blank between two entries.
`OpenInstallation.run_entry` writes it. Only a run inside another run imports this module.
"""

from host.run import Record
from host.run.process import FRAMEWORK_NAMES, RUN
from host.run.text import encode, value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.run.environment import Layers


class Entry(Record):
    """One run: its installation, the program that was started, and the variables that it set.

    `program` is the root that contains the executable, or else the executable's base name.
    `config_file` is "" for `core/cli.json` below the root. `hashes` has a hash of each value from
    sources and declared arguments, by name.
    """

    root: str
    program: str
    config_file: str
    hashes: "Mapping[str, str]"


def outer_runs(environ: "Mapping[str, str]") -> list[Entry]:
    """Return the entries of CLI_RUN, the innermost run last; [] if it cannot be parsed."""
    try:
        return [_entry(text) for text in environ.get(RUN, "").split(" ")]
    except ValueError:
        return []


def entry_of(root: str, runs: list[Entry]) -> Entry | None:
    """Return the innermost entry of the installation at `root`, None if there is none."""
    return next((one for one in reversed(runs) if one.root == root), None)


def without_outer_run(environ: "Mapping[str, str]", root: str) -> dict[str, str]:
    """Return `environ` without the variables that an outer run of this installation set.

    Variables that were changed inside the outer run are kept.
    """
    entry = entry_of(root, outer_runs(environ)) if RUN in environ else None
    if entry is None:
        return dict(environ)
    hashes = entry.hashes
    return {
        name: value
        for name, value in environ.items()
        if name not in FRAMEWORK_NAMES and (name not in hashes or hashes[name] != value_hash(value))
    }


def chained(environ: "Mapping[str, str]", root: str, own: str) -> str:
    """Return CLI_RUN with the entry `own`; it replaces an older entry with the same `root`."""
    runs = outer_runs(environ)
    known = entry_of(root, runs)
    texts = environ[RUN].split(" ")
    kept = [text for text, run in zip(texts, runs, strict=False) if run is not known]
    return " ".join([*kept, own])


def report(layers: "Layers", exported: "Mapping[str, str]", descriptor: int) -> None:
    """Write a run's environment and the shadowed values, for a caller that masks the run's output.

    The format is NAME=value and NUL for each, then one more NUL.
    """
    lost = [(one.name, one.value) for ranked in layers.offered.values() for one in ranked]
    text = "".join([f"{name}={value}\0" for name, value in (*exported.items(), *lost)])
    with open(descriptor, "wb") as pipe:
        pipe.write(encode(f"{text}\0"))


def _entry(text: str) -> Entry:
    root, program, config_file, hashes = text.split(":")
    if not root.startswith("/"):
        raise ValueError
    pairs = dict(one.split("=") for one in hashes.split(",") if one)
    return Entry(_unescaped(root), _unescaped(program or root), _unescaped(config_file), pairs)


def _unescaped(text: str) -> str:
    return text.replace("%20", " ").replace("%3A", ":").replace("%25", "%")
