"""Tab completion by a click parameter's own `shell_complete`, in a child process."""

from __future__ import annotations

import os
import sys

from host.processes.importing import complete_import_path, enter_plugin, load_reference
from host.processes.supervise import supervise_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.arguments.spec import Argument
    from host.catalog.definition import Definition

    Item = tuple[str, str, str]

_SECONDS = 1.0  # time limit for the import of the plugin and for `shell_complete`


def click_items(
    definition: Definition,
    argument: Argument,
    folders: Sequence[str],
    called: str,
    variables: Mapping[str, str],
    typed: Sequence[str],
    current: str,
) -> list[Item]:
    """Return the items of the parameter that `argument` describes: value, help and kind.

    The kind is "plain" for a value, and "file" or "dir" if the shell completes paths. `folders` has
    the packages of the plugin. `called` and `variables` describe the run that is being typed, for
    `Program.current`. `typed` has the words before the cursor, and `current` the beginning of the
    value. If `shell_complete` fails or is too slow, there are no items.
    """

    def complete() -> list[Item]:
        complete_import_path()
        os.environ.update(variables)
        sys.argv = [called]
        enter_plugin(folders)

        command: Any = load_reference(definition.entrypoint)
        context = _context(command, definition.subcommand, list(typed))
        parameter = _parameter(context, argument)

        items = []
        for item in parameter.shell_complete(context, current):
            value = str(item.value)
            about = str(item.help or "")
            kind = str(item.type)
            items.append((value, about, kind))
        return items

    # The plugin's code may print, hang or crash: a child process bounds all of this.
    try:
        items: list[Item] = supervise_call(complete, _SECONDS)
    except (TimeoutError, ChildProcessError):
        return []
    return items


def _context(command: Any, subcommand: Sequence[str], typed: list[str]) -> Any:
    """Return the context of the subcommand, with the parameters that are typed already."""
    # "Resilient" parsing raises no error for what is still missing on the line.
    context = None
    name = command.name
    for word in subcommand:
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
        command = command.get_command(context, word)
        name = word

    return command.make_context(name, typed, parent=context, resilient_parsing=True)


def _parameter(context: Any, argument: Argument) -> Any:
    """Return the click parameter that is declared as `argument`."""
    from host.lock.click_commands import plain_name

    for parameter in context.command.get_params(context):
        if parameter.param_type_name == "argument":
            names = [plain_name(parameter.name)]
        else:
            names = [*parameter.opts, *parameter.secondary_opts]
        if argument.bare_name in names:
            return parameter
    raise LookupError(argument.name)
