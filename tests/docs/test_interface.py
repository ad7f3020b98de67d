"""The reference of the public names, which is made of their docstrings."""

from __future__ import annotations

import pydoc
import re
import runpy

import host
import host.testing
from testing.installation import PROJECT


def made_page() -> str:
    made = runpy.run_path(str(PROJECT / "docs/site/interface.py"))
    return "".join(made["interface_page"]())


def test_the_page_has_each_public_name_with_a_docstring() -> None:
    page = made_page()
    for name in host.__all__:
        assert f"\n### `{name}`\n" in page or name == "hookimpl", name
    for name in host.testing.__all__:
        assert f"\n### `{name}`\n" in page.partition("\n## Tests\n")[2], name
    undocumented = re.findall(
        r"^(#+ `.*`)\n\n```python\n(?:.+\n)+```\n\n\n", page, re.MULTILINE
    )
    assert undocumented == []
    assert not re.search(r"SPEC|CONTRACT", page)  # readers do not have these documents


def test_rows_of_tables_are_whole() -> None:
    page = made_page()
    assert re.findall(r"^\|.*[^|\n]$|^[a-z_]+ {3,}.*$", page, re.MULTILINE) == []


def test_each_record_has_one_whole_table() -> None:
    page = made_page()
    for name in ("EnvSource", "Installation", "Definition"):
        section = page.partition(f"\n### `{name}`\n")[2].partition("\n### ")[0]
        [table] = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
        shown = set(re.findall(r"`(\w+)`(?=[^|]*\|[^|]+\|$)", table, re.MULTILINE))
        assert set(getattr(host, name).__annotations__) - {"directory"} <= shown, name


def test_help_shows_the_public_names_and_the_fields_of_records() -> None:
    assert set(host.__all__) <= set(dir(host))
    shown = pydoc.plain(pydoc.render_doc("host.Command"))
    for name in host.Command.__annotations__:
        assert re.search(rf"^ \|  {name} ", shown, re.MULTILINE), name
