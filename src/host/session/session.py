"""The session for `self`, listings and help pages: the installation, its lock and stdout."""

from __future__ import annotations

import os
import sys

from host.errors import OperationError
from host.installation import Layout, OpenInstallation, open_installation
from host.messages import Messages
from host.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from functools import cached_property
    from typing import Literal

    from host.catalog.catalog import Catalog, Match
    from host.catalog.contents import Contents
    from host.catalog.definition import Definition
    from host.launch.plan import Run
    from host.listing import Terminal
    from host.lock.lock import Lock
    from host.variables.read_sources import SourceReader
else:

    class cached_property:  # noqa: N801 - importing functools takes 3 ms
        """An attribute that is computed on first access and cached."""

        def __init__(self, method: object) -> None:
            self.method = method

        def __get__(self, owner: object, kind: type) -> object:
            value = owner.__dict__[self.method.__name__] = self.method(owner)
            return value


_WIDTH = 80  # columns if the width is unknown
_PART = 1 << 20  # characters that are written at once


class Session:
    """The caller's environment and the installation, whose parts are read on first access.

    `self` commands get the session as their first argument. `installation` and `lock` raise
    HostError if the installation is missing or invalid. With `assume_yes`, no question is asked;
    without `may_ask`, every question has the result that it has without a terminal.
    `shell_file` is the file for lines that the calling shell evaluates, or "".
    If the installation and the lock have already been read, pass both as `start`. Without
    `writes_index`, recursive listings do not write their cache.
    """

    def __init__(  # noqa: PLR0913 - one for each fact of the command line
        self,
        layout: Layout,
        environ: Mapping[str, str],
        messages: Messages,
        *,
        safe: bool,
        assume_yes: bool = False,
        may_ask: bool = True,
        shell_file: str = "",
        start: tuple[OpenInstallation, Lock] | None = None,
        writes_index: bool = True,
    ) -> None:
        self.layout = layout
        self.environ = environ
        self.messages = messages
        self.safe = safe
        self.assume_yes = assume_yes
        self.may_ask = may_ask
        self.shell_file = shell_file
        self._writes_index = writes_index and not safe  # safe mode writes nothing
        if start is not None:
            self.__dict__["installation"], self.__dict__["current_lock"] = start

    @property
    def can_ask(self) -> bool:
        """Whether a user can answer a question."""
        from host.asking.terminal import can_ask

        return can_ask(may_ask=self.may_ask)

    def ask_to_continue(
        self, question: str, yes: bool, otherwise: str, *, required: bool = False
    ) -> None:
        """Ask on a terminal; if nobody can be asked, or with --yes, continue without asking.

        With `required`, an answer or --yes is needed. Raises OperationError with the text
        `otherwise` if the user does not agree.
        """
        if yes:
            return
        if self.can_ask:
            from host.asking.terminal import is_agreed

            if not is_agreed(question):
                raise OperationError(otherwise)
        elif required:
            what = f"{otherwise}, because {self.why_not_asked}"
            raise OperationError(what, "to skip the question, add --yes")

    @property
    def why_not_asked(self) -> str:
        """Why `can_ask` is false."""
        from host.asking.terminal import FORBIDDEN

        if self.may_ask:
            return "there is no terminal to ask on"
        return FORBIDDEN

    def show(self, text: str) -> None:
        """Write `text` to stdout unchanged, except characters that stdout cannot encode.

        A closed pipe ends the process with SIGPIPE; a full disk raises OperationError.
        """
        if self.encoding != "utf-8":
            text = text.replace("…", "...").replace("←", "<-")

        # `sys.stdout` would write what it buffers at the exit, where nobody catches an error.
        try:
            # In parts, because a listing may have megabytes, which would be copied as a whole.
            for start in range(0, len(text), _PART):
                part = text[start : start + _PART]
                content = part.encode(self.encoding, "backslashreplace")
                while content:
                    written = os.write(1, content)
                    content = content[written:]
        except OSError as failure:
            what = f"cannot write to stdout: {failure.strerror}"
            raise OperationError(what) from None

    def show_json(self, value: object) -> None:
        """Write `value` to stdout as JSON."""
        import json

        self.show(json.dumps(value, indent=2) + "\n")

    def show_lines(self, *lines: str) -> None:
        """Write lines to stdout with unprintable characters escaped."""
        printable_lines = map(printable, lines)
        self.show("\n".join([*printable_lines, ""]))

    def show_facts(self, facts: Iterable[tuple[str, object]]) -> None:
        """Show names and values in two columns; a fact without a value is left out."""
        rows = []
        for name, value in facts:
            if value not in (None, ""):
                label = name.replace("_", " ")
                rows.append((label, printable(str(value))))

        width = max(len(name) for name, _ in rows) + 1
        lines = []
        for name, text in rows:
            # A style has characters without width, so it comes after the padding was counted.
            padding = " " * (width - len(name))
            styled = self.terminal.styled(name, "name")
            lines.append(f"{styled}:{padding}{text}\n")
        self.show("".join(lines))

    @property
    def encoding(self) -> str:
        """The encoding of stdout: ASCII if the caller's locale is C, otherwise Python's choice."""
        # POSIX: the first of these variables that is not empty decides.
        locale = ""
        for name in ("LC_ALL", "LC_CTYPE", "LANG"):
            locale = self.environ.get(name, "")
            if locale:
                break

        if locale in ("C", "POSIX"):
            return "ascii"
        return getattr(sys.stdout, "encoding", "utf-8")

    @cached_property
    def terminal(self) -> Terminal:
        """The properties of stdout, from its type, COLUMNS and the colour settings."""
        from host.listing import Terminal

        # What a program or a file gets does not depend on the width of a window.
        is_terminal = os.isatty(1)
        columns = _WIDTH
        if is_terminal:
            columns = self._columns()

        colour = self.messages.colours(1)
        return Terminal(columns, colour, self.encoding, is_interactive=is_terminal)

    def _columns(self) -> int:
        """The width of the terminal: COLUMNS, or what the terminal says, or 80."""
        columns = 0
        text = self.environ.get("COLUMNS", "")
        if text.isdecimal():
            columns = int(text)
        if columns == 0:
            columns = os.get_terminal_size(1).columns
        return columns or _WIDTH

    @property
    def program(self) -> str:
        return self.layout.program

    @cached_property
    def installation(self) -> OpenInstallation:
        return open_installation(self.layout, self.environ)

    @property
    def is_missing(self) -> bool:
        """Whether the installation has no cli.json, not even an invalid one."""
        return not os.path.lexists(self.layout.config_file)

    @property
    def version(self) -> str:
        """The output of `--version`: the host's own version if there is no installation.

        Raises InstallationError if the installation is invalid.
        """
        if self.is_missing:
            return self.own_version
        config = self.installation.config
        return f"{printable(config.name)} {printable(config.version)}"

    @property
    def own_version(self) -> str:
        """The name and version of the host itself."""
        self.make_packages_importable()
        import importlib_metadata

        from host.hook_marker import OWN_DISTRIBUTION

        return f"{OWN_DISTRIBUTION} {importlib_metadata.version(OWN_DISTRIBUTION)}"

    def make_packages_importable(self) -> None:
        """Make installed packages importable; in safe mode, only those that this program needs."""
        from host.processes.importing import complete_import_path

        complete_import_path("pluggy" if self.safe else "")

    @cached_property
    def lock(self) -> Lock:
        """The current lock; if there is none, all plugins are queried for a new one."""
        if self.current_lock is None:
            return self.refresh_lock()

        self.messages.warn(*self.current_lock.warnings(self.program))
        return self.current_lock

    @cached_property
    def lock_for_inspection(self) -> Lock:
        """A lock for commands that show or check plugins: the current lock, hooks included.

        If there is none, a lock is made without running the code of directory plugins.
        """
        if self.current_lock is not None:
            return self.current_lock
        if self.safe:
            return self.query_plugins("none")
        return self.query_plugins("packages")

    def query_plugins(self, code: Literal["packages", "none"]) -> Lock:
        """Make a lock with the hooks of packages, or with "none", only of built-in plugins."""
        self.make_packages_importable()
        from host.lock.discovery import query_plugins

        return query_plugins(self.installation, code)

    @cached_property
    def current_lock(self) -> Lock | None:
        """The lock of `start` or `refresh_lock`, or that on disk; None if none is current.

        In safe mode, the lock on disk is not used: it has plugins that safe mode leaves out.
        """
        from host.lock.lock import read_lock

        if self.safe:
            return None
        return read_lock(self.installation.locks, self.installation.key)

    def refresh_lock(self) -> Lock:
        """Query all plugins again, and write and return the new lock."""
        self.make_packages_importable()
        from host.lock.discovery import refresh

        lock = refresh(self.installation, self.messages, self.safe)
        self.__dict__["current_lock"] = lock
        self.__dict__["lock"] = lock
        return lock

    @cached_property
    def run_environ(self) -> Mapping[str, str]:
        """The environment that a run starts from: see `OpenInstallation.run_environ`."""
        # Not from `installation`, so that this works even without one.
        from host.variables.nested import without_outer_run

        return without_outer_run(self.environ, self.layout.root)

    def run_with_variables(
        self,
        words: tuple[str, ...],
        definition: Definition,
        environ: Mapping[str, str],
        reading: type[SourceReader] | None = None,
        *,
        secrets: bool = False,
        local_environ: Mapping[str, str] | None = None,
    ) -> Run:
        """Return a run of a command, planned as far as its variables; no question is asked.

        The run starts from the environment `environ`; of a run on another machine, `local_environ`
        is the part that this machine may use. Without `secrets`, the value of a secret is its
        unresolved reference.
        Raises SourceError, and NotConfirmedError for a command of an untrusted project.
        """
        from host.launch.plan import Questions, Run

        # Only a provider of secrets asks: for its passphrase.
        questions = Questions()
        questions.may_ask = secrets and self.can_ask

        run = Run(
            words=words,
            definition=definition,
            installation=self.installation,
            catalog=self.catalog,
            report=self.messages.warn,
            environ=environ,
            program=self.program,
            questions=questions,
            local_environ=local_environ,
            resolves=secrets,
        )
        run.check_trust()
        run.read_variables(reading)
        run.read_secrets()
        return run

    @cached_property
    def catalog(self) -> Catalog:
        from host.catalog.catalog import Catalog

        return Catalog(self.lock, around=self.installation.around)

    def contents(self, words: tuple[str, ...], *, deep: bool = False) -> Contents:
        """Return the contents of the category `words`; `deep` adds those of its subcategories."""
        from host.catalog.contents import contents

        if not deep:
            return contents(self.catalog, words)

        from host.catalog.catalog import Catalog
        from host.session.definition_index import DefinitionIndex

        # The index keeps what the files say, so that thousands of them are not read again.
        index = DefinitionIndex(self.installation)
        catalog = Catalog(self.lock, index.read_definition, self.installation.around)
        inside = contents(catalog, words, deep=True)
        if self._writes_index:
            index.save()
        return inside

    def listed(
        self, words: tuple[str, ...], *, deep: bool = False, everything: bool = False
    ) -> Contents:
        """Return the contents of a category for a listing; warn about invalid definitions."""
        inside = self.contents(words, deep=deep)
        self.messages.warn(*inside.problems)
        if everything:
            return inside

        listed = []
        for command in inside.commands:
            if command.definition.is_listed:
                listed.append(command)
        return inside.replaced(commands=tuple(listed))

    def find(self, words: tuple[str, ...]) -> Match:
        """Return the command or category that the leading `words` name. Raises DefinitionError."""
        return self.catalog.find(words, whole=True)
