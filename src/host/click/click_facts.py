"""What a click command says of itself: called in the plugin's child process, see `click_child`.

click completes, prints its help and finds the subcommand of a line. Nothing here invokes a command.
All results are JSON values.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import math
import os
import re
import sys

from host.click.click_commands import (
    bare_context,
    is_repeated,
    is_secret_parameter,
    subcommand_context,
)
from host.errors import HostError
from host.processes.bounds import END, REPORT_DESCRIPTOR
from host.processes.importing import click_command, enter_plugin, load_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, NoReturn

    Item = tuple[str, str, str]

# The modules whose grammar is known: of click, and of Typer, which brings a click of its own.
_OWN_GRAMMAR = frozenset(["click.core", "typer.core", "typer._click.core"])


def answer(folders: Sequence[str]) -> NoReturn:
    """Write the result of a function of this module to the report, as JSON, and end the process.

    argv has the reference of the command, its name for the user, and the function's name and
    further arguments, as one JSON array. `folders` has the packages of the plugin. The report is
    a reason, or "", and the result.
    """
    reference, called, question, *arguments = json.loads(sys.argv[1])
    sys.argv = [called]
    reason = ""
    result = None
    try:
        enter_plugin(folders)
        command = click_command(load_reference(reference))
        result = globals()[question](command, called, *arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        result = True  # the reader of a help page has gone, as behind `| head`
    except HostError as failure:
        reason = str(failure)
    except BaseException as failure:  # noqa: BLE001 - the plugin may do anything
        reason = f"{type(failure).__name__}: {failure}"

    content = json.dumps([reason, result]).encode() + END
    while content:
        content = content[os.write(REPORT_DESCRIPTOR, content) :]
    os._exit(0)


def completions(
    command: Any, called: str, typed: Sequence[str], current: str
) -> list[Item]:
    """Return click's completions for the word after `typed`: value, help and kind.

    The kind is "plain" for a value, and "file" or "dir" if the shell completes paths.
    """
    base = _shell_completion(command).ShellComplete
    # Typer's class is abstract in what only a shell needs.
    not_needed = dict.fromkeys(getattr(base, "__abstractmethods__", ()))
    kind: Any = type("Completer", (base,), not_needed)

    items = []
    for item in kind(command, {}, called, "").get_completions([*typed], current):
        items.append((str(item.value), str(item.help or ""), str(item.type)))
    return items


def print_asked_help(command: Any, called: str, words: Sequence[str]) -> bool:
    """Print the help that click would print for `words`; return False if it would print none."""
    context = _reached(command, called, words)
    option = context.command.get_help_option(context)
    if option is None or not _is_typed(context, option):
        return False
    if not _gets_to_help(context, option):
        return False

    context.resilient_parsing = False
    with context.scope(cleanup=False):
        try:
            option.callback(context, option, True)
        except RuntimeError as end:
            if type(end).__name__ != "Exit":  # the callback ends with it
                raise
    return True


def _gets_to_help(context: Any, option: Any) -> bool:
    """Return whether nothing ends the command line before click comes to its help option."""
    level = context
    while level is not None:
        for parameter in level.command.get_params(level):
            is_typed = _is_typed(level, parameter)
            if parameter.is_eager and is_typed and parameter.name != option.name:
                return False  # such as --version, which prints something else
            if level is context or parameter.name not in level.params:
                continue
            # The groups around it must be complete, because click parses them first.
            is_empty = level.params[parameter.name] in (None, ())
            if is_empty and (parameter.required or is_typed):
                return False
        level = level.parent
    return True


def _is_typed(context: Any, parameter: Any) -> bool:
    source = context.get_parameter_source(parameter.name)
    return source is not None and source.name == "COMMANDLINE"


def print_help_page(command: Any, called: str, path: Sequence[str]) -> bool:
    """Print click's help of the subcommand `path`; return False if there is no such subcommand."""
    context = bare_context(command, called)
    for word in path:
        context = subcommand_context(context, word)
        if context is None:
            return False
    with context.scope(cleanup=False):
        text = context.get_help()
        if text:  # Typer with rich prints it itself
            sys.stdout.write(f"{text}\n")
    for level in _levels(context)[:-1]:
        sys.stdout.write(_parameters_before(level))
    return True


def _parameters_before(group: Any) -> str:
    """Return a section with the parameters of a group, which stand before its subcommand."""
    rows = []
    for parameter in group.command.get_params(group):
        row = None if _only_prints(parameter) else parameter.get_help_record(group)
        if row is not None:
            rows.append(row)
    if not rows:
        return ""
    formatter = group.make_formatter()
    with formatter.section(f"Options of {group.command_path}, before the subcommand"):
        formatter.write_dl(rows)
    text: str = formatter.getvalue()
    return "\n" + text.lstrip("\n")


def path_of(command: Any, called: str, words: Sequence[str]) -> list[str]:
    """Return the words of the subcommand that click would run for the arguments `words`."""
    context = _reached(command, called, words)
    path: list[str] = []
    while context.parent is not None:
        path.insert(0, context.info_name)
        context = context.parent
    return path


