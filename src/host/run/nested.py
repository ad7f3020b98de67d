"""A run inside a run: CLI_RUN, which each run exports for the runs inside it (CONTRACT 2).

CLI_RUN has an entry for each installation in the chain of runs, the innermost last:
`ROOT:PROGRAM:CONFIG_FILE:NAME=HASH,NAME=HASH`, with one blank between two entries.
"""

import _imp

from host.run import Struct
from host.run.paths import join, realpath
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.run.installation import Layout

RUN = "CLI_RUN"

# What describes a run, in the order in which `OpenInstallation.run_variables` has the values.
FRAMEWORK_NAMES = (
    *("CLI_DIR", "CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "GLOBAL_CONFIG_FILE"),
    *("COMMAND_NAME", "COMMAND_CATEGORY"),
)

_HASH_KEY = 1  # of `source_hash`, which needs no import; any number does
_HASH_SIZE = 4  # bytes
_LONGEST = 100_000  # characters; Linux takes 128 KiB in one variable


class Entry(Struct):
    """One run: its installation, the program that was started, and what it set.

    `program` is the root that the executable is in, or else the executable's base name.
    `config_file` is "" for `core/cli.json` below the root. `hashes` are those of the values
    that sources and declared arguments gave, by name.
    """

    root: str
    program: str
    config_file: str
    hashes: "Mapping[str, str]"

    @property
    def exported_config_file(self) -> str:
        return self.config_file or join(self.root, "core/cli.json")

    def text(self) -> str:
        program = "" if self.program == self.root else self.program
        paths = [_escaped(one) for one in (self.root, program, self.config_file)]
        pairs = [f"{name}={value}" for name, value in self.hashes.items()]
        return ":".join([*paths, ",".join(pairs)])


def outer_runs(environ: "Mapping[str, str]") -> list[Entry]:
    """Return the entries of CLI_RUN, the innermost run last; [] if it cannot be parsed."""
    try:
        return [_entry(text) for text in environ.get(RUN, "").split(" ")]
    except ValueError:
        return []


def entry_of(root: str, runs: list[Entry]) -> Entry | None:
    """Return the entry of the installation at `root`, however its path is written."""
    where = realpath(root) if runs else ""
    return next((one for one in reversed(runs) if where in (one.root, realpath(one.root))), None)


def without_outer_run(environ: "Mapping[str, str]", root: str) -> dict[str, str]:
    """Return `environ` without the variables that an outer run of this installation set.

    A variable with another value than the outer run gave it is the caller's: it stays.
    """
    entry = entry_of(root, outer_runs(environ)) if RUN in environ else None
    if entry is None:
        return dict(environ)
    hashes = entry.hashes
    return {
        name: value
        for name, value in environ.items()
        if name not in FRAMEWORK_NAMES and (name not in hashes or hashes[name] != _hash(value))
    }


def run_variable(
    environ: "Mapping[str, str]", layout: "Layout", values: "Mapping[str, str]"
) -> str:
    """Return CLI_RUN for the command of a run that sets `values`; `environ` is its caller's."""
    outer = outer_runs(environ)
    known = entry_of(layout.root, outer)
    chain = [one for one in outer if one is not known]
    hashes = {name: _hash(text) for name, text in values.items()}
    own = Entry(layout.root, layout.started, "", hashes)
    if layout.config_file != own.exported_config_file:
        own.config_file = layout.config_file
    chain.append(own)
    text = " ".join(map(Entry.text, chain))
    if len(text) > _LONGEST:  # it would keep the command from starting
        chain = [Entry(one.root, one.program, one.config_file, {}) for one in chain]
        text = " ".join(map(Entry.text, chain))
    return text


def words_of_run(environ: "Mapping[str, str]") -> tuple[str, ...]:
    """Return the words of the command whose run has this environment, () where it is none."""
    name = environ.get("COMMAND_NAME")
    if not name:
        return ()
    return (*filter(None, environ.get("COMMAND_CATEGORY", "").split("/")), name)


def _entry(text: str) -> Entry:
    root, program, config_file, hashes = text.split(":")
    if not root.startswith("/"):
        raise ValueError
    pairs = dict(one.split("=") for one in hashes.split(",") if one)
    return Entry(_unescaped(root), _unescaped(program or root), _unescaped(config_file), pairs)


def _escaped(path: str) -> str:
    return path.replace("%", "%25").replace(":", "%3A").replace(" ", "%20")


def _unescaped(text: str) -> str:
    return text.replace("%20", " ").replace("%3A", ":").replace("%25", "%")


def _hash(value: str) -> str:
    return _imp.source_hash(_HASH_KEY, encode(value))[:_HASH_SIZE].hex()
