"""A fallback is a change of identity, never an answer in between."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from memory.embed.embedder import EmbedderChanged, FellBack, MemoryUnavailable, fell_back, settled
from memory.embed.fallback import WithFallback
from tests.fakes.embedder import FakeEmbedder


class Pair:
    """The two embedders, the wrapper over them, and its clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.first = FakeEmbedder(provider="openai", dims=64)
        self.second = FakeEmbedder(provider="local", dims=32)
        self.both = WithFallback(self.first, self.second, rest_seconds=900, now=lambda: self.now)

    async def fall(self) -> None:
        self.first.failure = "openai is down."
        with pytest.raises(EmbedderChanged):
            await self.both.embed(["a"], kind="query")


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    made = Pair()
    yield made
    await made.both.aclose()


async def test_while_the_primary_answers_the_fallback_is_not_asked(pair: Pair) -> None:
    pinned = await settled(pair.both)
    assert len((await pinned.embed(["a"], kind="document"))[0]) == 64
    assert (pinned.provider, pinned.dims, fell_back(pair.both)) == ("openai", 64, None)
    assert pair.second.asked == []


async def test_the_request_that_fails_changes_the_identity_and_says_so(pair: Pair) -> None:
    pinned = await settled(pair.both)
    pair.first.failure = "openai is down. Check it."
    with pytest.raises(EmbedderChanged, match=r"openai is down.*local is used instead.*made anew"):
        await pinned.embed(["a"], kind="document")
    assert pair.second.asked == []
    again = await settled(pair.both)
    assert (again.provider, again.dims) == ("local", 32)
    assert len((await again.embed(["a"], kind="document"))[0]) == 32
    assert fell_back(again) == FellBack(from_="openai", to="local", reason="openai is down. Check it.")


async def test_work_begun_with_the_old_identity_never_gets_the_new_ones_vectors(pair: Pair) -> None:
    pinned = await settled(pair.both)
    await pair.fall()
    pair.first.failure = None
    with pytest.raises(EmbedderChanged):
        await pinned.embed(["a"], kind="document")
    assert pair.first.asked == pair.second.asked == []


async def test_both_failing_gives_both_reasons(pair: Pair) -> None:
    await pair.fall()
    pair.second.failure = "local is broken."
    with pytest.raises(
        MemoryUnavailable, match=r"local is broken.*fallback of openai.*openai is down"
    ) as caught:
        await pair.both.embed(["a"], kind="query")
    assert not isinstance(caught.value, EmbedderChanged)


@pytest.mark.parametrize(("later", "provider"), [(899.9, "local"), (900.0, "openai")])
async def test_the_primary_comes_back_after_a_rest(pair: Pair, later: float, provider: str) -> None:
    await pair.fall()
    pair.first.failure = None
    pair.now = later
    await pair.both.embed(["a"], kind="query")
    for _ in range(5):
        await asyncio.sleep(0)
    assert pair.both.provider == provider
    assert (fell_back(pair.both) is None) == (provider == "openai")


async def test_a_primary_that_is_still_down_rests_again(pair: Pair) -> None:
    await pair.fall()
    pair.now = 1_000.0
    await pair.both.embed(["a"], kind="query")
    for _ in range(5):
        await asyncio.sleep(0)
    pair.first.failure = None
    pair.now = 1_899.0
    await pair.both.embed(["a"], kind="query")
    for _ in range(5):
        await asyncio.sleep(0)
    assert pair.both.provider == "local"
