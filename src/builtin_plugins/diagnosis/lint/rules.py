"""The rules for definitions, scripts and hooks files, one function each."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from builtin_plugins.library.bounded_call import bounded_call
from builtin_plugins.self_commands.findings import Finding
from host import (
    Definition,
    HostError,
    Problem,
    declared_secrets,
    expand,
    find_program,
    is_secret,
    output_schema,
)
from host.caller import from_system
from host.catalog.command_files import FolderNode
from host.catalog.definition import SYSTEMS
from host.files.paths import read_regular, why_outside
from host.launch.shell_file import IN_PROJECT
from host.plugin_functions import SecretScheme
from host.processes.programs import Start, has_script_block, start_of
from host.record_base import EnvSource
from host.suggestions import unknown_names
from host.variables.layers import ENV_FILES, ENVS, Layers
from host.variables.path_folders import check_folders
from host.variables.read_sources import SourceReader

_SHELLS = ("bash", "dash", "ksh", "sh")
_LONG = 150  # characters of a description
_SHELLCHECK_SECONDS = 600.0  # time limit for shellcheck
# SC2148, a missing shebang, is the rule no-shebang.
_OPTIONS = ("--format=json1", "--severity=warning", "--exclude=SC2148")
# A file that a shell script reads, and a call of the library that scripts use most.
_SOURCED = re.compile(r"(?m)^[ \t]*(?:source|\.)[ \t]")
_LIBRARY_CALL = re.compile(
    r"[ \t]*(log_(?:output|info|debug|error|success|warning|message))\b"
)
# A repeated group with a repetition or a choice inside: `(a+)*`.
_NESTED = re.compile(r"\([^()]*(?<!\\)[+*}|][^()]*\)[+*{]")
# An import from a module that may have hooks.
_IMPORT = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+(?!host\b)")
_OWN_MARKS = ("x-", "_", "$")
_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]")
_SOURCES = (
    EnvSource("env_files", ENV_FILES, reader="env_files"),
    EnvSource("envs", ENVS, reader="envs"),
)


def warnings(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for each warning of the definition, and each unknown system."""
    for problem in definition.warnings:
        yield Finding("definition", problem)

    # A run ignores a name of a system that it does not know.
    systems_of_keys = {"os": definition.os, "sudo": definition.sudo_systems}
    for key, systems in systems_of_keys.items():
        for problem in unknown_names(definition.file, key, systems, SYSTEMS):
            yield Finding("definition", problem)


