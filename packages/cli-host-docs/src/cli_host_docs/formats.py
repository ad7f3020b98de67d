"""Pages as Markdown, HTML and man pages. Text from definitions is escaped in every format."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cli_host_docs.pages import (
    Block,
    Code,
    Heading,
    Links,
    Page,
    Paragraph,
    Terms,
    Words,
)
from host import printable

MADE = "Made by `docs build`; change the definitions of the commands instead."

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])|^(\s*\d*)([-+=.)])|(?<=[a-z])(:)(?=//)")
_ROFF = str.maketrans(
    {
        "\\": r"\(rs",
        "-": r"\-",
        "'": r"\(aq",
        "`": r"\(ga",
        '"': r"\(dq",
        "^": r"\(ha",
        "~": r"\(ti",
    }
)
_STYLE = (
    "body{max-width:50rem;margin:2rem auto;padding:0 1rem;font-family:sans-serif;line-height:1.5}"
    "code{background:#8883;padding:.1em .3em}pre code{display:block;padding:.5em;overflow:auto}"
)


def markdown_text(text: str) -> str:
    """Escape text for Markdown (CommonMark, GFM)."""
    return _SPECIAL.sub(_with_backslash, printable(text).strip())


def _with_backslash(match: re.Match[str]) -> str:
    special = match[1] or match[3] or match[4]
    return f"{match[2] or ''}\\{special}"


def markdown_code(text: str) -> str:
    """Return `text` as a code span whose fence is longer than any run of backticks in `text`."""
    text = printable(text)
    runs = [len(run) for run in re.findall("`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def markdown_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown."""
    return "\n\n".join(filter(None, map(_markdown_block, blocks))) + "\n"


def _markdown_block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Code(line):
            return f"    {printable(line)}"
        case Terms(rows):
            items = [(markdown_code(code), markdown_text(text)) for code, text in rows]
        case Links(rows):
            items = [
                (
                    f"[{markdown_text(' '.join(words))}]({_nested(words, 'md')})",
                    markdown_text(text),
                )
                for words, text in rows
            ]
    return "\n".join(
        f"- {term}: {text}" if text else f"- {term}" for term, text in items
    )


def _markdown(page: Page) -> str:
    title = [f"<!-- {MADE} -->", f"# {markdown_text(page.title)}"]
    blocks = markdown_blocks([Paragraph(page.description), *page.blocks])
    return "\n\n".join([*title, blocks])


def _html(page: Page) -> str:
    title = html.escape(printable(page.title))
    blocks = map(_html_block, [Paragraph(page.description), *page.blocks])
    lines = [
        "<!doctype html>",
        f"<!-- {MADE} -->",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *blocks,
        "</body></html>",
    ]
    return "\n".join(filter(None, lines)) + "\n"


def _html_block(block: Block) -> str:
    def text(raw: str) -> str:
        return html.escape(printable(raw))

    match block:
        case Heading(level, heading):
            return f"<h{level}>{text(heading)}</h{level}>"
        case Paragraph(paragraph):
            return f"<p>{text(paragraph)}</p>" if paragraph else ""
        case Code(line):
            return f"<pre><code>{text(line)}</code></pre>"
        case Terms(rows):
            items = [
                (f"<code>{text(code)}</code>", text(shown)) for code, shown in rows
            ]
        case Links(rows):
            items = [
                (
                    f'<a href="{_nested(words, "html")}">{text(" ".join(words))}</a>',
                    text(shown),
                )
                for words, shown in rows
            ]
    terms = "\n".join(f"<dt>{term}</dt><dd>{shown}</dd>" for term, shown in items)
    return f"<dl>\n{terms}\n</dl>"


def _roff(text: str) -> str:
    """Escape text for roff."""
    escaped = printable(text).strip().translate(_ROFF)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


def _man(page: Page) -> str:
    name = "-".join([page.program, *page.words])
    source = f"{page.program} {page.version}".rstrip()
    arguments = _roff(page.usage.removeprefix(page.title))
    lines = [
        rf".\" {MADE}",
        f'.TH "{_roff(name.upper())}" 1 "{page.date}" "{_roff(source)}" "User commands"',
        ".SH NAME",
        rf"{_roff(name)} \- {_roff(page.description or page.title)}",
        ".SH SYNOPSIS",
        rf"\fB{_roff(page.title)}\fR {arguments}".rstrip(),
        *(line for block in page.blocks for line in _man_block(block, page.program)),
    ]
    text = "\n".join(lines) + "\n"
    return re.sub(r"^(\.S[HS] .*\n)\.PP\n", r"\1", text, flags=re.MULTILINE)


def _man_block(block: Block, program: str) -> list[str]:
    match block:
        case Heading(level, text):
            return [f'.S{"H" if level == 2 else "S"} "{_roff(text.upper())}"']
        case Paragraph(text):
            return [".PP", _roff(text)] if text else []
        case Code(line):
            return [".PP", rf"\fB{_roff(line)}\fR"]
        case Terms(rows):
            items = [(_roff(code), _roff(text)) for code, text in rows]
        case Links(rows):
            items = [
                (_roff("-".join([program, *words]) + "(1)"), _roff(t))
                for words, t in rows
            ]
    lines = [(".TP", rf"\fB{term}\fR", text or r"\&") for term, text in items]
    return [line for three in lines for line in three]


def _nested(words: Words, suffix: str) -> str:
    return "/".join([*words, f"index.{suffix}"])


class Format(NamedTuple):
    """Functions that return a page's path below the output directory, and its text."""

    path: Callable[[Page], str]
    text: Callable[[Page], str]


FORMATS = {
    "markdown": Format(lambda page: _nested(page.words, "md"), _markdown),
    "html": Format(lambda page: _nested(page.words, "html"), _html),
    "man": Format(lambda page: "-".join([page.program, *page.words]) + ".1", _man),
}