def _reached(command: Any, called: str, words: Sequence[str]) -> Any:
    """Return the context in which click is at the end of `words`; only parsers are called."""
    return _shell_completion(command)._resolve_context(command, {}, called, [*words])  # noqa: SLF001


def _shell_completion(command: Any) -> Any:
    """Return the module `shell_completion` of the click that a command is made with."""
    core = ""
    for kind in type(command).__mro__:
        if "make_context" in vars(kind):
            core = kind.__module__  # the last one is click's own
    package, _, _ = core.rpartition(".")
    return importlib.import_module(f"{package}.shell_completion")


def described(command: Any, called: str) -> list[dict[str, Any]]:
    """Return the values of a `ClickCommand` for the command itself and for each subcommand."""
    commands = []
    pending: list[tuple[tuple[str, ...], Any]] = []
    pending.append(((), bare_context(command, called)))
    while pending:
        path, context = pending.pop()
        commands.append(_command(path, context))
        list_commands = getattr(context.command, "list_commands", None)
        if list_commands is None:
            continue
        for name in list_commands(context):
            inner = subcommand_context(context, name)
            if inner is not None and not is_repeated(inner):
                pending.append(((*path, name), inner))
    commands.sort(key=lambda values: values["words"])
    return commands


def _levels(context: Any) -> list[Any]:
    levels: list[Any] = []
    while context is not None:
        levels.insert(0, context)
        context = context.parent
    return levels


def _command(path: tuple[str, ...], context: Any) -> dict[str, Any]:
    command = context.command
    levels = _levels(context)
    parameters = []
    for depth, level in enumerate(levels):
        for parameter in level.command.get_params(level):
            if not _only_prints(parameter):
                parameters.append(_parameter(parameter, level, depth))

    is_group = getattr(command, "list_commands", None) is not None
    pieces = command.collect_usage_pieces(context)
    return {
        "words": list(path),
        "description": command.get_short_help_str(limit=200),
        "text": _paragraphs(command.help),
        "usage": " ".join([context.command_path, *pieces]),
        "hidden": any(level.command.hidden for level in levels[1:]),
        "runs": not is_group or bool(command.invoke_without_command),
        "is_plain": _has_known_grammar(levels),
        "parameters": parameters,
    }


def _has_known_grammar(levels: Sequence[Any]) -> bool:
    """Return whether a line for the last level can be put together: click's own grammar holds."""
    for level in levels:
        command = level.command
        for method in ("parse_args", "resolve_command"):
            function = getattr(command, method, None)
            if function is not None and function.__module__ not in _OWN_GRAMMAR:
                return False
        if level is levels[-1]:
            continue
        # No word behind such an argument would be a subcommand.
        takes_rest = any(item.nargs == -1 for item in command.get_params(level))
        if takes_rest or getattr(command, "chain", False):
            return False
    return True


def _only_prints(parameter: Any) -> bool:
    """Return whether a parameter prints something and ends, as --help and --version do."""
    return bool(parameter.is_eager and not parameter.expose_value)


def _parameter(parameter: Any, context: Any, depth: int) -> dict[str, Any]:
    """Return the values of a `ClickParameter`."""
    is_option = parameter.param_type_name == "option"
    is_flag = is_option and bool(parameter.is_flag)
    counts = is_option and bool(parameter.count)
    choices = _choices(parameter, context)
    kind = "string"
    if is_flag:
        kind = "boolean"
    elif counts:
        kind = "integer"
    elif not choices:
        kind = _kind(parameter)

    is_secret = is_secret_parameter(parameter)
    given = _given_default(parameter, context)
    default = None
    if not is_secret and not callable(given):
        default = _typed_default(parameter, kind, choices, given)

    label, about = "", ""
    if is_option or hasattr(parameter, "help"):
        label, about = parameter.get_help_record(context) or ("", "")
    return {
        "depth": depth,
        "name": str(parameter.name),
        "option": is_option,
        "names": list(parameter.opts) if is_option else [],
        "negations": list(parameter.secondary_opts) if is_option else [],
        "kind": kind,
        "flag": is_flag,
        "counts": counts,
        "repeats": bool(parameter.multiple) or parameter.nargs == -1,
        "size": max(int(parameter.nargs), 1),
        "required": _must_be_given(parameter, context, given),
        "hidden": bool(getattr(parameter, "hidden", False)),
        "secret": is_secret,
        "choices": choices,
        "bounds": _bounds(parameter) if kind in ("integer", "number") else {},
        "default": default,
        "help": " ".join(str(getattr(parameter, "help", None) or "").split()),
        "label": label,
        "about": about,
    }


def _given_default(parameter: Any, context: Any) -> Any:
    """Return the default of a parameter, also that of a default map; None if it has none."""
    try:
        value = parameter.get_default(context, call=False)
    except Exception:  # noqa: BLE001 - a parameter of the plugin's own class
        return None
    if type(value).__module__.endswith("click._utils"):
        return None  # click's mark for "no default"
    return value


