"""Facts about a command for its documentation, from the records of the public API."""

from __future__ import annotations

from collections.abc import Iterable

from host import Argument, ClickCommand, Command, Definition, HostError, Program


def visible_commands(program: Program) -> list[Command]:
    """Return all commands except hidden ones, for every system, sorted by name.

    Commands of a project that contains the current directory are excluded.
    """
    commands = program.commands(everything=True)
    return [
        command
        for command in commands
        if command.origin != "project" and not command.definition.hidden
    ]


def usage(program: str, command: Command) -> str:
    """Return a command's usage line, such as `acme deploy <env> [--force]`."""
    definition = command.definition
    arguments = [argument.usage for argument in definition.shown_args]
    if not arguments:  # nothing is known
        arguments = [definition.words or "[args…]"]
    return " ".join([program, *command.words, *arguments])


def subcommands(program: str, command: Command) -> list[tuple[str, str]]:
    """Return the words and the short help of each subcommand of a command in click."""
    tree = command.definition.click
    if tree is None:
        return []
    lines = []
    for subcommand in tree.subcommands:
        if not subcommand.hidden:
            words = " ".join([program, *command.words, *subcommand.words])
            lines.append((words, subcommand.description))
    return lines


def parts(program: Program, command: Command) -> list[ClickCommand]:
    """Return what click says of a command in click and of its subcommands, without hidden ones.

    A command that click cannot describe has none, and there is a warning.
    """
    try:
        described = program.click_commands(command)
    except HostError as failure:
        program.messages.warn(str(failure))
        return []
    return [part for part in described if not part.hidden]


def rows(part: ClickCommand) -> list[tuple[str, str]]:
    """Return a row for each parameter of a part: its names and values, and its help from click."""
    shown = []
    for parameter in part.parameters:
        is_own = parameter.depth == len(part.words)
        if is_own and parameter.label and not parameter.hidden:
            shown.append((parameter.label, " ".join(parameter.about.split())))
    return shown


def label(argument: Argument) -> str:
    """Return an argument's notation, such as `-n, --count N`, `--[no-]cache` or `<files...>`."""
    if not argument.option:
        return argument.usage
    if argument.short:
        return f"{argument.short}, {argument.form}"
    return argument.form


def default(argument: Argument) -> tuple[str, ...]:
    """Return the default of an argument, or () if there is none or the argument is secret."""
    if argument.default is None or argument.secret:
        return ()
    return (argument.default,)


def explanation(argument: Argument) -> str:
    """Return an argument's description, with its constraints and its default."""
    constraints = "; ".join(_constraints(argument))
    description = argument.description.rstrip(".")
    if not constraints:
        return description
    if not description:
        return constraints
    return f"{description} ({constraints})"


def _constraints(argument: Argument) -> list[str]:
    fallback = "".join(default(argument))
    texts = {
        argument.type: argument.type not in ("", "string"),
        f"one of {', '.join(argument.choices)}": argument.choices,
        f"one of the lines that {argument.choices_from} prints": argument.choices_from,
        f"matches {argument.pattern}": argument.pattern,
        "required": argument.required and argument.option,
        "may be repeated": argument.repeats,
        "passed on unchecked, options included": argument.passthrough,
        f"not with {', '.join(argument.conflicts)}": argument.conflicts,
        f"the effects are then: {argument.effects}": argument.effects,
        f"if omitted: the variable {argument.env}": argument.env,
        f"default: {fallback}": default(argument),
        "not echoed": argument.secret,
    }

    return [text for text, holds in texts.items() if holds]


def variables(definition: Definition) -> dict[str, str]:
    """Return the names of a command's variables, each with a note; never a value."""
    notes = dict.fromkeys(definition.envs, "")
    notes |= dict.fromkeys(definition.secrets, "secret")
    notes |= dict.fromkeys(definition.required_envs, "must be set")
    return notes


def requirements(definition: Definition) -> list[str]:
    """Return the programs that a command needs, such as `jq>=1.6`."""
    return [str(requirement) for requirement in definition.requires]


def examples(program: str, command: Command) -> list[tuple[str, str]]:
    """Return the command line and the description of each example.

    If a line begins with the command's last word, the program and the full command replace
    that word.
    """
    rows = []
    for example in command.definition.examples:
        line = example["command"]
        first_word = line.partition(" ")[0]
        if first_word == command.words[-1]:
            category = command.words[:-1]
            line = " ".join([program, *category, line])
        rows.append((line, example["description"]))
    return rows


def notes(definition: Definition) -> list[str]:
    """Return sentences about a run: what to use instead, effects, systems and limits."""
    is_unchecked = definition.unchecked_args
    sudo_systems = _joined(definition.sudo_systems)
    texts = {
        f"Has moved. This command runs in its place: {definition.moved_to}": definition.moved_to,
        f"Deprecated: {definition.deprecated}": definition.deprecated,
        "The arguments are not checked before the script runs.": is_unchecked,
        "Changes nothing.": definition.effects == "read",
        "May destroy something.": definition.own_effects == "destroy",
        f"Question before each run: {definition.confirm}": definition.confirm,
        f"Needs administrator rights (sudo) on {sudo_systems}.": sudo_systems,
        f"Runs on {_joined(definition.os)}.": definition.os,
        f"Also called {_joined(definition.aliases)}.": definition.aliases,
        "Starts other commands.": definition.starts_commands,
        "Changes the calling shell, for example its current directory.": definition.shell,
    }

    sentences = [text for text, holds in texts.items() if holds]
    return sentences + _limits(definition)


def _limits(definition: Definition) -> list[str]:
    """Return sentences about the keys that record and limit runs, without those of cli.json."""
    limits = definition.supervision
    texts = []
    if limits.record:
        texts.append("Each run is recorded.")
    if limits.seconds:
        texts.append(f"Each run is ended after {limits.timeout}.")
    if limits.exclusive:
        texts.append("Only one run at a time.")
    return texts


def _joined(names: Iterable[str]) -> str:
    return " and ".join(names)
