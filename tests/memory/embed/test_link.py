"""The connection: what it sends, and what it makes of what comes back."""

import pytest

from memory.embed.faults import BadAnswer, Refused
from memory.embed.link import Link, as_json
from tests.fakes.embedding_wires import KEY
from tests.fakes.embeddingserver import EmbeddingServer


async def test_it_says_who_asks_and_sends_json(server: EmbeddingServer) -> None:
    link = Link(f"{server.url}/v1/", headers={"authorization": f"Bearer {KEY}"}, secrets=[KEY])
    await link.post("/embeddings", {"model": "m", "input": ["a"]})
    sent = server.requests[0].headers
    assert (sent["user-agent"], sent["content-type"]) == ("clawd", "application/json")
    await link.aclose()


async def test_an_address_that_is_none_is_refused() -> None:
    link = Link("http://", headers={}, secrets=[])
    with pytest.raises(Refused, match="cannot be asked"):
        await link.get("ftp://host/x")
    await link.aclose()


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 200_000], ids=["empty", "cut", "bytes", "deep"])
async def test_what_is_no_json_is_a_bad_answer(body: bytes) -> None:
    with pytest.raises(BadAnswer):
        await as_json(body)
