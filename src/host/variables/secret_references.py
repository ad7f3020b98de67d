"""Resolve references to secrets: `op://prod/db/password`, `run:pass show deploy`.

Providers are called in parallel in a child process, and only in a run. A run loads this module only
if a definition has `secrets`, or an item with a colon in `env_files`.
"""

import posix

from host.caller import from_system
from host.errors import Problem, SourceError
from host.files.paths import is_there, join
from host.processes.bounded_child import supervise_call
from host.processes.bounds import limit_from
from host.variables.secret_providers import (
    ENV_FILES,
    GRACE_SECONDS,
    SECRETS_TIMEOUT,
    Providers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from host.catalog.definition import Definition
    from host.variables.layers import Offers
    from host.variables.secret_providers import Call, Content


_PROVIDER_SECONDS = 30.0  # time limit of providers
_TERMINAL_SECONDS = 120.0  # with a terminal, where they may ask for a passphrase


def is_secret_reference(item: str, reader: "Offers", definition: "Definition") -> bool:
    """Return whether an item of `env_files` refers to a secret, even with an unknown scheme."""
    scheme, _, _ = item.partition(":")
    if reader.knows(scheme):
        return True

    # The name of a file may contain a colon, too.
    if not scheme.isascii() or not scheme.isalnum():
        return False
    if not scheme.islower():
        return False
    return not is_there(join(definition.directory, item))


def resolve(
    references: "Mapping[str, str]", reader: "Offers", definition: "Definition"
) -> dict[str, str]:
    """Return the value of each reference by its key, such as `secrets.TOKEN`.

    If references fail, the last failure is raised as SourceError; its `others` has the other ones.
    An optional reference that fails causes a warning, and its value is missing in the result.
    """
    values = _resolve(references, reader, definition)
    return {key: value for key, value in values.items() if isinstance(value, str)}


def resolve_variables(
    reference: str, reader: "Offers", definition: "Definition"
) -> "Content":
    """Return what a reference in `env_files` gives. Raises SourceError."""
    return _resolve({ENV_FILES: reference}, reader, definition)[ENV_FILES]


def _resolve(
    references: "Mapping[str, str]", reader: "Offers", definition: "Definition"
) -> "dict[str, Content]":
    """Return what each reference gives, by its key; those that failed are reported or raised."""
    calls = _calls(references, reader, definition)
    if not calls:  # only optional references, of variables that are not set
        return {}

    values: dict[str, Content] = {}
    problems = []
    answers = _answers(calls, references, reader, definition)
    for key, (value, failure) in answers.items():
        reference = references[key]
        reason = failure
        if value == "" and not failure and not _may_be_empty(key, reference, reader):
            reason = "its value is empty"
        if not reason:
            values[key] = value
            continue

        problem = Problem(definition.file, f"{reference}: {reason}", key=key)
        if is_optional(reference):
            reader.report(problem)
        else:
            problems.append(problem)
    if problems:
        error = SourceError(problems[-1])
        error.others = tuple(problems[:-1])
        raise error
    return values


def _may_be_empty(key: str, reference: str, reader: "Offers") -> bool:
    """Return whether an empty value is the secret, and no sign of a fault.

    It is for a `.env` file, and for one named value of several (`sops:FILE#KEY`): as in `env_files`
    with the whole file, somebody has written it down.
    """
    if key == ENV_FILES:
        return True
    scheme, _, rest = reference.partition(":")
    if "#" not in rest:
        return False
    return any(
        known.scheme == scheme and known.file_provider for known in reader.schemes
    )


def _answers(
    calls: "list[Call]",
    references: "Mapping[str, str]",
    reader: "Offers",
    definition: "Definition",
) -> "dict[str, tuple[Content, str]]":
    """Call the providers; return (value, "") or ("", reason) by the key of each reference."""
    has_terminal = reader.may_ask and _has_terminal()
    usual = _PROVIDER_SECONDS
    if has_terminal:
        usual = _TERMINAL_SECONDS
    seconds = limit_from(reader.here.inherited, SECRETS_TIMEOUT, usual)
    environ = reader.here.environment()
    providers = Providers(environ, definition.directory, seconds, has_terminal)

    def call_providers() -> "dict[str, tuple[Content, str]]":
        return providers.call_all(calls)

    # The child itself needs the grace period to report late providers, and another to end.
    limit = seconds + 2 * GRACE_SECONDS
    try:
        answers: dict[str, tuple[Content, str]] = supervise_call(
            call_providers, limit, keeps_terminal=has_terminal
        )
    except (TimeoutError, ChildProcessError) as failure:
        return dict.fromkeys(references, ("", str(failure)))
    return answers


def is_optional(reference: str) -> bool:
    """Return whether a run goes on without the value of a reference."""
    return bool(getattr(reference, "optional", False))


def _unset(text: str, reader: "Offers") -> list[str]:
    """Return the variables in a reference that are not set and have no default."""
    if "$" not in text:
        return []
    import re

    from host.variables.expand import expand

    names: dict[str, None] = {}
    expand(text, names.setdefault)

    with_default = re.findall(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=+]", text)
    unset = []
    for name in names:
        if name in with_default:
            continue
        if reader.here.get(name) is None and from_system(name) is None:
            unset.append(name)
    return unset


def _expanded_words(
    text: str, reader: "Offers", definition: "Definition", key: str
) -> "list[str] | None":
    """Return what follows the scheme of a reference; the words of a program after `run:`.

    None stands for an optional reference with a variable that is not set. Raises SourceError.
    """
    scheme, _, rest = text.partition(":")
    words = [rest]
    if scheme == "run":
        import shlex

        try:
            words = shlex.split(rest)
        except ValueError as failure:
            what = f"{text}: {str(failure).lower()}"
            raise SourceError(Problem(definition.file, what, key=key)) from None

    unset: list[str] = []
    for word in words:
        unset += _unset(word, reader)
    if not unset:
        return [reader.expanded_here(word, definition.file, key) for word in words]

    problem = Problem(definition.file, f"{text}: ${unset[0]} is not set", key=key)
    if not is_optional(text):
        raise SourceError(problem)
    reader.report(problem)
    return None


def _calls(
    references: "Mapping[str, str]", reader: "Offers", definition: "Definition"
) -> "list[Call]":
    """Group the references into calls: one for each plugin scheme, each program and each file."""
    providers = _providers(reader, for_file=ENV_FILES in references)

    # The references of a call by what tells the call from others, which begins with its provider
    # and the folders of its plugin.
    calls: dict[tuple[Any, ...], dict[str, Any]] = {}
    for key, text in references.items():
        scheme, _, _ = text.partition(":")
        words = _expanded_words(text, reader, definition, key)
        if words is None:
            continue

        reference: Any
        if scheme == "run":
            reference = tuple(words)
            call = ("run", (), *words)
        elif scheme == "file":
            reference = _checked_path(words[0], definition)
            call = ("file", (), reference)
        elif scheme in providers:
            reference = f"{scheme}:{words[0]}"
            call = (*providers[scheme], scheme)
        else:
            known = ", ".join(sorted({"file", "run", *providers}))
            what = f"{text}: unknown scheme {scheme}; known schemes: {known}"
            remedy = "for more schemes, add a plugin such as pip:cli-host-secrets"
            raise SourceError(Problem(definition.file, what, remedy, key))

        references_of_call = calls.setdefault(call, {})
        references_of_call[key] = reference

    grouped: list[Call] = []
    for (provider, folders, *_), references_of_call in calls.items():
        grouped.append((provider, folders, references_of_call))
    return grouped


def _checked_path(path: str, definition: "Definition") -> str:
    """Return the absolute path of a secret's file; in a project, only its owner may write it."""
    absolute = join(definition.directory, path)
    if definition.project is not None:
        definition.project.check(absolute)
    return absolute


def _providers(
    reader: "Offers", *, for_file: bool
) -> "dict[str, tuple[str, tuple[str, ...]]]":
    """Return the provider of each plugin scheme, and the folders of its plugin.

    With `for_file`, it is the provider of references in `env_files`, if the plugin has one.
    """
    providers = {}
    for declared in reversed(reader.schemes):
        provider = declared.provider
        if for_file and declared.file_provider:
            provider = declared.file_provider
        providers[declared.scheme] = (provider, tuple(declared.folders))
    return providers


def _has_terminal() -> bool:
    """Return whether this process is in the foreground of a terminal."""
    try:
        # /dev/tty, because stderr may be a file
        with open("/dev/tty", "rb") as terminal:
            return posix.tcgetpgrp(terminal.fileno()) == posix.getpgrp()
    except OSError:
        return False
