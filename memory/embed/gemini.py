"""Gemini's embedders: texts as every other, and with the second generation pictures and sounds too."""

from collections.abc import Sequence

from memory.embed.batching import Batcher
from memory.embed.embedder import MemoryUnavailable, Vector
from memory.embed.explain import unavailable
from memory.embed.faults import Fault, Refused, TooLarge
from memory.embed.gemini_wire import GeminiWire
from memory.embed.media import MediaPart
from memory.embed.remote import RemoteEmbedder
from memory.embed.senders import HttpSender
from memory.embed.wire import Json

_REQUEST_BYTES = 14 * 1024 * 1024
"""Of plain bytes in one request: base64 makes a third more of them, and 20 MB are taken."""
_REQUEST_PARTS = 6


class GeminiEmbedder(RemoteEmbedder):
    """Implements MediaEmbedder beside Embedder; only the models gemini-embedding-2… see media."""

    async def embed_media(self, parts: Sequence[MediaPart]) -> list[Vector]:
        """One vector a part, in order, comparable with those of texts. Raises MemoryUnavailable."""
        vectors: list[Vector] = []
        try:
            sender, batcher = await self.opened()
            if not isinstance(sender, HttpSender) or not isinstance(sender.wire, GeminiWire):
                raise Refused("has no wire for media", cause="request")
            if not sender.wire.sees_media:
                raise MemoryUnavailable(
                    f"The model {self.model} embeds text alone. Set memory.search.model: gemini-embedding-2 "
                    "to find pictures and sounds, then run `clawd memory index`."
                )
            for batch in _batches(parts):
                vectors += await self._some(sender, sender.wire, batcher, batch)
        except Fault as fault:
            raise unavailable(fault, self.asked, "document") from fault
        return vectors

    async def _some(
        self, sender: HttpSender, wire: GeminiWire, batcher: Batcher, parts: Sequence[MediaPart]
    ) -> list[Vector]:
        ask = wire.ask_media(parts)

        async def once() -> list[Json]:
            return wire.answer(await sender.link.post(ask.path, ask.body), len(parts))

        try:
            return self.learned(await batcher.once(once, dims=self.dims))
        except TooLarge:
            if len(parts) == 1:
                raise
            half = len(parts) // 2
            first = await self._some(sender, wire, batcher, parts[:half])
            return first + await self._some(sender, wire, batcher, parts[half:])


def _batches(parts: Sequence[MediaPart]) -> list[list[MediaPart]]:
    batches: list[list[MediaPart]] = []
    size = 0
    for part in parts:
        if not batches or len(batches[-1]) >= _REQUEST_PARTS or size + len(part.data) > _REQUEST_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(part)
        size += len(part.data)
    return batches
