"""Take secrets out of a text before a person, a log or a program sees it."""

import re
from collections.abc import Iterable

MASK = "[redacted]"

_NAME = r"(?:(?:api|access|private|secret)[_-]?key|token|secret|passw(?:or)?d|authorization)"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z0-9 ]*-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL), MASK),
    (re.compile(r"(?:\b|(?<=/bot))\d{6,12}:[A-Za-z0-9_-]{30,}"), MASK),  # Telegram
    (re.compile(r"\b[spr]k-[A-Za-z0-9_-]{8,}"), MASK),
    (re.compile(r"\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|xox[a-z]-[\w-]{8,}|AIza[\w-]{20,})"), MASK),
    (re.compile(r"\b(Bearer|Basic)(\s{1,8})[^\s\"',;]{6,}", re.IGNORECASE), rf"\1\2{MASK}"),
    (
        re.compile(r"\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@:\"']{0,200}:[^\s/@\"']{1,500}@", re.IGNORECASE),
        rf"\1{MASK}@",
    ),
    (
        re.compile(
            rf"({_NAME}[\"']?\s{{0,8}}[=:]\s{{0,8}}[\"']?)(?!\[redacted\]|Bearer\b|Basic\b)[^\s\"',;&}})\]]{{6,}}",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
)

_SHAPES = _PATTERNS[:4]
"""What is a key by its shape alone. The rest may also be what a person wants to read: "password: …"."""


def redact_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets and without what has the shape of a vendor's key; for people."""
    for secret in sorted({one for one in secrets if len(one) >= 8}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    for pattern, replacement in _SHAPES:
        text = pattern.sub(replacement, text)
    return text


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets and without anything that looks like one.

    Host, path and method of an address stay readable; a text without secrets comes back unchanged.
    """
    for secret in sorted({one for one in secrets if len(one) >= 4}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text
