"""Draw what a terminal shows as SVG: a still picture, or a recording that scrolls."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from terminal import COLUMNS

LIGHT = TerminalTheme(
    (246, 248, 250),
    (36, 41, 47),
    [
        (36, 41, 47),
        (179, 29, 40),
        (17, 99, 41),
        (125, 78, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (36, 41, 47),
    ],
)
DARK = TerminalTheme(
    (27, 31, 42),
    (220, 225, 235),
    [
        (27, 31, 42),
        (255, 121, 121),
        (122, 214, 138),
        (240, 200, 110),
        (122, 170, 255),
        (214, 150, 235),
        (112, 208, 224),
        (220, 225, 235),
    ],
)
_BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img">
<rect width="{width}" height="20" rx="3" fill="#444c56"/>
<path d="M{left} 0h{right}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right}z" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{name_at}" y="14">{name}</text><text x="{value_at}" y="14">{value}</text></g>
</svg>
"""
# A reader who wants no motion sees the first screen; the pictures without motion show all lines.
_MOTION = """\
@media (prefers-reduced-motion: no-preference) {{
@keyframes appear {{ from {{ opacity: 0 }} }}
@keyframes type {{ from {{ clip-path: inset(0 100% 0 0) }} to {{ clip-path: inset(0 0 0 0) }} }}
text {{ animation: appear .01s both }}
{rules}
}}
"""
_SCREEN = 23  # lines of the recording that are visible at the same time
_LINE_HEIGHT = 24.4  # of rich's pictures
_TYPING = 0.06  # seconds per typed letter in the recording
_READING = 0.12  # seconds per line of output
_PAUSE = 0.9  # seconds before the next command
# The fonts are those of the reader's own system: a picture loads nothing.
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "SF Mono", Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: {char_height}px; }}
.{unique_id}-title {{ font: bold 18px system-ui, sans-serif; }}
{styles}
</style>
<defs>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
_TERMINAL = '<g transform="translate({terminal_x}, {terminal_y})">'
# In the recording, the lines move up behind a screen of fixed height.
_SCROLLING_TERMINAL = (
    '<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-screen)">'
    '\n<g class="scroll">'
)
_SCREEN_CLIP = """\
<clipPath id="{unique_id}-screen">
<rect width="{terminal_width}" height="{screen_height}"/>
</clipPath>
</defs>"""


def terminal_picture(
    name: str, text: str, theme: TerminalTheme, *, moving: bool = False
) -> str:
    """Return a picture of a terminal, animated if `moving`."""
    wrapped: list[Text] = []
    for line in Text.from_ansi(text.expandtabs().rstrip("\n")).split():
        wrapped += line.divide(range(COLUMNS, len(line), COLUMNS))
    if not moving:
        return _exported(name, wrapped, theme, _SVG)

    # The frame is that of the first screen; all lines move up behind it.
    parts = _exported(
        name, wrapped[:_SCREEN], theme, "{height}\f{chrome}\f{terminal_height}"
    )
    height, chrome, screen_height = parts.split("\f")

    clip = _SCREEN_CLIP.replace("{screen_height}", screen_height)
    frame = chrome.replace("{", "{{").replace("}", "}}")
    motion = _MOTION.replace("{rules}", _timeline([line.plain for line in wrapped]))
    template = _SVG.replace("</defs>", clip)
    template = template.replace("{height}", height)
    template = template.replace("{chrome}", frame)
    template = template.replace(_TERMINAL, _SCROLLING_TERMINAL)
    template = template.replace("</g>\n</svg>", "</g>\n</g>\n</svg>")
    template = template.replace("</style>", f"{motion}</style>")
    return _exported(name, wrapped, theme, template)


def _exported(name: str, lines: list[Text], theme: TerminalTheme, template: str) -> str:
    console = Console(
        file=io.StringIO(), record=True, width=COLUMNS, color_system="truecolor"
    )
    console.print(Text("\n").join(lines), soft_wrap=True, end="")
    svg = console.export_svg(
        title="acme", theme=theme, unique_id=f"acme-{name}", code_format=template
    )

    # Each text gets its line as a class, which the rules of the recording name.
    return re.sub(r'(<text class="[^"]*)("[^>]*-line-(\d+)\))', r"\1 l\3\2", svg)


def _timeline(lines: list[str]) -> str:
    """Return the CSS that shows the lines one after another, as if typed and printed.

    The first two commands and their output are there from the start, so that the picture, of which
    some readers see only the first frame, shows what the program does.
    The fill mode is "backwards": with "both", Chromium can hide the last letter of a line.
    """
    prompts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    begin = prompts[2]
    rules = [f".l{number} {{{{ animation: none }}}}" for number in range(begin)]

    shown: list[float] = [0.0] * begin  # when each line appears
    now = 0.0
    for number, line in enumerate(lines[begin:], begin):
        if line.startswith("$ "):
            now += _PAUSE
            shown.append(now)
            letters = len(line)
            duration = letters * _TYPING
            typing = f"type {duration:.2f}s steps({letters}) {now:.2f}s backwards"
            rules.append(f".l{number} {{{{ animation: {typing} }}}}")
            now += duration
        else:
            rules.append(f".l{number} {{{{ animation-delay: {now:.2f}s }}}}")
            shown.append(now)
        now += _READING

    rules += _scrolling(shown, now)
    return "\n".join(rules)


def _scrolling(shown: list[float], total: float) -> Iterator[str]:
    """Yield the CSS that moves the lines up when the screen is full."""
    yield "@keyframes scroll {{"
    for number, time_shown in enumerate(shown[_SCREEN:], 1):
        percent = 100 * time_shown / total
        yield _keyframe(f"{percent:.3f}", number)
    yield _keyframe("100", len(shown) - _SCREEN)
    yield "}}"
    yield f".scroll {{{{ animation: scroll {total:.2f}s step-end both }}}}"


def _keyframe(percent: str, lines: int) -> str:
    """Return the CSS for a time at which that many lines are above the screen."""
    offset = lines * _LINE_HEIGHT
    return f"{percent}% {{{{ transform: translateY(-{offset:.1f}px) }}}}"


def badge(name: str, value: str, colour: str) -> str:
    """Return a badge: a name, and a value on a coloured ground."""
    left = _width(name)
    right = _width(value)
    return _BADGE.format(
        name=name,
        value=value,
        colour=colour,
        width=left + right,
        left=left,
        right=right - 3,
        name_at=left / 2,
        value_at=left + right / 2,
    )


def _width(word: str) -> int:
    """Return the pixels for a word of a badge, with its margins."""
    return 7 * len(word) + 12
