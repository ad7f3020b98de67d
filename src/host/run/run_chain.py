"""The value of CLI_RUN, which names a run to the runs inside it; `host.run.nested` reads it."""

from host.run.caller import RECORDED, RUN
from host.run.files import join
from host.run.text import value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from host.run.layout import Layout


def run_chain(
    layout: "Layout",
    environ: "Mapping[str, str]",
    values: "Mapping[str, str]",
    secret: "Collection[str]" = (),
    added: "Sequence[str]" = (),
) -> str:
    """Return the value of CLI_RUN for a run that sets the variables `values`.

    Of the names in `secret`, it has no hash, because a short secret can be found by its hash.
    `added` has the folders that the run appends to PATH. `environ` is the environment of the
    run's caller.
    """
    launcher = "" if layout.launcher == layout.root else layout.launcher
    is_usual_config = layout.config_file == join(layout.root, "core/cli.json")
    config_file = "" if is_usual_config else layout.config_file
    paths = [_escaped(path) for path in (layout.root, launcher, config_file)]
    hashes = [
        name if name in secret else f"{name}={value_hash(value)}" for name, value in values.items()
    ]
    folders = [_escaped(folder) for folder in added]
    run_id = environ.get(RECORDED, "").partition(":")[0]
    if RUN in environ and not run_id:
        from host.run.nested import outer_id

        run_id = outer_id(environ)

    parts = [*paths, ",".join(hashes)]
    if folders or run_id:
        parts.append(",".join(folders))
    if run_id:
        parts.append(run_id)
    entry = ":".join(parts)
    if RUN not in environ:
        return entry
    from host.run.nested import chained

    return chained(environ, entry)


def _escaped(path: str) -> str:
    return path.replace("%", "%25").replace(":", "%3A").replace(" ", "%20").replace(",", "%2C")
