"""Batches, tries and limits over a sender that does as it is told."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.embed.batching import Batcher, Limits, TooSlow, batches
from memory.embed.embedder import Kind, Vector
from memory.embed.faults import BadAnswer, Fault, Passing, Refused, TooLarge
from memory.embed.wire import Json

LIMITS = Limits(
    max_texts=4, max_chars=100, concurrency=2, query_seconds=5, batch_seconds=5, tries=3, pause=0.001
)


@dataclass(slots=True, kw_only=True)
class Scripted:
    """Answers [length, 1] for each text, after raising `script`; `bears` is how many characters it takes."""

    script: deque[Fault] = field(default_factory=deque)
    bears: int = 1_000
    seconds: float = 0.0
    sent: list[list[str]] = field(default_factory=list)
    under_way: int = 0
    most: int = 0

    async def send(self, texts: Sequence[str], kind: Kind) -> list[Json]:
        self.sent.append(list(texts))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(self.seconds)
            if self.script:
                raise self.script.popleft()
            if sum(map(len, texts)) > self.bears:
                raise TooLarge("finds it too large")
            return [[float(len(text)), 1.0] for text in texts]
        finally:
            self.under_way -= 1

    async def aclose(self) -> None:
        """Nothing."""


def lengths(vectors: list[Vector]) -> list[int]:
    return [round(vector[0] / vector[1]) for vector in vectors]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=30)), st.integers(1, 6), st.integers(1, 60))
def test_batches_lose_nothing_and_keep_both_limits(texts: list[str], most: int, chars: int) -> None:
    cut = list(batches(texts, max_texts=most, max_chars=chars))
    assert [text for batch in cut for text in batch] == texts
    assert all(batch and len(batch) <= most for batch in cut)
    assert all(len(batch) == 1 or sum(map(len, batch)) <= chars for batch in cut)


async def test_the_order_of_the_texts_is_that_of_the_vectors() -> None:
    sender = Scripted()
    texts = ["x" * n for n in range(1, 30)]
    vectors = await Batcher(sender, LIMITS).embed(texts, "document", dims=2)
    assert lengths(vectors) == list(range(1, 30))
    assert all(len(sent) <= 4 for sent in sender.sent)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_requests_than_allowed_are_under_way(concurrency: int) -> None:
    sender = Scripted(seconds=0.01)
    batcher = Batcher(sender, replace(LIMITS, concurrency=concurrency))
    both = [batcher.embed(["x"] * 20, "document", dims=2) for _ in range(2)]
    await asyncio.gather(*both)
    assert sender.most == concurrency


async def test_a_question_does_not_wait_for_notes() -> None:
    sender = Scripted(seconds=0.2)
    batcher = Batcher(sender, replace(LIMITS, concurrency=1))
    indexing = asyncio.create_task(batcher.embed(["x"] * 40, "document", dims=2))
    await asyncio.sleep(0.01)
    started = time.monotonic()
    await batcher.embed(["why"], "query", dims=2)
    assert time.monotonic() - started < 0.4
    indexing.cancel()


async def test_a_passing_fault_is_tried_again() -> None:
    sender = Scripted(script=deque([Passing("failed"), Passing("failed again", wait=0.001)]))
    assert lengths(await Batcher(sender, LIMITS).embed(["abc"], "document", dims=2)) == [3]
    assert len(sender.sent) == 3


async def test_tries_come_to_an_end_with_the_last_fault() -> None:
    sender = Scripted(script=deque(Passing(f"failed {n}") for n in range(9)))
    with pytest.raises(Passing, match="failed 2"):
        await Batcher(sender, LIMITS).embed(["abc"], "document", dims=2)


async def test_the_wanted_pause_is_kept() -> None:
    sender = Scripted(script=deque([Passing("busy", wait=0.15)]))
    started = time.monotonic()
    await Batcher(sender, LIMITS).embed(["abc"], "query", dims=2)
    assert time.monotonic() - started >= 0.15


@pytest.mark.parametrize(("wait", "tries"), [(0.11, 1), (0.09, 3)], ids=["above", "below"])
async def test_a_pause_beyond_the_bound_is_not_waited_for(wait: float, tries: int) -> None:
    limits = replace(LIMITS, longest_wait=0.1, batch_seconds=10)
    sender = Scripted(script=deque([Passing("busy", wait=wait), Passing("busy", wait=0.0), Passing("busy")]))
    with pytest.raises(Passing):
        await Batcher(sender, limits).embed(["abc"], "document", dims=2)
    assert len(sender.sent) == tries


async def test_a_final_refusal_ends_all_batches_at_once() -> None:
    sender = Scripted(script=deque([Refused("refused the key", cause="key")]), seconds=0.01)
    with pytest.raises(Refused):
        await Batcher(sender, replace(LIMITS, concurrency=1)).embed(["x"] * 40, "document", dims=2)
    assert len(sender.sent) <= 2


async def test_a_request_that_is_too_large_is_halved() -> None:
    sender = Scripted(bears=10)
    vectors = await Batcher(sender, LIMITS).embed(["x" * 4, "x" * 5, "x" * 6, "x" * 7], "document", dims=2)
    assert lengths(vectors) == [4, 5, 6, 7]


async def test_a_single_text_that_is_too_long_is_embedded_by_its_beginning() -> None:
    sender = Scripted(bears=150)
    assert lengths(await Batcher(sender, LIMITS).embed(["x" * 500], "document", dims=2)) == [125]


async def test_a_short_text_that_is_too_long_is_a_fault() -> None:
    with pytest.raises(TooLarge):
        await Batcher(Scripted(bears=10), LIMITS).embed(["x" * 64], "document", dims=2)


@pytest.mark.parametrize("kind", ["query", "document"])
async def test_the_time_limit_covers_all_tries(kind: Kind) -> None:
    limits = replace(LIMITS, query_seconds=0.1, batch_seconds=0.1, tries=100, query_tries=100)
    sender = Scripted(script=deque(Passing("failed") for _ in range(1_000)), seconds=0.03)
    with pytest.raises(TooSlow, match=r"within 0\.1 s"):
        await Batcher(sender, limits).embed(["abc"], kind, dims=2)


async def test_another_number_of_dimensions_is_no_answer() -> None:
    with pytest.raises(BadAnswer, match="2 dimensions instead of 3"):
        await Batcher(Scripted(), LIMITS).embed(["abc"], "document", dims=3)


@pytest.mark.parametrize(("kind", "tries"), [("query", 2), ("document", 3)])
async def test_a_question_gets_fewer_tries(kind: Kind, tries: int) -> None:
    sender = Scripted(script=deque(Passing("failed") for _ in range(9)))
    with pytest.raises(Passing):
        await Batcher(sender, LIMITS).embed(["abc"], kind, dims=2)
    assert len(sender.sent) == tries
