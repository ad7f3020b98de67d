"""The rules for definitions, scripts and hooks files, one function each."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from builtin_plugins.administration.findings import Finding
from builtin_plugins.administration.plugins.python_text import declarations_in
from builtin_plugins.io.bounded_call import bounded_call
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
from host.run.caller import from_system
from host.run.command_files import FolderNode
from host.run.declarations import EnvSource, SecretScheme
from host.run.definition import SYSTEMS
from host.run.environment import SourceReader
from host.run.files import read_regular, why_outside
from host.run.layers import ENV_FILES, ENVS, Layers
from host.run.path_folders import check_folders
from host.run.programs import start_of
from host.run.shell_file import IN_PROJECT
from host.run.suggestions import unknown_names

_SHELLS = ("bash", "dash", "ksh", "sh")
_LONG = 150  # characters of a description
_SHELLCHECK_SECONDS = 600.0  # time limit for shellcheck
_OPTIONS = (
    "--format=json1",
    "--severity=warning",
    "--exclude=SC2148",
)  # see the rule no-shebang
_OWN_MARKS = ("x-", "_", "$")
_WITH_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]")
_SOURCES = (
    EnvSource("env_files", ENV_FILES, reader="env_files"),
    EnvSource("envs", ENVS, reader="envs"),
)


def keys_and_systems(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for each warning of the definition, unknown system and unknown key."""
    reported = {problem.key for problem in definition.warnings}
    problems = [*definition.warnings]
    for key, systems in (("os", definition.os), ("sudo", definition.sudo_systems)):
        problems += unknown_names(definition.file, key, systems, SYSTEMS)
    yield from (Finding("definition", one) for one in problems)
    for key in definition.extra:
        if not key.startswith(_OWN_MARKS) and key not in reported:
            remedy = f"if it is your own key, name it x-{key}"
            yield Finding(
                "definition", Problem(definition.file, "unknown key", remedy, key)
            )


def is_doubtful(description: str) -> bool:
    """Return whether a description in a script's header is perhaps another comment."""
    is_word = " " not in description.strip()
    is_unfinished = description.endswith((":", ";", ",", "{", "\\"))
    return is_word or is_unfinished or "://" in description or len(description) > _LONG


def default_command(definition: Definition, node: FolderNode) -> Iterator[Finding]:
    """Yield a finding for a `default` that is not a command of its category."""
    with suppress(HostError):  # an invalid command is reported separately
        word = definition.default
        inner = node.enter(node.aliased(word) or word) if word else None
        command = inner and inner.read_command()
        if word and not (command and command.entrypoint):
            text = f"this category has no command {word}"
            yield Finding("definition", Problem(definition.file, text, key="default"))


def written_secrets(definition: Definition) -> Iterator[Finding]:
    secrets = declared_secrets(definition, definition.envs)
    for name, value in definition.envs.items():
        if (name in secrets or is_secret(name)) and value and "$" not in value:
            text = "looks like a secret, which every reader of this file can see"
            remedy = 'set the secret in the environment, or put a reference to it into "secrets"'
            yield Finding(
                "secret", Problem(definition.file, text, remedy, f"envs.{name}")
            )


