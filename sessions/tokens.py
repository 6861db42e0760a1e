"""The one token estimate for conversations: 4 characters a token, wide East Asian characters one each."""

import re

_CHARS_PER_TOKEN = 4
_WIDE = re.compile(
    "["
    "\u1100-\u11ff"  # Hangul jamo
    "\u2e80-\u2fdf"  # CJK and Kangxi radicals
    "\u3000-\u30ff"  # CJK punctuation, hiragana, katakana
    "\u3100-\u4dbf"  # bopomofo, compatibility jamo, kanbun, enclosed letters, extension A
    "\u4e00-\u9fff"  # unified ideographs
    "\ua960-\ua97f"  # Hangul jamo extended A
    "\uac00-\ud7ff"  # Hangul syllables, jamo extended B
    "\uf900-\ufaff"  # compatibility ideographs
    "\uff00-\uffef"  # fullwidth and halfwidth forms
    "\U0001b000-\U0001b16f"  # kana supplements
    "\U00020000-\U0003ffff"  # extensions B and later
    "]+"
)


def estimate(text: str) -> int:
    """Tokens, rounded up; 0 for an empty text only."""
    units = len(text)
    if not text.isascii():
        units += (_CHARS_PER_TOKEN - 1) * sum(map(len, _WIDE.findall(text)))
    return -(-units // _CHARS_PER_TOKEN)
