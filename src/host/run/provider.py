"""Call a plugin's provider of variables in a child process."""

from host.errors import Problem, SourceError
from host.run.child_process import TIMEOUT_VARIABLE, fork_and_read, time_limit
from host.run.expand import is_name
from host.run.importing import complete_import_path, load_reference
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def ask_provider(
    plugin: str, reference: str, words: tuple[str, ...], environ: "Mapping[str, str]"
) -> dict[str, str]:
    """Return the variables from the provider `reference` of `plugin` for the command `words`.

    It gets the words and a copy of the current environment. Raises SourceError if it cannot be
    imported, fails, returns anything but a dict of strings, or exceeds CLI_SETTINGS_TIMEOUT.
    """

    def question() -> dict[str, str]:
        complete_import_path()
        return _checked(load_reference(reference)(words, dict(environ)))

    owner = f"plugin {plugin}: {reference}"
    try:
        found: dict[str, str] = fork_and_read(question, time_limit(environ))
    except TimeoutError as failure:
        remedy = f"set {TIMEOUT_VARIABLE} to more seconds if it needs them"
        raise SourceError(Problem(owner, str(failure), remedy)) from None
    except ChildProcessError as failure:
        raise SourceError(Problem(owner, str(failure).removeprefix(f"{reference}: "))) from None
    return found


def _checked(values: "Any") -> dict[str, str]:
    if not isinstance(values, dict):
        raise SourceError(f"expected a dict of strings, not {type(values).__name__}")
    for name, value in values.items():
        if not (isinstance(name, str) and is_name(name) and isinstance(value, str)):
            raise SourceError("expected names of variables with strings as values")
        if b"\0" in encode(value):
            raise SourceError(f"{name} holds a NUL")
    return {str(name): str(value) for name, value in values.items()}
