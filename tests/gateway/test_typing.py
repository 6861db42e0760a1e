"""When a typing notice begins, by its mode, and that none is sent after the work."""

import asyncio
from pathlib import Path

import pytest

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import Notice, Retrying, ToolStarted, TurnEvent
from channels.account import TypingMode
from gateway.typing import typing
from tests.fakes.channel import FakeChannel
from tests.fakes.front import ADDRESS, OpenDoor, street
from tests.fakes.house import house
from tests.fakes.protocols import Says, call

THINKS = ThinkingDelta(text="hm")
SAYS = TextDelta(text="Hello.")
LOOKS = ToolStarted(call=call("look"))
AWAY = Retrying(reason="away", seconds=0)
SILENT = TextDelta(text="NO_REPLY")
NOTICE = Notice(text="*A new day has begun.*")


@pytest.mark.parametrize(
    ("mode", "events", "types"),
    [
        ("instant", [], True),
        ("thinking", [], False),
        ("thinking", [NOTICE, AWAY], False),
        ("thinking", [THINKS], True),
        ("thinking", [LOOKS], True),
        ("thinking", [SILENT], True),
        ("message", [THINKS, LOOKS, NOTICE], False),
        ("message", [SILENT], False),
        ("message", [SILENT, LOOKS, SILENT], False),
        ("message", [SAYS], True),
        ("message", [SILENT, AWAY, SAYS], True),
    ],
)
async def test_a_notice_begins_by_its_mode(mode: TypingMode, events: list[TurnEvent], types: bool) -> None:
    channel = FakeChannel()
    async with typing(channel, ADDRESS, mode) as notice:
        for event in events:
            notice.hear(event)
        for _ in range(5):
            await asyncio.sleep(0)
        assert (channel.typed > 0) is types


async def test_it_is_sealed_by_the_end_of_the_work() -> None:
    channel = FakeChannel()
    async with typing(channel, ADDRESS, "instant") as notice:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    typed = channel.typed
    notice.hear(SAYS)
    await asyncio.sleep(0.2)
    assert channel.typed == typed > 0


@pytest.mark.parametrize("mode", ["never", "message"])
async def test_a_chosen_silence_is_not_announced(tmp_path: Path, mode: TypingMode) -> None:
    door = OpenDoor(typing=mode)
    async with house(tmp_path, Says("NO_REPLY")) as home, street(home, door=door) as scene:
        await scene.say("thanks")
        await scene.quiet()
        assert scene.channel.typed == 0
