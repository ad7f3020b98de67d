"""Plan the run of a command: from its words to the process that replaces this one.

`find_run` finds the command. Then each step of the `Run` finds out one more thing, or raises a
HostError if the command must not run. `Run.steps` has them in their order, and `Run.process` is
the result. A run takes all of them. `--explain` takes all of them, too, but goes on after an error
(see `host.launch.plan_errors`). A help page, `self env` and `self doctor` take only the steps that
they need.

A step that needs an answer of the user turns to the plan's `Questions`, which ask or refuse.

A step imports what only it needs, because `find_run` also reads the words of listings and pages.
"""

from host.caller import RECORD, RECORDED, REPORT, RUN, SHELL_FILE
from host.catalog.definition import SYSTEM_OS, SYSTEMS
from host.errors import CannotStartError, DefinitionError, Problem
from host.files.paths import join, why_outside
from host.record_base import Record
from host.words import asks_help, takes_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from host.arguments.parser import MissingArgumentsError
    from host.catalog.catalog import Catalog, Match
    from host.catalog.definition import Definition
    from host.catalog.run_keys import Supervision
    from host.installation import OpenInstallation
    from host.plugin_functions import BeforeRun
    from host.processes.process import Exec
    from host.variables.layers import Layers
    from host.variables.path_folders import PathFolder
    from host.variables.read_sources import SourceReader

    Report = Callable[[Problem], None]  # takes a problem that does not prevent the run


class Questions:
    """What a plan does if only the user can decide. This class refuses; a subclass asks.

    may_ask      whether a program that resolves secrets may use the terminal
    assume_yes   whether the user agreed in advance to what `confirm` asks
    """

    may_ask = False
    assume_yes = False

    def trust(
        self, run: "Run", words: tuple[str, ...], definition: "Definition"
    ) -> None:
        """Return if the user trusts the project of a command; otherwise raise NotConfirmedError.

        `words` and `definition` are those of the command that `run` runs, or has moved from.
        """
        from host.projects.trust import check_trust

        check_trust(definition, run.program, words)

    def policies(self, run: "Run", calls: "Sequence[BeforeRun]") -> None:
        """Return if these functions of plugins let the run go; otherwise raise NotConfirmedError.

        Only a class whose runs take this step has the method.
        """
        raise NotImplementedError

    def arguments(
        self, _: "Run", missing: "MissingArgumentsError"
    ) -> "tuple[Sequence[str], Mapping[str, str]]":
        """Return the arguments of the run, completed, and their variables; or raise `missing`."""
        raise missing


