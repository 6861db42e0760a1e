"""Keeping one tool result small enough for the window that it enters."""

import re

from sessions.tokens import estimate

_HEAD_SHARE = 0.6
_NOTE_TOKENS = 40
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x1b\\|\x07)?"  # OSC and other strings
    r"|\x1b[ -/]*[0-~]"
    r"|\x1b"
)


def cap_result(text: str, tokens: int) -> str:
    """The text without terminal codes; of a longer one than `tokens`, both ends with a note between them.

    Ends are whole lines where lines are short enough. Give it `Limits.result`.
    """
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    if estimate(plain) <= tokens:
        return plain
    room = max(2, tokens - _NOTE_TOKENS)
    head = _head(plain, int(room * _HEAD_SHARE))
    tail = _tail(plain[len(head) :], room - int(room * _HEAD_SHARE))
    gone = plain[len(head) : len(plain) - len(tail)]
    note = (
        f"[… {len(gone):,} of {len(plain):,} characters ({gone.count(chr(10)) + 1:,} lines) left out here …]"
    )
    return f"{head.rstrip(chr(10))}\n{note}\n{tail.lstrip(chr(10))}"


def _head(text: str, tokens: int) -> str:
    kept = text[: _fitting(text, tokens, from_end=False)]
    line = kept.rfind("\n")
    return kept[: line + 1] if line >= len(kept) // 2 else kept


def _tail(text: str, tokens: int) -> str:
    kept = text[len(text) - _fitting(text, tokens, from_end=True) :]
    line = kept.find("\n")
    return kept[line + 1 :] if 0 <= line < len(kept) // 2 else kept


def _fitting(text: str, tokens: int, *, from_end: bool) -> int:
    """The most characters of that end whose estimate is within `tokens`."""
    low, high = 0, min(len(text), 4 * tokens)
    while low < high:
        middle = (low + high + 1) // 2
        part = text[len(text) - middle :] if from_end else text[:middle]
        low, high = (middle, high) if estimate(part) <= tokens else (low, middle - 1)
    return low
