"""What a client can read and complete: commands, their help pages, candidates, plugins' skills.

All but the skills is about the offered commands only, as the tools are.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from cli_host_mcp.masking import without_secrets
from cli_host_mcp.offer import Offer, caller_environment
from cli_host_mcp.output import escaped
from cli_host_mcp.problem import CallError, closest
from cli_host_mcp.tool import Tool, runs
from cli_host_mcp.toolbox import tool_name
from host import Program, printable

_MOST_VALUES = 100  # the limit of a completion in the protocol
_HELP_SECONDS = 20.0
_LONGEST_DESCRIPTION = 1000  # characters
_JSON = "application/json"
_TEXT = "text/plain"
_MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a resource and its type."""

    text: str
    mime_type: str


class Resources:
    """The resources: `PROGRAM://commands`, `PROGRAM://help/WORDS…` and `PROGRAM://skill/NAME`."""

    def __init__(self, offer: Offer, program: str) -> None:
        self._offer = offer
        self._program = program
        self._scheme = scheme_of(program)

    @property
    def commands_uri(self) -> str:
        """The address of the list of commands."""
        return f"{self._scheme}://commands"

    def listed(self) -> list[dict[str, Any]]:
        """Return the resources as JSON objects; the help pages are in a template."""
        commands = {
            "uri": self.commands_uri,
            "name": "commands",
            "title": f"The commands of {printable(self._program)}",
            "mimeType": _JSON,
        }
        listed: list[dict[str, Any]] = [commands]
        for skill in Program.current().skills():
            resource = {
                "uri": f"{self._scheme}://skill/{skill.name}",
                "name": f"skill {skill.name}",
                "title": f"A skill of the plugin {printable(skill.plugin)}",
                "description": printable(skill.description[:_LONGEST_DESCRIPTION]),
                "mimeType": _MARKDOWN,
            }
            listed.append(resource)
        return listed

    def templates(self) -> list[dict[str, Any]]:
        """Return the templates; the last one serves the completion of arguments."""
        return [
            {
                "uriTemplate": f"{self._scheme}://help/{{words}}",
                "name": "help",
                "title": "The help page of a command; / separates its words",
                "mimeType": _TEXT,
            },
            {
                "uriTemplate": f"{self._scheme}://candidates/{{words}}/{{argument}}/{{value}}",
                "name": "candidates",
                "title": "Values of an argument that begin with `value`, as Tab offers them",
                "mimeType": _JSON,
            },
        ]

    def read(self, uri: str) -> Content:
        """Return a resource. Raises CallError if there is none with this address."""
        scheme, _, rest = uri.partition("://")
        kind, *quoted = rest.split("/")
        parts = [unquote(part) for part in quoted]
        content = None
        if scheme == self._scheme:
            content = self._content(kind, parts)
        if content is None:
            raise CallError(f"there is no resource {printable(uri[:200])}")
        return content

    def _content(self, kind: str, parts: Sequence[str]) -> Content | None:
        if kind == "commands" and not any(parts):
            return Content(self._commands(), _JSON)

        if kind == "help" and any(parts):
            command = self._command(" ".join(parts))
            return Content(self._help(command), _TEXT)

        if kind == "skill" and len(parts) == 1:
            for skill in Program.current().skills():
                if skill.name == parts[0]:
                    return Content(escaped(skill.text), _MARKDOWN)

        if kind == "candidates" and len(parts) > 1:
            *words, argument, value = parts
            variables = {"words": " ".join(words), "argument": argument}
            names = self._values(variables, value)
            text = json.dumps(names, ensure_ascii=False)
            return Content(text, _JSON)

        return None

    def completed(self, name: str, value: str, others: Mapping[str, str]) -> list[str]:
        """Return the candidates for a variable of a template; `others` has the known variables."""
        if name == "words":
            commands = self._offer.commands()
            paths = ["/".join(command.words) for command in commands]
            return _with_prefix(paths, value)

        if name == "argument":
            command = self._command(others.get("words", ""))
            keys = command.schema()["properties"]
            return _with_prefix(keys, value)

        if name == "value":
            return self._values(others, value)
        return []

    def _command(self, words: str) -> Tool:
        """Return the offered command with these words; raises CallError."""
        path = words.replace("/", " ").split()
        commands = {command.words: command for command in self._offer.commands()}
        command = commands.get(tuple(path))
        if command is None:
            known = map(" ".join, commands)
            near = closest(" ".join(path), known)
            raise CallError(f"unknown command {printable(words[:100])}{near}")
        return command

    def _commands(self) -> str:
        """Return the list of commands as JSON."""
        rows = []
        for command in self._offer.commands():
            path = "/".join(map(quote, command.words))
            row = {
                "tool": tool_name(command.words, self._program),
                "words": command.words,
                "name": command.name,
                "description": command.description,
                "effects": command.effects(),
                "help": f"{self._scheme}://help/{path}",
            }
            rows.append(row)

        text = json.dumps({"commands": rows}, indent=1, ensure_ascii=False)
        return escaped(text)

    def _help(self, command: Tool) -> str:
        """Return the page that `PROGRAM help WORDS` prints; the command itself does not run."""
        program = Program.current()
        environ = {**caller_environment(), "NO_COLOR": "1"}
        try:
            page = program.run(
                ("help", *command.words),
                environ=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_HELP_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise CallError("the help page took too long") from None

        text = page.stdout.decode("utf-8", "replace")
        [shown] = without_secrets([text], command.definition, environ)
        return escaped(shown)

    def _values(self, others: Mapping[str, str], value: str) -> list[str]:
        """Return what Tab offers for an argument; `others` names it and its command."""
        tool = self._command(others.get("words", ""))
        # Tab completes the last word of a line, so the words before it are needed, too.
        line = tool.line_before(others.get("argument", ""), others)
        if line is None:
            return []
        program = Program.current()
        if not runs(program, tool.command, line):
            return []
        values = []
        for word, _ in program.candidates(line, value):
            # Tab also offers the commands below this one.
            if runs(program, tool.command, [*line, word]):
                values.append(word)
        return without_secrets(values, tool.definition, caller_environment())


def _with_prefix(names: Iterable[str], prefix: str) -> list[str]:
    return [name for name in names if name.startswith(prefix)]


def limited(values: list[str]) -> tuple[list[str], int]:
    """Return as many values as one answer may have, and how many there are."""
    return values[:_MOST_VALUES], len(values)


def scheme_of(program: str) -> str:
    """Return the scheme of the resources' addresses: the program's name in legal characters."""
    name = re.sub("[^a-z0-9]", "-", program.lower())
    if name[:1].isalpha():
        return name
    return f"cli-{name}"
