"""Declare the parameters and subcommands of click commands, in the form of command.json.

A `CommandDeclaration` that names a `click.Command`, and has no `args`, gets them from the command
itself. This happens in the plugin's child process while the lock is built, so that help, Tab and
listings need neither click nor the plugin. click parses the command line of a run, so what is
declared here describes the arguments and is never used to check them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from host.arguments.spec import REPEATS
from host.words import is_word

if TYPE_CHECKING:
    import click

# The keys of a group's definition that its subcommands do not get.
_OF_GROUP_ALONE = frozenset(
    ["name", "description", "aliases", "hidden", "examples", "help"]
)
_LONGEST_LINE = 200  # characters of a subcommand's description


def declared_by_click(
    words: Sequence[str], definition: Mapping[str, Any], target: Any
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the words and the completed definition of a click command, and of its subcommands.

    Yields nothing if `target` is no click command; click itself is not imported to find that out.
    `definition` is what the plugin declares for `target`. A subcommand has the keys of its group,
    such as `effects` and `confirm`, and the key `subcommand`: the words that click gets before the
    arguments.
    """
    if "click" not in sys.modules:
        return
    import click

    if not isinstance(target, click.Command):
        return

    called = " ".join(words)
    context = click.Context(target, info_name=called, resilient_parsing=True)
    yield tuple(words), {**definition, **_declared(target, context)}

    inherited = _inherited(definition)
    for path, subcommand, inner_context in _all_subcommands(target, context):
        fields = dict(inherited)
        fields["name"] = path[-1]
        fields["description"] = subcommand.get_short_help_str(limit=_LONGEST_LINE)
        fields["hidden"] = subcommand.hidden
        fields |= _declared(subcommand, inner_context)
        fields["subcommand"] = list(path)
        yield (*words, *path), fields


def _all_subcommands(
    command: click.Command, context: click.Context
) -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    """Yield the words, the command and the context of each subcommand, level by level."""
    pending: list[tuple[tuple[str, ...], click.Command, click.Context]] = []
    pending.append(((), command, context))
    while pending:
        path, group, group_context = pending.pop(0)
        for word, subcommand, inner_context in _subcommands(group, group_context):
            row = ((*path, word), subcommand, inner_context)
            yield row
            pending.append(row)


