"""What is wrong with one command.json or category.json."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from builtin_plugins.self_commands.lint.finding import Finding, of_error
from builtin_plugins.self_commands.lint.positions import Positions
from builtin_plugins.self_commands.lint.references import reference_findings
from host import Argument, Definition, HostError, is_secret
from host.run.definition import read_definition
from host.run.paths import read_regular

_LARGEST = 16 * 1024 * 1024
# Keys of what stands in a definition: by its key, and how deep they are.
_KEYS_INSIDE: dict[tuple[str | int, int], Collection[str | int]] = {
    ("args", 3): Argument.__slots__,
    ("examples", 3): ("command", "description"),
    ("installed_when", 2): ("command", "path"),
}
_OWN_MARKS = ("x-", "_", "$")


def positions_in(file: str) -> Positions:
    """Return where the keys of `file` stand; of one that cannot be read, nothing."""
    try:
        content = read_regular(file, _LARGEST, HostError)
        return Positions(content.decode("utf-8-sig"))
    except (HostError, FileNotFoundError, UnicodeDecodeError):
        return Positions("")


class Linted:
    """One definition: `definition` is None where the reader refuses it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.positions = positions_in(file)
        self.definition: Definition | None = None
        self.refused: HostError | None = None
        try:
            self.definition = read_definition(file)
        except HostError as error:
            self.refused = error

    def findings(self, usual: frozenset[str], environ: Mapping[str, str]) -> Iterator[Finding]:
        """Yield what the reader and the other rules say; `usual` names are defined anyway."""
        definition = self.definition
        if self.refused:
            refused = self.refused
            yield of_error(self.file, self.positions, refused.what, remedy=refused.remedy)
        if definition is None:
            return
        for line in definition.warnings:
            yield of_error(self.file, self.positions, line)
        yield from self._unknown_keys(definition)
        foreign = definition.foreign_systems()
        if foreign:
            yield self.at(("os",), foreign.partition('"os": ')[2])
        for name, value in definition.envs.items():
            if is_secret(name) and value and "$" not in value:
                yield self.at(
                    ("envs", name),
                    f"{name} looks like a secret, written where everybody reads it; keep it in "
                    "the environment or a file of env_files, and name it in required_envs",
                    "secret",
                )
        yield from reference_findings(self, definition, usual, environ)

    def at(self, key: tuple[str | int, ...], text: str, rule: str = "definition") -> Finding:
        """Return a finding where `key` stands."""
        return Finding(self.file, *self.positions.place(key), rule, text)

    def _unknown_keys(self, definition: Definition) -> Iterator[Finding]:
        """Yield the keys that nothing reads; misspelt ones are told by the reader."""
        told = "\n".join(definition.warnings)
        keys: list[tuple[str | int, ...]] = [(key,) for key in definition.extra]
        for path in self.positions.offsets:
            inside = (path[0], len(path))
            if inside in _KEYS_INSIDE and path[-1] not in _KEYS_INSIDE[inside]:
                keys.append(path)
        for path in keys:
            key = str(path[-1])
            if not key.startswith(_OWN_MARKS) and f'unknown key "{key}"' not in told:
                yield self.at(path, f'unknown key "{key}"; begin it with x- if it is your own')


def alias_findings(words: Collection[str], commands: Sequence[Linted]) -> Iterator[Finding]:
    """Yield the aliases in one category that never count, as something else goes before.

    `words` are those of its directories, `commands` its commands in the order of their words.
    """
    taken: dict[str, str] = {}
    for one in commands:
        aliases = one.definition.aliases if one.definition else ()
        for index, alias in enumerate(aliases):
            owner = "the word" if alias in words else taken.setdefault(alias, one.file)
            if owner != one.file:
                key = ("aliases", index)
                text = f'"aliases": {alias} is taken by {owner}, which goes before; take another'
                yield one.at(key, text, "alias")
