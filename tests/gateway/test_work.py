"""Queues of sessions: as many as have something to do."""

import asyncio
import gc
from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import Sender
from gateway.mailbox import Item
from tests.fakes.front import ADDRESS, steering, street
from tests.fakes.house import house
from tests.fakes.protocols import Calls, FakeTool, Says, call
from tests.gateway.strategies import message

MANY = 10_000


@pytest.mark.slow
async def test_ten_thousand_idle_sessions_leave_nothing_behind(tmp_path: Path) -> None:
    """Each goes through its session's queue and lane; that all have had their end, the inbox knows."""
    async with house(tmp_path) as home, street(home) as scene:
        for number in range(MANY):
            said = message(number)
            where = replace(ADDRESS, chat=f"p{number}")
            said = replace(said, address=where, sender=Sender(id=where.chat, name="Somebody"))
            admission = scene.door.judge(said, command=False)
            scene.front.work.put(Item(id=f"m{number}", message=said, admission=admission, at=home.clock()))
        assert scene.front.work.sessions == MANY
        await scene.quiet()
        gc.collect()
        assert scene.front.work.sessions == 0
        assert home.gateway.lanes.running == 0


async def test_a_session_that_was_answered_leaves_nothing_behind(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hello"), Says("again")) as home, street(home) as scene:
        for _ in range(2):
            await scene.say("hi")
            await scene.quiet()
            await asyncio.sleep(0)
            gc.collect()
            assert scene.front.work.sessions == 0
        assert scene.channel.texts == ["hello", "again"]


async def test_a_session_at_work_keeps_its_queue(tmp_path: Path) -> None:
    """What comes meanwhile must find the queue that the running turn holds."""
    tool = FakeTool(delay=1)
    script = (Calls((call("look"),)), Says("both done"), Says("alone"))
    async with (
        house(tmp_path, *script, extra_tools=[tool]) as home,
        street(home, door=steering(mode="steer")) as scene,
    ):
        await scene.say("one")
        await tool.running.wait()
        await scene.say("and two")
        gc.collect()
        assert scene.front.work.sessions == 1
        await scene.quiet()
        assert scene.channel.texts == ["both done"]
        await asyncio.sleep(0)
        gc.collect()
        assert scene.front.work.sessions == 0
        await scene.say("three")
        await scene.quiet()
        assert scene.channel.texts == ["both done", "alone"]
