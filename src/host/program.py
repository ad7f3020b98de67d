"""`Program`: the interface to an installation for commands in Python."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from host.arguments.parser import CommandLine, MissingArgumentsError, parse
from host.asking.prompt import ask_missing
from host.asking.terminal import can_ask
from host.caller import FRAMEWORK_NAMES, RUN, allows_questions, is_on
from host.catalog.contents import command_of
from host.click.click_child import ClickChild, child_of
from host.errors import HostError, MissingError, UsageError
from host.installation import Layout
from host.launch.plan import find_named
from host.launch.python_command import (
    ASSUME_YES,
    INNER_RUN,
    NO_INPUT,
    is_told,
    recorded_by_caller,
)
from host.listing import Category, Command
from host.messages import Messages
from host.pages.explain import plan_of
from host.pages.variable_table import variables_of
from host.records import ClickCommand, Plan, Skill
from host.session.lookup import find_command, find_whole
from host.session.session import Session
from host.skills import find_skills
from host.variables.layers import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.launch.record_for_caller import RecordedRun

_ASSISTANTS = ("agent", "mcp")  # origins that a rule must know, whatever they use


class Program:
    """An installation: its paths, its commands, and the variables that each command gets.

    All methods can raise HostError. Paths are absolute::

        program = Program.current()
        for command in program.commands(("deploy",)):
            print(" ".join(command.words), command.definition.description)
        program.run(("deploy", "status"), ["--short"])

    name           the name of the executable as the user typed it
    root           the directory of the installation
    version        the version in cli.json
    commands_dir   the directory of the installation's own commands
    plugins_dir    the directory of directory plugins and registry.json
    core_dir       the directory of the launcher and cli.json
    lib_dir        the directory of the shell library
    config_dir     the directory of settings.conf and of the plugins' configuration files
    words          the words of the command that this process runs
    messages       writes escaped lines to stderr: `error(text)`, `warn(text)`, `debug(text)`
    """

    def __init__(self, session: Session, words: Sequence[str] = ()) -> None:
        installation = session.installation
        layout = session.layout
        self._session = session
        self.words: tuple[str, ...] = tuple(words)

        self.name: str = layout.program
        self.root: str = layout.root
        self.core_dir: str = layout.core_dir
        self.lib_dir: str = layout.lib_dir
        self.config_dir: str = layout.config_dir

        self.version: str = installation.config.version
        self.commands_dir: str = installation.commands_dir
        self.plugins_dir: str = installation.plugins_dir

        self.messages: Messages = session.messages

    @classmethod
    def current(cls, environ: Mapping[str, str] | None = None) -> Program:
        """Return the installation whose command this process runs.

        `environ`, by default the environment of this process, identifies it. Raises HostError if
        this process is not a command of an installation.
        """
        if environ is None:
            environ = os.environ
        environ = dict(environ)

        root = environ.get("CLI_DIR", "")
        name = environ.get("COMMAND_NAME", "")
        if not root or not name:
            raise HostError("this process is not a command of an installation")

        category = environ.get("COMMAND_CATEGORY", "")
        words = [word for word in category.split("/") if word]
        words.append(name)

        config_file = environ.get("GLOBAL_CONFIG_FILE")
        if not config_file:
            config_file = os.path.join(root, "core", "cli.json")

        # `python_entrypoint` sets argv[0] to the name of the program and the words of the command.
        called = sys.argv[0]
        command = " ".join(words)
        behind = f" {command}"
        program = "cli"
        if called.endswith(behind):
            program = called.removesuffix(behind)

        layout = Layout(program, root, config_file)
        messages = Messages(program + behind, environ)
        return cls(Session(layout, environ, messages, safe=False), words)

    @classmethod
    def at(
        cls,
        root: str | os.PathLike[str],
        environ: Mapping[str, str] | None = None,
        *,
        safe: bool = False,
    ) -> Program:
        """Return the installation in the directory `root`, for a test or a script.

        `environ` is the caller's environment, by default that of this process. Its variables that
        describe a run or an installation are ignored. With `safe`, no code of plugins is imported
        and nothing is written below `root`, so this works for an installation of somebody else;
        commands that plugins declare in Python are missing. Raises InstallationError if `root` has
        no installation. For example, in a test::

            def test_what_it_adds(tmp_path):
                cli = [sys.executable, "-m", "host"]
                subprocess.run([*cli, "self", "init", tmp_path / "acme"], check=True)
                program = Program.at(tmp_path / "acme")
                assert program.find(("greet", "hello")).plugin == "greet"
                assert program.run(("greet", "hello")).returncode == 0
        """
        if environ is None:
            environ = os.environ

        # A test may run inside a command, whose variables describe another installation.
        outside = dict(environ)
        for name in (*FRAMEWORK_NAMES, RUN):
            outside.pop(name, None)

        root = os.path.realpath(root)
        config_file = os.path.join(root, "core", "cli.json")
        program = _launcher(os.path.dirname(config_file))

        layout = Layout(program, root, config_file)
        messages = Messages(program, outside)
        return cls(Session(layout, outside, messages, safe=safe))

    @property
    def assume_yes(self) -> bool:
        """Whether the caller of this command agreed in advance, with `--yes` or CLI_YES.

        A command that asks whether to do something takes this for a yes::

            if not program.assume_yes and not (program.may_ask and agrees("Delete it?")):
                raise NotConfirmedError("nothing was deleted", "to confirm: --yes")
        """
        if is_told(ASSUME_YES):
            return True
        return is_on(self._session.run_environ.get("CLI_YES"))

    @property
    def may_ask(self) -> bool:
        """Whether this command may ask the user: there is a terminal, and nothing forbids it.

        `--no-input`, CLI_NO_INPUT and CI forbid all questions.
        """
        environ = self._session.environ
        is_allowed = allows_questions(environ, no_input=is_told(NO_INPUT))
        return can_ask(may_ask=is_allowed)

    @property
    def executable(self) -> str:
        """The path of the launcher. Raises MissingError if the launcher is missing."""
        path = os.path.join(self.core_dir, self.name)
        if os.access(path, os.X_OK):
            return path

        again = f"{sys.executable} -m host self init {self.root} --name {self.name}"
        raise MissingError(
            f"{path}: the launcher is missing",
            f"to restore it: {again}",
        )

    def commands(
        self, words: Sequence[str] = (), *, everything: bool = False
    ) -> tuple[Command, ...]:
        """Return all commands below the category `words`, sorted, as listings show them.

        `everything` adds hidden commands and those for other systems, but never those of `self`.
        A command with an invalid definition is left out with a warning. Raises UsageError if
        `words` name no category.
        """
        category = self._category(words)
        contents = self._session.listed(category, deep=True, everything=everything)
        return contents.commands

    def categories(self, words: Sequence[str] = ()) -> tuple[Category, ...]:
        """Return all categories below the category `words`, sorted.

        A `runnable` category is also a command; `find` returns its definition. Raises UsageError
        if `words` name no category.
        """
        category = self._category(words)
        contents = self._session.contents(category, deep=True)
        return contents.categories

    def skills(self) -> list[Skill]:
        """Return the skills of the enabled plugins, for assistants to read.

        They are in the folder with plugin.json, or in the `root` of a package's `CommandTree`. If
        two plugins have a skill of one name, the first plugin wins, as for commands. A file that
        leads out of this folder, or has more than 64 KiB, is left out with a warning::

            for skill in program.skills():
                print(f"{skill.name} of the plugin {skill.plugin}: {skill.description}")
        """
        return find_skills(self._session.lock.trees, self.messages)

    def _category(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the words of a category. Raises UsageError if they name none."""
        match = find_whole(self._session, tuple(words))
        if match.kind == "command":
            raise UsageError(f"{' '.join(words)} is a command, not a category")
        return tuple(words)

    def find(self, words: Sequence[str]) -> Command:
        """Return the command that the beginning of `words` names; the longest match wins.

        The remaining words are its arguments. A runnable category is also a command. Raises
        UsageError with suggestions if `words` name no command.
        """
        match = self._session.find(tuple(words))
        if match.kind != "command":
            # All words may still name a runnable category; otherwise this raises the error.
            match, _ = find_command(self._session, tuple(words))
        return command_of(match)

    def choose(self, words: Sequence[str]) -> tuple[Command, list[str]]:
        """Return the command that a run of `words` starts, and the arguments that it gets.

        Unlike `find`, this follows the `default` of a category. Raises UsageError with suggestions
        if `words` name no command, and DefinitionError.
        """
        match, arguments = find_named(words, self._session.catalog)
        if match.kind == "command":
            return command_of(match), list(arguments)

        command = self.find(words)
        rest = words[len(command.words) :]
        return command, list(rest)

    def candidates(
        self, words: Sequence[str], current: str = ""
    ) -> list[tuple[str, str]]:
        """Return the candidates that Tab offers for the word after `words`, with descriptions.

        `current` is the beginning of that word. As with Tab, nothing but the program in the key
        `complete` or `choices` of the argument runs. File names are not among the candidates::

            [word for word, description in program.candidates(("deploy", "app"), "pro")]
        """
        from host.tab.candidates import Completer

        completer = Completer(self._session.installation, self._session.lock)
        offer = completer.words(list(words), current)

        fitting = []
        for word, description in offer.candidates:
            if word.startswith(current):
                fitting.append((word, description))
        return fitting

    def arguments(self, command: Command, args: Sequence[str]) -> dict[str, str]:
        """Return the `ARG_…` variables of the command's declared arguments, parsed from `args`.

        The command is not run. Raises the same UsageError as a run if the arguments are invalid.
        """
        return self._line(command, args).variables()

    def ask_arguments(
        self, command: Command, args: Sequence[str]
    ) -> tuple[list[str], dict[str, str]]:
        """Return `args` and their variables (see `arguments`); ask for what is missing.

        As before a run, the user answers on the terminal, and the answers are appended to `args`;
        that of a secret argument is only in the variables. Raises UsageError if the arguments are
        invalid, or if nobody can be asked.
        """
        try:
            return list(args), self.arguments(command, args)
        except MissingArgumentsError as missing:
            if is_told(INNER_RUN) or not self.may_ask:
                raise

            # A nested run asks nothing, but this command's own run is not a nested one.
            caller = dict(self._session.run_environ)
            caller.pop(RUN, None)
            definition = self._running(command).definition
            return ask_missing(missing, definition, args, caller, may_ask=True)

    def effects(self, command: Command, args: Sequence[str]) -> str:
        """Return the effects of a run with these arguments: "read", "change" or "destroy".

        This is the strongest of the effects of the command and of the given options. Raises
        UsageError if the arguments are invalid.
        """
        line = self._line(command, args)
        return line.effects(self._running(command).definition.effects)

    def masked_arguments(self, command: Command, args: Sequence[str]) -> list[str]:
        """Return `args` for display, with `********` in place of secret values.

        If the command has `starts_commands`, so have the commands that `args` name.
        """
        from host.launch.run_masking import masked_as_declared

        definition = self._running(command).definition
        return [*masked_as_declared(definition, args, self._session.catalog)]

    def click_commands(self, command: Command) -> list[ClickCommand]:
        """Return what click says of a click command: the command itself and its subcommands.

        The plugin's code is imported in a child process and not invoked, within 3 seconds. A
        command that is no click command has none. Raises PluginError if click does not answer::

            for part in program.click_commands(program.find(("machines",))):
                print(part.usage, [parameter.names for parameter in part.parameters])
        """
        if command.definition.click is None:
            return []
        return self._click_child(command).described()

    def click_path(self, command: Command, args: Sequence[str]) -> tuple[str, ...]:
        """Return the words of the subcommand of a click command that `args` would run.

        click parses `args` in a child process; nothing is invoked. Raises PluginError if click does
        not answer within 3 seconds::

            program.click_path(program.find(("machines",)), ["-v", "restart"]) == ("restart",)
        """
        return self._click_child(command).path_of(args)

    def _click_child(self, command: Command) -> ClickChild:
        match = self._session.find(command.words)
        return child_of(self._session.catalog, match, self._session.installation)

    def permit(
        self,
        words: Sequence[str],
        args: Sequence[str] = (),
        *,
        origin: str,
        hosts: Sequence[str] = (),
    ) -> None:
        """Ask the hooks `before_run` about a run that the caller itself starts on other machines.

        A run that `Program.run` starts asks them itself. `origin` is as in `record`, and `hosts`
        has the names of the machines. If a coding agent or an assistant has started this command,
        the functions get that as the origin. Raises NotConfirmedError if a plugin refuses the run,
        or asks a question, which nobody can answer for other machines; also SourceError and
        UsageError::

            program.permit(("deploy", "app"), args, origin="fleet", hosts=["web1", "web2"])
        """
        command = self._running(self.find(words))
        calls = self._session.lock.before_runs_of(command.words)
        if not calls:
            return
        # Few installations have such a plugin.
        from host.launch.before_run import check_policies, planned_run, refuse_elsewhere
        from host.launch.record_this_run import caller_of
        from host.launch.run_masking import masked_arguments, secret_values

        run = self._session.run_with_variables(
            command.words, command.definition, self._session.run_environ
        )
        shown = masked_arguments(run, args, secret_values(run))
        environ = {**self._session.environ, **recorded_by_caller()}
        _, started_by, client = caller_of(environ)
        if started_by in _ASSISTANTS:
            origin = started_by
        planned = planned_run(run).replaced(
            arguments=tuple(shown),
            effects=self.effects(command, args),
            origin=origin,
            client=client,
            hosts=tuple(hosts),
        )

        def refuse(question: str) -> None:
            refuse_elsewhere(run, shown, question)

        check_policies(calls, planned, refuse)

    def record(
        self,
        words: Sequence[str],
        args: Sequence[str] = (),
        *,
        origin: str,
        client: Mapping[str, str] | None = None,
        secrets: Collection[str] = (),
        starts: bool = True,
    ) -> RecordedRun:
        """Write the start of a run to the history, for a caller that runs the command itself.

        A server for assistants and a run on many hosts record their runs in this way. `origin` is
        what `self history --origin` selects, such as "mcp". `client` has facts about who asked for
        the run. Secret arguments are masked, and so are all values of the command's secret
        variables and of `secrets`; add those that only the caller knows. To learn the values, the
        call reads the command's sources, as `environment` does. With `starts=False`, it reads
        nothing and masks all arguments; then pass all secret values to `RecordedRun.start`. If
        cli.json has `"record": false`, nothing is written. A history that cannot be written is a
        warning. If a command in Python has `"starts_commands": true` and `"record": false`, its own
        run is not recorded beside those. Raises UsageError if `words` name no command::

            recorded = program.record(words, args, origin="mcp", client={"name": "Editor"})
            done = program.run(words, args, environ=recorded.environment())
            recorded.finish(done.returncode)
        """
        # Few commands record runs of others.
        from host.launch.record_for_caller import RecordedRun

        command = self._running(self.find(words))

        # None: the recorded run starts later, when its caller has passed the secrets.
        known: Collection[str] | None = None
        if starts:
            known = secrets
        if client is None:
            client = {}
        return RecordedRun(self._session, command, args, origin, client, known)

    def _running(self, command: Command) -> Command:
        """Return the command that a run of `command` becomes: the new one, if it has moved."""
        if not command.definition.moved_to:
            return command
        named = self._session.find(command.words)
        return command_of(self._session.catalog.follow(named))

    def _line(self, command: Command, args: Sequence[str]) -> CommandLine:
        command = self._running(command)
        declared = command.definition.args
        typed: Sequence[str] | None = args
        if not declared:
            typed = None  # a command without declared arguments takes any words
        caller = self._session.run_environ
        return parse(declared, typed, self.name, command.words, caller)

    def environment(
        self,
        words: Sequence[str],
        caller: Mapping[str, str] | None = None,
        facts: Mapping[str, str] | None = None,
        *,
        secrets: bool = False,
    ) -> dict[str, Variable]:
        """Return the variables that a run of the command would get from its sources, by name.

        `caller` is the environment that the run inherits, by default that of this command's caller.
        For a run on another machine or by another user, `facts` has what the command inherits
        there, such as HOME, USER, HOSTNAME and PWD. It is for values only: what is started on this
        machine (bash for settings.conf, providers), and the paths of `env_files`, get `caller`.
        The result includes the variables that describe the run (rank 0), and those in
        `required_envs` even if only the caller sets them. It leaves out all other variables that
        only the caller sets. Pass the result to `masked` before you show it.
        The value of a secret (rank 4.5) is its unresolved reference. With `secrets`, providers
        resolve all references, including those in `env_files`.
        Raises SourceError and UsageError. Each call reads all sources again, because the values
        from settings.conf and providers can depend on the command. The call starts bash for
        settings.conf (5 ms, plus the time that the file takes) and a child process for each
        provider (50 ms). For example, to find required variables that are missing::

            command = program.find(("deploy", "status"))
            variables = program.environment(command.words)
            missing = []
            for name in command.definition.required_envs:
                if name not in variables or not variables[name].value:
                    missing.append(name)
        """
        command = self._running(self.find(words))
        if caller is None:
            caller = self._session.run_environ
        local = None
        if facts is None:
            facts = {}
        else:
            local = caller

        run = self._session.run_with_variables(
            command.words,
            command.definition,
            {**caller, **facts},
            secrets=secrets,
            local_environ=local,
        )
        return variables_of(run, also=facts)

    def plan(self, words: Sequence[str], args: Sequence[str] = ()) -> Plan:
        """Return what a run of a command would execute; nothing is executed.

        Only bash for settings.conf and the providers of variables are started: no entrypoint, no
        required program, no provider of secrets, and no question. `errors` has what would prevent
        the run. Raises UsageError if `words` name no command, or the run would show a help page::

            plan = program.plan(("deploy", "status"), ["--short"])
            if plan.errors:
                raise plan.errors[0]
            print(shlex.join(plan.argv), plan.effects, plan.question)
        """
        return plan_of(self._session, [*words, *args])

    def run(
        self,
        words: Sequence[str],
        args: Sequence[str] = (),
        *,
        environ: Mapping[str, str] | None = None,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Run a command, wait for it, and return the completed process with its `returncode`.

        `words` may also name a command of `self`. `environ` replaces the caller's environment;
        `options` is passed to `subprocess.run`. A command with `confirm` asks its question, even if
        the calling command was run with `--yes`. Raises MissingError, OSError and
        subprocess.SubprocessError. If the user has already agreed, set CLI_YES::

            done = program.run(("deploy", "status"), ["--short"], capture_output=True, text=True)
            plugins = program.run(("self", "plugin", "list"), ["--format", "json"])
            agreed = program.run(("db", "drop"), environ={**os.environ, "CLI_YES": "1"})
        """
        if environ is None:
            environ = self._session.environ
        line = [self.executable, *words, *args]
        return subprocess.run(line, env=dict(environ), **options)  # noqa: PLW1510 - an option


def _launcher(core_dir: str) -> str:
    """Return the name of the first launcher in `core_dir`, or "cli" if there is none."""
    pattern = os.path.join(glob.escape(core_dir), "*")
    for path in sorted(glob.glob(pattern)):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.basename(path)
    return "cli"
