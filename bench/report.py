"""Figures of `bench/run --out FILE` → the tables of docs/performance.md, and plots beside FILE.

python bench/report.py docs/plots/figures.json
"""

from __future__ import annotations

import json
import re
import statistics
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
    "run, a plugin's before_run for others": (1.05, "run with a plugin"),
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
_MEBIBYTES = 10  # of a run, at most
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
    series = json.loads(source.read_text())
    parts = {
        "machine": [_machine(series)],
        "goals": list(_goals(series)),
        "peers": list(_peers(series)),
    }
    text = PAGE.read_text()
    for name, lines in parts.items():
        text = between(text, name, lines)
    PAGE.write_text(text)

    for what in _KINDS:
        plot(series, what, source.with_name(f"{what}.svg"))


def between(text: str, name: str, lines: Sequence[str]) -> str:
    """Put lines between the two marks of a name; a page without them stays as it is."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(f"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)

    # A function, because the lines may contain backslashes.
    def with_lines(match: re.Match[str]) -> str:
        return "\n".join([match[1], *lines, "", match[2]])

    return pattern.sub(with_lines, text)


def _machine(series: dict[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {version}" for name, version in series["versions"].items()
    )
    return (
        f"Measured on {series['date']}: {series['machine']}; {versions}. Each figure is the median "
        f"of {series['runs']} measurements, with the programs measured in turn, in "
        f"{len(series['takes'])} series."
    )


def _ratios(series: dict[str, Any], **values: object) -> dict[str, list[float]]:
    """Return the ratios of all takes by case, of the figures that have these values."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for take in series["takes"]:
        for figure in take:
            is_asked = all(figure.get(key) == value for key, value in values.items())
            if is_asked and "ratio" in figure:
                ratios[figure["case"]].append(figure["ratio"])
    return ratios


def _span(ratios: Sequence[float]) -> str:
    low = min(ratios)
    high = max(ratios)
    if low >= 20:
        digits = 0
    elif low >= 5:
        digits = 1
    else:
        digits = 2
    ends = dict.fromkeys([f"{low:.{digits}f}", f"{high:.{digits}f}"])
    return " to ".join(ends)


def _goals(series: dict[str, Any]) -> Iterator[str]:
    yield "| case | measured | at most | result |"
    yield "|---|---|---|---|"
    for case, ratios in _ratios(series, what=None).items():
        limit, base = _GOALS[case]
        result = _result(max(ratios), limit)
        goal = f"{limit:g} \N{MULTIPLICATION SIGN} the {base}"
        yield f"| {case} | {_span(ratios)} | {goal} | {result} |"

    # The memory of a run is the same in each take.
    for figure in series["takes"][0]:
        if figure["kind"] == "memory":
            mebibytes = figure["mebibytes"]
            result = _result(mebibytes, _MEBIBYTES)
            measured = f"{mebibytes:.1f} MiB | {_MEBIBYTES} MiB"
            yield f"| {figure['case']} | {measured} | {result} |"


def _result(value: float, limit: float) -> str:
    return "met" if value <= limit else "**missed**"


def _peers(series: dict[str, Any]) -> Iterator[str]:
    names = [name for name in _COLOURS if name == "cli" or name in series["versions"]]
    for what, title in _KINDS.items():
        yield f"| {title}: ratio to the floor, by number of commands | {' | '.join(names)} |"
        yield f"|---|{'---|' * len(names)}"
        for size in (10, 100, 1000, 10_000):
            ratios = _ratios(series, what=what, size=size)
            cells = []
            for name in names:
                cells.append(_span(ratios[name]) if name in ratios else "over 10 s")
            yield f"| {size:,} | {' | '.join(cells)} |"
        yield ""


def plot(series: dict[str, Any], what: str, target: Path) -> None:
    """Draw the milliseconds of all programs against the number of commands, both as logarithms."""
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": what, "font.size": 11}
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.add_subplot()

    for name, colour in _COLOURS.items():
        points = _milliseconds(series, what, name)
        sizes = sorted(points)
        middles = [statistics.median_high(points[size]) for size in sizes]
        width = 3 if name == "cli" else 1.5
        axes.plot(sizes, middles, marker="o", color=colour, linewidth=width, label=name)

    axes.set(xscale="log", yscale="log", xlabel="commands", ylabel="milliseconds")
    axes.set_title(f"{_KINDS[what]}: time by number of commands", loc="left")
    axes.grid(which="major", alpha=0.25)
    axes.legend(frameon=False)
    figure.savefig(target, metadata={"Date": None, "Creator": None}, transparent=True)
    target.write_text(themed(target.read_text()))


def _milliseconds(
    series: dict[str, Any], what: str, case: str
) -> dict[int, list[float]]:
    """Return the milliseconds of all takes by the number of commands."""
    milliseconds: dict[int, list[float]] = defaultdict(list)
    for take in series["takes"]:
        for figure in take:
            if figure.get("what") == what and figure["case"] == case:
                milliseconds[figure["size"]].append(figure["seconds"] * 1000)
    return milliseconds


def themed(svg: str) -> str:
    """Let black follow the page: dark on a light page, light on a dark one."""
    svg = svg.replace("#000000", "currentColor")
    return svg.replace("</style>", f"{_THEME}</style>", 1)


if __name__ == "__main__":
    main()
