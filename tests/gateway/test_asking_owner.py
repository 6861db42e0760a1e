"""Asking the owner in a chat: buttons while it waits, and what became of it afterwards."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from agents.tools.approval import ApprovalRequest, Approve, Decision, Remembered
from channels.channel import SendError
from channels.message import InboundMessage
from gateway.approvals import Approvals
from gateway.asking_owner import AskedInChat
from gateway.mailbox import Item
from gateway.outbox import Outbox
from gateway.postman import Pace, Postman
from gateway.writing import Writer
from sessions.key import SessionKey
from tests.fakes.channel import FakeChannel
from tests.fakes.front import ADDRESS, ANA, OpenDoor
from tests.fakes.protocols import START, FakeClock

MAIN = SessionKey(agent="main", kind="main")
TOUCH = ApprovalRequest(
    tool="exec",
    what="touch x",
    why="It is not on the list.",
    sender="someone",
    remember=Remembered(program="/usr/bin/touch"),
)


@dataclass
class Asking:
    approvals: Approvals
    channel: FakeChannel
    postman: Postman
    approve: Approve

    async def asked(self, request: ApprovalRequest = TOUCH) -> "asyncio.Task[Decision]":
        """A request under way that can be seen."""
        task = asyncio.ensure_future(self.approve(request))
        await self.channel.until(lambda it: any(one.message.choices for one in it.bubbles))
        return task

    @property
    def buttons(self) -> int:
        return sum(bool(bubble.message.choices) for bubble in self.channel.bubbles)

    async def settled(self) -> None:
        await self.channel.until(lambda _: not self.buttons)


@asynccontextmanager
async def asking(folder: Path, channel: FakeChannel | None = None) -> AsyncIterator[Asking]:
    numbers, channel, clock = count(1), channel or FakeChannel(), FakeClock()
    outbox = Outbox.open(folder / "outbox.jsonl", now=START)
    with ThreadPoolExecutor(1) as executor:
        approvals = Approvals(
            folder / "approvals.jsonl", clock=clock, new_id=lambda: f"id{next(numbers)}", executor=executor
        )
        pace = Pace(max_age=timedelta(minutes=60), jitter=lambda: 1.0)
        postman = Postman(outbox=outbox, executor=executor, clock=clock, pace=pace)
        postman.attach(channel)
        chat = AskedInChat(approvals=approvals, postman=postman, writer=Writer(), clock=clock)
        said = InboundMessage(id="1", address=ADDRESS, sender=ANA, text="do it", at=START)
        item = Item(id="i1", message=said, admission=OpenDoor().judge(said, command=False), at=START)
        try:
            yield Asking(approvals, channel, postman, chat(MAIN, channel, item))
        finally:
            await postman.drain(0)
            approvals.close()
            outbox.close()


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("once", "✅ approved"), ("always", "✅ approved for good"), ("deny", "❌ denied")],
)
async def test_the_buttons_give_way_to_what_was_decided(tmp_path: Path, kind: str, ending: str) -> None:
    async with asking(tmp_path) as one:
        task = await one.asked()
        assert f"asked by {ANA.name}" in one.channel.texts[0]

        await one.approvals.settle("id1", Decision(kind=kind))  # type: ignore[arg-type]
        decision = await task
        await one.settled()

        assert decision.kind == kind
        assert len(one.channel.bubbles) == 1
        assert one.channel.texts[0].splitlines()[0].endswith(f"{ending}.")
        assert "touch x" in one.channel.texts[0]


async def test_a_request_whose_time_is_up_says_so(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        task = await one.asked(replace(TOUCH, seconds=0.3))
        assert (await task).kind == "deny"
        await one.settled()
        assert "denied, the owner did not answer within 0.3 s." in one.channel.texts[0]


async def test_a_turn_that_is_stopped_takes_its_request_along(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        task = await one.asked()
        task.cancel()
        await one.settled()
        assert "no longer asked" in one.channel.texts[0]


async def test_a_decision_may_come_before_the_news_that_it_can_be_seen(tmp_path: Path) -> None:
    gate, channel = asyncio.Event(), FakeChannel()

    async def hold(_: object) -> None:
        await gate.wait()

    channel.before_send = hold
    async with asking(tmp_path, channel) as one:
        task = asyncio.ensure_future(one.approve(TOUCH))
        while not one.approvals.pending():  # noqa: ASYNC110 (nobody tells)
            await asyncio.sleep(0.01)
        await one.approvals.settle("id1", Decision(kind="once"))
        gate.set()
        assert (await task).granted
        await channel.until(lambda it: bool(it.bubbles) and not it.bubbles[0].message.choices)


async def test_of_a_long_request_the_text_stays(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        task = await one.asked(replace(TOUCH, what="echo " + "long " * 150))
        await one.postman.settled()
        before = one.channel.texts
        assert len(before) > 1
        await one.approvals.settle("id1", Decision(kind="once"))
        await task
        await one.settled()
        assert one.channel.texts == before


async def test_where_nothing_can_be_edited_the_buttons_stay(tmp_path: Path) -> None:
    async with asking(tmp_path, FakeChannel().without_edits()) as one:
        task = await one.asked()
        await one.approvals.settle("id1", Decision(kind="once"))
        assert (await task).granted
        await one.postman.settled()
        assert one.buttons == 1


async def test_an_edit_that_fails_changes_nothing_else(tmp_path: Path) -> None:
    channel = FakeChannel()
    channel.edit_fails.append(SendError("no"))
    async with asking(tmp_path, channel) as one:
        task = await one.asked()
        await one.approvals.settle("id1", Decision(kind="once"))
        assert (await task).granted
