"""A plugin's source written in Python, asked in a process of its own."""

from host.errors import HostError, Problem, SourceError
from host.run.child_process import TIMEOUT_VARIABLE, fork_and_read, time_limit
from host.run.expand import is_name
from host.run.importing import complete_import_path, load_reference
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def ask_provider(
    plugin: str, reference: str, words: tuple[str, ...], environ: "Mapping[str, str]"
) -> dict[str, str]:
    """Return what the provider `reference` of `plugin` answers for the command `words`.

    It gets the words and a copy of the environment so far. Raises SourceError if it cannot be
    imported, fails, answers nonsense or takes longer than a settings.conf may.
    """
    import marshal

    owner = f"plugin {plugin}: {reference}"
    timeout = time_limit(environ)

    def question() -> bytes:
        return marshal.dumps(_answer(reference, words, dict(environ))).hex().encode()

    report = fork_and_read(question, timeout)
    if report is None:
        remedy = f"set {TIMEOUT_VARIABLE} to more seconds if it needs them"
        raise SourceError(Problem(owner, f"did not answer within {timeout:g} s", remedy))
    if not report:
        raise SourceError(Problem(owner, "ended its process instead of answering"))
    failure, answer = marshal.loads(bytes.fromhex(report.decode()))  # noqa: S302 - our child's
    if failure:
        raise SourceError(Problem(owner, failure))
    return {decode(name): decode(value) for name, value in answer.items()}


def _answer(
    reference: str, words: tuple[str, ...], environ: dict[str, str]
) -> tuple[str, dict[bytes, bytes]]:
    """Return "" and the provider's variables, or what is wrong."""
    try:
        complete_import_path()
        return "", _checked(load_reference(reference)(words, environ))
    except HostError as failure:
        return str(failure).removeprefix(f"{reference}: "), {}
    except (Exception, SystemExit, KeyboardInterrupt) as failure:  # noqa: BLE001 - whatever it is
        return f"raised {type(failure).__name__}: {failure}", {}


def _checked(values: "Any") -> dict[bytes, bytes]:
    if not isinstance(values, dict):
        raise SourceError(f"expected a dict of strings, not {type(values).__name__}")
    found = {}
    for name, value in values.items():
        if not (isinstance(name, str) and is_name(name) and isinstance(value, str)):
            raise SourceError("expected names of variables with strings as values")
        if "\0" in value:
            raise SourceError(f"{name} holds a NUL")
        found[encode(name)] = encode(value)
    return found
