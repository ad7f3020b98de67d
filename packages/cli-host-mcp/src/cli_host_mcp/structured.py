"""Commands with `"output": "json"`: the schema of their output, and the output as data."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from host import Definition, output_schema

RESULT = "result"  # the property of a value that is not declared to be an object
_DEFINITIONS = (
    "$defs",
    "definitions",
)  # references such as `#/$defs/x` lead to the root


class OutputError(Exception):
    """What a command printed is not what its definition declares."""


def schema_of_output(definition: Definition) -> dict[str, Any] | None:
    """Return the output schema of a tool, or None if the command declares no output.

    A client expects an object. A value of another type, or of an unknown one, is the property
    `result` of an object. Raises DefinitionError for an invalid schema file.
    """
    if definition.output != "json":
        return None
    schema = output_schema(definition) or {}
    if schema.get("type") == "object":
        return schema

    shared = {}
    inner = {}
    for key, value in schema.items():
        if key in _DEFINITIONS:
            shared[key] = value
        elif key != "$schema":
            inner[key] = value
    properties = {RESULT: inner}
    return {**shared, "type": "object", "properties": properties, "required": [RESULT]}


def structured(definition: Definition, stdout: bytes | None) -> dict[str, Any]:
    """Return the output as a tool's structured content; `stdout` is None if it was cut.

    Raises OutputError if it is cut, not one JSON value, or not what the schema describes.
    """
    if stdout is None:
        raise OutputError("the output is too long to be data; see --max-output")
    try:
        value = json.loads(stdout)
    except ValueError as failure:
        where = getattr(failure, "msg", str(failure))
        raise OutputError(f"stdout is not one JSON value: {where}") from None

    schema = schema_of_output(definition) or {}
    declared = output_schema(definition) or {}
    content = value
    if declared.get("type") != "object":
        content = {RESULT: value}
    try:
        jsonschema.validate(content, schema)
    except jsonschema.ValidationError as failure:
        place = "/".join(map(str, failure.absolute_path)) or "the value"
        raise OutputError(f"stdout does not have its schema, at {place}") from None
    except jsonschema.SchemaError as failure:
        raise OutputError(f"the schema is invalid: {failure.message}") from None
    return dict(content)
