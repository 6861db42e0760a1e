"""What of a text has to survive word for word: paths, URLs, addresses, ids, dates and numbers."""

import re
from collections.abc import Iterator

_NAMES = (
    "md|txt|py|js|ts|tsx|json|jsonl|yaml|yml|toml|ini|cfg|conf|sh|log|csv|tsv|pdf|png|jpg|jpeg|gif|svg|html|css"
    "|sql|db|sqlite|xml|zip|gz|tar|rs|go|java|c|h|cpp|rb|php|env|lock|pem|key|docx|xlsx|pptx|odt|mp3|mp4|wav"
)
_WORD = re.compile(r"[^\s<>\"'`|^{}()\[\]«»“”]{2,2000}")
_MAYBE = re.compile(r"[\d/\\@#.]")
_PATTERN = re.compile(
    r"(?P<url>[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`|\\^{}]+)"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<path>(?<![\w/.])(?:~|\.{1,2})?/[\w.@%+=~-]+(?:/[\w.@%+=~-]+)*/?"
    r"|(?<![\w/])[A-Za-z]:\\[^\s\"'<>|]+"
    r"|(?<![\w/.])[\w.@-]+(?:/[\w.@+-]+){2,}"
    rf"|(?<![\w/])[\w.@-]+/[\w.@+-]+\.\w{{1,5}}\b|(?<![\w/.])[\w-]+\.(?:{_NAMES})\b)"
    r"|(?P<id>(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w][\w.-]{2,}\w)"
    r"|(?P<tag>(?<![\w])[@#][\w-]{2,})"
    r"|(?P<number>(?<![\w.])\d[\d.,:/-]*\d)",
    re.IGNORECASE,
)
_LONGEST = 300  # a longer word is data; the pattern's time grows with the square of a word
_EDGE = ".,;:!?)]}'\"»*_"


def identifiers(text: str) -> Iterator[tuple[str, int]]:
    """Each with its position, in order; the same one may come again."""
    for word in _WORD.finditer(text):
        if not _MAYBE.search(word[0]):
            continue
        if len(word[0]) > _LONGEST and "://" not in word[0][:20]:
            continue
        for match in _PATTERN.finditer(word[0]):
            found = match[0].rstrip(_EDGE)
            if len(found) > 1:
                yield found, word.start() + match.start()


def is_strong(identifier: str) -> bool:
    """Whether it can only mean one thing: more than a plain number or a short word."""
    letters = any(char.isalpha() for char in identifier)
    return len(identifier) >= 6 and (letters or len(identifier) >= 8)


class Held:
    """The identifiers of a text, to ask whether it holds one."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        self._found = {found.casefold() for found, _ in identifiers(text)}

    def __contains__(self, identifier: str) -> bool:
        wanted = identifier.casefold()
        if wanted in self._found:
            return True
        at = self._text.find(wanted)
        while at >= 0:
            if _bounded(self._text, at, at + len(wanted)):
                return True
            at = self._text.find(wanted, at + 1)
        return False


def _bounded(text: str, start: int, end: int) -> bool:
    """Whether it is no part of a longer word or number there."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum())
