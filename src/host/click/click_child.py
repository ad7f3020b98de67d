"""Ask a click command what only it knows: Tab, help pages, its parameters, where words lead.

The plugin's code is imported in a child process, which may take 3 seconds. It is never invoked.
"""

from __future__ import annotations

import json
import posix
import sys

from host.errors import PluginError
from host.files.json_line import json_line
from host.processes.bounds import limit_from, open_null, report_of, spawn
from host.records import ClickCommand, ClickParameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.catalog.catalog import Catalog, Match
    from host.catalog.definition import Definition
    from host.click.click_facts import Item
    from host.installation import OpenInstallation
    from host.launch.plan import Run

CLICK_TIMEOUT = "CLI_CLICK_TIMEOUT"
_SECONDS = 3.0


class ClickChild:
    """Answers questions about the click command `words`, each in a child process of its own."""

    def __init__(
        self,
        words: Sequence[str],
        definition: Definition,
        folders: Sequence[str],
        installation: OpenInstallation,
    ) -> None:
        self._name = " ".join(words)
        self._reference = definition.entrypoint
        self._folders = folders
        self._environ = {
            **installation.run_environ(),
            **installation.run_variables(words),
        }
        self._called = " ".join([installation.layout.program, *words])
        self._seconds = limit_from(installation.environ, CLICK_TIMEOUT, _SECONDS)

    def completions(self, typed: Sequence[str], current: str) -> list[Item]:
        """Return click's completions: see `click_facts`. There are none if it fails or is slow."""
        try:
            items: list[Item] = self._ask("completions", list(typed), current)
        except PluginError:
            return []
        return items

    def prints_asked_help(self, arguments: Sequence[str]) -> bool:
        """Print what click prints for arguments that end in a help option; else return False.

        It is also False if click fails or is slow: then the run shows why.
        """
        try:
            return bool(self._ask("print_asked_help", list(arguments), prints=True))
        except PluginError:
            return False

    def prints_page(self, path: Sequence[str], environ: Mapping[str, str]) -> bool:
        """Print click's help page of a subcommand; return False if there is none.

        `environ` has variables for the width and colours. Raises PluginError.
        """
        self._environ |= environ
        return bool(self._ask("print_help_page", list(path), prints=True))

    def path_of(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """Return the words of the subcommand that the arguments would run. Raises PluginError."""
        return tuple(self._ask("path_of", list(arguments)))

    def described(self) -> list[ClickCommand]:
        """Return the command and all its subcommands. Raises PluginError."""
        commands = []
        for values in self._ask("described"):
            parameters = []
            for fields in values.pop("parameters"):
                lists = {
                    key: tuple(fields[key]) for key in ("names", "negations", "choices")
                }
                parameters.append(ClickParameter(**{**fields, **lists}))
            words = tuple(values.pop("words"))
            command = ClickCommand(words=words, parameters=tuple(parameters), **values)
            commands.append(command)
        return commands

    def _ask(self, question: str, *arguments: Any, prints: bool = False) -> Any:
        """Return what a function of `click_facts` returns for the command. Raises PluginError.

        If it `prints`, stdout is that of this process, so that width and colours are right.
        """
        request = [self._reference, self._called, question, *arguments]
        code = (
            f"from host.click.click_facts import answer; answer({[*self._folders]!r})"
        )
        argv = [sys.executable, "-I", "-c", code, json_line(request)]
        null = open_null()
        # What the plugin prints while Tab completes would stand in the user's line.
        errors = null if question == "completions" else 2
        stdout = None if prints else errors

        def start(report: int) -> int:
            standard = (null, stdout, errors)
            environ = self._environ
            return spawn(sys.executable, argv, environ, standard, True, report)

        try:
            report = report_of(start, self._seconds)
        except TimeoutError:
            what = f"{self._name}: click did not answer within {self._seconds:g} s"
            remedy = f"to wait longer, set {CLICK_TIMEOUT}"
            raise PluginError(what, remedy) from None
        finally:
            posix.close(null)

        if not report:
            what = f"{self._name}: the plugin ended the process instead of answering"
            raise PluginError(what)
        reason, result = json.loads(report)
        if reason:
            raise PluginError(f"{self._name}: {reason}")
        return result


def child_of_run(run: Run) -> ClickChild:
    """Return the child process of the click command that a run is planned for."""
    return ClickChild(run.words, run.definition, run.folders, run.installation)


def child_of(
    catalog: Catalog, command: Match, installation: OpenInstallation
) -> ClickChild:
    """Return the child process of a click command in the catalog."""
    node: Any = command.node
    folders = catalog.lock.folders_of(node.tree)
    return ClickChild(command.words, node.definition, folders, installation)
