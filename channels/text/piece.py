"""Markdown in, messages out: the one way in which a text becomes what a platform is sent."""

from collections.abc import Callable
from dataclasses import dataclass

from channels.channel import Markup, Traits
from channels.text.bare import Plain
from channels.text.blocks import Block
from channels.text.dialect import Dialect, written
from channels.text.discord import Discord
from channels.text.lines import lines_of
from channels.text.mending import mend
from channels.text.splitting import Limits, split
from channels.text.telegram import Telegram
from channels.text.whatsapp import WhatsApp

_UNMARKED = Traits(
    markup="plain", max_text=1, max_caption=1, can_edit=False, has_nonce=False, has_choices=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message: `text` in a platform's markup, `plain` without any. Both keep the limit; none is blank."""

    text: str
    plain: str


def pieces(markdown: str, traits: Traits) -> list[Piece]:
    """The messages that a text makes, in order. A blank text makes none."""
    return _pieces(markdown, traits)


def growing(markdown: str, traits: Traits) -> list[Piece]:
    """The same for a text that goes on: its last paragraph is shown with its open marks closed. All but the
    last piece stay as they are when more text comes, unless it changes what came before."""
    return _pieces(_without_half_fence(markdown), traits, mend)


def borders(markdown: str) -> list[int]:
    """As reading.borders."""
    from channels.text.reading import borders as found  # noqa: PLC0415 (a start need not wait for the parser)

    return found(markdown)


def plain(markdown: str) -> str:
    """The text without markup, whole."""
    return written(list(lines_of(_read(markdown), _UNMARKED)), Plain())


def _read(markdown: str, mend: Callable[[str], str] | None = None) -> tuple[Block, ...]:
    from channels.text.reading import blocks_of  # noqa: PLC0415 (a start need not wait for the parser)

    return blocks_of(markdown, mend)


def _pieces(markdown: str, traits: Traits, mend: Callable[[str], str] | None = None) -> list[Piece]:
    dialect = _dialect(traits.markup)
    limits = Limits(units=traits.max_text, rows=traits.soft_lines)
    lines = lines_of(_read(markdown, mend), traits)
    return [
        Piece(text=written(piece, dialect), plain=written(piece, Plain()))
        for piece in split(lines, (dialect, Plain()), limits)
    ]


def _dialect(markup: Markup) -> Dialect:
    match markup:
        case "telegram":
            return Telegram()
        case "discord":
            return Discord()
        case "whatsapp":
            return WhatsApp()
        case "plain":
            return Plain()


def _without_half_fence(markdown: str) -> str:
    """Without backticks that stand alone in the last line: a fence that begins, or one that ends."""
    head, _, last = markdown.rpartition("\n")
    return head if last.strip() in ("`", "``", "~", "~~") else markdown
