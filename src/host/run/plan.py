"""Plan the run of a command: from its words to the process that replaces this one.

`find_run` finds the command. Then each step of the `Run` finds out one more thing, or raises a
HostError if the command must not run. `Run.steps` has them in their order, and `Run.process` is
the result. A run takes all of them. `Run.look` takes all of them, too, but goes on after an error;
together with `resolves` and `starts_programs` off, it has no side effects. A help page, `self env`
and `self doctor` take only the steps that they need.

A step that needs an answer of the user turns to the plan's `Questions`, which ask or refuse.
"""

from host.errors import HostError, Problem
from host.run.caller import RECORD, RECORDED, REPORT, RUN, SHELL_FILE
from host.run.chain_entry import ChainEntry
from host.run.definition import check_runnable
from host.run.environment import SourceReader
from host.run.layers import Layers
from host.run.programs import exec_of
from host.run.record import Record
from host.run.words import asks_help, takes_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from host.run.argument_parser import MissingArgumentsError
    from host.run.catalog import Catalog, Match
    from host.run.definition import Definition
    from host.run.installation import OpenInstallation
    from host.run.path_folders import PathFolder
    from host.run.process import Exec
    from host.run.supervision import Supervision

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
        from host.run.trust import check_trust

        check_trust(definition, run.program, words)

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
    directory          the current directory of a run on another machine; "" for a run here
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
    directory: str = ""
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
    def layers(self) -> Layers:
        """The variables of all sources; before `read_variables`, only those of the caller."""
        return Layers(self.environ, {}) if self._reader is None else self._reader.layers

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
        from host.run.supervision import nearest

        installation = self.installation.config.supervision
        every = [
            *([installation] if installation else []),
            *self.definition.supervisions,
        ]
        return nearest(every)

    @property
    def is_supervised(self) -> bool:
        """Whether a file or a plugin asks for a run that is recorded, limited or waited for."""
        return bool(
            self.installation.config.supervision
            or self.definition.supervisions
            or self.catalog.lock.after_runs
            or RECORD in self.installation.environ
        )

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
            self.check_programs,
            self.read_secrets,
            self.check_variables,
        )

    @property
    def checks(self) -> "tuple[Callable[[], None], ...]":
        """The steps after whose errors `look` goes on: no other step needs what they find out.

        `check_trust` is not among them, because nothing of an untrusted project is read.
        """
        return (self.check_shell, self.check_variables, self.check_programs)

    def look(self) -> "list[HostError]":
        """Take the steps, and return the errors that prevent the run, the first one first.

        After an error in a step that others need, the steps behind it are not taken.
        """
        errors: list[HostError] = []
        for step in self.steps:
            try:
                step()
            except HostError as error:
                if str(error) not in map(str, errors):
                    errors.append(error)
                if step not in self.checks:
                    break
        return errors

    def check_trust(self) -> None:
        """Raise NotConfirmedError if the command's project is not trusted."""
        if self.definition.project is None:
            return
        from host.run.trust import is_trusted

        commands = [(self.words, self.definition)]
        if self.moved_from is not None and self.moved_from.definition is not None:
            commands.insert(0, (self.moved_from.words, self.moved_from.definition))
        for words, definition in commands:
            if not is_trusted(definition):
                self.questions.trust(self, words, definition)

    def check_shell(self) -> None:
        """Raise OperationError if the command changes the calling shell, and that cannot work."""
        if self.definition.shell:
            from host.run.shell_file import check_shell

            words, definition = self.words, self.definition
            check_shell(words, definition, self.environ, self.program, self.shell_file)

    def parse_arguments(self) -> None:
        """Set `arg_variables`. Raises UsageError if the arguments are not as declared."""
        declared = self.definition.args
        if not declared:
            return
        from host.run.argument_parser import MissingArgumentsError, parse

        try:
            self._line = parse(
                declared, self.arguments, self.program, self.words, self.environ
            )
            self.arg_variables = self._line.variables()
        except MissingArgumentsError as missing:
            self._line = missing.line  # the answers are added to it
            self.arguments, self.arg_variables = self.questions.arguments(self, missing)

    def read_variables(self, reading: "type[SourceReader] | None" = None) -> None:
        """Read all sources but `secrets` into `layers`. Raises SourceError.

        `reading` decides what is read of a source: a help page, for example, does not start bash.
        """
        lock = self.catalog.lock
        self._reader = (reading or SourceReader)(
            self.words,
            self.definition,
            self._layers_before_sources(),
            self.report,
            lock.schemes,
            resolves=self.resolves,
            may_ask=self.questions.may_ask,
            program=self.program,
            directory=self.directory,
        )
        self._reader.read_all(lock.sources)

    def _layers_before_sources(self) -> Layers:
        """Return the layers to which the sources are added.

        If the arguments are not parsed yet, their variables are those of an empty command line.
        """
        definition = self.definition
        inherited = {}
        for name, value in self.environ.items():
            is_of_argument = any(argument.owns(name) for argument in definition.args)
            if name not in (RUN, REPORT, RECORDED, SHELL_FILE) and not is_of_argument:
                inherited[name] = value

        given = self.arg_variables
        if definition.args and given is None:
            from host.run.argument_parser import parse

            given = parse(definition.args, None, environ=self.environ).variables()
        fixed = {**self.installation.run_variables(self.words), **(given or {})}
        if definition.project is not None:
            fixed["PROJECT_DIR"] = definition.project.root
        if definition.shell and self.shell_file:
            fixed[SHELL_FILE] = self.shell_file

        folders: Sequence[PathFolder] = ()
        if definition.path_folders and definition.reads_sources:
            from host.run.path_folders import check_folders

            folders = check_folders(definition)

        secret_names: list[str] = []
        for argument in definition.args:
            if argument.secret:
                secret_names += filter(argument.owns, fixed)
        entry = ChainEntry(self.installation.layout, self.environ)
        return Layers(inherited, fixed, entry, folders, secret_names)

    def check_variables(self) -> None:
        """Raise SourceError if a required variable is missing.

        A variable is not checked as long as only an unresolved reference gives its value.
        """
        definition = self.definition
        if not definition.required_envs:
            return
        from host.run.required_variables import check_required

        pending: Collection[str] = () if self._has_secrets else definition.secrets
        if self.layers.unasked:
            pending = (
                definition.required_envs
            )  # an unresolved `.env` file may set any of them
        layers = self.layers
        check_required(
            definition.file,
            definition.required_envs,
            layers.get,
            layers.inherited,
            layers.missing,
            pending,
        )

    def check_programs(self) -> None:
        """Raise MissingError if required programs are missing or have the wrong version."""
        if not self.definition.requires:
            return
        from host.run.requirements import missing_programs, program_faults

        faults = program_faults(
            self.definition.requires,
            self.layers.environment(),
            self.installation.cache_path("versions"),
            starts_programs=self.starts_programs,
        )
        if faults:
            raise missing_programs(faults, self.words, self.program, self._is_command)

    def _is_command(self, words: tuple[str, ...]) -> bool:
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
            return exec_of(self.file, self.arguments, environment, self.program)
        from host.run.python_command import python_exec

        called = " ".join([self.program, *self.words])
        # A click group gets the words of its subcommand before the arguments.
        reference = " ".join([self.definition.entrypoint, *self.definition.subcommand])
        argv = [called, reference, *self.arguments]
        return python_exec(argv, environment, self.folders, self._switches())

    def _switches(self) -> "list[str]":
        """Return what a command in Python learns from `Program` about the questions of this run."""
        from host.run.python_command import ASSUME_YES, INNER_RUN, NO_INPUT

        facts = {
            ASSUME_YES: self.questions.assume_yes,
            NO_INPUT: not self.questions.may_ask,
            INNER_RUN: RUN in self.environ,
        }
        return [name for name, applies in facts.items() if applies]


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
    """Return the run that `words` ask for, or None if they ask for a listing or a help page.

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
    file = check_runnable(match.words, definition)
    if asks_help(arguments) and not _script_gets_help(definition, file, arguments[0]):
        return None
    report_deprecation(match, report)
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


def report_deprecation(match: "Match", report: "Report") -> None:
    """Call `report` with a warning if the command is deprecated or runs in place of another one."""
    moved = match.moved_from
    if moved is not None and moved.definition is not None:
        what = f"this command is now: {' '.join(match.words)}"
        report(Problem(" ".join(moved.words), what, moved.definition.deprecated))
    if match.definition is not None and match.definition.deprecated:
        report(
            Problem(" ".join(match.words), "deprecated", match.definition.deprecated)
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
    return definition.compatible or not asks_help(
        arguments
    )  # help is shown on every system


def _script_gets_help(definition: "Definition", file: str, word: str) -> bool:
    """Return whether to pass `--help` or `-h` to the script."""
    from host.run.script_help import script_gets_help

    if not definition.help and definition.project is not None:
        from host.run.trust import is_trusted

        if not is_trusted(definition):
            return False  # an untrusted script is not searched for `--help`
    return script_gets_help(definition, file, word)
