"""Batch APIs: files up, jobs, files down, and everything that can come between."""

from collections.abc import AsyncIterator, Callable

import pytest

from memory.embed.batch_api import BatchApi, JobFailed, Jobs, PutOff
from memory.embed.batch_jobs import FileJobs, GeminiJobs
from memory.embed.batching import TooSlow
from memory.embed.embedder import Vector
from memory.embed.faults import Fault, Refused
from memory.embed.gemini_wire import GeminiWire
from memory.embed.link import Link
from memory.embed.senders import HttpSender
from memory.embed.vectors import to_vector
from memory.embed.wire import OpenAIWire, Wire
from tests.fakes.embedding_wires import KEY, vector
from tests.fakes.embeddingserver import EmbeddingServer
from tests.memory.embed.conftest import LIMITS

VENDORS = ("openai", "voyage", "gemini")
TEXTS = [f"note number{n}\nwith a second line" for n in range(20)]
RIGHT = [to_vector([*vector(text, 64)], dims=64) for text in TEXTS]


class Desk:
    """A batch API with its connection."""

    def __init__(self, server: EmbeddingServer, vendor: str) -> None:
        jobs, wire, path = _vendor(vendor)
        headers = {"x-goog-api-key": KEY} if vendor == "gemini" else {"authorization": f"Bearer {KEY}"}
        self.sender = HttpSender(Link(server.url + path, headers=headers, secrets=[KEY], proxied=False), wire)
        self.api = BatchApi(
            jobs, limits=LIMITS, min_texts=10, concurrency=2, poll_seconds=0.001, job_seconds=5
        )

    async def embed(
        self, texts: list[str] = TEXTS, give_up: Callable[[], bool] = lambda: False
    ) -> list[Vector]:
        return await self.api.embed(self.sender, texts, dims=64, give_up=give_up)


def _vendor(vendor: str) -> tuple[Jobs, Wire, str]:
    if vendor == "gemini":
        wire = GeminiWire(model="gemini-embedding-001")
        return GeminiJobs(wire=wire), wire, "/v1beta"
    if vendor == "voyage":
        spoken = OpenAIWire(
            model="voyage-4", input_types={"document": "document"}, extra={"truncation": True}
        )
        return FileJobs(wire=spoken, window="12h", shared=True), spoken, "/voyage/v1"
    plain = OpenAIWire(model="text-embedding-3-small", packed=True)
    return FileJobs(wire=plain), plain, "/v1"


@pytest.fixture(params=VENDORS)
async def desk(server: EmbeddingServer, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    made = Desk(server, str(request.param))
    yield made
    await made.sender.aclose()


async def test_a_job_gives_every_text_its_vector(server: EmbeddingServer, desk: Desk) -> None:
    assert await desk.embed() == RIGHT
    assert len(server.batches.jobs) == 1
    assert desk.api.problem is None


async def test_nothing_of_it_is_left_at_the_vendor(server: EmbeddingServer, desk: Desk) -> None:
    await desk.embed()
    assert set(server.batches.deleted) == set(server.batches.files)
    assert server.batches.cancelled == []


@pytest.mark.parametrize("end", ["failed", "expired", "cancelled"])
async def test_a_job_that_ends_otherwise_is_a_fault(server: EmbeddingServer, desk: Desk, end: str) -> None:
    server.batches.end = end
    with pytest.raises(JobFailed, match=f"has {end} its batch job"):
        await desk.embed()
    assert "failed 1 of 2 times" in str(desk.api.problem)


async def test_a_refused_text_fails_the_job_and_its_reason_is_told(
    server: EmbeddingServer, desk: Desk
) -> None:
    server.batches.refused = {3}
    with pytest.raises(JobFailed, match=r"refused .*: This text was refused\."):
        await desk.embed()


async def test_a_text_without_a_line_fails_the_job(server: EmbeddingServer, desk: Desk) -> None:
    server.batches.lost = {0, 19}
    with pytest.raises(JobFailed, match="left 2 of 20 texts out"):
        await desk.embed()


async def test_a_job_that_takes_too_long_is_cancelled(server: EmbeddingServer, desk: Desk) -> None:
    server.batches.looks = 10**6
    desk.api._job_seconds = 0.1
    with pytest.raises(TooSlow, match="did not end its batch job"):
        await desk.embed()
    assert len(server.batches.cancelled) == 1


async def test_a_job_can_be_given_up_without_counting_as_a_failure(
    server: EmbeddingServer, desk: Desk
) -> None:
    server.batches.looks = 10**6
    with pytest.raises(PutOff):
        await desk.embed(give_up=lambda: True)
    assert len(server.batches.cancelled) == 1
    assert desk.api.problem is None


async def test_two_failures_in_a_row_turn_it_off(server: EmbeddingServer, desk: Desk) -> None:
    server.batches.end = "expired"
    for _ in range(2):
        with pytest.raises(JobFailed):
            await desk.embed()
    assert not desk.api.on
    server.batches.end = "completed"
    with pytest.raises(JobFailed, match="takes no batch jobs now"):
        await desk.embed()
    assert len(server.batches.jobs) == 2


async def test_a_success_forgets_the_failure_before(server: EmbeddingServer, desk: Desk) -> None:
    for end in ("expired", "completed", "expired"):
        server.batches.end = end
        try:
            await desk.embed()
        except Fault:
            continue
    assert desk.api.on


async def test_gemini_without_a_batch_api_turns_it_off_at_once(server: EmbeddingServer) -> None:
    server.batches.missing = True
    desk = Desk(server, "gemini")
    with pytest.raises(Refused):
        await desk.embed()
    assert not desk.api.on
    await desk.sender.aclose()


async def test_openai_tells_why_a_job_failed(server: EmbeddingServer) -> None:
    server.batches.end = "failed"
    desk = Desk(server, "openai")
    with pytest.raises(JobFailed, match="The file is not to our liking"):
        await desk.embed()
    await desk.sender.aclose()
