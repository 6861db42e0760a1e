"""Vectors of recent questions: the same question twice is embedded once."""

from collections import OrderedDict

from memory.embed.embedder import Vector


class RecentVectors:
    """At most `limit` vectors, each for `seconds`; least recently used out first. Times are the caller's, in
    seconds that never go back."""

    def __init__(self, *, seconds: float, limit: int = 256) -> None:
        self._seconds = seconds
        self._limit = limit
        self._kept: OrderedDict[str, tuple[float, Vector]] = OrderedDict()

    def get(self, text: str, *, now: float) -> Vector | None:
        found = self._kept.get(text)
        if found is None:
            return None
        made, vector = found
        if now - made >= self._seconds:
            del self._kept[text]
            return None
        self._kept.move_to_end(text)
        return vector

    def put(self, text: str, vector: Vector, *, now: float) -> None:
        if self._seconds <= 0:
            return
        self._kept[text] = (now, vector)
        self._kept.move_to_end(text)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
