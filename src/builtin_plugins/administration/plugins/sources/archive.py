"""Plugins from .tar.gz and .zip, by path or address."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from builtin_plugins.administration.plugins.sources.parse import Origin
from builtin_plugins.administration.plugins.sources.staged import Staged, bring_file, described
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.io.archive import MOST_BYTES, MOST_FILES, Rules, extract


def fetch(origin: Origin, tx: Transaction) -> Staged:
    """Stage an archive's plugin; members are judged before one is written."""
    packed = Path(tx.area, "archive")
    wanted = origin.wanted
    sha256 = bring_file(origin.address, wanted.sha256, packed, tx)
    rules = Rules(stays=_is_category, members=MOST_FILES, size=MOST_BYTES)
    extract(packed, Path(tx.tree), rules, called=wanted.source, seconds=tx.seconds)
    packed.unlink()
    return described(wanted.replaced(sha256=sha256), tx.tree)


def _is_category(paths: Collection[str]) -> bool:
    """Tell whether the one leading directory of an archive is the plugin's, not its wrapping."""
    inside = [path.split("/")[1:] for path in paths]
    if ["plugin.json"] in inside:
        return False
    return any(
        one in (["category.json"], ["command.json"]) or one[1:] == ["command.json"]
        for one in inside
    )
