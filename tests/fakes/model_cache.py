"""A vendor's prompt cache, as far as counting goes: which prefixes have been seen before."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of a prompt without its mark; `marked` says whether a cache mark stood on it."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Tokens of a prompt, disjoint."""

    input: int
    read: int
    write: int


class PromptCache:
    """Remembers prefixes by hash and never forgets. A token is four characters."""

    def __init__(self, *, lookback: int = 20) -> None:
        self._lookback = lookback
        self._seen: set[str] = set()

    def count_marked(self, blocks: Sequence[Block]) -> Counted:
        """As Anthropic counts: entries exist only where marks stood, and each mark looks back 20 blocks."""
        ends, hashes = _prefixes(block.text for block in blocks)
        marks = [index for index, block in enumerate(blocks) if block.marked]
        hit = -1
        for mark in marks:
            for index in range(mark, max(mark - self._lookback, -1), -1):
                if hashes[index] in self._seen:
                    hit = max(hit, index)
                    break
        self._seen.update(hashes[mark] for mark in marks)
        total = ends[-1] if ends else 0
        read = ends[hit] if hit >= 0 else 0
        written = max(ends[marks[-1]] - read, 0) if marks else 0
        return Counted(input=(total - read - written) // 4, read=read // 4, write=written // 4)

    def count_prefix(self, messages: Sequence[str]) -> Counted:
        """As OpenAI counts: the longest prefix seen before, in steps of whole messages."""
        ends, hashes = _prefixes(messages)
        hit = next((index for index in range(len(hashes) - 1, -1, -1) if hashes[index] in self._seen), -1)
        self._seen.update(hashes)
        read = ends[hit] if hit >= 0 else 0
        total = ends[-1] if ends else 0
        return Counted(input=(total - read) // 4, read=read // 4, write=0)


def _prefixes(texts: Iterable[str]) -> tuple[list[int], list[str]]:
    ends: list[int] = []
    hashes: list[str] = []
    running = hashlib.sha256()
    length = 0
    for text in texts:
        running.update(text.encode() + b"\0")
        length += len(text)
        ends.append(length)
        hashes.append(running.hexdigest())
    return ends, hashes