class Run(Record):
    """One run of a command, as far as it is planned.

    words, definition  the command
    arguments          the words that the command gets
    environ            the environment that the run starts from: see `OpenInstallation.run_environ`
    installation, catalog, program
                       the installation, all commands, and the program's name for messages
    report             is called with each `Problem` that does not prevent the run
    questions          what to do if only the user can decide
    local_environ      for a run on another machine, the environment without what that machine sets
    resolves           whether references to secrets are resolved; otherwise, they stay references
    starts_programs    whether required programs are started for their version; otherwise, only
                       versions that are known already are checked
    file               the entrypoint, or "" for a Python reference
    folders            the packages of the plugin that has the command, if it is in Python
    arg_variables      the variables of the declared arguments: see `parse_arguments`
    plugin             the plugin that provides the command, or ""
    moved_from         the command that the user has named, if it has moved to this one
    shell_file         the file for lines that the calling shell evaluates, or "" if it takes none
    """

    words: tuple[str, ...]
    definition: "Definition"
    installation: "OpenInstallation"
    catalog: "Catalog"
    report: "Report"
    environ: "Mapping[str, str]"
    program: str
    arguments: "Sequence[str]" = ()
    questions: Questions = Questions()
    local_environ: "Mapping[str, str] | None" = None
    resolves: bool = False
    starts_programs: bool = False
    file: str = ""
    folders: "Sequence[str]" = ()
    arg_variables: "Mapping[str, str] | None" = None
    plugin: str = ""
    shell_file: str = ""
    moved_from: "Match | None" = None

    _line = None  # the parsed arguments
    _reader = None  # reads the sources into `layers`
    _has_secrets = False

    @property
    def has_variables(self) -> bool:
        """Whether the sources have been read. `process` needs them."""
        return self._reader is not None

    @property
    def layers(self) -> "Layers":
        """The variables of all sources; before `read_variables`, only those of the caller."""
        if self._reader is not None:
            return self._reader.layers
        from host.variables.layers import Layers

        return Layers(self.environ, {})

    @property
    def question(self) -> str:
        """What the user must confirm before the run, or ""."""
        return "" if asks_help(self.arguments) else self.definition.confirm

    @property
    def effects(self) -> str:
        """The effects of this run: those of the command, or stronger ones of a given option."""
        effects: str = self.definition.effects
        return effects if self._line is None else self._line.effects(effects)

    @property
    def supervision(self) -> "Supervision":
        """How the run is recorded and limited: for each key, what the nearest file says."""
        return self.installation.config.supervision_of(self.definition)

    @property
    def may_have_demands(self) -> bool:
        """Whether a file, a plugin or the caller's CLI_RECORD may ask for more than a plain run.

        This is a cheap check, which most runs fail. `host.launch.demands.demands_of` decides.
        """
        return bool(
            self.installation.config.supervision
            or self.definition.supervisions
            or self.catalog.lock.after_runs
            or RECORD in self.installation.environ
        )

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked, required, resolved or recorded before the command starts."""
        definition = self.definition
        demands = (
            definition.confirm,
            definition.shell,
            definition.required_envs,
            definition.requires,
            definition.secrets,
            definition.env_files,  # may be references
        )
        is_watched = self.may_have_demands
        has_policies = self.catalog.lock.before_runs_of(self.words)
        return not (any(demands) or is_watched or has_policies)

    @property
    def steps(self) -> "tuple[Callable[[], None], ...]":
        """The steps between `find_run` and `process`, in their order; each needs those before it.

        Arguments are checked before anything of the command is read, and required variables and
        programs before a provider of secrets is called. The variables are checked again when the
        secrets are known.
        """
        return (
            self.check_trust,
            self.check_shell,
            self.parse_arguments,
            self.read_variables,
            self.check_variables,
            self.check_policies,
            self.check_programs,
            self.read_secrets,
            self.check_variables,
        )

    def check_trust(self) -> None:
        """Raise NotConfirmedError if the command's project is not trusted."""
        if self.definition.project is None:
            return
        from host.projects.trust import is_trusted

        # The user has named the command that has moved, so that one is asked about first.
        commands = [(self.words, self.definition)]
        moved = self.moved_from
        if moved is not None and moved.definition is not None:
            commands.insert(0, (moved.words, moved.definition))
        for words, definition in commands:
            if not is_trusted(definition):
                self.questions.trust(self, words, definition)

    def check_shell(self) -> None:
        """Raise OperationError if the command changes the calling shell, and that cannot work."""
        if not self.definition.shell:
            return
        from host.launch.shell_file import check_shell

        check_shell(
            self.words, self.definition, self.environ, self.program, self.shell_file
        )

    def parse_arguments(self) -> None:
        """Set `arg_variables`. Raises UsageError if the arguments are not as declared."""
        declared = self.definition.args
        if not declared:
            return
        from host.arguments.parser import MissingArgumentsError, parse

        try:
            self._line = parse(
                declared, self.arguments, self.program, self.words, self.environ
            )
        except MissingArgumentsError as missing:
            self._line = missing.line  # the answers are added to it
            self.arguments, self.arg_variables = self.questions.arguments(self, missing)
        else:
            self.arg_variables = self._line.variables()

    def read_variables(self, reading: "type[SourceReader] | None" = None) -> None:
        """Read all sources but `secrets` into `layers`. Raises SourceError.

        `reading` decides what is read of a source: a help page, for example, does not start bash.
        """
        lock = self.catalog.lock
        if reading is None:
            from host.variables.read_sources import SourceReader

            reading = SourceReader

        local: Layers | None = None
        if self.local_environ is not None:
            local = self._layers_before_sources(self.local_environ)
        self._reader = reading(
            self.words,
            self.definition,
            self._layers_before_sources(self.environ),
            self.report,
            lock.schemes,
            resolves=self.resolves,
            may_ask=self.questions.may_ask,
            program=self.program,
            local=local,
        )
        self._reader.read_all(lock.sources)

    def _layers_before_sources(self, environ: "Mapping[str, str]") -> "Layers":
        """Return the layers to which the sources are added, for a run that inherits `environ`."""
        from host.variables.chain_entry import ChainEntry
        from host.variables.layers import Layers

        definition = self.definition
        fixed = self._fixed_variables()

        folders: Sequence[PathFolder] = ()
        if definition.path_folders and definition.reads_sources:
            from host.variables.path_folders import check_folders

            folders = check_folders(definition)

        secret_names: list[str] = []
        for argument in definition.args:
            if argument.secret:
                secret_names += filter(argument.owns, fixed)

        entry = ChainEntry(self.installation.layout, environ)
        inherited = self._inherited(environ)
        return Layers(inherited, fixed, entry, folders, secret_names)

    def _inherited(self, environ: "Mapping[str, str]") -> dict[str, str]:
        """Return the variables of `environ`, without those that belong to one run only."""
        arguments = self.definition.args
        inherited = {}
        for name, value in environ.items():
            if name in (RUN, REPORT, RECORDED, SHELL_FILE):
                continue
            # An argument that is not given must not have the value of an outer run.
            if not any(argument.owns(name) for argument in arguments):
                inherited[name] = value
        return inherited

    def _fixed_variables(self) -> dict[str, str]:
        """Return the variables that no source can change: of the run and of its arguments.

        If the arguments are not parsed yet, their variables are those of an empty command line.
        """
        definition = self.definition
        fixed = self.installation.run_variables(self.words)
        arguments = self.arg_variables
        if definition.args and arguments is None:
            from host.arguments.parser import parse

            arguments = parse(definition.args, None, environ=self.environ).variables()
        if arguments is not None:
            fixed.update(arguments)

        if definition.project is not None:
            fixed["PROJECT_DIR"] = definition.project.root
        if definition.shell and self.shell_file:
            fixed[SHELL_FILE] = self.shell_file
        return fixed

    def check_variables(self) -> None:
        """Raise SourceError if a required variable is missing.

        A variable is not checked as long as only an unresolved reference gives its value.
        """
        definition = self.definition
        if not definition.required_envs:
            return
        from host.variables.required import check_required

        layers = self.layers
        pending: Collection[str] = ()
        if layers.unasked:
            # An `.env` file that is still a reference may set any of them.
            pending = definition.required_envs
        elif not self._has_secrets:
            pending = definition.secrets
        check_required(
            definition.file,
            definition.required_envs,
            layers.get,
            layers.inherited,
            layers.missing,
            pending,
        )

    def check_policies(self) -> None:
        """Raise NotConfirmedError if a plugin refuses the run, or the user does not agree to it."""
        calls = self.catalog.lock.before_runs_of(self.words)
        if calls:
            self.questions.policies(self, calls)

    def check_programs(self) -> None:
        """Raise MissingError if required programs are missing or have the wrong version."""
        if not self.definition.requires:
            return
        from host.processes.required_programs import missing_programs, program_faults

        faults = program_faults(
            self.definition.requires,
            self.layers.environment(),
            self.installation.cache_path("versions"),
            starts_programs=self.starts_programs,
        )
        if faults:
            raise missing_programs(faults, self.words, self.program, self._is_command)

    def _is_command(self, words: tuple[str, ...]) -> bool:
        """Return whether `words` name a command, for an advice that runs it."""
        match = self.catalog.find(words)
        return match.kind == "command" and match.words == words

    def read_secrets(self) -> None:
        """Add `secrets` to `layers`: the values, or without `resolves`, the references."""
        if self.definition.secrets and self._reader is not None:
            self._reader.read_secrets()
            self._has_secrets = self.resolves

    def process(self) -> "Exec":
        """Return the process to execute, with its arguments and its whole environment."""
        environment = self.layers.environment()
        if self.file:
            from host.processes.programs import exec_of

            return exec_of(
                self.file,
                self.arguments,
                environment,
                self.program,
                with_library=self.definition.gets_library(self.plugin),
            )
        from host.launch.python_command import python_exec, switches_of

        called = " ".join([self.program, *self.words])
        argv = [called, self.definition.entrypoint, *self.arguments]
        switches = switches_of(
            assume_yes=self.questions.assume_yes,
            may_ask=self.questions.may_ask,
            is_inner=RUN in self.environ,
            recorded=self.environ.get(RECORDED, ""),
        )
        return python_exec(argv, environment, self.folders, switches)


