"""The figures that the seed names: a window of 200,000 tokens, 180,000 of them used after 150 turns."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.framing import overhead_of
from agents.model.anthropic_wire import to_wire
from agents.model.provider import ModelRequest
from agents.model.wire import encode
from sessions.limits import tokens_of
from sessions.messages import Json, Usage, text_of
from sessions.settings import SessionsSettings
from sessions.summary import HEADINGS
from tests.fakes.house import House, house
from tests.fakes.protocols import Says, Step

WINDOW, USED, TURNS, TURN_TOKENS = 200_000, 180_000, 150, 1_200
SAVED = 147  # the first turn at or above 176,000: window - reserve - soft threshold
KEPT = 10
SUMMARY = "\n\n".join(f"## {heading}\nsomething about it" for heading in HEADINGS)
PLAIN = SessionsSettings.model_validate({"start_notes": {"enabled": False}, "reset": {"daily_at": None}})


def question(turn: int) -> str:
    return f"What about berth {turn:03}, pier DOCK-{turn:04}? " + f"It is number {turn}. " * 20


def answer(turn: int) -> str:
    return f"Berth {turn:03}: " + f"a long word on sail {turn} and wind. " * 118


def script() -> Iterator[Step]:
    for turn in range(1, TURNS + 1):
        yield Says(answer(turn))
        if turn == SAVED:
            yield Says("NO_REPLY")
    yield from (Says(SUMMARY), Says(SUMMARY), Says("after"))


async def say(scene: House, text: str) -> None:
    await scene.gateway.chat(agent=None, session=None, text=text)
    await scene.gateway.lanes.drain(10)


async def fill(scene: House) -> None:
    for turn in range(1, TURNS + 1):
        scene.model.usage = Usage(input=turn * TURN_TOKENS - 1_000, output=1_000)
        await say(scene, question(turn))
    scene.model.usage = Usage(input=10, output=5)


def said(request: ModelRequest) -> list[Json]:
    """The messages in the bytes of the wire, cache marks aside."""
    body = to_wire(
        replace(request, cache_ttl=None), provider="anthropic", thinking="between_tools", vision=True
    )
    messages = body["messages"]
    assert isinstance(messages, list)
    return messages


def from_turn(messages: list[Json], turn: int) -> list[Json]:
    opening = f"What about berth {turn:03},".encode()
    return messages[next(at for at, message in enumerate(messages) if opening in encode({"m": message})) :]


def size(request: ModelRequest) -> int:
    return overhead_of(request) + sum(map(tokens_of, request.messages))


@pytest.mark.slow
async def test_180_000_tokens_of_150_turns_become_at_most_45_000_and_a_restart_opens_with_that(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, *script(), sessions=PLAIN, window=WINDOW) as scene:
        await fill(scene)
        asked = scene.model.requests
        full = asked[TURNS]  # the flush is one more
        summaries = len(asked) - TURNS - 1
        del scene.model.script[: 2 - summaries]
        await say(scene, "And now?")
        short = asked[-1]
    async with house(tmp_path, Says("more"), sessions=PLAIN, window=WINDOW, first_session=2) as scene:
        await say(scene, "Still there?")
        (restarted,) = scene.model.requests
        stored = scene.transcript("session-1")

    assert f"What about berth {TURNS:03}" in text_of(full.messages[-1].parts)
    assert "NO_REPLY" in text_of(asked[SAVED].messages[-1].parts)
    assert abs(size(full) - USED) < USED // 10
    assert size(short) <= 45_000
    assert len(encode({"messages": said(short)})) // 4 <= 45_000

    kept, before = from_turn(said(short), TURNS - KEPT + 1), from_turn(said(full), TURNS - KEPT + 1)
    assert encode({"m": kept[: len(before)]}) == encode({"m": before})
    assert [message["role"] for message in kept[len(before) :] if isinstance(message, dict)] == [
        "assistant",
        "user",
    ]
    assert "DOCK-0001" in text_of(short.messages[0].parts)
    assert encode({"m": said(restarted)[: len(said(short))]}) == encode({"m": said(short)})
    assert len(said(restarted)) == len(said(short)) + 2
    assert "pier DOCK-0001? It is number 1." in stored  # on disk nothing is lost
