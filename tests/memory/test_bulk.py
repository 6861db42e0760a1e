"""Very many passages by the batch API of a provider, joined to the index."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from memory.embed.batch_api import BatchApi, Jobs
from memory.embed.batch_jobs import FileJobs, GeminiJobs
from memory.embed.batching import Sender
from memory.embed.explain import Asked
from memory.embed.gemini_wire import GeminiWire
from memory.embed.link import Link
from memory.embed.remote import Identity, RemoteEmbedder
from memory.embed.senders import HttpSender
from memory.embed.wire import OpenAIWire, Wire
from memory.orders import SyncProgress
from tests.fakes.embedding_wires import KEY
from tests.fakes.embeddingserver import EmbeddingServer
from tests.memory.conftest import MakeIndex, Notes
from tests.memory.embed.conftest import LIMITS

FROM = 20  # texts from which a job is worth it
COUNT = 30

MakeBulk = Callable[..., RemoteEmbedder]


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as running:
        yield running


@pytest.fixture
async def make_bulk(server: EmbeddingServer) -> AsyncIterator[MakeBulk]:
    """Makes embedders with a batch API at the server, and closes them."""
    made: list[RemoteEmbedder] = []

    def make(vendor: str = "openai") -> RemoteEmbedder:
        jobs, wire, path, model = _vendor(vendor)
        headers = {"x-goog-api-key": KEY} if vendor == "gemini" else {"authorization": f"Bearer {KEY}"}

        async def connect() -> Sender:
            link = Link(server.url + path, headers=headers, secrets=[KEY], proxied=False)
            return HttpSender(link, wire)

        embedder = RemoteEmbedder(
            Identity(provider=vendor, model=model, version="1", dims=64, floor=0.1, ceiling=0.5),
            connect=connect,
            limits=LIMITS,
            asked=Asked(provider=vendor, model=model, address=server.url, variables=("KEY",)),
            bulk=BatchApi(
                jobs, limits=LIMITS, min_texts=FROM, concurrency=2, poll_seconds=0.001, job_seconds=60
            ),
        )
        made.append(embedder)
        return embedder

    yield make
    for embedder in made:
        await embedder.aclose()


def _vendor(vendor: str) -> tuple[Jobs, Wire, str, str]:
    if vendor == "gemini":
        gemini = GeminiWire(model="gemini-embedding-001")
        return GeminiJobs(wire=gemini), gemini, "/v1beta", gemini.model
    if vendor == "voyage":
        voyage = OpenAIWire(
            model="voyage-4", input_types={"document": "document"}, extra={"truncation": True}
        )
        return FileJobs(wire=voyage, window="12h", shared=True), voyage, "/voyage/v1", voyage.model
    plain = OpenAIWire(model="small")
    return FileJobs(wire=plain), plain, "/v1", plain.model


def write(notes: Notes, count: int, *, first: int = 0) -> None:
    notes.write({f"memory/n{i}.md": f"Fact number{i} about the harbour" for i in range(first, first + count)})


def asked_for_documents(server: EmbeddingServer) -> int:
    """Requests for vectors in the ordinary way."""
    return sum(one.path.endswith(("/embeddings", ":batchEmbedContents")) for one in server.requests)


async def begun(server: EmbeddingServer) -> None:
    async with asyncio.timeout(60):
        while not server.batches.jobs:  # noqa: ASYNC110 (the fake tells nobody)
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("vendor", ["openai", "voyage", "gemini"])
async def test_a_large_first_indexing_is_one_job_and_is_told_as_it_goes(
    notes: Notes, make_index: MakeIndex, make_bulk: MakeBulk, server: EmbeddingServer, vendor: str
) -> None:
    write(notes, COUNT)
    index = make_index(make_bulk(vendor), provider=vendor)
    told: list[SyncProgress] = []
    report = await index.sync(accept=True, progress=told.append)
    assert (report.waiting, report.embedded, report.warnings) == (0, COUNT, ())
    assert len(server.batches.jobs) == 1
    assert asked_for_documents(server) == 0
    assert [(one.done, one.total) for one in told if one.stage == "batch"] == [(0, COUNT), (COUNT, COUNT)]
    found = await index.search("number7")
    assert found.hits[0].path == "memory/n7.md"
    assert found.mode == "hybrid"
    assert found.hits[0].vector_score > 0


@pytest.mark.parametrize(("count", "jobs"), [(FROM - 1, 0), (FROM, 1), (FROM + 1, 1)])
async def test_few_texts_are_embedded_in_the_ordinary_way(
    notes: Notes,
    make_index: MakeIndex,
    make_bulk: MakeBulk,
    server: EmbeddingServer,
    *,
    count: int,
    jobs: int,
) -> None:
    write(notes, count)
    report = await make_index(make_bulk(), provider="openai").sync(accept=True)
    assert (report.waiting, len(server.batches.jobs)) == (0, jobs)


@pytest.mark.parametrize("end", ["failed", "expired"])
async def test_a_job_that_fails_leaves_the_ordinary_way_and_one_message(
    notes: Notes, make_index: MakeIndex, make_bulk: MakeBulk, server: EmbeddingServer, end: str
) -> None:
    server.batches.end = end
    write(notes, COUNT)
    index = make_index(make_bulk(), provider="openai")
    report = await index.sync(accept=True)
    assert report.waiting == 0
    (warning,) = report.warnings
    assert "ordinary way" in warning
    assert end in warning
    assert "network" not in warning
    assert ".." not in warning
    write(notes, COUNT, first=COUNT)
    assert (await index.sync(accept=True)).waiting == 0
    assert len(server.batches.jobs) == 1
    assert any("batch API" in text for text in (await index.status()).warnings)


async def test_a_search_and_new_notes_do_not_wait_for_the_job(
    notes: Notes, make_index: MakeIndex, make_bulk: MakeBulk, server: EmbeddingServer
) -> None:
    server.batches.looks = 1_000_000
    write(notes, COUNT)
    index = make_index(make_bulk(), provider="openai")
    await index.sync()
    await begun(server)
    notes.write({"memory/late.md": "A late note about lanterns"})
    result = await index.search("lanterns")
    assert result.hits[0].path == "memory/late.md"
    assert result.hits[0].vector_score > 0
    assert "batch API" in str(result.warning)
    assert len(server.batches.jobs) == 1


async def test_a_search_alone_begins_no_job(
    notes: Notes, make_index: MakeIndex, make_bulk: MakeBulk, server: EmbeddingServer
) -> None:
    write(notes, COUNT)
    result = await make_index(make_bulk(), provider="openai").search("number7")
    assert result.hits[0].path == "memory/n7.md"
    assert "clawd memory index" in str(result.warning)
    assert not server.batches.jobs


async def test_what_ends_in_the_middle_begins_anew_without_damage(
    notes: Notes, make_index: MakeIndex, make_bulk: MakeBulk, server: EmbeddingServer
) -> None:
    server.batches.looks = 1_000_000
    write(notes, COUNT)
    first = make_index(make_bulk(), provider="openai")
    await first.sync()
    await begun(server)
    await first.aclose()
    server.batches.looks = 2
    report = await make_index(make_bulk(), provider="openai").sync(accept=True)
    assert (report.waiting, report.embedded, report.chunks) == (0, COUNT, COUNT)
    assert len(server.batches.jobs) == 2


async def test_an_index_made_anew_is_filled_by_a_job_and_then_by_what_is_kept(
    notes: Notes, make_index: MakeIndex, make_bulk: MakeBulk, server: EmbeddingServer
) -> None:
    write(notes, COUNT)
    index = make_index(make_bulk(), provider="openai")
    await index.sync(force=True)
    assert (await index.status()).waiting == 0
    assert len(server.batches.jobs) == 1
    report = await index.sync(force=True)
    assert (report.waiting, report.embedded) == (0, 0)
    assert len(server.batches.jobs) == 1
