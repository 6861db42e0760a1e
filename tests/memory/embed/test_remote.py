"""An embedder over a real connection: what comes back, and what is said when nothing does."""

import asyncio
import math
from dataclasses import replace

import pytest

from memory.embed.embedder import Kind, MemoryUnavailable, settled
from memory.embed.wire import OpenAIWire
from tests.fakes.embedding_wires import Bearing
from tests.fakes.embeddingserver import (
    Behaviour,
    Cut,
    EmbeddingServer,
    Slow,
    Values,
    WrongCount,
)
from tests.fakes.model_script import Fail, Garbage, Hang, RateLimited
from tests.memory.embed.conftest import LIMITS, MakeEmbedder


async def failure(make_embedder: MakeEmbedder, kind: Kind = "document", **how: object) -> str:
    with pytest.raises(MemoryUnavailable) as caught:
        await make_embedder(**how).embed(["a note"], kind=kind)
    return str(caught.value)


async def test_many_texts_come_back_in_order_as_unit_vectors(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    embedder = make_embedder()
    texts = [f"note number{n} of many" for n in range(50)]
    server.script += [Slow(0.05)] * 7
    vectors = await embedder.embed(texts, kind="document")
    singles = [(await embedder.embed([text], kind="document"))[0] for text in texts[:3]]
    assert vectors[:3] == singles
    assert all(math.isclose(math.hypot(*vector), 1, rel_tol=1e-5) for vector in vectors)
    assert max(map(len, server.texts())) == 8
    assert 1 < server.most_at_once <= 4


async def test_base64_gives_the_same_vectors_as_lists(make_embedder: MakeEmbedder) -> None:
    plain = await make_embedder().embed(["a note"], kind="document")
    packed = await make_embedder(wire=OpenAIWire(model="small", packed=True)).embed(
        ["a note"], kind="document"
    )
    assert packed == plain


async def test_no_texts_ask_nobody(server: EmbeddingServer, make_embedder: MakeEmbedder) -> None:
    assert await make_embedder().embed([], kind="document") == []
    assert server.requests == []


async def test_half_a_surrogate_pair_and_blank_texts_are_sendable(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    await make_embedder().embed(["a\ud800b", "  "], kind="document")
    assert server.texts() == [["a?b", "-"]]


async def test_the_same_question_is_asked_once_for_a_while(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    now = 0.0
    embedder = make_embedder(now=lambda: now)
    first = await embedder.embed(["why?"], kind="query")
    assert await embedder.embed(["why?"], kind="query") == first
    await embedder.embed(["why?"], kind="document")
    assert len(server.requests) == 2
    now = 60.0
    await embedder.embed(["why?"], kind="query")
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "behaviour",
    [RateLimited(retry_after=0.01), RateLimited(), Fail(status=500), Fail(status=503), Cut()],
    ids=["asked to wait", "too many", "500", "503", "cut"],
)
async def test_what_passes_is_tried_again(
    server: EmbeddingServer, make_embedder: MakeEmbedder, behaviour: Behaviour
) -> None:
    server.script += [behaviour, behaviour]
    assert len(await make_embedder().embed(["a note"], kind="document")) == 1
    assert len(server.requests) == 3


async def test_what_does_not_pass_ends_with_its_cause(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    server.script += [Fail(status=500, message="The disks are full.")] * 3
    said = await failure(make_embedder)
    assert "openai (small at http://127.0.0.1:" in said
    assert "failed (HTTP 500: The disks are full.)" in said
    assert "clawd memory index" in said


async def test_a_request_that_is_too_large_is_halved(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    server.bearing = Bearing(chars=100)
    texts = [f"{n} " + "x" * 30 for n in range(8)]
    vectors = await make_embedder().embed(texts, kind="document")
    server.bearing = Bearing()
    assert vectors == await make_embedder().embed(texts, kind="document")


async def test_a_hanging_server_is_left_after_the_limit(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    server.script += [Hang(), Hang()]
    limits = replace(LIMITS, query_seconds=0.1, batch_seconds=0.15)
    assert "within 0.1 s. Raise memory.search.query_timeout_seconds" in await failure(
        make_embedder, "query", limits=limits
    )
    assert "memory.search.sync.embedding_batch_timeout_seconds" in await failure(make_embedder, limits=limits)
    for _ in range(500):
        await asyncio.sleep(0.01)
        if server.disconnects == 2:
            break
    assert server.disconnects == 2


async def test_a_slow_server_is_waited_for(server: EmbeddingServer, make_embedder: MakeEmbedder) -> None:
    server.script.append(Slow(0.2))
    assert len(await make_embedder().embed(["a note"], kind="query")) == 1


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (Garbage(), "it is no JSON"),
        (Garbage(body="[1, 2]", content_type="application/json"), "no list named data"),
        (Garbage(body='{"data": [1]}', content_type="application/json"), "not numbered"),
        (WrongCount(), "it gave 0 vectors for 1 texts"),
        (Values((1.0,) * 63), "63 dimensions instead of 64. Set memory.search.dimensions to 63"),
        (Values(("x",) * 64), "no number"),
    ],
    ids=["page", "list", "rows", "count", "dims", "texts"],
)
async def test_an_odd_answer_is_told_as_such(
    server: EmbeddingServer, make_embedder: MakeEmbedder, behaviour: Behaviour, said: str
) -> None:
    server.script.append(behaviour)
    assert said in await failure(make_embedder)


async def test_numbers_that_are_none_count_as_zero(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    server.script.append(Values((None, float("nan"), 3.0, *([0] * 61))))
    (vector,) = await make_embedder().embed(["a note"], kind="document")
    assert vector.tolist() == [0, 0, 1, *([0] * 61)]


async def test_a_refused_key_is_never_repeated(make_embedder: MakeEmbedder) -> None:
    said = await failure(make_embedder, key="sk-wrong-987654321")
    assert "refused the key (HTTP 401: Incorrect API key provided: [redacted].)" in said
    assert "Check OPENAI_API_KEY or memory.search.api_key" in said
    assert "987654321" not in said


async def test_a_missing_key_names_where_to_set_it(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    said = await failure(make_embedder, has_key=False)
    assert "Set OPENAI_API_KEY or memory.search.api_key, then run `clawd memory index`" in said
    assert server.requests == []


async def test_an_unknown_model_and_a_wrong_address_are_told_apart(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    assert "does not know the model" in await failure(make_embedder, wire=OpenAIWire(model="no-such"))
    said = await failure(make_embedder, address=f"{server.url}/v9")
    assert "no embeddings at this address" in said
    assert "Correct memory.search.base_url" in said


async def test_a_server_that_is_not_there_is_told_without_its_password(make_embedder: MakeEmbedder) -> None:
    said = await failure(make_embedder, address="http://me:hunter22@127.0.0.1:9/v1")
    assert "cannot be reached" in said
    assert "hunter22" not in said


async def test_a_redirection_does_not_carry_the_key_away(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    server.script.append(Fail(status=307, headers=(("location", f"{server.url}/elsewhere"),)))
    assert "answers from another address" in await failure(make_embedder)
    assert len(server.requests) == 1


async def test_unknown_dimensions_are_found_out_once(
    server: EmbeddingServer, make_embedder: MakeEmbedder
) -> None:
    embedder = make_embedder(dims=0)
    assert embedder.dims == 0
    assert (await settled(embedder)).dims == 64
    await settled(embedder)
    assert len(server.requests) == 1
    server.script.append(Values((1.0,) * 32))
    with pytest.raises(MemoryUnavailable, match="32 dimensions instead of 64"):
        await embedder.embed(["a note"], kind="document")


async def test_a_closed_embedder_says_so(make_embedder: MakeEmbedder) -> None:
    embedder = make_embedder()
    await embedder.embed(["a note"], kind="document")
    await embedder.aclose()
    await embedder.aclose()
    with pytest.raises(MemoryUnavailable, match="was closed"):
        await embedder.embed(["a note"], kind="document")


@pytest.mark.parametrize(("texts", "requests", "at_once"), [(32, 1, 32), (128, 4, 512), (1_000, 4, 512)])
def test_an_index_gives_it_as_many_texts_as_it_sends_at_once(
    make_embedder: MakeEmbedder, *, texts: int, requests: int, at_once: int
) -> None:
    embedder = make_embedder(limits=replace(LIMITS, max_texts=texts, concurrency=requests))
    assert embedder.at_once == at_once
