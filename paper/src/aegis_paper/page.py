"""A page of HTML in one file, without script and network: headings, tables, pictures, what can be unfolded."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --muted: #57606a; --line: #d0d7de; --best: #b6d7a8;
  --near: #e2efdb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --muted: #9198a1; --line: #3d444d;
  --best: #2f6f3a; --near: #1f3d27; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 76rem;
  margin: 0 auto; padding: 1rem; }
nav a { margin-right: 1rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
figure { margin: .5rem 0 1rem; font-size: .85rem; } figcaption, .muted { color: var(--muted); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: inherit; }
th, td { border: 1px solid var(--line); padding: .15rem .5rem; }
th { text-align: left; } td { text-align: right; white-space: nowrap; }
td.text { text-align: left; white-space: pre-line; } td.best { background: var(--best); font-weight: 600; }
td.near { background: var(--near); }
img { max-width: 100%; background: #fff; } summary { cursor: pointer; } code { overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Cell:
    """What stands in a field of a table, and how it looks: best, near, text or plain."""

    text: str
    look: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    name: str  # in its address
    title: str
    parts: Sequence[str]  # HTML


def page(title: str, introduction: str, sections: Sequence[Section]) -> str:
    """The page, with links to its sections."""
    links = "".join(f'<a href="#{section.name}">{escape(section.title)}</a>' for section in sections)
    body = "\n".join(
        f'<section id="{section.name}"><h2>{escape(section.title)}</h2>\n{"".join(section.parts)}</section>'
        for section in sections
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>{introduction}<nav>{links}</nav>\n{body}</body></html>\n"
    )


def paragraph(text: str, look: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{look}">{escape(text)}</p>\n' if look else f"<p>{escape(text)}</p>\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str | Cell]], caption: str = "") -> str:
    """A table; the first field of a row is its heading. The caption stays in sight where a wide table is scrolled."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(str(first))}</th>{"".join(map(_field, rest))}</tr>\n' for first, *rest in rows
    )
    told = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    inside = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<figure>{told}<div class="scroll">{inside}</div></figure>\n'


def _field(given: str | Cell) -> str:
    cell = given if isinstance(given, Cell) else Cell(given)
    return f'<td class="{cell.look}">{escape(cell.text)}</td>' if cell.look else f"<td>{escape(cell.text)}</td>"


def unfolded(summary: str, inside: str) -> str:
    """Something that is seen on demand."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>\n"


def picture(svg: bytes, says: str) -> str:
    """A drawing, inside the page."""
    return f'<img alt="{escape(says)}" src="data:image/svg+xml;base64,{b64encode(svg).decode()}">\n'