def find_run(
    words: "Sequence[str]",
    installation: "OpenInstallation",
    catalog: "Catalog",
    report: "Report",
    questions: "Questions | None" = None,
    *,
    acts: bool,
    shell_file: str = "",
) -> "Run | None":
    """Return the run that `words` ask for, or None if they ask for none.

    They may ask for a listing or a help page, or name nothing at all.

    With `acts`, the steps of the plan resolve secrets and start required programs for their
    versions; without it, they only look. `shell_file` is the value of `--shell-file`. Raises
    CannotStartError if the command does not run on this system, and DefinitionError.
    """
    match, arguments = find_named(words, catalog)
    definition = match.definition
    if definition is None or not _names_run(match, definition, arguments):
        return None

    for problem in definition.warnings:
        report(problem)

    # After the questions for help: the help of a command for another system is shown.
    file = entrypoint_path(match.words, definition)
    is_click = definition.click is not None and definition.help != "page"
    if asks_help(arguments) and not is_click:
        from host.launch.script_help import may_get_help

        if not may_get_help(definition, file, arguments[0]):
            return None
    if match.moved_from is not None or definition.deprecated:
        from host.catalog.deprecation import report_deprecation

        report_deprecation(match, report)

    # A file starts without the packages of its plugin: it has an interpreter of its own.
    folders: Sequence[str] = ()
    if not file and match.node is not None:
        folders = catalog.lock.folders_of(match.node.tree)
    return Run(
        words=match.words,
        definition=definition,
        installation=installation,
        catalog=catalog,
        report=report,
        environ=installation.run_environ(),
        program=installation.layout.program,
        arguments=arguments,
        questions=questions or Questions(),
        resolves=acts,
        starts_programs=acts,
        file=file,
        plugin=match.plugin,
        folders=folders,
        shell_file=shell_file,
        moved_from=match.moved_from,
    )


