"""Anthropic's prompt cache, counted exactly: what of a request is read, written and paid in full.

An entry is a prefix of the prompt that ended at a cache mark. Each mark of a request looks for the longest
living entry among its own prefix and the 20 blocks before it; what lies beyond the best one, up to the last
mark, is written. Reading renews an entry. Prefixes under 1,024 tokens are never kept.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents.model.anthropic_wire import LOOKBACK
from agents.model.wire import encode
from sessions.messages import Json, JsonObject

LEAST = 1_024
BYTES_PER_TOKEN = 4
LIVES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Tokens of one request, disjoint."""

    input: int
    read: int
    write: int

    @property
    def prompt(self) -> int:
        return self.input + self.read + self.write


@dataclass(slots=True)
class PromptCache:
    """One vendor account. Entries by the digest of their prefix, with the time at which they end."""

    entries: dict[bytes, datetime] = field(default_factory=dict)
    _blocks: list[JsonObject] = field(default_factory=list)
    _digests: list[bytes] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)

    def count(self, body: JsonObject, now: datetime) -> Counted:
        """`body` is a request as `to_wire` makes it; its cache marks are taken out of it."""
        blocks, marks = _blocks_of(body)
        self._follow(blocks)
        hit = max((self._found(at, now) for at, _ in marks), default=-1)
        for at, ttl in marks:
            known = self.entries.get(self._digests[at])
            if self._tokens(at) >= LEAST and (at > hit or (known is not None and known > now)):
                self.entries[self._digests[at]] = now + LIVES[ttl]
        if hit >= 0 and marks:
            self.entries[self._digests[hit]] = now + LIVES[marks[-1][1]]
        total, read = self._tokens(len(blocks) - 1), self._tokens(hit)
        last = self._tokens(marks[-1][0]) if marks else 0
        written = max(0, last - read) if last >= LEAST else 0
        return Counted(input=total - read - written, read=read, write=written)

    def _found(self, mark: int, now: datetime) -> int:
        for at in range(mark, max(mark - LOOKBACK, -1), -1):
            end = self.entries.get(self._digests[at])
            if end is not None and end > now:
                return at
        return -1

    def _tokens(self, at: int) -> int:
        return self._ends[at] // BYTES_PER_TOKEN if at >= 0 else 0

    def _follow(self, blocks: list[JsonObject]) -> None:
        """Digests and ends of these blocks; the last request's stay as far as the blocks are the same."""
        same = 0
        for one, other in zip(blocks, self._blocks, strict=False):
            if one != other:
                break
            same += 1
        del self._digests[same:], self._ends[same:]
        for block in blocks[same:]:
            spelled = encode(block)
            before = self._digests[-1] if self._digests else b""
            self._digests.append(hashlib.sha256(before + spelled).digest())
            self._ends.append((self._ends[-1] if self._ends else 0) + len(spelled))
        self._blocks = blocks


def _blocks_of(body: JsonObject) -> tuple[list[JsonObject], list[tuple[int, str]]]:
    """All blocks in the order of the prefix (tools, system, messages), and where marks of which life stood.
    What changes how everything is read (the model, its thinking) belongs to the first block."""
    first: JsonObject = {key: body.get(key) for key in ("model", "thinking", "output_config", "tools")}
    blocks: list[JsonObject] = [first]
    marks: list[tuple[int, str]] = []

    def take(block: Json, role: str) -> None:
        assert isinstance(block, dict)
        mark = block.pop("cache_control", None)
        if isinstance(mark, dict):
            marks.append((len(blocks), str(mark.get("ttl", "5m"))))
        blocks.append({"role": role, "block": block})

    for block in _list(body.get("system")):
        take(block, "system")
    for message in _list(body.get("messages")):
        assert isinstance(message, dict)
        for block in _list(message["content"]):
            take(block, str(message["role"]))
    assert len(marks) <= 4
    return blocks, marks


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
