"""Telegram's reading of HTML, strict where the real one looks away.

Written from "Formatting options" of the Bot API: its tags and attributes, its four named entities, its
rules of nesting, UTF-16 offsets, and 1 to 4,096 characters after parsing. The wording of refusals is
Telegram's. Where the documentation says "must" and the real server is lenient (a bare ampersand, code in a
link, a quote in a quote), this one refuses: what passes here is what the documentation promises.
"""

import re
from dataclasses import dataclass

LONGEST = 4096  # UTF-16 units of a message, after parsing

_NAMES = {
    "b": "bold", "strong": "bold",
    "i": "italic", "em": "italic",
    "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
    "tg-spoiler": "spoiler", "span": "spoiler",
    "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote", "tg-emoji": "custom_emoji",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href"}, "code": {"class"}, "span": {"class"}, "blockquote": {"expandable"},
    "tg-emoji": {"emoji-id"},
}  # fmt: skip
_STYLES = {"bold", "italic", "underline", "strikethrough", "spoiler"}
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[a-zA-Z-]+(?:=(?:\"[^\"]*\"|'[^']*'))?)*)\s*>")
_ATTRIBUTE = re.compile(r"\s+([a-zA-Z-]+)(?:=(?:\"([^\"]*)\"|'([^']*)'))?")
_REFERENCE = re.compile(r"&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|([a-zA-Z]+));")


class CannotParse(ValueError):
    """The text is not HTML as Telegram documents it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"can't parse entities: {why}")


class Refused(ValueError):
    """The text can be parsed and is not taken: too long, or nothing to see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """`offset` and `length` count UTF-16 units of the visible text."""

    type: str
    offset: int
    length: int
    url: str = ""
    language: str = ""


@dataclass(slots=True, kw_only=True)
class _Open:
    tag: str
    type: str
    at: int
    byte: int
    url: str = ""
    language: str = ""


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def accept(html: str) -> tuple[str, list[Entity]]:
    """What a message shows. Raises CannotParse and Refused."""
    text, entities = parse(html)
    if not text.strip():
        raise Refused("message text is empty")
    if units(text) > LONGEST:
        raise Refused("message is too long")
    return text, entities


def parse(html: str) -> tuple[str, list[Entity]]:
    """The visible text and its entities, in the order in which they begin. Raises CannotParse."""
    return _Parser(html).parse()


class _Parser:
    def __init__(self, html: str) -> None:
        self._html = html
        self._parts: list[str] = []
        self._units = 0
        self._open: list[_Open] = []
        self._entities: list[Entity] = []

    def parse(self) -> tuple[str, list[Entity]]:
        at = 0
        while at < len(self._html):
            at = self._step(at)
        if self._open:
            raise CannotParse(f'Can\'t find end tag corresponding to start tag "{self._open[-1].tag}"')
        return "".join(self._parts), sorted(self._entities, key=lambda one: (one.offset, -one.length))

    def _step(self, at: int) -> int:
        here = self._html[at]
        if here == "<":
            return self._tag(at)
        if here == "&":
            found = _REFERENCE.match(self._html, at)
            if found is None:
                raise CannotParse(f"Bare ampersand at byte offset {self._byte(at)}")
            self._say(self._character(found, at))
            return found.end()
        if here == ">":
            raise CannotParse(f"Bare > at byte offset {self._byte(at)}")
        stop = re.compile("[<>&]|$").search(self._html, at)
        end = stop.start() if stop and stop.start() > at else len(self._html)
        self._say(self._html[at:end])
        return end

    def _say(self, text: str) -> None:
        self._parts.append(text)
        self._units += units(text)

    def _byte(self, at: int) -> int:
        return len(self._html[:at].encode())

    def _character(self, found: re.Match[str], at: int) -> str:
        decimal, hexadecimal, name = found.groups()
        if name:
            if name not in _NAMED:
                raise CannotParse(f'Unsupported entity "{name}" at byte offset {self._byte(at)}')
            return _NAMED[name]
        code = int(decimal) if decimal else int(hexadecimal, 16)
        if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise CannotParse(f"Invalid character reference at byte offset {self._byte(at)}")
        return chr(code)

    def _tag(self, at: int) -> int:
        byte = self._byte(at)
        found = _TAG.match(self._html, at)
        if found is None:
            name = re.compile(r"</?([^\s>]*)").match(self._html, at)
            raise CannotParse(f'Unsupported start tag "{name[1] if name else ""}" at byte offset {byte}')
        tag = found[2].lower()
        if tag not in _NAMES:
            raise CannotParse(f'Unsupported start tag "{tag}" at byte offset {byte}')
        if found[1]:
            self._close(tag, byte)
        else:
            self._begin(tag, self._attributes(tag, found[3], byte), byte)
        return found.end()

    def _attributes(self, tag: str, text: str, byte: int) -> dict[str, str]:
        found: dict[str, str] = {}
        for one in _ATTRIBUTE.finditer(text):
            name, value = one[1].lower(), one[2] or one[3] or ""
            if name not in _ATTRIBUTES.get(tag, ()) or name in found:
                raise CannotParse(f'Unsupported attribute "{name}" in the tag "{tag}" at byte offset {byte}')
            found[name] = self._value(value, byte)
        return found

    def _value(self, value: str, byte: int) -> str:
        if "<" in value or re.search(r"&(?!(?:#\d+|#[xX][0-9a-fA-F]+|lt|gt|amp|quot);)", value):
            raise CannotParse(f"Bare character in an attribute at byte offset {byte}")
        return _REFERENCE.sub(lambda one: self._character(one, 0), value)

    def _begin(self, tag: str, attributes: dict[str, str], byte: int) -> None:
        language = ""
        if tag == "span" and attributes.get("class") != "tg-spoiler":
            raise CannotParse(f'Tag "span" must have class "tg-spoiler" at byte offset {byte}')
        if tag == "a" and not attributes.get("href", "").lower().startswith(
            ("http://", "https://", "tg://", "mailto:", "tel:")
        ):
            raise CannotParse(f"Unsupported URL of a link at byte offset {byte}")
        if "class" in attributes and tag == "code":
            language = self._language(attributes["class"], byte)
        kind = _NAMES[tag]
        self._check_nesting(kind, tag, byte)
        url = attributes.get("href", "")
        self._open.append(_Open(tag=tag, type=kind, at=self._units, byte=byte, url=url, language=language))

    def _language(self, name: str, byte: int) -> str:
        directly_inside = self._open and self._open[-1].tag == "pre" and self._open[-1].at == self._units
        if not directly_inside or not name.startswith("language-"):
            raise CannotParse(f"A language belongs to code directly inside pre, at byte offset {byte}")
        return name.removeprefix("language-")

    def _check_nesting(self, kind: str, tag: str, byte: int) -> None:
        outer = [one.type for one in self._open]
        whole_block = kind == "code" and outer[-1:] == ["pre"] and self._open[-1].at == self._units
        closed = {"code", "pre"} & set(outer)
        rival = kind not in _STYLES and {"text_link", "custom_emoji"} & set(outer)
        inner = kind in ("code", "pre") and _STYLES & set(outer)
        block = kind in ("pre", "blockquote") and "blockquote" in outer
        if (closed and not whole_block) or rival or inner or block:
            raise CannotParse(f'Tag "{tag}" cannot stand in "{self._open[-1].tag}" at byte offset {byte}')

    def _close(self, tag: str, byte: int) -> None:
        if not self._open:
            raise CannotParse(f"Unexpected end tag at byte offset {byte}")
        one = self._open.pop()
        if one.tag != tag:
            raise CannotParse(
                f'Unmatched end tag at byte offset {byte}, expected "</{one.tag}>", found "</{tag}>"'
            )
        if self._open and self._open[-1].tag == "pre" and tag == "code":
            self._open[-1].language = one.language
            return
        if self._units > one.at:
            length = self._units - one.at
            entity = Entity(type=one.type, offset=one.at, length=length, url=one.url, language=one.language)
            self._entities.append(entity)