def variables(definition: Definition, known: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the problems in `env_files` and `envs`.

    `known` has the variables that the caller and settings.conf set.
    """
    if not definition.reads_sources and (definition.envs or definition.env_files):
        what = '"sources" is false, so "envs" and "env_files" have no effect'
        yield Finding("variables", Problem(definition.file, what, key="sources"))
    needed = (
        *definition.required_envs,
        *(argument.variable for argument in definition.args),
    )
    layers = Layers({**dict.fromkeys(needed, ""), **known}, {})
    schemes = [
        SecretScheme(text.partition(":")[0], "") for text in definition.secrets.values()
    ]
    problems: list[Problem] = []
    reader = _LintReader((), definition, layers, problems.append, schemes)
    try:
        for source in _SOURCES:
            reader.read(source)
    except HostError as error:
        problems.append(error.problem)
    yield from (Finding("variables", problem) for problem in problems)
    texts = [("env_files", text) for text in definition.env_files]
    if not (
        layers.missing or layers.unasked
    ):  # otherwise, unread files may define the names
        yield from (Finding("variables", one) for one in reader.undefined)
        texts += [(f"envs.{name}", text) for name, text in definition.envs.items()]
    for key, text in texts:
        for name in _undefined_names(text, definition, layers):
            yield Finding("variables", _undefined(name, definition.file, key))


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
        if (
            line
        ):  # a value in a file; the others are checked when all variables are known
            for name in _undefined_names(text, self.definition, self.layers):
                self.undefined += (_undefined(name, path, key, line),)
        return super().expanded(text, path, key, line, on_warning)


def _undefined_names(text: str, definition: Definition, layers: Layers) -> list[str]:
    """Return the variables in `text` that nothing defines, sorted, except those with a default."""
    names: dict[str, None] = {}
    expand(text, names.setdefault)
    asked = names.keys() - {*_WITH_DEFAULT.findall(text), *definition.secrets}
    return [
        name
        for name in sorted(asked)
        if layers.get(name) is None and not from_system(name)
    ]


def _undefined(name: str, path: str, key: str, line: int = 0) -> Problem:
    remedy = f'add it to "required_envs", or write ${{{name}:-}} if it may be unset'
    return Problem(path, f"${name} is not defined", remedy, key, line)


def path_folders(definition: Definition) -> Iterator[Finding]:
    """Yield the folders of the key `path` that are missing or that a run would refuse."""
    try:
        for folder in check_folders(definition):
            if folder.source.startswith(f"{definition.file}:") and not os.path.isdir(
                folder.path
            ):
                what = f"{folder.path} is not a directory"
                yield Finding("definition", Problem(definition.file, what, key="path"))
    except HostError as error:
        if error.problem.path == definition.file:  # each file is checked once
            yield Finding("definition", error.problem)


def output(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for an invalid `schema`."""
    try:
        output_schema(definition)
    except HostError as error:
        yield Finding("definition", error.problem)


def calling_shell(definition: Definition) -> Iterator[Finding]:
    """Yield a finding for a command of a project that would change the calling shell."""
    if definition.shell and definition.project is not None:
        yield Finding("definition", Problem(definition.file, IN_PROJECT, key="shell"))


def hooks(path: str) -> Iterator[Finding]:
    """Yield a finding if a hooks file has a syntax error or no hook; the file is not run."""
    code, what, line = read_regular(path, HostError), "", 1
    try:
        compile(code, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as failure:
        what, line = (
            f"is not valid Python: {failure}",
            getattr(failure, "lineno", None) or 1,
        )
    if not what and not declarations_in(code)[0]:
        what = "no function is marked with @hookimpl, so no hook is called"
    if what:
        yield Finding("plugin", Problem(path, what, line=line))


def script_findings(
    definition: Definition, environ: Mapping[str, str], shells: list[str]
) -> Iterator[Finding]:
    """Yield the problems in a command's entrypoint; add shell scripts to `shells`."""
    script, wrong = os.path.join(definition.directory, definition.entrypoint), ""
    if definition.in_python:
        return
    if not definition.is_script:  # FolderNode has checked the links of scripts
        wrong = why_outside(definition.directory, definition.entrypoint)
    if wrong or not os.path.lexists(script):
        wrong = wrong or f"{script} does not exist"
        yield Finding("entrypoint", Problem(definition.file, wrong, key="entrypoint"))
        return
    try:
        start = start_of(script, environ)
    except HostError as error:
        if definition.compatible:
            yield Finding(
                "shebang" if error.problem.line else "entrypoint", error.problem
            )
        return
    if os.path.basename(start.interpreter) in _SHELLS:
        shells.append(script)
    if start.argv == ["bash", script]:
        remedy = "make #!/usr/bin/env bash the first line"
        problem = Problem(script, "has no shebang, so bash runs it", remedy)
        yield Finding("no-shebang", problem, hint=True)


def shellcheck_findings(
    scripts: Sequence[str], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield shellcheck's errors and warnings; scripts without a shebang are checked as bash."""
    program = find_program("shellcheck", environ)
    if not (program and scripts):
        return
    try:
        checked = [program, *_OPTIONS, "--", *scripts]
        ended = bounded_call(checked, environ, _SHELLCHECK_SECONDS, program)
        comments = json.loads(ended.stdout)["comments"]
    except (HostError, OSError, ValueError):
        yield Finding(
            "shellcheck",
            Problem(scripts[0], "shellcheck failed", f"run: {program} {scripts[0]}"),
        )
        return
    for one in comments:
        text = f"SC{one['code']}: {one['message']}"
        problem = Problem(one["file"], text, line=one["line"], column=one["column"])
        yield Finding("shellcheck", problem)
