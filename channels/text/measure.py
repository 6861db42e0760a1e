"""How long a text is for a platform, and where it may be cut."""

import re
import unicodedata

_SENTENCE = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[”’」』）]*\s*")  # noqa: RUF001 - these are meant
_SPACE = re.compile(r"\s+")
_AROUND = 64  # characters looked at to find where a grapheme begins
# A cut at a better place is worth a shorter piece, down to this share of the room.
_LEAST_SENTENCE, _LEAST_WORD = 0.6, 0.25


def utf16(text: str) -> int:
    """UTF-16 code units."""
    return len(text) if text.isascii() else len(text) + sum(1 for c in text if c > "\uffff")


def is_visible(text: str) -> bool:
    return any(unicodedata.category(c) not in ("Cc", "Cf", "Zs", "Zl", "Zp") for c in text)


def cut_before(text: str, limit: int, *, code: bool) -> int:
    """Where to cut a text so that at most `limit` characters stand before: behind a sentence, else a word,
    else between two graphemes, else at the limit. At least 1."""
    if not code:
        for pattern, least in ((_SENTENCE, _LEAST_SENTENCE), (_SPACE, _LEAST_WORD)):
            start = max(1, int(limit * least))
            # A space right behind the limit is as good as one before it: it is dropped.
            ends = [found.end() for found in pattern.finditer(text, start, limit + 1)]
            if ends:
                return min(ends[-1], limit)
    return _grapheme_before(text, limit)


def _grapheme_before(text: str, limit: int) -> int:
    import wcwidth  # noqa: PLC0415 (large tables, which most texts do not need)

    start = max(0, limit - _AROUND)
    at = start
    for grapheme in wcwidth.iter_graphemes(text[start : limit + _AROUND]):
        if at + len(grapheme) > limit:
            break
        at += len(grapheme)
    return at if at > start else limit
