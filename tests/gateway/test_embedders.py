"""Each provider over its own wire, from the settings to the vectors."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agents.settings import ProviderSettings
from gateway.embedders import Embedders
from memory.embed.calibrated import Calibrated
from memory.embed.embedder import (
    BulkEmbedder,
    Embedder,
    Kind,
    MediaEmbedder,
    MemoryUnavailable,
    settled,
)
from memory.embed.local import LocalEmbedder
from memory.embed.media import MediaPart
from memory.index import MemoryIndex
from memory.settings import MemorySettings, SearchSettings
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.embedding_wires import KEY, Bearing
from tests.fakes.embeddingserver import EmbeddingServer
from tests.fakes.model_script import Fail, RateLimited

Make = Callable[..., Embedder]
WIRES: dict[str, dict[str, object]] = {
    "openai": {"path": "/v1", "dims_key": "dimensions"},
    "gemini": {"path": "/v1beta", "dims_key": "outputDimensionality"},
    "voyage": {"path": "/voyage/v1", "dims_key": "output_dimension"},
    "mistral": {"path": "/mistral/v1", "dims_key": "output_dimension"},
    "deepinfra": {"path": "/v1/openai", "dims_key": "dimensions"},
    "ollama": {"path": "", "dims_key": "dimensions"},
    "lmstudio": {"path": "/v1", "dims_key": "dimensions"},
    "openai-compatible": {"path": "/v1", "dims_key": "dimensions", "model": "any-model"},
}


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as running:
        yield running


@pytest.fixture
async def make(server: EmbeddingServer) -> AsyncIterator[Make]:
    """An embedder for a provider at the server, as the gateway makes it."""
    async with AsyncExitStack() as stack:

        def one(name: str, **keys: object) -> Embedder:
            wire = WIRES[name]
            embedders = Embedders({}, environ={})
            stack.push_async_callback(embedders.aclose)
            settings = {
                "provider": name,
                "base_url": server.url + str(wire["path"]),
                "api_key": KEY,
                "dimensions": 64,
                "model": wire.get("model"),
                **keys,
            }
            made = embedders.of(SearchSettings.model_validate(settings))
            assert made is not None
            return made

        yield one


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("kind", ["query", "document"])
async def test_each_provider_speaks_its_wire(
    server: EmbeddingServer, make: Make, name: str, kind: Kind
) -> None:
    embedder = make(name)
    assert embedder.provider == name
    vectors = await embedder.embed(["the cat on the mat", "something else"], kind=kind)
    assert [len(vector) for vector in vectors] == [64, 64]
    (again,) = await embedder.embed(["the cat on the mat"], kind=kind)
    assert sum(x * y for x, y in zip(again, vectors[0], strict=True)) == pytest.approx(1, abs=1e-5)
    asked = server.requests[0].json
    dims = asked["requests"][0] if name == "gemini" else asked
    assert dims[str(WIRES[name]["dims_key"])] == 64


@pytest.mark.parametrize("name", [name for name in WIRES if name not in ("ollama", "lmstudio")])
async def test_a_wrong_key_is_told_but_not_repeated(make: Make, name: str) -> None:
    with pytest.raises(MemoryUnavailable, match="refused the key") as caught:
        await make(name, api_key="sk-wrong-424242").embed(["a"], kind="document")
    assert "424242" not in str(caught.value)
    assert "memory.search.api_key" in str(caught.value)


@pytest.mark.parametrize("name", WIRES)
async def test_each_provider_is_tried_again(server: EmbeddingServer, make: Make, name: str) -> None:
    server.script += [RateLimited(retry_after=0.01), Fail(status=503)]
    assert len(await make(name).embed(["a"], kind="document")) == 1
    assert len(server.requests) == 3


async def test_gemini_says_what_a_text_is_for(server: EmbeddingServer, make: Make) -> None:
    first = make("gemini")
    await first.embed(["why"], kind="query")
    await first.embed(["note"], kind="document")
    second = make("gemini", model="gemini-embedding-2-preview")
    await second.embed(["why"], kind="query")
    await second.embed(["note"], kind="document")
    asked = [request.json["requests"][0] for request in server.requests]
    assert [one.get("taskType") for one in asked] == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", None, None]
    assert [one["content"]["parts"][0]["text"] for one in asked] == [
        "why",
        "note",
        "task: search result | query: why",
        "title: none | text: note",
    ]
    assert server.requests[0].headers["x-goog-api-key"] == KEY


async def test_gemini_takes_no_more_than_a_hundred_texts(server: EmbeddingServer, make: Make) -> None:
    assert len(await make("gemini").embed(["a"] * 250, kind="document")) == 250
    assert [len(request.json["requests"]) for request in server.requests] == [100, 100, 50]


async def test_gemini_sees_pictures_in_the_space_of_texts(server: EmbeddingServer, make: Make) -> None:
    embedder = make("gemini", model="gemini-embedding-2")
    assert isinstance(embedder, MediaEmbedder)
    parts = [
        MediaPart(label=f"Image file: {n}.png", mime="image/png", data=b"\x89PNG" + bytes([n]))
        for n in range(8)
    ]
    assert [len(vector) for vector in await embedder.embed_media(parts)] == [64] * 8
    assert [len(request.json["requests"]) for request in server.requests] == [6, 2]
    inline = server.requests[0].json["requests"][0]["content"]["parts"]
    assert inline == [
        {"text": "Image file: 0.png"},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORwA="}},
    ]


async def test_a_model_of_texts_refuses_pictures_and_names_the_right_one(make: Make) -> None:
    embedder = make("gemini")
    assert isinstance(embedder, MediaEmbedder)
    with pytest.raises(MemoryUnavailable, match=r"memory\.search\.model: gemini-embedding-2"):
        await embedder.embed_media([MediaPart(label="x", mime="image/png", data=b"x")])


async def test_voyage_and_compatible_servers_are_told_the_input_type(
    server: EmbeddingServer, make: Make
) -> None:
    await make("voyage").embed(["why"], kind="query")
    own = make("openai-compatible", query_input_type="search_query", document_input_type="passage")
    await own.embed(["why"], kind="query")
    await own.embed(["note"], kind="document")
    plain = make("openai-compatible")
    await plain.embed(["note"], kind="document")
    said = [request.json.get("input_type") for request in server.requests]
    assert said == ["query", "search_query", "passage", None]
    assert server.requests[0].json["truncation"] is True


async def test_ollama_introduces_questions_alone(server: EmbeddingServer, make: Make) -> None:
    embedder = make("ollama")
    await embedder.embed(["why"], kind="query")
    await embedder.embed(["note"], kind="document")
    assert server.texts() == [["search_query: why"], ["note"]]


async def test_ollama_without_the_model_says_how_to_fetch_it(make: Make) -> None:
    with pytest.raises(MemoryUnavailable, match=r"ollama pull no-such-model.*clawd memory index"):
        await make("ollama", model="no-such-model").embed(["a"], kind="document")


async def test_an_ollama_that_is_not_there_says_how_to_start_it(make: Make) -> None:
    with pytest.raises(MemoryUnavailable, match=r"Start it \(ollama serve\)"):
        await make("ollama", base_url="http://127.0.0.1:9").embed(["a"], kind="document")


async def test_local_servers_need_no_key_and_get_none(server: EmbeddingServer, make: Make) -> None:
    await make("ollama", api_key=None).embed(["a"], kind="document")
    assert "authorization" not in server.requests[0].headers


async def test_own_headers_are_sent(server: EmbeddingServer, make: Make) -> None:
    await make("openai", headers={"X-Team": "blue"}).embed(["a"], kind="document")
    assert server.requests[0].headers["x-team"] == "blue"


@pytest.mark.parametrize("name", ["openai", "gemini", "voyage"])
async def test_batch_jobs_are_off_unless_asked_for(make: Make, name: str) -> None:
    plain, bulk = make(name), make(name, batch_api={"enabled": True, "min_texts": 5, "poll_seconds": 0.001})
    assert isinstance(plain, BulkEmbedder)
    assert isinstance(bulk, BulkEmbedder)
    assert (plain.bulk_from, bulk.bulk_from) == (None, 5)
    texts = [f"note {n}" for n in range(9)]
    assert await bulk.embed_bulk(texts) == await plain.embed(texts, kind="document")


async def test_two_ollama_hosts_are_two_providers(server: EmbeddingServer) -> None:
    async with EmbeddingServer(bearing=Bearing(dims=32)) as other:
        providers = {
            "desk": ProviderSettings(base_url=f"{server.url}/v1", embedding_api="ollama"),
            "attic": ProviderSettings(
                base_url=other.url, embedding_api="ollama", embedding_model="somebodys-own"
            ),
        }
        embedders = Embedders(providers, environ={})
        desk = embedders.of(SearchSettings(provider="desk", model="somebodys-own"))
        attic = embedders.of(SearchSettings(provider="attic"))
        assert desk is not None
        assert attic is not None
        first, second = await settled(desk), await settled(attic)
        assert (first.provider, first.dims) == ("desk", 64)
        assert (second.provider, second.dims) == ("attic", 32)
        await second.embed(["a"], kind="document")
        assert (len(server.requests), len(other.requests)) == (1, 2)
        await embedders.aclose()


class Closing(FakeEmbedder):
    """Counts how often it was closed."""

    ends = 0

    async def aclose(self) -> None:
        self.ends += 1


async def test_agents_with_the_same_settings_share_an_embedder() -> None:
    embedders = Embedders({}, environ={})
    first = embedders.of(SearchSettings(provider="openai", max_results=3))
    assert embedders.of(SearchSettings(provider="openai", max_results=9)) is first
    assert embedders.of(SearchSettings(provider="openai", dimensions=256)) is not first
    both = embedders.of(SearchSettings(provider="openai", fallback="local"))
    assert embedders.of(SearchSettings(provider="openai", fallback="local")) is both
    await embedders.aclose()
    await embedders.aclose()


async def test_all_agents_share_one_local_worker() -> None:
    embedders = Embedders({}, environ={})
    local = embedders.of(SearchSettings())
    assert isinstance(local, LocalEmbedder)
    assert embedders.of(SearchSettings(provider="local")) is local
    own = embedders.of(SearchSettings(provider="auto", floor=0.05))
    assert isinstance(own, Calibrated)
    assert (own.floor, own.ceiling, own.model) == (0.05, local.ceiling, local.model)
    assert embedders.of(SearchSettings(provider="none")) is None
    await embedders.aclose()


async def test_other_settings_keep_what_they_still_want_and_close_the_rest() -> None:
    embedders = Embedders({}, environ={})
    kept = embedders.of(SearchSettings(provider="openai"))
    local = embedders.of(SearchSettings(floor=0.05))
    gone = Closing()
    embedders._made.append(("gone", gone))

    then = embedders.successor({})
    assert then.of(SearchSettings(provider="openai")) is kept
    assert then.of(SearchSettings(floor=0.05)) is local
    assert then.of(SearchSettings(provider="openai", dimensions=256)) is not kept
    await then.settle()

    assert gone.ends == 1
    await then.aclose()
    assert gone.ends == 1


async def test_settings_that_are_not_taken_close_nothing_of_what_goes_on() -> None:
    embedders = Embedders({}, environ={})
    going = Closing()
    embedders._made.append(("going", going))
    then, new = embedders.successor({}), Closing()
    assert then._once("going", Closing) is going
    assert then._once("new", lambda: new) is new

    await then.give_up()

    assert (going.ends, new.ends) == (0, 1)
    await embedders.aclose()
    assert going.ends == 1


async def test_a_local_model_that_is_to_idle_longer_is_another_one() -> None:
    embedders = Embedders({}, environ={})
    local = embedders.of(SearchSettings(idle_seconds=300))

    assert embedders.successor({}).of(SearchSettings(idle_seconds=300)) is local
    assert embedders.successor({}).of(SearchSettings(idle_seconds=301)) is not local
    await embedders.aclose()


async def test_a_missing_key_is_told_when_the_memory_is_asked_not_before() -> None:
    embedders = Embedders({}, environ={})
    embedder = embedders.of(SearchSettings(provider="voyage"))
    assert embedder is not None
    with pytest.raises(MemoryUnavailable, match=r"Set VOYAGE_API_KEY or memory\.search\.api_key"):
        await embedder.embed(["a"], kind="query")


async def test_b10_a_fallback_answers_and_is_named(server: EmbeddingServer, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "MEMORY.md").write_text("The bicycle is in the shed.\n", encoding="utf-8")
    providers = {
        "attic": ProviderSettings(
            base_url=server.url, embedding_api="ollama", embedding_model="somebodys-own"
        )
    }
    embedders = Embedders(providers, environ={"OPENAI_API_KEY": "sk-unused"})
    search = SearchSettings(provider="openai", base_url="http://127.0.0.1:9/v1", fallback="attic")
    index = MemoryIndex(
        workspace=tmp_path / "workspace",
        database=tmp_path / "main.sqlite",
        settings=MemorySettings(search=search),
        embedder=embedders.of(search),
    )
    result = await index.search("bicycle")
    assert (result.mode, result.provider, len(result.hits)) == ("hybrid", "attic", 1)
    assert result.hits[0].vector_score > 0
    assert result.fallback is not None
    assert (result.fallback.from_, result.fallback.to) == ("openai", "attic")
    assert "cannot be reached" in result.fallback.reason
    status = await index.status()
    assert status.fallback == result.fallback
    await index.aclose()
    await embedders.aclose()
