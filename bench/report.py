"""Figures of `bench/run --out FILE` → the tables of docs/performance.md, and plots beside FILE.

python bench/report.py docs/plots/figures.json
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

PAGE = Path(__file__).parent.parent / "docs/performance.md"

# What each case may cost at most, as a ratio to what stands behind it.
_FLOOR, _BARE = "floor", "bare interpreter"
_GOALS: dict[str, tuple[float, str]] = {
    "run, 10 commands": (1.5, _FLOOR),
    "run, 1,000 commands": (1.5, _FLOOR),
    "run, 10,000 commands": (1.5, _FLOOR),
    "run, 1 plugin": (1.5, _FLOOR),
    "run, 1 disabled plugin": (1.5, _FLOOR),
    "run, 100 plugins": (1.5, _FLOOR),
    "run inside a run": (3.15, _FLOOR),
    "run, settings.conf of ten assignments": (1.75, _FLOOR),
    "run, .env of ten lines": (1.5, _FLOOR),
    "run, three required programs": (1.575, _FLOOR),
    "run, everything at once": (2.0, _FLOOR),
    "run, recorded": (1.3, "ordinary run"),
    "a console script that pip made": (1.6, _FLOOR),
    "a console script that uv made": (1.6, _FLOOR),
    "Tab, 10 of 10 commands": (1.5, _FLOOR),
    "Tab, 100 of 10,000 commands": (1.5, _FLOOR),
    "--version": (1.6, _BARE),
    "listing of 10 commands": (3, _BARE),
    "listing of 100 commands, 10,000 in all": (3, _BARE),
    "root of 100 categories": (3, _BARE),
    "self list --format json, 100 commands": (4, _BARE),
    "self plugin list, 100 plugins": (4, _BARE),
    "self list --format json, 10,000 commands": (0.7, "loop over the tree"),
    "self search, 10,000 commands": (0.7, "loop over the tree"),
    "command in Python with click": (1.25, "time of `python -c 'import click'`"),
}
_KINDS = {"run": "A run", "list": "A listing", "complete": "A Tab completion"}
_THEME = """
svg { color: #24292f }
@media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }
text { fill: currentColor }
"""
_COLOURS = {
    "cli": "#5c6bc0", "just": "#e07a1f", "task": "#2a9d8f", "mise": "#8e44ad", "invoke": "#8d99ae",
}  # fmt: skip


def main() -> None:
    source = Path(sys.argv[1])
    found = json.loads(source.read_text())
    text = PAGE.read_text()
    for name, lines in {
        "machine": [_machine(found)],
        "goals": list(_goals(found)),
        "peers": list(_peers(found)),
    }.items():
        text = between(text, name, lines)
    PAGE.write_text(text)
    for what in _KINDS:
        plot(found, what, source.with_name(f"{what}.svg"))


def between(text: str, name: str, lines: Sequence[str]) -> str:
    """Put lines between the two marks of a name; a page without them stays as it is."""
    marks = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(
        f"({re.escape(marks[0])}\n).*?({re.escape(marks[1])})", re.DOTALL
    )
    return pattern.sub(lambda match: "\n".join([match[1], *lines, "", match[2]]), text)


def _machine(found: dict[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {version}" for name, version in found["versions"].items()
    )
    return (
        f"Measured on {found['date']}: {found['machine']}; {versions}. Each figure is the median "
        f"of {found['runs']} measurements, with the programs measured in turn, in "
        f"{len(found['takes'])} series."
    )


def _ratios(found: dict[str, Any], **wanted: object) -> dict[str, list[float]]:
    """Return the ratios of all takes by case, of the figures that have the `wanted` values."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for take in found["takes"]:
        for figure in take:
            if "ratio" in figure and all(
                figure.get(key) == one for key, one in wanted.items()
            ):
                ratios[figure["case"]].append(figure["ratio"])
    return ratios


def _span(ratios: Sequence[float]) -> str:
    low, high = min(ratios), max(ratios)
    digits = 0 if low >= 20 else 1 if low >= 5 else 2
    ends = dict.fromkeys([f"{low:.{digits}f}", f"{high:.{digits}f}"])
    return " to ".join(ends)


def _goals(found: dict[str, Any]) -> Iterator[str]:
    yield "| case | measured | at most | result |"
    yield "|---|---|---|---|"
    for case, ratios in _ratios(found, what=None).items():
        limit, base = _GOALS[case]
        kept = "met" if max(ratios) <= limit else "**missed**"
        goal = f"{limit:g} \N{MULTIPLICATION SIGN} the {base}"
        yield f"| {case} | {_span(ratios)} | {goal} | {kept} |"
    for take in found["takes"][:1]:
        for figure in take:
            if figure["kind"] == "memory":
                kept = "met" if figure["mebibytes"] <= 10 else "**missed**"
                yield f"| {figure['case']} | {figure['mebibytes']:.1f} MiB | 10 MiB | {kept} |"


def _peers(found: dict[str, Any]) -> Iterator[str]:
    names = [name for name in _COLOURS if name == "cli" or name in found["versions"]]
    for what, title in _KINDS.items():
        yield f"| {title}: ratio to the floor, by number of commands | {' | '.join(names)} |"
        yield f"|---|{'---|' * len(names)}"
        for size in (10, 100, 1000, 10_000):
            ratios = _ratios(found, what=what, size=size)
            cells = [
                _span(ratios[name]) if ratios.get(name) else "over 10 s"
                for name in names
            ]
            yield f"| {size:,} | {' | '.join(cells)} |"
        yield ""


def plot(found: dict[str, Any], what: str, target: Path) -> None:
    """Draw the milliseconds of all programs against the number of commands, both as logarithms."""
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": what, "font.size": 11}
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    points: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in (
        one for take in found["takes"] for one in take if one.get("what") == what
    ):
        points[one["case"]][one["size"]].append(one["seconds"] * 1000)
    for name, colour in _COLOURS.items():
        sizes = sorted(points[name])
        middle = [
            sorted(points[name][size])[len(points[name][size]) // 2] for size in sizes
        ]
        width = 3 if name == "cli" else 1.5
        axes.plot(sizes, middle, marker="o", color=colour, linewidth=width, label=name)
    axes.set(xscale="log", yscale="log", xlabel="commands", ylabel="milliseconds")
    axes.set_title(f"{_KINDS[what]}: time by number of commands", loc="left")
    axes.grid(which="major", alpha=0.25)
    axes.legend(frameon=False)
    figure.savefig(target, metadata={"Date": None, "Creator": None}, transparent=True)
    target.write_text(themed(target.read_text()))


def themed(svg: str) -> str:
    """Let black follow the page: dark on a light page, light on a dark one."""
    return svg.replace("#000000", "currentColor").replace(
        "</style>", f"{_THEME}</style>", 1
    )


if __name__ == "__main__":
    main()