def _subcommands(
    command: click.Command, context: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield the subcommands of a group that can be commands, each with its context."""
    import click

    if not isinstance(command, click.Group):
        return

    for word in command.list_commands(context):
        subcommand = command.get_command(context, word)
        if subcommand is None or not is_word(word):
            continue  # its group can still run it
        inner_context = click.Context(
            subcommand, parent=context, info_name=word, resilient_parsing=True
        )
        yield word, subcommand, inner_context


def _inherited(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a group's definition that its subcommands get, too."""
    inherited = dict(definition)
    for key in _OF_GROUP_ALONE:
        inherited.pop(key, None)
    return inherited


def _declared(command: click.Command, context: click.Context) -> dict[str, Any]:
    """Return the keys that a click command itself declares."""
    is_mixed = command.context_settings.get(
        "allow_interspersed_args", command.allow_interspersed_args
    )
    args = map(_without_blanks, _declared_parameters(command, context))
    return {
        "args": list(args),
        "parser": "click",
        "options_first": not is_mixed,
        "text": _paragraphs(command.help),
    }


def _declared_parameters(
    command: click.Command, context: click.Context
) -> Iterator[dict[str, Any]]:
    """Yield the declaration of each parameter, without the option for help."""
    help_names = set(command.get_help_option_names(context))
    for parameter in command.get_params(context):
        if parameter.param_type_name == "argument":
            yield _declared_argument(parameter)
        elif not help_names.intersection(parameter.opts):
            yield from _declared_option(parameter)


def _declared_argument(parameter: click.Parameter) -> dict[str, Any]:
    name = plain_name(parameter.name)
    if parameter.nargs != 1:
        name += REPEATS
    return {
        "name": name,
        "required": parameter.required,
        **_values(parameter),
    }


def _declared_option(parameter: Any) -> Iterator[dict[str, Any]]:
    """Yield the declaration of an option, and one of each other name that it has."""
    long_names = [name for name in parameter.opts if name.startswith("--")]
    short_names = [name for name in parameter.opts if _is_short(name)]
    names = long_names or short_names
    if not names:
        return  # such as `/debug`, which no other tool could complete either

    name = names[0]
    declaration = {
        "name": name,
        "description": parameter.help,
        "hidden": parameter.hidden,
        "repeats": parameter.multiple or parameter.count,
    }
    if long_names and short_names:
        declaration["short"] = short_names[0]

    if parameter.is_flag or parameter.count:
        declaration.update(_keys_of_flag(parameter, name))
    else:
        declaration["required"] = parameter.required
        declaration["value"] = _placeholder(parameter)
        declaration["secret"] = bool(parameter.hide_input)
        declaration.update(_values(parameter))
    yield declaration

    for other in names[1:]:
        alias = dict(declaration)
        alias["name"] = other
        alias["short"] = ""
        alias["required"] = False  # one of the names is enough
        alias["description"] = f"The same as {name}."
        yield alias
    yield from _declared_opposites(parameter, name)


def _declared_opposites(parameter: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield the declaration of each name that makes the flag `name` false."""
    for opposite in parameter.secondary_opts:
        if opposite == _negation(name):
            continue  # `negatable` has declared it
        if opposite.startswith("--") or _is_short(opposite):
            yield {
                "name": opposite,
                "description": f"The opposite of {name}.",
                "hidden": parameter.hidden,
            }


def _keys_of_flag(parameter: Any, name: str) -> dict[str, Any]:
    keys: dict[str, Any] = {"env": _variable(parameter)}
    if _negation(name) in parameter.secondary_opts:
        keys["negatable"] = True
        if isinstance(parameter.default, bool):
            keys["default"] = str(parameter.default).lower()
    return keys


def _negation(name: str) -> str:
    return f"--no-{name[2:]}"


def _is_short(name: str) -> bool:
    return len(name) == 2 and name[0] == "-"


def _values(parameter: click.Parameter) -> dict[str, Any]:
    """Return the keys that state which values a parameter takes."""
    import click

    kind = parameter.type
    values: dict[str, Any] = {
        "env": _variable(parameter),
        "default": _default(parameter),
    }
    if isinstance(kind, click.Choice):
        # The members of an enumeration have names, which the user types.
        names = [getattr(choice, "name", choice) for choice in kind.choices]
        values["choices"] = [str(name) for name in names]
    elif isinstance(kind, click.types.IntParamType):
        values["type"] = "integer"
    elif isinstance(kind, click.types.FloatParamType):
        values["type"] = "number"
    elif isinstance(kind, click.File):
        values["type"] = "path"
    elif isinstance(kind, click.Path):
        values["type"] = _type_of_path(kind)

    if _completes_itself(parameter):
        values["complete"] = "click"
    return values


def _type_of_path(kind: Any) -> str:
    if not kind.file_okay:
        return "directory"
    # The type `file` is for files that exist.
    if kind.dir_okay or not kind.exists:
        return "path"
    return "file"


def _completes_itself(parameter: click.Parameter) -> bool:
    """Return whether the parameter, or its type, has a `shell_complete` of its own."""
    if getattr(parameter, "_custom_shell_complete", None) is not None:
        return True
    method = type(parameter.type).shell_complete
    return not method.__module__.startswith("click.")


def _placeholder(parameter: Any) -> str:
    """Return the placeholder of an option's value: a word for each value, as in `TEXT` or `X Y`."""
    if parameter.metavar:
        words = str(parameter.metavar).split()

        # A reader of the declaration counts the words to know how many values there are.
        if len(words) != parameter.nargs:
            words = ["-".join(words)] * parameter.nargs
        return " ".join(words)

    kind = parameter.type.name.upper().removesuffix(" RANGE")
    word = re.sub(r"\W+", "-", kind).strip("-")
    if not word:
        word = "VALUE"
    count = max(parameter.nargs, 1)
    return " ".join([word] * count)


def _variable(parameter: click.Parameter) -> str:
    variables = parameter.envvar
    if not variables:
        return ""
    if isinstance(variables, str):
        return variables
    return str(variables[0])


def _default(parameter: click.Parameter) -> str | None:
    """Return the default as text, or None if there is none or only a run can compute it."""
    default = parameter.to_info_dict()["default"]
    if default is None or callable(default):
        return None
    is_secret = getattr(parameter, "hide_input", False)
    if is_secret:
        return None

    if isinstance(default, list | tuple):
        values = " ".join(map(str, default))
        return values or None
    return str(default)


def _without_blanks(declaration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that are set, as the author of a command.json would write them."""
    keys = dict(declaration)
    for key, value in declaration.items():
        if value in (None, "", False):
            del keys[key]
    return keys


def plain_name(name: str | None) -> str:
    """Return the name under which a click argument is declared."""
    plain = ""
    if name is not None:
        plain = re.sub(r"[^A-Za-z0-9_-]", "-", name).strip("-_")
    return plain or "argument"


def _paragraphs(text: str | None) -> str:
    r"""Return click's help text without its marks: \b keeps line breaks, \f ends the text."""
    import inspect

    if text is None:
        return ""
    shown, _, _ = text.partition("\f")
    paragraphs = inspect.cleandoc(shown)
    return paragraphs.replace("\b\n", "").strip()
