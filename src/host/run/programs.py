"""Whether the programs that a command requires are there, and this program is new enough.

A run loads this only if a definition has `requires` or cli.json has `min_version`.
"""

import posix

from host.errors import DefinitionError, InstallationError, MissingError, Problem
from host.run import basename, dirname, find_program, join, read_regular, realpath
from host.run.lock import stamp
from host.run.requirements import Requirement, is_older, is_version
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from host.run.command import Config
    from host.run.lock import Lock

_PATIENCE = 5.0  # seconds for `PROGRAM --version`
_MOST_OUTPUT = 1 << 16  # bytes of it that are searched
_MOST_REMEMBERED = 1 << 20  # bytes
_REMEMBERED = "cli-host/versions"  # in the user's cache directory


def missing_programs(
    requires: "Iterable[Requirement]", environ: "Mapping[str, str]", cache_home: str
) -> "dict[Requirement, str]":
    """Return what is wrong with each requirement that is not met, on the PATH of `environ`.

    Versions are remembered below `cache_home`.
    """
    found = {}
    versions = _Versions(join(cache_home, _REMEMBERED), environ)
    for one in requires:
        path = find_program(one.program, environ)
        if path is None:
            found[one] = "not on PATH"
        elif one.version:
            version = versions.of(path, one.accepts)
            if not version:
                found[one] = f"{path} --version shows no version"
            elif not one.accepts(version):
                found[one] = f"{path} is {version}"
    versions.save()
    return found


def check_programs(
    words: "tuple[str, ...]",
    requires: "Iterable[Requirement]",
    environ: "Mapping[str, str]",
    cache_home: str,
    remedy: "Callable[[Requirement], str]",
) -> None:
    """Raise MissingError, with all that the command lacks in one line."""
    found = missing_programs(requires, environ, cache_home)
    if found:
        what = ", ".join([f"{one} ({reason})" for one, reason in found.items()])
        remedies = {one: remedy(one) for one in found}
        hints = [text for text in remedies.values() if text][:1]
        if len({*remedies.values()}) > 1:
            hints = [f"{one.program}: {text}" for one, text in remedies.items() if text]
        hint = "; ".join(hints) or "install what is missing, or put it on PATH"
        raise MissingError(Problem(" ".join(words), f"needs {what}", hint))


def remedy_for(requirement: Requirement, lock: "Lock", program: str) -> str:
    """Return the hint of a requirement, else `setup <tool>` if there is such a command, else ""."""
    if requirement.hint:
        return requirement.hint
    from host.run.catalog import Catalog

    words = ("setup", requirement.program)
    try:
        found = Catalog(lock).find(words)
    except DefinitionError:
        return ""
    runs = found.kind == "command" and found.words == words
    return f"run: {program} {' '.join(words)}" if runs else ""


class _Versions:
    """The versions of programs: those in the cache `file`, and those that are asked now.

    A line of the file is a path, its stamp and a version. The stamp is that of the file behind
    all links, so that a changed program is asked again.
    """

    def __init__(self, file: str, environ: "Mapping[str, str]") -> None:
        self._file = file
        self._environ = environ
        self._known: dict[str, tuple[str, str]] | None = None
        self._changed = False

    def of(self, path: str, is_enough: "Callable[[str], bool]") -> str:
        """Return the version of the program at `path`, "" if it shows none.

        A remembered version that is not enough is asked for again: the program may be a shim.
        """
        try:
            path = join(realpath(dirname(path) or "."), basename(path))
        except OSError:
            pass  # a deleted current directory
        if self._known is None:
            self._known = self._read()
        now = stamp(path)
        then, version = self._known.get(path, ("", ""))
        if then != now or not is_enough(version):
            version = _asked_version(path, self._environ)
            if version and "\n" not in path and "\t" not in path:
                self._changed |= self._known.get(path) != (now, version)
                self._known[path] = (now, version)
        return version

    def _read(self) -> dict[str, tuple[str, str]]:
        try:
            content = decode(read_regular(self._file, _MOST_REMEMBERED, DefinitionError))
        except (OSError, DefinitionError):
            return {}
        rows = [line.split("\t") for line in content.split("\n")]
        return {row[0]: (row[1], row[2]) for row in rows if len(row) == 3 and is_version(row[2])}

    def save(self) -> None:
        if self._changed and self._known:
            import os

            lines = ["\t".join([path, *values]) + "\n" for path, values in self._known.items()]
            beside = f"{self._file}.{posix.getpid()}"
            try:
                os.makedirs(dirname(self._file), exist_ok=True)
                with open(beside, "xb") as file:
                    file.write(encode("".join(lines)))
                posix.rename(beside, self._file)
            except OSError:
                pass  # then they are asked again


def _asked_version(path: str, environ: "Mapping[str, str]") -> str:
    """Return the first dotted number in the output of `PATH --version`, "" if there is none."""
    from host.run.child_process import fork_and_read

    def question() -> bytes:
        import re
        import subprocess
        import tempfile

        env = {encode(name): encode(value) for name, value in environ.items()}
        # Files: a process that the program leaves behind would keep a pipe open.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            subprocess.run(  # noqa: PLW1510 - whatever its status is
                [path, "--version"], env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )
            for file in (out, err):
                file.seek(0)
                match = re.search(rb"[0-9]+(?:\.[0-9]+)+", file.read(_MOST_OUTPUT))
                if match:
                    return match[0]
        return b""

    return decode(fork_and_read(question, _PATIENCE) or b"")


def check_min_version(config: "Config", lock: "Lock", path: str, program: str) -> None:
    """Raise InstallationError if cli.json needs a newer version of this program."""
    version = next((one.version for one in lock.plugins.values() if one.ours), "")
    if version and is_older(version, config.min_version):
        what = f"needs cli-host {config.min_version} or newer; this is {version}"
        raise InstallationError(Problem(path, what, f"run: {program} self update"))