def _must_be_given(parameter: Any, context: Any, given: Any) -> bool:
    """Return whether a call without a terminal fails if it leaves a parameter out."""
    asks = getattr(parameter, "prompt", None) and parameter.prompt_required
    if parameter.required and given in (None, ()):
        asks = True
    return bool(asks) and parameter.value_from_envvar(context) is None


def _choices(parameter: Any, context: Any) -> list[str]:
    """Return the choices of a parameter as a user types them, or []."""
    kind: Any = getattr(parameter, "type", None)
    if _is_clicks_own(kind) and hasattr(kind, "choices"):
        normalize = getattr(kind, "normalize_choice", None)
        if normalize is None:  # before click 8.2
            return [_typed_choice(choice) for choice in kind.choices]
        return [normalize(choice, context) for choice in kind.choices]

    typer_type = getattr(parameter, "type_descriptor", None)
    if typer_type is not None and typer_type.choices:
        return [_typed_choice(choice) for choice in typer_type.choices]
    return []


def _typed_choice(choice: Any) -> str:
    return str(choice.value if isinstance(choice, enum.Enum) else choice)


def _is_clicks_own(kind: Any) -> bool:
    """Return whether a type is one of click, whose values are known."""
    return type(kind).__module__ == "click.types"


def _kind(parameter: Any) -> str:
    """Return the JSON type of one value of a parameter: "string" if nothing else is certain."""
    kind = getattr(parameter, "type", None)
    if _is_clicks_own(kind):
        return _kind_of_click(kind)

    typer_type = getattr(parameter, "type_descriptor", None)
    if typer_type is None or typer_type.parameter_info.parser is not None:
        return "string"
    annotations = {typer_type.annotation}
    if typer_type.is_list or typer_type.is_tuple:
        annotations = set(typer_type.annotation.__args__)
    return _common([_TYPES.get(annotation, "string") for annotation in annotations])


_TYPES = {int: "integer", float: "number", bool: "boolean"}


def _kind_of_click(kind: Any) -> str:
    if hasattr(kind, "types"):  # of `nargs` values
        return _common([_kind_of_click(part) for part in kind.types])
    name, _, _ = kind.name.partition(" ")  # such as `integer range`
    return {"integer": "integer", "float": "number", "boolean": "boolean"}.get(
        name, "string"
    )


def _common(kinds: Sequence[str]) -> str:
    first, *others = kinds or ["string"]
    return first if set(others) <= {first} else "string"


def _bounds(parameter: Any) -> dict[str, float]:
    """Return the bounds of a number as JSON Schema has them."""
    bounded = getattr(parameter, "type", None)
    if bounded is None:
        typer_type = getattr(parameter, "type_descriptor", None)
        bounded = typer_type.parameter_info if typer_type is not None else None
    if getattr(bounded, "clamp", False):
        return {}  # it takes any number
    bounds = {}
    for key, exclusive, value, is_open in (
        ("minimum", "exclusiveMinimum", "min", "min_open"),
        ("maximum", "exclusiveMaximum", "max", "max_open"),
    ):
        limit = getattr(bounded, value, None)
        if isinstance(limit, int | float) and math.isfinite(limit):
            bounds[exclusive if getattr(bounded, is_open, False) else key] = limit
    return bounds


def _typed_default(
    parameter: Any, kind: str, choices: Sequence[str], value: Any
) -> Any:
    """Return a default in its JSON type, or None if a user could not type it like that."""
    has_many = parameter.nargs != 1 or parameter.multiple
    if not has_many or getattr(parameter, "count", False):
        return _typed_value(kind, choices, value)
    if not isinstance(value, list | tuple) or not value:
        return None
    values = []
    for item in value:
        if parameter.multiple and parameter.nargs != 1:
            return None  # pairs
        values.append(_typed_value(kind, choices, item))
    return None if None in values else values


def _typed_value(kind: str, choices: Sequence[str], value: Any) -> Any:
    """Return one value of a default in its JSON type, or None if it has another one."""
    if choices:
        fitting = [text for text in _texts_of_choice(value) if text in choices]
        return fitting[0] if fitting else None
    if isinstance(value, enum.Enum):
        return None
    if isinstance(value, bool) or kind == "boolean":
        return value if isinstance(value, bool) and kind == "boolean" else None
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no infinity

    if kind == "string" and isinstance(value, str | int | float | os.PathLike):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    is_number = isinstance(value, int) or (
        isinstance(value, float) and kind == "number"
    )
    return value if is_number and kind != "string" else None


def _texts_of_choice(value: Any) -> Iterator[str]:
    if isinstance(value, enum.Enum):
        yield value.name
        yield str(value.value)
        yield value.name.casefold()
    yield str(value)
    yield str(value).casefold()


def _paragraphs(text: str | None) -> str:
    r"""Return click's help text without its marks: \b keeps line breaks, \f ends the text."""
    if text is None:
        return ""
    shown, _, _ = text.partition("\f")
    return re.sub(r"(?m)^\s*\x08\n?", "", inspect.cleandoc(shown)).strip()
