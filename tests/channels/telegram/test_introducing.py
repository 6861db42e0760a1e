"""Setting up a bot: is the token good, and who is its owner."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from channels.channel import ChannelFailed
from channels.telegram.introducing import Introduction
from tests.channels.telegram.wired import FAST
from tests.fakes.telegram import TOKEN, TelegramServer, telegram_server
from tests.fakes.telegram_world import ANNA, BEN, GROUP


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with telegram_server() as made:
        yield made


@pytest.fixture
async def asking(server: TelegramServer) -> AsyncIterator[Introduction]:
    made = Introduction(server.url, TOKEN, account="default", timing=FAST)
    yield made
    await made.close()


async def test_a_good_token_tells_the_bot(asking: Introduction) -> None:
    me = await asking.me()
    assert (me.username, me.name) == ("clawd_test_bot", "Clawd")


@pytest.mark.parametrize("token", ["", "a b", "1:wrong"])
async def test_a_bad_token_tells_what_to_do(server: TelegramServer, token: str) -> None:
    asking = Introduction(server.url, token, account="work", timing=FAST)
    with pytest.raises(ChannelFailed, match=r"accounts\.work.*BotFather"):
        await asking.me()
    await asking.close()


async def test_a_server_that_is_not_there_is_told(server: TelegramServer, asking: Introduction) -> None:
    await server.down()
    with pytest.raises(ChannelFailed, match="cannot be reached"):
        await asking.me()


@pytest.mark.parametrize("text", ["4711", " 4711\n", "/start 4711"])
async def test_the_owner_is_who_says_the_code_and_nothing_is_lost(
    server: TelegramServer, asking: Introduction, text: str
) -> None:
    me = await asking.me()
    server.world.say(BEN, "I was here first", user=BEN)
    server.world.say(GROUP, "4711", user=BEN)
    waiting = asyncio.create_task(asking.who_says("4711", me, seconds=60))
    await server.world.until(lambda: server.polls > 0)
    server.world.say(ANNA, text)
    sender = await waiting
    assert sender is not None
    assert (sender.id, sender.name) == (str(ANNA), "Anna")
    assert len(server.world.updates) == 3


async def test_nobody_in_time_is_nobody(server: TelegramServer, asking: Introduction) -> None:
    me = await asking.me()
    server.world.say(BEN, "hello", user=BEN)
    assert await asking.who_says("4711", me, seconds=0.2) is None


async def test_a_running_gateway_or_a_full_queue_is_told(
    server: TelegramServer, asking: Introduction
) -> None:
    me = await asking.me()
    server.knobs.refuse("getUpdates", 409, "Conflict: terminated by other getUpdates request")
    with pytest.raises(ChannelFailed, match="running gateway"):
        await asking.who_says("4711", me, seconds=5)
    for n in range(100):
        server.world.say(BEN, str(n), user=BEN)
    with pytest.raises(ChannelFailed, match="hundred messages"):
        await asking.who_says("4711", me, seconds=5)
