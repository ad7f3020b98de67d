"""Check that the programs in a command's `requires` are installed, in the right versions.

Only a run of a command with `requires` loads this module.
"""

import posix

from host.errors import HostError, MissingError, Problem
from host.run import basename, find_program, read_regular, realpath
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from host.run.lock import Lock
    from host.run.requirements import Requirement

_SECONDS = 5.0  # for `PROGRAM --version`
_MOST_PRINTED = 1 << 16  # bytes


def check_programs(
    requires: "Iterable[Requirement]",
    words: "Sequence[str]",
    program: str,
    environ: "Mapping[str, str]",
    lock: "Lock",
    known: str,
) -> None:
    """Raise MissingError if required programs are missing or have the wrong version.

    `words` and `environ` belong to the command; `known` is the path of the version cache.
    """
    faults = [(one, text) for one in requires if (text := fault(one, environ, known))]
    if not faults:
        return
    alone = len(faults) == 1
    remedies = [(one.program, remedy_of(one, program, lock)) for one, _ in faults]
    found = [remedy if alone else f"{name}: {remedy}" for name, remedy in remedies if remedy]
    needs = ", ".join([f"{one} ({text})" for one, text in faults])
    remedy = "; ".join(found) or ("install it" if alone else "install them")
    raise MissingError(Problem(" ".join(words), f"needs {needs}", remedy))


def fault(one: "Requirement", environ: "Mapping[str, str]", known: str) -> str:
    """Return why a program does not satisfy a requirement, "" if it does."""
    path = find_program(one.program, environ)
    if path is None:
        return "not on PATH"
    if not one.version:
        return ""
    version = _version(path, environ, known)
    if not version:
        return f"{path} --version prints no version"
    from host.run.requirements import satisfies

    return "" if satisfies(version, one.version) else f"{path} is {version}"


def remedy_of(one: "Requirement", program: str, lock: "Lock") -> str:
    """Return the remedy for a missing program: its hint, else the command `setup NAME`, else ""."""
    if one.hint:
        return one.hint
    from host.run.catalog import Catalog

    words = ("setup", one.program)
    found = Catalog(lock).find(words)
    is_tool = found.kind == "command" and found.words == words
    return f"{program} setup {one.program}" if is_tool else ""


def _version(path: str, environ: "Mapping[str, str]", known: str) -> str:
    """Return the version of a program, "" if it prints none; results are cached per file.

    The cache key contains the name, because one file can be several programs (busybox, shims).
    """
    status = posix.stat(path)
    file = f" {basename(path)} {realpath(path)}"
    identity = f" {status.st_mtime_ns} {status.st_size} {status.st_ino}{file}"
    try:
        lines = decode(read_regular(known, HostError)).splitlines()
    except (FileNotFoundError, HostError):
        lines = []
    for line in lines:
        if line.endswith(identity):
            return line.removesuffix(identity)
    version = _asked(path, environ)
    if version:
        from host.run.atomic import replace

        kept = [*(line for line in lines if not line.endswith(file)), version + identity]
        replace(known, encode("".join([f"{line}\n" for line in kept])), 0o600)
    return version


def _asked(path: str, environ: "Mapping[str, str]") -> str:
    """Return the first dotted number that `PROGRAM --version` prints, "" if there is none."""
    import re
    from subprocess import PIPE, STDOUT, Popen

    from host.run.child_process import fork_and_read

    env = {encode(name): encode(value) for name, value in environ.items()}

    def question() -> bytes:
        process = Popen([encode(path), "--version"], env=env, stdout=PIPE, stderr=STDOUT)
        return process.stdout.read(_MOST_PRINTED) if process.stdout else b""

    try:
        printed = fork_and_read(question, _SECONDS)
    except (TimeoutError, ChildProcessError):
        return ""
    found = re.search(rb"\d{1,19}(?:\.\d{1,19})+", printed)
    return found[0].decode() if found else ""
