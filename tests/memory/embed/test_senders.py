"""GitHub Copilot: tokens are exchanged, used while they live, and exchanged again."""

from collections.abc import AsyncIterator, Callable

import pytest

from memory.embed.faults import Refused
from memory.embed.link import Link
from memory.embed.senders import COPILOT_ADDRESS, COPILOT_HEADERS, CopilotSender
from memory.embed.wire import OpenAIWire
from tests.fakes.embedding_wires import GITHUB_TOKEN
from tests.fakes.embeddingserver import EmbeddingServer

Make = Callable[..., CopilotSender]


class Clock:
    now = 0.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def make(server: EmbeddingServer, clock: Clock) -> AsyncIterator[Make]:
    made: list[CopilotSender] = []

    def sender(token: str = GITHUB_TOKEN) -> CopilotSender:
        headers = {name.lower(): value for name, value in COPILOT_HEADERS.items()}
        made.append(
            CopilotSender(
                Link("", headers=headers, secrets=[token], proxied=False),
                OpenAIWire(model="text-embedding-3-small"),
                github_token=token,
                address=f"{server.url}/copilot",
                token_address=f"{server.url}/copilot_internal/v2/token",
                now=lambda: clock.now,
            )
        )
        return made[-1]

    yield sender
    for one in made:
        await one.aclose()


async def test_a_token_is_exchanged_once_and_used_while_it_lives(
    server: EmbeddingServer, make: Make, clock: Clock
) -> None:
    sender = make()
    assert len(await sender.send(["a", "b"], "document")) == 2
    clock.now = 1_439.0
    await sender.send(["why"], "query")
    assert server.exchanges == 1
    clock.now = 1_440.0
    await sender.send(["why"], "query")
    assert server.exchanges == 2


async def test_a_token_that_died_early_is_exchanged_once_more(server: EmbeddingServer, make: Make) -> None:
    sender = make()
    await sender.send(["a"], "document")
    server.copilot_token = "tid=2"
    assert len(await sender.send(["a"], "document")) == 1
    assert server.exchanges == 2


async def test_a_wrong_github_token_is_refused_without_being_told(make: Make) -> None:
    with pytest.raises(Refused, match="refused the key") as caught:
        await make("ghu_wrong987654").send(["a"], "document")
    assert "987654" not in str(caught.value)


async def test_only_a_safe_address_is_taken_from_the_exchange(server: EmbeddingServer) -> None:
    link = Link("", headers={}, secrets=[], proxied=False)
    token_address = f"{server.url}/copilot_internal/v2/token"
    sender = CopilotSender(
        link, OpenAIWire(model="x"), github_token=GITHUB_TOKEN, token_address=token_address
    )
    assert (await sender._fresh_token())[1] == COPILOT_ADDRESS  # the fake names http://unsafe.example
    await sender.aclose()
