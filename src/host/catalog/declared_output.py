"""Read the JSON Schema of what a command prints: the keys `output` and `schema`."""

from __future__ import annotations

from host.errors import DefinitionError, Problem
from host.files.json_file import read_json
from host.files.paths import join, why_outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from host.catalog.definition import Definition


def output_schema(definition: Definition) -> dict[str, Any] | None:
    """Return the JSON Schema of the value that a command prints, or None if it declares none.

    Raises DefinitionError if the file is missing, outside the command's folder, or no JSON object::

        schema = output_schema(program.find(("db", "list")).definition)
    """
    if not definition.schema:
        return None

    reason = why_outside(definition.directory, definition.schema)
    if reason:
        raise DefinitionError(Problem(definition.file, reason, key="schema"))

    path = join(definition.directory, definition.schema)
    try:
        schema = read_json(path)
    except FileNotFoundError:
        problem = Problem(definition.file, f"{path} does not exist", key="schema")
        raise DefinitionError(problem) from None

    if not isinstance(schema, dict):
        raise DefinitionError(Problem(path, "expected an object"))
    return schema
