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
    plain = printable(text).strip()
    return _SPECIAL.sub(_with_backslash, plain)


def _with_backslash(match: re.Match[str]) -> str:
    special = match[1] or match[3] or match[4]
    return f"{match[2] or ''}\\{special}"


def markdown_code(text: str) -> str:
    """Return `text` as a code span whose fence is longer than any run of backticks in `text`."""
    text = printable(text)
    runs = re.findall("`+", text)
    longest = max(map(len, runs), default=0)
    fence = "`" * (longest + 1)

    # A backtick beside the fence would belong to it.
    if text.startswith("`") or text.endswith("`"):
        text = f" {text} "
    return f"{fence}{text}{fence}"


def markdown_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown."""
    texts = [_markdown_block(block) for block in blocks]
    return "\n\n".join(filter(None, texts)) + "\n"


def _markdown_block(block: Block) -> str:
    items: list[tuple[str, str]] = []
    match block:
        case Heading(level, text):
            return f"{'#' * level} {markdown_text(text)}"
        case Paragraph(text):
            return markdown_text(text)
        case Code(line):
            return f"    {printable(line)}"
        case Terms(rows):
            for code, text in rows:
                items.append((markdown_code(code), markdown_text(text)))
        case Links(rows):
            for words, text in rows:
                name = markdown_text(" ".join(words))
                link = f"[{name}]({_nested(words, 'md')})"
                items.append((link, markdown_text(text)))

    lines = []
    for term, text in items:
        line = f"- {term}"
        if text:
            line += f": {text}"
        lines.append(line)
    return "\n".join(lines)


def _markdown(page: Page) -> str:
    blocks = markdown_blocks([Paragraph(page.description), *page.blocks])
    parts = [f"<!-- {MADE} -->", f"# {markdown_text(page.title)}", blocks]
    return "\n\n".join(parts)


def _html(page: Page) -> str:
    title = _html_text(page.title)
    blocks = [Paragraph(page.description), *page.blocks]
    texts = [_html_block(block) for block in blocks]

    lines = [
        "<!doctype html>",
        f"<!-- {MADE} -->",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *texts,
        "</body></html>",
    ]
    # A page may have no description.
    text = "\n".join(filter(None, lines))
    return f"{text}\n"


def _html_block(block: Block) -> str:
    items: list[tuple[str, str]] = []
    match block:
        case Heading(level, text):
            return f"<h{level}>{_html_text(text)}</h{level}>"
        case Paragraph(text):
            if not text:
                return ""
            return f"<p>{_html_text(text)}</p>"
        case Code(line):
            return f"<pre><code>{_html_text(line)}</code></pre>"
        case Terms(rows):
            for code, text in rows:
                items.append((f"<code>{_html_text(code)}</code>", _html_text(text)))
        case Links(rows):
            for words, text in rows:
                name = _html_text(" ".join(words))
                link = f'<a href="{_nested(words, "html")}">{name}</a>'
                items.append((link, _html_text(text)))

    lines = ["<dl>"]
    for term, text in items:
        lines.append(f"<dt>{term}</dt><dd>{text}</dd>")
    lines.append("</dl>")
    return "\n".join(lines)


def _html_text(text: str) -> str:
    return html.escape(printable(text))


def _roff(text: str) -> str:
    """Escape text for roff."""
    escaped = printable(text).strip().translate(_ROFF)
    # A line that begins with a dot would be a request.
    if escaped.startswith("."):
        return rf"\&{escaped}"
    return escaped


def _man(page: Page) -> str:
    name = "-".join([page.program, *page.words])
    title = _roff(page.title)
    source = _roff(f"{page.program} {page.version}".rstrip())
    about = _roff(page.description or page.title)
    arguments = _roff(page.usage.removeprefix(page.title))
    lines = [
        rf".\" {MADE}",
        f'.TH "{_roff(name.upper())}" 1 "{page.date}" "{source}" "User commands"',
        ".SH NAME",
        rf"{_roff(name)} \- {about}",
        ".SH SYNOPSIS",
        rf"\fB{title}\fR {arguments}".rstrip(),
    ]
    for block in page.blocks:
        lines += _man_block(block, page.program)

    # A section begins a paragraph anyway, and man would print another empty line.
    text = "\n".join(lines) + "\n"
    return re.sub(r"^(\.S[HS] .*\n)\.PP\n", r"\1", text, flags=re.MULTILINE)


def _man_block(block: Block, program: str) -> list[str]:
    items: list[tuple[str, str]] = []
    match block:
        case Heading(level, text):
            request = ".SS"
            if level == 2:
                request = ".SH"
            return [f'{request} "{_roff(text.upper())}"']
        case Paragraph(text):
            if not text:
                return []
            return [".PP", _roff(text)]
        case Code(line):
            return [".PP", rf"\fB{_roff(line)}\fR"]
        case Terms(rows):
            items += rows
        case Links(rows):
            for words, text in rows:
                page = "-".join([program, *words])
                items.append((f"{page}(1)", text))

    lines = []
    for term, text in items:
        # An empty line instead of a text would end the list.
        lines += [".TP", rf"\fB{_roff(term)}\fR", _roff(text) or r"\&"]
    return lines


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
