"""Write the page of the file formats from the table of keys when the site is built."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from host.keys import ALTERNATIVES, FILES, OBJECTS, keys_of, words_of

_KEYS = Path(__file__).parents[2] / "release" / "keys.py"
_PAGE = "formats.md"
_HEAD = """# File formats

This page lists the keys of each JSON file. Every installation has a JSON Schema for each of them in
`core/schema/`. Files that the program writes name their schema in `$schema`, so that editors can
complete and check the keys. `cli self lint` checks the files, too. [The reference](reference.md)
explains the rules between keys.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of the file formats."""
    files.append(File.generated(config, _PAGE, content="".join(formats_page())))
    return files


def formats_page() -> Iterator[str]:
    """Yield a section for each file that the program reads, with a table of its keys."""
    generator = runpy.run_path(str(_KEYS))
    yield _HEAD
    for name, file in FILES.items():
        address = generator["schema"](name)["$id"]
        yield f"\n## `{file.title}`\n\n{file.meaning}\n\n[{name}.schema.json]({address})\n\n"
        yield generator["table"](name, _PAGE)
        for place, kind in _objects(name, ""):
            yield f"\n### Objects in `{place}`\n\n{generator['table'](kind, _PAGE)}"


def _objects(kind: str, inside: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the kind of each object in a value, such as "args.choices"."""
    if kind in FILES and FILES[kind].base:
        return  # they are in the section of that file

    for key in keys_of(kind).values():
        for word in _words(key.type):
            if word in OBJECTS:
                place = f"{inside}{key.name}"
                yield place, word
                yield from _objects(word, f"{place}.")


def _words(type_of_key: str) -> list[str]:
    """Return all words in the type of a key: "object of arguments" has "argument", too."""
    alone, items = words_of(type_of_key)
    words = [*alone, *items]
    for word in alone:
        value = word.removeprefix("object of ").removesuffix("s")
        words += ALTERNATIVES.get(value, ())
    return words
