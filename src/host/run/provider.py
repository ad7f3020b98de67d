"""A plugin's source written in Python, asked in a process of its own."""

from host.errors import HostError, PluginError, SourceError
from host.run.child_process import TIMEOUT_VARIABLE, fork_and_read, time_limit
from host.run.expand import is_name
from host.run.importing import complete_import_path, load_reference
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_REFUSED, _NOT_LOADED = "refused", "not loaded"


def ask_provider(
    plugin: str,
    reference: str,
    words: tuple[str, ...],
    environ: "Mapping[str, str]",
) -> dict[str, str]:
    """Return what the provider `reference` of `plugin` answers for the command `words`.

    It gets the words and a copy of the environment so far. Raises PluginError when it cannot
    be imported, SourceError when it fails, answers nonsense or takes longer than a
    settings.conf may.
    """
    import marshal

    owner = f"plugin {plugin}: {reference}"
    timeout = time_limit(environ)

    def question() -> bytes:
        return marshal.dumps(_answer(reference, words, dict(environ))).hex().encode()

    said = fork_and_read(question, timeout)
    if said is None:
        raise SourceError(
            f"{owner}: did not answer within {timeout:g} s",
            f"set {TIMEOUT_VARIABLE} to more seconds if it needs them",
        )
    try:
        failure, answer = marshal.loads(bytes.fromhex(said.decode()))  # noqa: S302 - our child's
    except (ValueError, EOFError, TypeError):
        raise SourceError(f"{owner}: ended its process instead of answering") from None
    if failure == _NOT_LOADED:
        raise PluginError(f"plugin {plugin}: {answer}")
    if failure:
        raise SourceError(f"{owner}: {answer}")
    return {decode(name): decode(value) for name, value in answer.items()}


def _answer(
    reference: str, words: tuple[str, ...], environ: dict[str, str]
) -> "tuple[str, dict[bytes, bytes] | str]":
    """Return "" and the provider's variables, or what kind of failure there is, and its words."""
    try:
        complete_import_path()
        return "", _checked(load_reference(reference)(words, environ))
    except PluginError as failure:
        return _NOT_LOADED, str(failure)
    except HostError as failure:
        return _REFUSED, str(failure)
    except (Exception, SystemExit, KeyboardInterrupt) as failure:  # noqa: BLE001 - whatever it is
        return _REFUSED, f"raised {type(failure).__name__}: {failure}"


def _checked(values: "Any") -> dict[bytes, bytes]:
    if not isinstance(values, dict):
        raise SourceError(f"expected a dict of strings, not {type(values).__name__}")
    found = {}
    for name, value in values.items():
        if not (isinstance(name, str) and is_name(name) and isinstance(value, str)):
            raise SourceError("expected names of variables with strings as values")
        if "\0" in value:
            raise SourceError(f"{name} holds a NUL")
        try:
            found[encode(name)] = encode(value)
        except UnicodeEncodeError:
            raise SourceError(f"{name} holds half a character, which is no text") from None
    return found
