"""What the lock knows of a click command: its subcommands, and which of its words are secret."""

from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any


class Subcommand(Record):
    """A subcommand of a click command, for listings and search.

    words         its words, without those of the declared command
    description   its short help
    hidden        whether it, or a group above it, is hidden
    """

    words: tuple[str, ...]
    description: str
    hidden: bool


class SecretOption(Record):
    """The names of a secret option, such as ("-p", "--password"), and how many words it takes."""

    names: tuple[str, ...]
    count: int

    def secret_part(self, word: str) -> tuple[str, int]:
        """Return what stands before a secret in `word`, or "", and how many words follow it."""
        shortest = ""
        following = 0
        for name in self.names:
            part = _behind_long if _is_long(name) else _behind_short
            before, is_name = part(name, word)
            if before:
                following = max(following, self.count - 1)
                if not shortest or len(before) < len(shortest):
                    shortest = before
            elif is_name:
                following = self.count
        return shortest, following


class ClickTree(Record):
    """What a click command tells when the lock is built; it says everything else when asked.

    subcommands           on all levels, sorted by words
    secret_options        the options of all levels whose values are secret
    has_secret_argument   whether a positional argument of a level is secret
    masks_options         whether also words that begin with `-` may be secret, or have a secret
    is_whole              whether all levels could be read
    """

    subcommands: tuple[Subcommand, ...]
    secret_options: tuple[SecretOption, ...]
    has_secret_argument: bool
    masks_options: bool
    is_whole: bool

    @property
    def has_secrets(self) -> bool:
        """Whether a word of a command line may be secret."""
        return bool(self.secret_options) or self.has_secret_argument

    def masked(self, words: "Sequence[str]") -> list[str]:
        """Return the words behind those of the command with `********` in place of secrets.

        Nothing is parsed: what follows a name of a secret option is masked wherever the name
        stands. With a secret argument, every word is that is no option and no subcommand; with
        `masks_options`, every word that is no subcommand. Of a tree that could not be read, all
        words are.
        """
        from host.arguments.parser import (
            HIDDEN,
        )  # only few runs show their arguments

        if not self.is_whole:
            return [HIDDEN] * len(words)

        shown = list(words)
        if self.has_secret_argument or self.masks_options:
            for index in self._loose_words(words):
                shown[index] = HIDDEN
        for option in self.secret_options:
            for index, word in enumerate(words):
                before, following = option.secret_part(word)
                masked = before + HIDDEN
                # The letters of a short option may stand in the value of another one, too.
                if before and (shown[index] == word or len(masked) < len(shown[index])):
                    shown[index] = masked
                for position in range(index + 1, index + 1 + following):
                    if position < len(shown):
                        shown[position] = HIDDEN
        return shown

    def below(self, words: "Sequence[str]") -> list[tuple[str, str]]:
        """Return the subcommands directly below the subcommand `words`, with their help.

        Hidden ones are left out, unless the user has typed that they are in a hidden group.
        """
        above = tuple(words)
        rows = []
        is_hidden = False
        for subcommand in self.subcommands:  # a group stands before what is in it
            if subcommand.words == above:
                is_hidden = subcommand.hidden
            elif subcommand.words[:-1] == above and subcommand.hidden == is_hidden:
                rows.append((subcommand.words[-1], subcommand.description))
        return rows

    def _loose_words(self, words: "Sequence[str]") -> "Iterator[int]":
        """Yield the indexes of the words that are no subcommands and, as a rule, no options."""
        names: set[str] = set()
        for subcommand in self.subcommands:
            names.update(subcommand.words)

        is_ended = False  # behind `--`, no word is an option
        for index, word in enumerate(words):
            if word == "--" and not is_ended:
                is_ended = True
            elif word.startswith("-") and len(word) > 1 and not is_ended:
                if self.masks_options:
                    yield index
            elif word not in names:
                yield index


def json_of(tree: ClickTree) -> "dict[str, Any]":
    """Return the tree as `tree_of_json` reads it: dicts, lists, texts and booleans."""
    subcommands = [subcommand.row() for subcommand in tree.subcommands]
    options = [option.row() for option in tree.secret_options]
    return {**tree.values(), "subcommands": subcommands, "secret_options": options}


def tree_of_json(values: "Mapping[str, Any]") -> ClickTree:
    """Return the tree that `json_of` describes."""
    subcommands = []
    for words, description, hidden in values["subcommands"]:
        subcommands.append(Subcommand(tuple(words), description, hidden))
    options = []
    for names, count in values["secret_options"]:
        options.append(SecretOption(tuple(names), count))
    return ClickTree(
        tuple(subcommands),
        tuple(options),
        values["has_secret_argument"],
        values["masks_options"],
        values["is_whole"],
    )


def _is_long(name: str) -> bool:
    """Return whether a value follows `=` behind a name, as behind `--name` and `-name`."""
    return name.startswith("--") or len(name) > 2


def _behind_long(name: str, word: str) -> tuple[str, bool]:
    """Return what stands before a value in `word`, and whether `word` is the option `name`."""
    typed, equals, _ = word.partition("=")
    # A program may accept its names in other spellings (`token_normalize_func`).
    is_name = _plain(typed) == _plain(name)
    if is_name and equals:
        return f"{typed}=", True
    return "", is_name


def _behind_short(name: str, word: str) -> tuple[str, bool]:
    """Return what `_behind_long` does, for a name such as `-p`; flags may stand before it."""
    if word.startswith(name):
        return (name if word != name else ""), True
    if not word.startswith("-") or word.startswith("--") or name[0] != "-":
        return "", False
    flags, letter, value = word.partition(name[1:])  # as in `-vpSECRET`
    return (f"{flags}{letter}" if value else ""), bool(letter)


def _plain(name: str) -> str:
    return name.replace("_", "-").casefold()
