"""A Markdown file as an introduction and sections that can leave it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with all below it. Lines count from 0: heading `start`, text `body`, and `end` no more."""

    title: str
    level: int
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """`sections` follow each other to the end of the file; what stands before the first never moves."""

    intro_end: int
    sections: tuple[Section, ...]


def split_lines(text: str) -> list[str]:
    """Lines with their ends, as Markdown knows them: LF, CR LF, CR."""
    return _LINE.findall(text)


def blocks(lines: Sequence[str]) -> list[Token]:
    """The blocks of a Markdown text, whose line numbers are those of `lines`; front matter is none."""
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    skip = _front_matter(lines)
    text = "".join("\n" if at < skip else line for at, line in enumerate(lines))
    return parser.parse(text)


def outline(lines: Sequence[str]) -> Outline:
    """The sections that may move: the largest ones that do not hold the introduction.

    The introduction is what stands before the first heading, else the text of the first heading itself.
    """
    headings = list(_headings(blocks(lines)))
    first = headings[0].start if headings else len(lines)
    titled = not any(line.strip() for line in lines[:first])
    if titled and headings:
        title, *headings = headings
        ends = [one.start for one in headings if one.level <= title.level]
        inside = [one for one in headings if one.start < min(ends, default=len(lines))]
        tops = [*_tops(inside), *_tops(headings[len(inside) :])]
    else:
        tops = list(_tops(headings))
    starts = [*(one.start for one in tops), len(lines)]
    sections = tuple(
        Section(title=one.title, level=one.level, start=start, body=one.body, end=end)
        for one, (start, end) in zip(tops, pairwise(starts), strict=True)
    )
    return Outline(intro_end=starts[0], sections=sections)


def _tops(headings: Sequence[Section]) -> Iterator[Section]:
    """Those under no other of them."""
    level = 7
    for one in headings:
        if one.level <= level:
            level = one.level
            yield one


def _headings(tokens: Sequence[Token]) -> Iterator[Section]:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            start, body = opening.map
            title = " ".join(inline.content.split())
            yield Section(title=title, level=int(opening.tag[1:]), start=start, body=body, end=body)


def _front_matter(lines: Sequence[str]) -> int:
    """How many lines of YAML stand in front."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    ends = (at for at, line in enumerate(lines[1:], start=2) if line.rstrip() in ("---", "..."))
    return next(ends, 0)
