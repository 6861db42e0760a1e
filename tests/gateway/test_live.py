"""A growing message begins when it may, and shows what it could not show at first."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from agents.model.provider import TextDelta
from channels.channel import SendError
from channels.text import growing
from gateway.live import LiveView
from tests.fakes.channel import TRAITS, FakeChannel
from tests.fakes.front import ADDRESS


@asynccontextmanager
async def live(
    channel: FakeChannel, *, may_begin: Callable[[], bool] = lambda: True
) -> AsyncIterator[tuple[LiveView, list[str | None]]]:
    """A view under way, and what it wrote down."""
    noted: list[str | None] = []

    async def on_shown(message_id: str | None) -> None:
        noted.append(message_id)

    view = LiveView(
        channel=channel,
        address=ADDRESS,
        key="k",
        reply_to=None,
        pieces=lambda text: growing(text, TRAITS),
        on_shown=on_shown,
        may_begin=may_begin,
    )
    running = asyncio.create_task(view.run())
    yield view, noted
    view.seal()
    await running


async def test_it_waits_for_what_was_to_be_sent_before_it() -> None:
    channel, free, asked = FakeChannel(), asyncio.Event(), asyncio.Event()

    def may_begin() -> bool:
        asked.set()
        return free.is_set()

    async with live(channel, may_begin=may_begin) as (view, noted):
        view.hear(TextDelta(text="It was "))
        await asyncio.wait_for(asked.wait(), 20)
        assert (channel.texts, noted) == ([], [])
        free.set()
        view.hear(TextDelta(text="a dark night."))
        await channel.until(lambda it: it.texts == ["It was a dark night."])
        free.clear()
        view.hear(TextDelta(text=" It rained."))
        await channel.until(lambda it: it.texts == ["It was a dark night. It rained."])
    assert noted == [None, "b1"]


async def test_what_was_refused_at_first_is_shown_without_another_word() -> None:
    channel = FakeChannel()
    channel.fails.append(SendError("slow down", retryable=True, retry_after=0.01))
    channel.edit_fails.append(SendError("slow down", retryable=True, retry_after=0.01))
    async with live(channel) as (view, noted):
        view.hear(TextDelta(text="It was "))
        await channel.until(lambda it: it.texts == ["It was"])
        view.hear(TextDelta(text="a dark night."))
        await channel.until(lambda it: it.texts == ["It was a dark night."])
    assert noted == [None, "", None, "b1"]


async def test_a_refusal_that_will_not_change_ends_it() -> None:
    channel = FakeChannel()
    channel.fails.append(SendError("no right to write"))
    async with live(channel) as (view, noted):
        view.hear(TextDelta(text="It was "))
        await asyncio.wait_for(_until(lambda: noted == [None, ""]), 20)
        view.hear(TextDelta(text="a dark night."))
    assert channel.texts == []


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 (nobody tells)
        await asyncio.sleep(0.01)
