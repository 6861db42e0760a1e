"""A loopback server of embeddings, and embedders that ask it."""

from collections.abc import AsyncIterator, Callable

import pytest

from memory.embed.batching import Limits, Sender
from memory.embed.explain import Asked
from memory.embed.link import Link
from memory.embed.remote import Identity, RemoteEmbedder
from memory.embed.senders import HttpSender
from memory.embed.wire import OpenAIWire, Wire
from tests.fakes.embedding_wires import KEY
from tests.fakes.embeddingserver import EmbeddingServer

LIMITS = Limits(
    max_texts=8, max_chars=10_000, concurrency=4, query_seconds=5, batch_seconds=5, tries=3, pause=0.001
)
MakeEmbedder = Callable[..., RemoteEmbedder]


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as running:
        yield running


@pytest.fixture
async def make_embedder(server: EmbeddingServer) -> AsyncIterator[MakeEmbedder]:
    """Makes embedders over OpenAI's wire at the server, and closes them."""
    made: list[RemoteEmbedder] = []

    def make(
        *,
        key: str = KEY,
        address: str | None = None,
        wire: Wire | None = None,
        limits: Limits = LIMITS,
        dims: int = 64,
        has_key: bool = True,
        now: Callable[[], float] = lambda: 0.0,
    ) -> RemoteEmbedder:
        where = address or f"{server.url}/v1"

        async def connect() -> Sender:
            link = Link(where, headers={"authorization": f"Bearer {key}"}, secrets=[key], proxied=False)
            return HttpSender(link, wire or OpenAIWire(model="small"))

        identity = Identity(provider="openai", model="small", version="1", dims=dims, floor=0.1, ceiling=0.5)
        asked = Asked(provider="openai", model="small", address=where, variables=("OPENAI_API_KEY",))
        embedder = RemoteEmbedder(
            identity,
            connect=connect,
            limits=limits,
            asked=asked,
            has_key=has_key,
            query_cache_seconds=60,
            now=now,
        )
        made.append(embedder)
        return embedder

    yield make
    for embedder in made:
        await embedder.aclose()
