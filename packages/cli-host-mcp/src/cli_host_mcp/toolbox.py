"""Describe commands as tools in plain JSON objects: names, schemas and annotations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cli_host_mcp.arguments import HASH_DIGITS, object_of, with_hash
from cli_host_mcp.structured import schema_of_output
from cli_host_mcp.tool import Tool
from host import Definition, printable

MOST_TOOLS = 40  # beyond this number of commands, three search tools replace one tool per command
SEARCH_TOOLS = ("find", "describe", "run")
_LONGEST_NAME = 60  # with the prefix that clients add
_MOST_FOUND = 20
# Words of this form can be joined by `__` without ambiguity.
_PLAIN = re.compile(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*")
_HASHED = re.compile(rf".*-[0-9a-f]{{{HASH_DIGITS}}}")
_TEXT = {"type": "string"}


def tool_name(words: Sequence[str], program: str) -> str:
    """Return a unique name of letters, digits, `_` and `-` for the words of a command.

    Clients show the name as `mcp__PROGRAM__NAME` and refuse longer ones than 64 characters, so all
    of this has at most 60. The name is the words joined by `__` if that is unambiguous. Otherwise
    it ends with a hash. A joined name that already looks hashed is hashed, too.
    """
    plain = "__".join(words)
    # Even under a program with a very long name, a hash needs its digits.
    longest = max(_LONGEST_NAME - len(f"mcp__{program}__"), HASH_DIGITS + 2)
    are_plain = all(_PLAIN.fullmatch(word) for word in words)
    if are_plain and len(plain) <= longest and not _HASHED.fullmatch(plain):
        return plain

    path = "/".join(words)
    readable = re.sub(r"[^A-Za-z0-9_-]", "_", plain)
    return with_hash(readable, path, longest)


def tool_of(tool: Tool, program: str) -> dict[str, Any]:
    """Return a tool as JSON; texts from its definition are escaped and put on one line."""
    definition = tool.definition
    effects = tool.effects()
    texts = [tool.description]
    if effects == "destroy":
        texts.append("This command may destroy something.")
    if definition.requires:
        texts.append(f"Requires: {', '.join(map(str, definition.requires))}")
    for example in definition.examples:
        text = f"Example: {example['command']}"
        if example["description"]:
            text += f" ({example['description']})"
        texts.append(text)

    described: dict[str, Any] = {
        "name": tool_name(tool.words, program),
        "title": printable(tool.name),
        "description": printable(" | ".join(filter(None, texts))),
        "inputSchema": tool.schema(),
    }
    annotations = _annotations(definition, effects)
    if annotations:
        described["annotations"] = annotations
    schema = schema_of_output(definition)
    if schema:
        described["outputSchema"] = schema
    return described


def _annotations(definition: Definition, effects: str) -> dict[str, bool]:
    """Return the hints that the definition supports; a client expects the worst of a missing one.

    `effects` are those of the strongest call: see `strongest_effects`.
    """
    is_declared = bool(definition.own_effects) or effects == "destroy"
    if not is_declared:
        return {}
    return {"readOnlyHint": effects == "read", "destructiveHint": effects == "destroy"}


def search_tools(read_only: bool) -> list[dict[str, Any]]:
    """Return the three tools that give access to all commands, however many there are."""
    command = {**_TEXT, "description": "The words of a command, as `find` shows them"}
    return [
        {
            "name": "find",
            "description": "Find commands by words in their texts. Omit the query for an overview.",
            "inputSchema": object_of({"query": _TEXT}, []),
            "annotations": {"readOnlyHint": True},
        },
        {
            "name": "describe",
            "description": "Describe what a command does and which arguments it takes.",
            "inputSchema": object_of({"command": command}, ["command"]),
            "annotations": {"readOnlyHint": True},
        },
        {
            "name": "run",
            "description": "Run a command. First call `describe` to get its arguments.",
            "inputSchema": object_of(
                {"command": command, "arguments": {"type": "object"}}, ["command"]
            ),
            "annotations": {
                "readOnlyHint": read_only,
                "destructiveHint": not read_only,
            },
        },
    ]


def searches(form: str, count: int) -> bool:
    """Return whether `--tools FORM` means the three search tools if there are `count` commands."""
    if form == "auto":
        return count > MOST_TOOLS
    return form == "search"


def find(commands: Sequence[Tool], query: str) -> str:
    """Return the commands that match a query best, one per line; without a query, an overview."""
    searched = query.lower().split()
    if not searched and len(commands) > _MOST_FOUND:
        return _overview(commands)

    fitting = []
    for command in commands:
        score = _score(command, searched)
        if score or not searched:
            fitting.append((-score, command.words, command))
    if not fitting:
        return "nothing found; try other words, or omit the query for an overview"

    fitting.sort()  # the best first; no two commands have the same words
    lines = []
    for _, words, command in fitting[:_MOST_FOUND]:
        definition = command.definition
        line = f"{' '.join(words)}: {command.description} ({definition.effects})"
        lines.append(printable(line))
    if len(fitting) > _MOST_FOUND:
        lines.append(f"… and {len(fitting) - _MOST_FOUND} more")
    return "\n".join(lines)


def _overview(commands: Sequence[Tool]) -> str:
    """Return a line with the number of commands for each first word."""
    first_words = [command.words[0] for command in commands]
    counts = Counter(first_words)
    lines = []
    for word, count in sorted(counts.items()):
        lines.append(f"{word} (commands: {count})")
    return "\n".join(lines)


def _score(command: Tool, searched: Sequence[str]) -> int:
    """Return how well a command matches: 3 points for each whole word, 1 for a part of a word."""
    definition = command.definition
    texts = (*command.words, command.name, command.description, definition.group)
    text = " ".join(texts).lower()
    words = set(re.findall(r"\w+", text))

    score = 0
    for word in searched:
        if word in words:
            score += 3
        elif word in text:
            score += 1
    return score
