"""Call a plugin's provider of variables in a child process."""

from host.errors import Problem, SourceError
from host.processes.bounded_child import supervise_call
from host.processes.bounds import limit_from
from host.processes.importing import complete_import_path, enter_plugin, load_reference
from host.text import encode
from host.words import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def call_provider(
    plugin: str,
    folders: "Sequence[str]",
    reference: str,
    words: tuple[str, ...],
    environ: "Mapping[str, str]",
) -> dict[str, str]:
    """Return the variables from the provider `reference` of `plugin` for the command `words`.

    `folders` has the packages of the plugin.
    The provider gets the words and a copy of `environ`. Raises SourceError if the provider cannot
    be imported, fails, returns anything but a dict of strings, or exceeds CLI_SETTINGS_TIMEOUT.
    """

    def variables() -> dict[str, str]:
        complete_import_path()
        enter_plugin(folders)
        provider = load_reference(reference)
        answer = provider(words, dict(environ))
        if not _has_variables(answer):
            what = "expected a dict that maps variable names to strings without NUL"
            raise SourceError(what)

        # Subclasses of str and dict could not leave the child.
        return {str(name): str(value) for name, value in answer.items()}

    owner = f"plugin {plugin}: {reference}"
    limit = limit_from(environ)
    try:
        answer: dict[str, str] = supervise_call(variables, limit)
    except (TimeoutError, ChildProcessError) as failure:
        reason = str(failure).removeprefix(f"{reference}: ")
        raise SourceError(Problem(owner, reason)) from None
    return answer


def _has_variables(answer: "Any") -> bool:
    """Return whether a provider's answer is a dict of variables."""
    if not isinstance(answer, dict):
        return False
    return all(map(_is_variable, answer, answer.values()))


def _is_variable(name: "Any", value: "Any") -> bool:
    if not isinstance(name, str) or not isinstance(value, str):
        return False
    return is_name(name) and b"\0" not in encode(value)
