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

from host.run.argument_spec import REPEATS
from host.run.words import is_word

if TYPE_CHECKING:
    import click

    _Pending = tuple[
        tuple[str, ...], dict[str, Any], click.Command, click.Context, tuple[str, ...]
    ]

_OF_ITSELF = frozenset(
    ["name", "description", "entrypoint", "aliases", "hidden", "examples", "help"]
)
"""The keys of a group's definition that its subcommands do not get."""


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
    context = click.Context(target, info_name=" ".join(words), resilient_parsing=True)
    pending: list[_Pending] = [(tuple(words), dict(definition), target, context, ())]
    while pending:
        at, fields, current, own_context, path = pending.pop(0)
        fields["args"] = [
            _without_blanks(row) for row in _declared_parameters(current, own_context)
        ]
        fields["parser"] = "click"
        settings = current.context_settings
        fields["options_first"] = not settings.get(
            "allow_interspersed_args", current.allow_interspersed_args
        )
        fields["text"] = _paragraphs(current.help)
        if path:
            fields["subcommand"] = list(path)
        yield at, fields
        group = current if isinstance(current, click.Group) else None
        for word in group.list_commands(own_context) if group else ():
            subcommand = group.get_command(own_context, word) if group else None
            if subcommand is None or not is_word(word):
                continue  # its group can still run it
            inner_context = click.Context(
                subcommand, parent=own_context, info_name=word, resilient_parsing=True
            )
            inner = {
                key: value for key, value in definition.items() if key not in _OF_ITSELF
            }
            inner["name"] = word
            inner["description"] = subcommand.get_short_help_str(limit=200)
            inner["entrypoint"] = definition["entrypoint"]
            inner["hidden"] = subcommand.hidden
            pending.append(
                ((*at, word), inner, subcommand, inner_context, (*path, word))
            )


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
    name = plain_name(parameter.name or "argument")
    repeats = parameter.nargs != 1
    return {
        "name": f"{name}{REPEATS}" if repeats else name,
        "required": parameter.required,
        **_values(parameter),
    }


def _declared_option(parameter: Any) -> Iterator[dict[str, Any]]:
    """Yield the declaration of an option, and one of each other name that it has."""
    long_names = [name for name in parameter.opts if name.startswith("--")]
    short_names = [name for name in parameter.opts if len(name) == 2 and name[0] == "-"]
    names = long_names or short_names
    if not names:
        return  # such as `/debug`, which no other tool could complete either
    name = names[0]
    is_flag = bool(parameter.is_flag or parameter.count)
    opposites = list(parameter.secondary_opts)
    negation = f"--no-{name[2:]}"
    declaration = {
        "name": name,
        "description": parameter.help or "",
        "hidden": parameter.hidden,
        "required": parameter.required and not is_flag,
        "repeats": parameter.multiple or parameter.count,
    }
    if long_names and short_names:
        declaration["short"] = short_names[0]
    if is_flag:
        declaration["env"] = _variable(parameter)
        if negation in opposites:
            opposites.remove(negation)
            declaration["negatable"] = True
            if isinstance(parameter.default, bool):
                declaration["default"] = str(parameter.default).lower()
    else:
        declaration["value"] = _placeholder(parameter)
        declaration["secret"] = bool(parameter.hide_input)
        declaration.update(_values(parameter))
    yield declaration
    for other in names[1:]:
        # One of the names is enough, so the others are not required.
        alias = {**declaration, "name": other, "short": "", "required": False}
        yield {**alias, "description": f"The same as {name}."}
    for opposite in opposites:
        if opposite.startswith("--") or len(opposite) == 2:
            yield {
                "name": opposite,
                "description": f"The opposite of {name}.",
                "hidden": parameter.hidden,
            }


def _values(parameter: click.Parameter) -> dict[str, Any]:
    """Return the keys that state which values a parameter takes."""
    import click

    kind = parameter.type
    values: dict[str, Any] = {
        "env": _variable(parameter),
        "default": _default(parameter),
    }
    if isinstance(kind, click.Choice):
        values["choices"] = [
            str(getattr(choice, "name", choice)) for choice in kind.choices
        ]
    elif isinstance(kind, click.types.IntParamType):
        values["type"] = "integer"
    elif isinstance(kind, click.types.FloatParamType):
        values["type"] = "number"
    elif isinstance(kind, click.File):
        values["type"] = "path"
    elif isinstance(kind, click.Path):
        if not kind.file_okay:
            values["type"] = "directory"
        else:
            values["type"] = "path" if kind.dir_okay or not kind.exists else "file"
    if _completes_itself(parameter):
        values["complete"] = "click"
    return values


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
    name = re.sub(r"\W+", "-", kind).strip("-") or "VALUE"
    return " ".join([name] * max(parameter.nargs, 1))


def _variable(parameter: click.Parameter) -> str:
    variables = parameter.envvar
    if not variables:
        return ""
    return variables if isinstance(variables, str) else str(variables[0])


def _default(parameter: click.Parameter) -> str | None:
    """Return the default as text, or None if there is none or only a run can compute it."""
    default = parameter.to_info_dict()["default"]
    if default is None or callable(default) or getattr(parameter, "hide_input", False):
        return None
    if isinstance(default, list | tuple):
        return " ".join(str(value) for value in default) or None
    return str(default)


def _without_blanks(declaration: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in declaration.items()
        if value not in (None, "", False)
    }


def plain_name(name: str) -> str:
    """Return the name under which a click argument is declared."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name).strip("-_") or "argument"


def _paragraphs(text: str | None) -> str:
    r"""Return click's help text without its marks: \b keeps line breaks, \f ends the text."""
    import inspect

    return inspect.cleandoc((text or "").partition("\f")[0]).replace("\b\n", "").strip()
