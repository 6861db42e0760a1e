"""Bedrock through the real boto3, against a loopback server that wants its signatures."""

from collections.abc import AsyncIterator, Callable

import pytest

from memory.embed.faults import Fault, Passing, Refused
from tests.fakes.embedding_wires import Bearing
from tests.fakes.embeddingserver import EmbeddingServer
from tests.fakes.model_script import Fail, Garbage

pytest.importorskip("boto3", reason="the extra bedrock is not installed")

from memory.embed.bedrock import BedrockSender

Make = Callable[..., BedrockSender]
TITAN = "amazon.titan-embed-text-v2:0"


@pytest.fixture
async def make(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    """AWS's chain of credentials begins in the environment, and boto3 reads no other place for it first."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIATEST",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    made: list[BedrockSender] = []

    def sender(model: str = TITAN, dims: int | None = None) -> BedrockSender:
        made.append(BedrockSender(model=model, dims=dims, address=server.url, read_seconds=5))
        return made[-1]

    yield sender
    for one in made:
        await one.aclose()


async def test_titan_is_asked_text_by_text(server: EmbeddingServer, make: Make) -> None:
    rows = await make(dims=256).send(["one", "two"], "document")
    assert [len(row) for row in rows if isinstance(row, list)] == [256, 256]
    assert [request.json for request in server.requests] == [
        {"inputText": text, "normalize": True, "dimensions": 256} for text in ("one", "two")
    ]


@pytest.mark.parametrize(("kind", "said"), [("query", "search_query"), ("document", "search_document")])
async def test_cohere_is_asked_for_all_at_once(
    server: EmbeddingServer, make: Make, kind: str, said: str
) -> None:
    sender = make("cohere.embed-multilingual-v3")
    assert len(await sender.send(["one", "two"], "query" if kind == "query" else "document")) == 2
    assert server.requests[0].json["input_type"] == said


@pytest.mark.parametrize(
    ("headers", "status", "kind", "cause"),
    [
        ("ThrottlingException", 429, Passing, None),
        ("ModelNotReadyException", 429, Passing, None),
        ("InternalServerException", 500, Passing, None),
        ("AccessDeniedException", 403, Refused, "key"),
        ("ResourceNotFoundException", 404, Refused, "model"),
        ("ValidationException", 400, Refused, "request"),
    ],
)
async def test_refusals_keep_their_meaning(
    server: EmbeddingServer, make: Make, headers: str, status: int, kind: type[Fault], cause: str | None
) -> None:
    server.script.append(Fail(status=status, headers=(("x-amzn-errortype", headers),)))
    with pytest.raises(kind) as caught:
        await make().send(["one"], "document")
    assert cause is None or (isinstance(caught.value, Refused) and caught.value.cause == cause)


async def test_an_unknown_model_and_nonsense_are_told(server: EmbeddingServer, make: Make) -> None:
    with pytest.raises(Refused, match="does not know the model"):
        await make("nobody.knows-this").send(["one"], "document")
    server.script.append(Garbage())
    with pytest.raises(Fault, match="no JSON"):
        await make().send(["one"], "document")
    server.bearing = Bearing(dims=8)
    assert len(await make().send(["one"], "document")) == 1


async def test_a_missing_region_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(Refused, match="must specify a region") as caught:
        BedrockSender(model=TITAN, dims=None)
    assert caught.value.cause == "key"
