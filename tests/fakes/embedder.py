"""An embedding model made of word counts: deterministic, quick, and it knows only the synonyms it is told."""

import hashlib
import math
import re
from array import array
from collections.abc import Mapping, Sequence

from memory.embed.embedder import Kind, MemoryUnavailable, Vector


class FakeEmbedder:
    """Each word is a direction; a text is the sum of its words, so shared words bring texts near.

    `synonyms` maps words to the word they mean. `blind` puts every question at a right angle to every note
    (cosine 0). While `failure` is set, `embed` raises MemoryUnavailable with it. `asked` lists all texts
    that were embedded, in order; `closed` says whether `aclose` was called.
    """

    def __init__(
        self,
        *,
        synonyms: Mapping[str, str] | None = None,
        blind: bool = False,
        failure: str | None = None,
        provider: str = "fake",
        model: str = "words",
        version: str = "1",
        dims: int = 256,
    ) -> None:
        self.provider = provider
        self.model = model
        self.version = version
        self.dims = dims
        self.floor = 0.2
        self.ceiling = 0.8
        self.synonyms = dict(synonyms or {})
        self.blind = blind
        self.failure = failure
        self.asked: list[str] = []
        self.closed = False

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        if self.failure is not None:
            raise MemoryUnavailable(self.failure)
        self.asked.extend(texts)
        if self.blind:
            return [self._axis(0 if kind == "query" else 1) for _ in texts]
        return [self._vector(text) for text in texts]

    async def aclose(self) -> None:
        self.closed = True

    def _vector(self, text: str) -> Vector:
        sums = [0.0] * self.dims
        for word in re.findall(r"\w+", text.casefold()):
            digest = hashlib.blake2b(self.synonyms.get(word, word).encode(), digest_size=4).digest()
            sums[int.from_bytes(digest, "big") % self.dims] += 1.0
        norm = math.sqrt(sum(value * value for value in sums))
        return array("f", (value / norm for value in sums)) if norm else self._axis(0)

    def _axis(self, number: int) -> Vector:
        return array("f", (1.0 if i == number else 0.0 for i in range(self.dims)))