def unknown_keys(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for each unknown key; a misspelt one is in the definition's warnings."""
    reported = {problem.key for problem in definition.warnings}
    for key in definition.extra:
        if key.startswith(_OWN_MARKS) or key in reported:
            continue
        remedy = f"if it is your own key, name it x-{key}"
        problem = Problem(definition.file, "unknown key", remedy, key)
        yield Finding("definition", problem)


def is_doubtful(description: str) -> bool:
    """Return whether a description in a script's header is perhaps another comment."""
    if " " not in description.strip():
        return True
    if description.endswith((":", ";", ",", "{", "\\")):  # it is unfinished
        return True
    if len(description) > _LONG:
        return True
    return "://" in description


def default_command(definition: Definition, node: FolderNode) -> Iterator[Finding]:
    """Yield a finding for a `default` that is not a command of its category."""
    word = definition.default
    if not word:
        return

    command: Definition | None = None
    try:
        name = node.aliased(word) or word
        inner = node.enter(name)
        if inner is not None:
            command = inner.read_command()
    except HostError:
        return  # the invalid command is reported separately

    if command is None or not command.entrypoint:
        text = f"this category has no command {word}"
        yield Finding("definition", Problem(definition.file, text, key="default"))


def written_secrets(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for each secret whose value `envs` has in plain text."""
    secrets = declared_secrets(definition, definition.envs)
    for name, value in definition.envs.items():
        # A value with `$` takes the secret from elsewhere.
        if not value or "$" in value:
            continue
        if name in secrets or is_secret(name):
            text = "looks like a secret, which every reader of this file can see"
            remedy = 'set the secret in the environment, or put a reference to it into "secrets"'
            problem = Problem(definition.file, text, remedy, f"envs.{name}")
            yield Finding("secret", problem)


def variables(definition: Definition, known: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the problems in `env_files` and `envs`.

    `known` has the variables that the caller and settings.conf set.
    """
    # A run sets these variables, or fails, before it reads the sources.
    needed: dict[str, str] = dict.fromkeys(definition.required_envs, "")
    for argument in definition.args:
        needed[argument.variable] = ""
    layers = Layers({**needed, **known}, {})
    reader, problems = _read_sources(definition, layers)
    for problem in problems:
        yield Finding("variables", problem)

    for text in definition.env_files:
        yield from _undefined_in(text, "env_files", definition, layers)
    # A file that was not read may define any name.
    if layers.missing or layers.unasked:
        return

    for problem in reader.undefined:
        yield Finding("variables", problem)
    for name, text in definition.envs.items():
        yield from _undefined_in(text, f"envs.{name}", definition, layers)


def _undefined_in(
    text: str, key: str, definition: Definition, layers: Layers
) -> Iterator[Finding]:
    """Yield a finding for each undefined variable in `text`, the value of a key."""
    for name in _undefined_names(text, definition, layers):
        yield Finding("variables", _undefined(name, definition.file, key))


def unread_variables(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for variables in a definition whose variables are not read."""
    if definition.reads_sources:
        return
    if definition.envs or definition.env_files:
        what = '"sources" is false, so "envs" and "env_files" have no effect'
        yield Finding("variables", Problem(definition.file, what, key="sources"))


def _read_sources(
    definition: Definition, layers: Layers
) -> tuple[_LintReader, list[Problem]]:
    """Read `env_files` and `envs` into `layers`; return the reader, and the problems."""
    schemes = []
    for reference in definition.secrets.values():
        scheme, _, _ = reference.partition(":")
        schemes.append(SecretScheme(scheme, ""))

    problems: list[Problem] = []
    reader = _LintReader((), definition, layers, problems.append, schemes)
    try:
        for source in _SOURCES:
            reader.read(source)
    except HostError as error:
        problems.append(error.problem)
    return reader, problems


class _LintReader(SourceReader):
    """Reads the variables, and collects the undefined names in the values of `.env` files."""

    undefined: tuple[Problem, ...] = ()

    def expanded(
        self,
        text: str,
        path: str,
        key: str,
        line: int = 0,
        on_warning: Callable[[Problem], None] | None = None,
    ) -> str:
        # Only a value in a file has a line; the others are checked when all variables are known.
        if line:
            for name in _undefined_names(text, self.definition, self.layers):
                self.undefined += (_undefined(name, path, key, line),)
        return super().expanded(text, path, key, line, on_warning)


def _undefined_names(text: str, definition: Definition, layers: Layers) -> list[str]:
    """Return the variables in `text` that nothing defines, sorted, except those with a default."""
    names: dict[str, None] = {}
    expand(text, names.setdefault)
    with_default = _WITH_DEFAULT.findall(text)
    needed = names.keys() - {*with_default, *definition.secrets}

    undefined = []
    for name in sorted(needed):
        if layers.get(name) is None and not from_system(name):
            undefined.append(name)
    return undefined


def _undefined(name: str, path: str, key: str, line: int = 0) -> Problem:
    remedy = f'add it to "required_envs", or write ${{{name}:-}} if it may be unset'
    return Problem(path, f"${name} is not defined", remedy, key, line)


def path_folders(definition: Definition) -> Iterator[Finding]:
    """Yield the folders of the key `path` that are missing or that a run would refuse."""
    try:
        folders = check_folders(definition)
    except HostError as error:
        if error.problem.path == definition.file:  # each file is checked once
            yield Finding("definition", error.problem)
        return

    for folder in folders:
        if not folder.source.startswith(f"{definition.file}:"):
            continue
        if not os.path.isdir(folder.path):
            what = f"{folder.path} is not a directory"
            yield Finding("definition", Problem(definition.file, what, key="path"))


def output(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for an invalid `schema`."""
    try:
        output_schema(definition)
    except HostError as error:
        yield Finding("definition", error.problem)


def patterns(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for each value that does not match the pattern of its argument.

    Also yield a hint for each pattern that can take exponential time.
    """
    for argument in definition.args:
        for value in (*argument.choices, argument.default):
            if value is not None and not argument.has_form(value):
                what = f'"{value}" does not match the pattern of {argument.name}'
                problem = Problem(definition.file, what, key="args")
                yield Finding("definition", problem)

        if _NESTED.search(argument.pattern):
            what = f"the pattern of {argument.name} can take exponential time"
            remedy = "repeat no group that has +, *, {…} or | inside"
            problem = Problem(definition.file, what, remedy, "args")
            yield Finding("pattern", problem, hint=True)


def calling_shell(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for a command of a project that would change the calling shell."""
    if definition.shell and definition.project is not None:
        yield Finding("definition", Problem(definition.file, IN_PROJECT, key="shell"))


def hooks(path: str) -> Iterator[Finding]:
    """Yield the problems of a file with hooks, which is not run: a syntax error, or no hook."""
    code = read_regular(path, HostError)
    try:
        compile(code, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as failure:
        what = f"is not valid Python: {failure}"
        line = getattr(failure, "lineno", None) or 1
        yield Finding("plugin", Problem(path, what, line=line))
        return

    if b"@hookimpl" not in code and not _IMPORT.search(code):
        what = "no function is marked with @hookimpl, so no hook is called"
        yield Finding("plugin", Problem(path, what, line=1))


def entrypoint(
    definition: Definition, environ: Mapping[str, str], shells: list[str]
) -> Iterator[Finding]:
    """Yield the problems in a command's entrypoint; add shell scripts to `shells`.

    A Python reference is not checked: only its import can tell whether it is right.
    """
    file = definition.file
    if definition.in_python:
        return

    script = os.path.join(definition.directory, definition.entrypoint)
    wrong = ""
    if not definition.is_script:  # FolderNode has checked the links of scripts
        wrong = why_outside(definition.directory, definition.entrypoint)
    if not wrong and not os.path.lexists(script):
        wrong = f"{script} does not exist"
    if wrong:
        yield Finding("entrypoint", Problem(file, wrong, key="entrypoint"))
        return

    try:
        start = start_of(script, environ)
    except HostError as error:
        # A script for another system may have an interpreter that only that system has.
        if definition.compatible:
            rule = "shebang" if error.problem.line else "entrypoint"
            yield Finding(rule, error.problem)
        return

    yield from _ignored_block(script, start)
    if os.path.basename(start.interpreter) in _SHELLS:
        shells.append(script)
    if start.argv == ["bash", script]:
        remedy = "make #!/usr/bin/env bash the first line"
        problem = Problem(script, "has no shebang, so bash runs it", remedy)
        yield Finding("no-shebang", problem, hint=True)


def _ignored_block(script: str, start: Start) -> Iterator[Finding]:
    """Yield a hint for a script in Python whose requirements (PEP 723) have no effect."""
    is_python = os.path.basename(start.interpreter).startswith("python")
    if is_python and has_script_block(script):
        what = (
            "its block # /// script has no effect, because Python runs it, and not uv"
        )
        remedy = "make #!/usr/bin/env -S uv run --script the first line"
        problem = Problem(script, what, remedy, line=1)
        yield Finding("script-block", problem, hint=True)


def library_calls(script: str) -> Iterator[Finding]:
    """Yield a finding for a bash script that calls the shell library but does not get it.

    Nothing is known about a script that sources another file, which may have the functions.
    """
    try:
        code = read_regular(script, HostError).decode(errors="replace")
    except HostError:
        return  # the entrypoint's own finding says why
    shebang, _, _ = code.partition("\n")
    if "bash" not in shebang or _SOURCED.search(code):
        return

    for number, line in enumerate(code.splitlines(), 1):
        call = _LIBRARY_CALL.match(line)
        if call is None or f"{call[1]}()" in code.replace(" ", ""):
            continue
        what = (
            f"calls {call[1]}, but gets no shell library, because it has no definition"
        )
        remedy = 'add a block # /// command, or source "$LIB_DIR/logger.sh"'
        yield Finding("library", Problem(script, what, remedy, line=number))
        return


def shellcheck_findings(
    scripts: Sequence[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield shellcheck's errors and warnings; scripts without a shebang are checked as bash."""
    program = find_program("shellcheck", environ)
    if program is None or not scripts:
        return

    command = [program, *_OPTIONS, "--", *scripts]
    try:
        ended = bounded_call(command, environ, _SHELLCHECK_SECONDS, program)
        comments = json.loads(ended.stdout)["comments"]
    # For example, an old version does not know the format.
    except (HostError, OSError, ValueError):
        remedy = f"run: {program} {scripts[0]}"
        problem = Problem(scripts[0], "shellcheck failed", remedy)
        yield Finding("shellcheck", problem)
        return

    for comment in comments:
        text = f"SC{comment['code']}: {comment['message']}"
        line = comment["line"]
        column = comment["column"]
        problem = Problem(comment["file"], text, line=line, column=column)
        yield Finding("shellcheck", problem)