def find_named(
    words: "Sequence[str]", catalog: "Catalog"
) -> "tuple[Match, Sequence[str]]":
    """Return what `words` name, with a category's default command in its place, and the arguments.

    The default runs if no word follows the category, or if an option follows that is not `--help`.
    A command that has moved is replaced by its target. Raises DefinitionError if the default or the
    target names no command.
    """
    match = catalog.find(words)
    arguments = words[len(match.words) :]
    if not arguments or (match.has_no_entrypoint and takes_option(arguments)):
        match = catalog.default(match)
    return catalog.follow(match), arguments


def _names_run(
    match: "Match", definition: "Definition", arguments: "Sequence[str]"
) -> bool:
    """Return whether the words can run an entrypoint; if not, a listing or a help page is shown."""
    if not definition.entrypoint:
        return False
    if match.kind == "category" and not takes_option(arguments):
        return False  # a category's own entrypoint runs only if an option follows
    # Help is shown on every system.
    return definition.compatible or not asks_help(arguments)


def entrypoint_path(words: "Sequence[str]", definition: "Definition") -> str:
    """Return the path of a command's entrypoint, or "" for a Python reference.

    Raises CannotStartError if the command does not run on this system, and DefinitionError if the
    entrypoint is outside the command's folder.
    """
    if not definition.compatible:
        # A misspelt system is never this one, so the error says which systems there are.
        from host.suggestions import unknown_names

        what = f"runs on {' and '.join(definition.os)} only; this is {SYSTEM_OS}"
        unknown = unknown_names(definition.file, "os", definition.os, SYSTEMS)
        remedy = "; ".join(map(str, unknown))
        raise CannotStartError(Problem(" ".join(words), what, remedy))

    if definition.in_python:
        return ""
    if definition.is_script:
        return definition.file
    outside = why_outside(definition.directory, definition.entrypoint)
    if outside:
        raise DefinitionError(Problem(definition.file, outside, key="entrypoint"))
    return join(definition.directory, definition.entrypoint)
