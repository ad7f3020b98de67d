"""Tab completion of the ids of recorded runs."""

from collections.abc import Sequence

from builtin_plugins.history.page import SHORT_ID, command_line
from builtin_plugins.history.read_database import RunStore
from host import OperationError
from host.caller import xdg_home
from host.launch.history_record import history_path
from host.tab.candidates import Completer, Offer

_MOST = 50


def run_ids(given: Sequence[str], completer: Completer) -> Offer:
    """Return the ids of the newest runs, each with its command line."""
    if given:
        return Offer()

    installation = completer.installation
    state = xdg_home(installation.environ, "STATE")
    store = RunStore(history_path(state, installation.layout.root))
    try:
        runs = store.select(limit=_MOST)
    except OperationError:
        return Offer()  # Tab shows no errors

    program = installation.layout.program
    offered = []
    for run in runs:
        short_id = run["id"][:SHORT_ID]
        offered.append((short_id, command_line(program, run)))
    return Offer(offered)
