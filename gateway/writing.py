"""The one way out: whatever a person is going to read is cleaned, split and rendered here."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from channels.channel import Traits
from channels.text import Piece, growing, pieces
from gateway.deliveries import Part
from gateway.media.sending import Sending, together
from gateway.postman import RESERVED
from gateway.redact import redact_keys

# What models are known to let slip: their own call syntax, reasoning blocks, the line that says who speaks.
_TAGS = (
    r"think|thinking|reasoning|antml:thinking|function_calls|antml:function_calls|tool_call|tool_calls"
    r"|function_results|tool_result"
)
_BLOCKS = re.compile(
    rf"<(?P<tag>{_TAGS})\b[^>]*>.*?(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_HALF = re.compile(rf"<(?:{_TAGS})\b[^>]*\Z", re.IGNORECASE)
_STAMP = re.compile(
    r"\A\s*\[\d{4}-\d\d-\d\d \d\d:\d\d [A-Z][a-z]{2} [A-Za-z_/+-]+\][ \t]*(?:[^\n:]{1,64}:)?[ \t]*"
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


class Writer:
    """`secrets` are texts that never leave, whoever asks for them."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Further secrets."""
        self._secrets = tuple(dict.fromkeys((*self._secrets, *secrets)))

    def outward(self, text: str) -> str:
        """The text as it may leave: without internal markup outside code fences, and without secrets."""
        return self._clean(_STAMP.sub("", text, count=1)).strip()

    def divides(self, text: str, at: int) -> bool:
        """Whether the text so far may leave in two pieces, the first of them before the rest is known:
        nothing that is cut or redacted lies across that place, or may turn out to."""
        before, after = text[:at], text[at:]
        if _HALF.search(before) or any(_across(secret, before, after) for secret in self._secrets):
            return False
        return self._clean(text) == self._clean(before) + self._clean(after)

    def _clean(self, text: str) -> str:
        return redact_keys(_unmarked(text), self._secrets)

    def parts(self, text: str, traits: Traits) -> tuple[Part, ...]:
        """The text as messages of that platform. A text of nothing visible has none."""
        return tuple(Part(text=one.text, plain=one.plain) for one in self._pieces(text, traits))

    def file_parts(self, sends: Sequence[Sending], traits: Traits) -> tuple[Part, ...]:
        """Each file with its caption, albums as one; a caption that is too long for the platform stands
        before."""
        return tuple(part for album in together(sends, traits) for part in self._album(album, traits))

    def _album(self, album: tuple[Sending, ...], traits: Traits) -> Iterator[Part]:
        said, files = album[0].caption, tuple(one.file for one in album)
        caption = self.parts(said, replace(traits, max_text=traits.max_caption))
        if len(caption) > 1:
            yield from self.parts(said, traits)
            caption = ()
        text, plain = (caption[0].text, caption[0].plain) if caption else ("", "")
        yield Part(text=text, plain=plain, files=files)

    def growing(self, traits: Traits) -> Callable[[str], list[Piece]]:
        """Renders a text that may still grow, for that platform."""
        return lambda text: growing(self.outward(text), _roomy(traits))

    def _pieces(self, text: str, traits: Traits) -> list[Piece]:
        return pieces(self.outward(text), _roomy(traits))


def _across(secret: str, before: str, after: str) -> bool:
    """Whether a secret of several lines begins before the place and goes on behind, as far as one sees."""
    return "\n" in secret and any(
        before.endswith(secret[:cut]) and (after.startswith(secret[cut:]) or secret[cut:].startswith(after))
        for cut in range(1, len(secret))
    )


def _unmarked(text: str) -> str:
    if "<" not in text:
        return text
    cuts = [0, *(match.start() for match in _FENCE.finditer(text)), len(text)]
    spans = [text[start:end] for start, end in pairwise(cuts)]
    return "".join(span if number % 2 else _BLOCKS.sub("", span) for number, span in enumerate(spans))


def _roomy(traits: Traits) -> Traits:
    """With room for the mark of a message that may have been shown before."""
    return replace(traits, max_text=traits.max_text - RESERVED)
