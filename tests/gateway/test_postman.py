"""Sending: in order, again when it helps, never twice where that would be seen."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.channel import SendError
from channels.message import Address, OutboundMessage
from gateway.deliveries import Delivery, Part
from gateway.outbox import Outbox
from gateway.postman import REPEATED, RESERVED, Pace, Postman
from tests.fakes.channel import FakeChannel
from tests.fakes.protocols import START, FakeClock

ADDRESS = Address(channel="telegram", account="default", chat="42", kind="direct")


def delivery(key: str = "k", *texts: str, chat: str = "42") -> Delivery:
    parts = tuple(Part(text=text, plain=f"plain {text}") for text in texts or ("hello",))
    return Delivery(key=key, address=replace(ADDRESS, chat=chat), at=START, parts=parts, reply_to="7")


@dataclass(slots=True)
class Post:
    postman: Postman
    outbox: Outbox
    channel: FakeChannel
    clock: FakeClock
    slept: list[float] = field(default_factory=list)

    @property
    def dead(self) -> list[str]:
        return [one.key for one in self.outbox.dead_letters()]


@asynccontextmanager
async def post(
    folder: Path, channel: FakeChannel | None = None, *, attach: bool = True
) -> AsyncIterator[Post]:
    clock, channel = FakeClock(), channel or FakeChannel()
    outbox = Outbox.open(folder / "outbox.jsonl", now=clock())
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += timedelta(seconds=seconds)

    with ThreadPoolExecutor(1) as executor:
        postman = Postman(
            outbox=outbox,
            executor=executor,
            clock=clock,
            pace=Pace(max_age=timedelta(minutes=60), jitter=lambda: 1.0, sleep=sleep),
        )
        if attach:
            postman.attach(channel)
        yield Post(postman, outbox, channel, clock, slept)
        await postman.drain(0)
        outbox.close()


async def test_parts_arrive_in_order_and_the_first_answers(tmp_path: Path) -> None:
    async with post(tmp_path) as scene:
        assert await scene.postman.post(delivery("k", "one", "two"))
        await scene.postman.settled()
        assert scene.channel.texts == ["one", "two"]
        assert [bubble.message.reply_to for bubble in scene.channel.bubbles] == ["7", None]
        assert scene.outbox.waiting() == []


async def test_a_key_is_sent_once(tmp_path: Path) -> None:
    async with post(tmp_path) as scene:
        assert await scene.postman.post(delivery())
        assert not await scene.postman.post(delivery())
        await scene.postman.settled()
        assert not await scene.postman.post(delivery())
        assert scene.channel.texts == ["hello"]


async def test_one_chat_waits_for_nobody_elses(tmp_path: Path) -> None:
    gate = asyncio.Event()
    channel = FakeChannel()

    async def hold(message: object) -> None:
        if getattr(message, "address").chat == "slow":  # noqa: B009
            await gate.wait()

    channel.before_send = hold
    async with post(tmp_path, channel) as scene:
        await scene.postman.post(delivery("a", "slow 1", chat="slow"))
        await scene.postman.post(delivery("b", "slow 2", chat="slow"))
        await scene.postman.post(delivery("c", "quick", chat="quick"))
        await channel.until(lambda it: it.texts == ["quick"])
        gate.set()
        await scene.postman.settled()
        assert channel.texts == ["quick", "slow 1", "slow 2"]


async def test_the_platform_says_how_long_to_wait_else_it_is_doubled(tmp_path: Path) -> None:
    channel = FakeChannel()
    channel.fails.extend(
        [
            SendError("busy", retryable=True, retry_after=7),
            SendError("net", retryable=True),
            SendError("net", retryable=True),
        ]
    )
    async with post(tmp_path, channel) as scene:
        await scene.postman.post(delivery())
        await scene.postman.settled()
        assert scene.slept == [7, 1.0, 2.0]
        assert channel.texts == ["hello"]


@pytest.mark.parametrize("nonce", [False, True])
async def test_an_ambiguous_failure_is_repeated_only_with_a_nonce(tmp_path: Path, *, nonce: bool) -> None:
    channel = FakeChannel()
    channel.traits = replace(channel.traits, has_nonce=nonce)
    channel.fails.append(SendError("time-out", retryable=True, ambiguous=True))
    async with post(tmp_path, channel) as scene:
        await scene.postman.post(delivery("k", "one", "two"))
        await scene.postman.settled()
        assert channel.texts == (["one", "two"] if nonce else ["two"])
        assert scene.dead == []


async def test_markup_that_is_refused_goes_as_plain_text_once(tmp_path: Path) -> None:
    channel = FakeChannel()
    channel.fails.append(SendError("can't parse entities", markup=True))
    async with post(tmp_path, channel) as scene:
        await scene.postman.post(delivery())
        await scene.postman.settled()
        assert channel.texts == ["plain hello"]


@pytest.mark.parametrize(
    "error",
    [
        SendError("blocked", gone=True),
        SendError("no right"),
        SendError("slow", retryable=True, retry_after=3600),
    ],
)
async def test_what_cannot_be_sent_becomes_a_dead_letter_and_the_next_goes_on(
    tmp_path: Path, error: SendError
) -> None:
    channel = FakeChannel()
    channel.fails.append(error)
    async with post(tmp_path, channel) as scene:
        await scene.postman.post(delivery("a", "first"))
        await scene.postman.post(delivery("b", "second"))
        await scene.postman.settled()
        assert channel.texts == ["second"]
        assert scene.dead == ["a"]
        assert str(error) in scene.outbox.dead_letters()[0].why
        assert await scene.postman.revive("a")
        await scene.postman.settled()
        assert channel.texts == ["second", "first"]


async def test_what_is_too_old_is_given_up(tmp_path: Path) -> None:
    channel = FakeChannel()
    channel.fails.extend(SendError("net", retryable=True) for _ in range(1000))
    async with post(tmp_path, channel) as scene:
        await scene.postman.post(delivery())
        await scene.postman.settled()
        assert scene.dead == ["k"]
        assert channel.texts == []
        assert scene.clock() - START <= timedelta(minutes=60)


async def test_a_channel_that_comes_later_gets_what_waited(tmp_path: Path) -> None:
    async with post(tmp_path, attach=False) as scene:
        await scene.postman.post(delivery())
        await asyncio.sleep(0)
        scene.postman.attach(scene.channel)
        await scene.postman.settled()
        assert scene.channel.texts == ["hello"]


async def test_after_a_restart_the_next_part_is_sent(tmp_path: Path) -> None:
    async with post(tmp_path) as scene:
        scene.outbox.add(delivery("k", "one", "two"))
        scene.outbox.sending("k")
        scene.outbox.sent("k", "b0")
    async with post(tmp_path) as scene:
        assert scene.postman.replay() == 1
        await scene.postman.settled()
        assert scene.channel.texts == ["two"]


@pytest.mark.parametrize("nonce", [False, True])
async def test_a_part_of_which_nobody_knows_is_marked_where_it_could_be_seen_twice(
    tmp_path: Path, *, nonce: bool
) -> None:
    async with post(tmp_path) as scene:
        scene.outbox.add(delivery())
        scene.outbox.sending("k")
    channel = FakeChannel()
    channel.traits = replace(channel.traits, has_nonce=nonce)
    async with post(tmp_path, channel) as scene:
        scene.postman.replay()
        await scene.postman.settled()
        assert channel.texts == ["hello" if nonce else f"{REPEATED}\nhello"]


def test_every_part_leaves_room_for_the_mark() -> None:
    assert len(f"{REPEATED}\n") <= RESERVED


async def test_a_doubt_outlives_a_failure(tmp_path: Path) -> None:
    async with post(tmp_path) as scene:
        scene.outbox.add(delivery())
        scene.outbox.sending("k")
    channel = FakeChannel()
    channel.fails.append(SendError("not connected", retryable=True))
    async with post(tmp_path, channel) as scene:
        scene.postman.replay()
        await scene.postman.settled()
        assert channel.texts == [f"{REPEATED}\nhello"]


async def test_messages_that_were_shown_live_become_the_parts(tmp_path: Path) -> None:
    async with post(tmp_path) as scene:
        for number in range(3):
            scene.outbox.showing("k", ADDRESS, START)
            sent = await scene.channel.send(message_of(f"half {number}"))
            scene.outbox.shown("k", sent)
        await scene.postman.post(delivery("k", "one", "two"))
        await scene.postman.settled()
        assert scene.channel.texts == ["one", "two"]
        assert scene.channel.sent == 3


async def test_a_second_live_message_of_which_nobody_knows_is_marked(tmp_path: Path) -> None:
    async with post(tmp_path) as scene:
        scene.outbox.showing("k", ADDRESS, START)
        scene.outbox.shown("k", await scene.channel.send(message_of("half")))
        scene.outbox.showing("k", ADDRESS, START)
    async with post(tmp_path, scene.channel) as scene:
        await scene.postman.post(delivery("k", "one", "two", "three"))
        await scene.postman.settled()
        assert scene.channel.texts == ["one", f"{REPEATED}\ntwo", "three"]


async def test_a_live_message_that_was_deleted_is_sent_anew(tmp_path: Path) -> None:
    async with post(tmp_path) as scene:
        scene.outbox.showing("k", ADDRESS, START)
        scene.outbox.shown("k", "b99")
        await scene.postman.post(delivery())
        await scene.postman.settled()
        assert scene.channel.texts == ["hello"]


def message_of(text: str) -> OutboundMessage:
    return OutboundMessage(key="live", part=0, address=ADDRESS, text=text)
