"""The reference of the public names: the page in the repository is what their docstrings say."""

from __future__ import annotations

import pydoc
import re
import runpy

import host
import host.testing
from testing.installation import PROJECT


def test_the_page_is_made_of_the_docstrings() -> None:
    made = runpy.run_path(str(PROJECT / "docs/site/interface.py"))
    page = (PROJECT / "docs/interface.md").read_text()
    assert "".join(made["interface_page"]()) == page, (
        "call: python docs/site/interface.py"
    )
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
    page = (PROJECT / "docs/interface.md").read_text()
    assert re.findall(r"^\|.*[^|\n]$|^[a-z_]+ {3,}.*$", page, re.MULTILINE) == []


def test_each_record_has_one_whole_table() -> None:
    page = (PROJECT / "docs/interface.md").read_text()
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
