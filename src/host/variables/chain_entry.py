"""CLI_RUN: what a run exports for the runs inside it.

CLI_RUN has an entry for each installation in the chain of runs, the innermost last:
`ROOT:LAUNCHER:CONFIG_FILE:NAME=HASH,NAME=HASH:FOLDER,FOLDER:ID`, with one space between entries. A
NAME is a variable that the run set, and HASH is the hash of its value; a secret has no hash, as in
`NAME=HASH,NAME`. A FOLDER is one that the run appended to PATH. ID is that of the run in the
history, or of the nearest recorded run around it, followed by those of the recorded runs around
that, as in `ID.ID`: a server for assistants finds all processes of a call by its id. Without an ID,
or without both, the last colons are left out. `host.variables.nested` reads the entries.
"""

from host.caller import RECORDED, RUN, RUN_PARTS
from host.files.paths import join
from host.text import value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from host.installation import Layout


class ChainEntry:
    """The entry of CLI_RUN for a run of the installation at `layout`, started with `environ`."""

    def __init__(self, layout: "Layout", environ: "Mapping[str, str]") -> None:
        self._layout = layout
        self._environ = environ

    def chained(
        self,
        values: "Mapping[str, str]",
        secret: "Collection[str]",
        added: "Sequence[str]",
    ) -> str:
        """Return CLI_RUN for a run that sets the variables `values`.

        Of the names in `secret`, it has no hash, because a short secret can be found by its hash.
        `added` has the folders that the run appends to PATH.
        """
        entry = self._written(values, secret, added)
        if RUN not in self._environ:
            return entry
        from host.variables.nested import chained

        return chained(self._environ, entry)

    def _written(
        self,
        values: "Mapping[str, str]",
        secret: "Collection[str]",
        added: "Sequence[str]",
    ) -> str:
        layout = self._layout
        launcher = layout.launcher
        if launcher == layout.root:  # as for an executable in `core`
            launcher = ""
        config_file = layout.config_file
        if config_file == join(layout.root, "core/cli.json"):
            config_file = ""

        hashes = []
        for name, value in values.items():
            if name in secret:
                hashes.append(name)
            else:
                hashes.append(f"{name}={value_hash(value)}")

        parts = [_escaped(layout.root), _escaped(launcher), _escaped(config_file)]
        parts.append(",".join(hashes))

        # An entry without a folder and without an id is two colons shorter: most runs have neither.
        ids = self._ids()
        if added or ids:
            parts.append(",".join([_escaped(folder) for folder in added]))
        if ids:
            parts.append(ids)
        return ":".join(parts)

    def _ids(self) -> str:
        """Return the id that the caller gives this run and those of the recorded runs around it."""
        ids = []
        if RECORDED in self._environ:
            from host.variables.recorded_variable import id_of

            ids.append(id_of(self._environ[RECORDED]))
        if RUN in self._environ:
            from host.variables.nested import outer_ids

            ids.append(outer_ids(self._environ))
        return ".".join(filter(None, ids))


def with_id(chain: str, run_id: str) -> str:
    """Return CLI_RUN with `run_id` before the ids in its last entry."""
    before, _, last = chain.rpartition(" ")
    parts = last.split(":")
    parts += [""] * (RUN_PARTS - len(parts))
    parts[-1] = f"{run_id}.{parts[-1]}".removesuffix(".")
    return f"{before} {':'.join(parts)}".lstrip()


def _escaped(path: str) -> str:
    """Return a path without the characters that separate parts; the reverse is in `nested`."""
    path = path.replace("%", "%25")  # first, because the other escapes contain it
    for character, escape in ((":", "%3A"), (" ", "%20"), (",", "%2C")):
        path = path.replace(character, escape)
    return path
